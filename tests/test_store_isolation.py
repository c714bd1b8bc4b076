"""No organization sees or changes what belongs to another: every query of the store is tried with another's ids."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pytest

import rightcall.store
from rightcall.errors import ConflictError, StoreError, UnknownRowError
from rightcall.store import (
    attempts,
    endpoints,
    idempotency,
    metrics,
    organizations,
    policies,
    requirements,
    runs,
    test_sets,
    tests,
    traces,
)
from rightcall.store import spans as span_rows
from rightcall.store.engine import Org, Snapshot, Store, Transaction
from rightcall.store.members import Members
from rightcall.store.pages import Page, Wanted
from rightcall.store.rows import Aggregate
from support.databases import NOW, later, new_organization
from support.filling import SEALER, Filled, fill, rows

Query = Callable[..., Any]

OPERATORS: Final = {
    "organizations.create",
    "organizations.all_of_them",
    "organizations.named",
    "keys.recognize",
    "keys.there_are_any",
    "runs.unfinished",
}
"""Queries that ask for no organization: they are the server's own, and find out whose something is."""

SELF: Final = {"organizations.get", "organizations.remove"}
"""Queries of the organization itself."""

MARK: Final = "what-the-first-one-has"


def modules() -> Iterator[tuple[str, Any]]:
    """The modules of queries."""
    for found in pkgutil.iter_modules(rightcall.store.__path__):
        yield found.name, importlib.import_module(f"rightcall.store.{found.name}")


def queries() -> dict[str, Query]:
    """Every public function and method of the store that is given a snapshot or a transaction, by its name."""
    found: dict[str, Query] = {}
    for name, module in modules():
        for word, thing in vars(module).items():
            if inspect.isfunction(thing) and thing.__module__ == module.__name__:
                found[f"{name}.{word}"] = thing
            elif isinstance(thing, Aggregate | Members) and not word.startswith("_"):
                methods = inspect.getmembers(thing, inspect.ismethod)
                found |= {f"{name}.{word}.{method}": bound for method, bound in methods}
    return {
        name: query for name, query in found.items() if "._" not in name and "on" in inspect.signature(query).parameters
    }


QUERIES: Final = queries()
OWNED: Final = sorted(QUERIES.keys() - OPERATORS - SELF)


def test_every_query_takes_the_organization_first() -> None:
    """Forgetting whose rows are meant is a type error: only the server's own queries have no organization."""
    without = set()
    for name, query in QUERIES.items():
        hints = typing.get_type_hints(query)
        first, *others = inspect.signature(query).parameters
        if hints[first] is not Org:
            without.add(name)
        else:
            assert others[0] == "on"
            assert hints["on"] in (Snapshot, Transaction)
    assert without == OPERATORS
    assert len(OWNED) > 80


VALUES: Final[dict[str, Any]] = {
    "requirements.REQUIREMENTS": requirements.Requirement(name="other"),
    "metrics.METRICS": metrics.Metric(name="other", kind="x"),
    "tests.TESTS": tests.Test(name="other", content={}),
    "test_sets.TEST_SETS": test_sets.TestSet(name="other"),
    "endpoints.ENDPOINTS": endpoints.Endpoint(name="other", kind="x", content={}),
    "policies.POLICIES": policies.Policy(name="other", content={}),
    "runs.RUNS": runs.Run(number=100),
    "traces.TRACES": traces.Trace(key="other"),
}

IDS: Final = {
    "requirements": "requirement",
    "metrics": "metric",
    "tests": "test",
    "test_sets": "test_set",
    "endpoints": "endpoint",
    "policies": "policy",
    "runs": "run",
    "traces": "trace",
    "keys": "key",
    "uploads": "upload",
}


def arguments(name: str, query: Query, filled: Filled) -> dict[str, Any]:
    """Arguments for what a query asks for besides the organization: the ids of another one's rows."""
    ids = filled.ids
    module, _, rest = name.partition(".")
    aggregate = f"{module}.{rest.partition('.')[0]}"
    part = "test" if aggregate == "test_sets.TESTS" else "metric"
    given = {
        "action": "x",
        "actor": "x",
        "attempt": attempts.Attempt(position=0, number=1 + (rest == "record"), outcome="pass", finished_at=NOW),
        "before": later(10**6),
        "body": b"other",
        "endpoint": ids["endpoint"],
        "format": "x",
        "identity": ids[IDS.get(module, "test")],
        "key": {"traces": f"file {MARK}", "idempotency": "again"}.get(module, "spanned"),
        "lines": {ids["trace"]: b"other"},
        "member": ids[part],
        "members": [ids[f"spare_{part}"]],
        "name": "things",
        "number": 1,
        "outcome": "pass",
        "owner": ids["requirement" if module == "requirements" else "test_set"],
        "position": 0,
        "request_hash": "hash",
        "run": ids["run"],
        "scopes": ["read"],
        "sealer": SEALER,
        "secrets": {"TOKEN": "other"},
        "spans": [span_rows.Span(span_id="1", body=b"other", ended_at=9)],
        "status": "finished",
        "subject": ids["test"],
        "summary": None,
        "tests": [],
        "trace": ids["spanned"],
        "until": later(10**6),
        "upload": ids["upload"],
        "value": VALUES.get(aggregate),
        "values": [VALUES.get(aggregate)],
        "wanted": Wanted(),
        "work": lambda: idempotency.Answer(status=204),
        "worker": "worker",
    }
    if name == "runs.plan":
        given["run"] = runs.Run()
    parameters = list(inspect.signature(query).parameters.values())[2:]
    needed = [one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    return {word: given[word] for word in needed}


@pytest.fixture(scope="module")
def filled(store: Store) -> tuple[Org, Filled]:
    org = new_organization(store)
    return org, fill(store, org, MARK)


class Undone(Exception):
    """Ends a transaction whose changes are not to stay."""


class Asked(NamedTuple):
    """What a query gave, and whether it changed anything of an organization."""

    answer: Any
    has_changed: bool


def ask(store: Store, name: str, asking: Org, owner: Org, made: Filled) -> Asked:
    """Ask for what the owner made; nothing stays changed. What is refused gives the error."""
    query = QUERIES[name]
    given = arguments(name, query, made)
    watched = rows if typing.get_type_hints(query)["on"] is Transaction else lambda *_: None
    with contextlib.suppress(Undone), store.writing(later(1)) as on:
        before = watched(on, owner)
        try:
            with on.connection.begin_nested():
                answer = query(asking, on, **given)
                answer = list(answer) if isinstance(answer, Iterator) else answer
        except (UnknownRowError, ConflictError) as error:
            answer = error
        asked = Asked(answer, watched(on, owner) != before)
        raise Undone
    return asked


def test_another_organization_finds_nothing(store: Store, filled: tuple[Org, Filled]) -> None:
    """Whatever is asked with the ids of another organization gives nothing of it, and changes nothing in it."""
    owner, made = filled
    other = new_organization(store)
    found = {name: ask(store, name, other, owner, made) for name in OWNED}
    assert [name for name, asked in found.items() if asked.has_changed or MARK in repr(asked.answer)] == []
    refused = {name for name, asked in found.items() if isinstance(asked.answer, ConflictError)}
    assert refused == set()


def test_the_organization_itself_finds_what_it_has(store: Store, filled: tuple[Org, Filled]) -> None:
    """The same questions asked by the owner give or change something: the test above asks for what is there."""
    owner, made = filled
    nothing: tuple[Any, ...] = (None, [], {}, 0, False, Page(rows=()))
    found = {name: ask(store, name, owner, owner, made) for name in OWNED}
    in_vain = {name for name, asked in found.items() if asked.answer in nothing and not asked.has_changed}
    assert in_vain == set()
    assert [name for name, asked in found.items() if isinstance(asked.answer, UnknownRowError)] == []


def test_a_row_cannot_point_into_another_organization(store: Store, filled: tuple[Org, Filled]) -> None:
    """The database itself refuses a reference to a row of another organization."""
    _, made = filled
    other = new_organization(store)
    pointing = tests.Test(name="a", content={}, requirement_id=made.ids["requirement"])
    with pytest.raises(UnknownRowError, match="refers to something that is not there"), store.writing(NOW) as on:
        tests.TESTS.create(other, on, pointing)
    with store.writing(NOW) as on:
        own = test_sets.TEST_SETS.create(other, on, test_sets.TestSet(name="own")).id
    with pytest.raises(UnknownRowError), store.writing(NOW) as on:
        test_sets.TESTS.add(other, on, own, [made.ids["test"]])


def test_secrets_cannot_be_moved(store: Store, filled: tuple[Org, Filled]) -> None:
    """A sealed secret that is put into another place is not opened there."""
    first, made = filled
    sealed = SEALER.seal("hush", f"{first}\n{made.ids['endpoint']}\nTOKEN")
    with pytest.raises(StoreError, match="it has been changed, or belongs to something else"):
        SEALER.open(sealed, f"org_other\n{made.ids['endpoint']}\nTOKEN")


def test_the_operator_sees_all(store: Store, filled: tuple[Org, Filled]) -> None:
    """Whose a key is, and which runs wait, is found without knowing the organization."""
    first, made = filled
    with store.reading() as on:
        key = importlib.import_module("rightcall.store.keys").recognize(on, made.key)
        assert key is not None
        assert key.organization_id == first
        assert (first, made.ids["run"]) in runs.unfinished(on, later(61))
        assert (first, made.ids["run"]) not in runs.unfinished(on, NOW)
        found = organizations.get(first, on)
        assert found is not None
        assert found.id == first
