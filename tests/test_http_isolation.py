"""Who may do what, for every route there is: organizations see nothing of one another, keys do what they allow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rightcall.store import keys
from rightcall.store.engine import Store
from support.serving import CLOSED, JSON, Samples, application, ask, bearer, key_of, opened, organization, samples

DESCRIBED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "docs/server/openapi.json").read_bytes())
OPEN = ("/healthz", "/readyz", "/api/v1/openapi.json")
OPERATIONS = [f"{method.upper()} {path}" for path, item in DESCRIBED["paths"].items() for method in item]
CLOSED_OPERATIONS = [operation for operation in OPERATIONS if operation.partition(" ")[2] not in OPEN]

BODIES: dict[str, Any] = {
    "PUT /api/v1/requirements/{requirement_id}": {"name": "x"},
    "PUT /api/v1/requirements/{requirement_id}/metrics": {"metric_ids": []},
    "PUT /api/v1/metrics/{metric_id}": {"name": "x", "kind": "allowed_tools", "config": {"tools": []}},
    "PUT /api/v1/tests/{test_id}": {"name": "x"},
    "PUT /api/v1/test_sets/{test_set_id}": {"name": "x"},
    "PUT /api/v1/test_sets/{test_set_id}/tests": {"test_ids": []},
    "POST /api/v1/test_sets/{test_set_id}/tests": {"test_ids": []},
    "PUT /api/v1/test_sets/{test_set_id}/metrics": {"metric_ids": []},
    "POST /api/v1/test_sets/{test_set_id}/bulk": {"tests": [{"name": "x"}]},
    "PUT /api/v1/endpoints/{endpoint_id}": {"name": "x", "kind": "http", "config": {"url": "http://127.0.0.1:1/"}},
    "PUT /api/v1/endpoints/{endpoint_id}/secrets": {"secrets": {"A": "b"}},
    "POST /api/v1/traces/{trace_id}/promote": {"name": "x"},
}
"""What is sent so that nothing but the row itself can be what is refused."""


class Two(NamedTuple):
    """An organization with one row of each kind, and the keys of both."""

    served: Any
    store: Store
    rows: Samples
    owner: str
    other: str


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """Two organizations behind one server."""
    with opened(tmp_path_factory.mktemp("two")) as store:
        served = application(store, CLOSED)
        owner, other = (key_of(store, organization(store, name), "admin") for name in ("ours", "theirs"))
        yield Two(served, store, samples(served, owner), owner, other)


def sent(two: Two, operation: str, headers: dict[str, str], ids: dict[str, str] | None = None) -> Any:
    method, _, path = operation.partition(" ")
    content = json.dumps(BODIES[operation]).encode() if operation in BODIES else b"{}"
    beside = {} if method in ("GET", "DELETE") else {"content": content}
    return ask(two.served, method, path.format(**(ids or two.rows.ids)), headers={**JSON, **headers}, **beside)


@pytest.mark.parametrize("operation", [operation for operation in OPERATIONS if "{" in operation])
def test_rows_of_another_organization_are_not_there(two: Two, operation: str) -> None:
    """Whatever is done to a row of another organization is 404, in the words for a row that nobody has."""
    theirs = sent(two, operation, bearer(two.other))
    nobodys = sent(two, operation, bearer(two.other), dict.fromkeys(two.rows.ids, "nothing"))
    words = theirs.json()["detail"]
    for identity in two.rows.ids.values():
        words = words.replace(identity, "nothing")
    assert (theirs.status_code, words) == (404, nobodys.json()["detail"])


def test_nothing_of_that_changed_a_row(two: Two) -> None:
    """After all that another organization has tried, the owner's rows are as they were made."""
    answers = [ask(two.served, "GET", path, headers=bearer(two.owner)) for path in two.rows.paths]
    for operation in (operation for operation in OPERATIONS if "{" in operation):
        sent(two, operation, bearer(two.other))
    again = [ask(two.served, "GET", path, headers=bearer(two.owner)) for path in two.rows.paths]
    assert [200] * len(answers) == [answer.status_code for answer in answers]
    assert [answer.content for answer in answers] == [answer.content for answer in again]


@pytest.mark.parametrize(
    "operation", [operation for operation in OPERATIONS if operation.startswith("GET") and "{" not in operation]
)
def test_lists_show_nothing_of_another_organization(two: Two, operation: str) -> None:
    """No list, no count and no description holds an id of another organization."""
    answer = sent(two, operation, bearer(two.other)).text
    assert [identity for identity in two.rows.ids.values() if identity in answer] == []


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/tests", {"name": "x", "requirement_id": "{requirement_id}"}, "#/requirement_id"),
        ("/test_sets/{own}/tests", {"test_ids": ["{test_id}"]}, "#/test_ids"),
        ("/test_sets/{own}/metrics", {"metric_ids": ["{metric_id}"]}, "#/metric_ids"),
    ],
)
def test_a_body_cannot_name_rows_of_another_organization(two: Two, path: str, body: dict[str, Any], field: str) -> None:
    """It is refused in the same words as an id that nobody has."""
    headers = {**JSON, **bearer(two.other)}
    own = ask(two.served, "POST", "/api/v1/test_sets", json={"name": "own"}, headers=headers).json()["id"]
    method = "PUT" if "metrics" in path else "POST"
    answers = [
        ask(
            two.served,
            method,
            f"/api/v1{path.format(own=own)}",
            content=json.dumps(filled(body, ids)).encode(),
            headers=headers,
        )
        for ids in (two.rows.ids, dict.fromkeys(two.rows.ids, "nothing"))
    ]
    told = [(answer.status_code, answer.json()["errors"]) for answer in answers]
    assert told[0] == told[1]
    assert [each["pointer"] for each in told[0][1]] == [field]


def filled(value: Any, ids: dict[str, str]) -> Any:
    """A body with the ids that stand in it by name."""
    if isinstance(value, dict):
        return {key: filled(inner, ids) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, ids) for inner in value]
    return value.format(**ids)


@pytest.mark.parametrize("operation", CLOSED_OPERATIONS)
@pytest.mark.parametrize("given", [{}, bearer("rc_wrong"), {"Authorization": "Basic eDp5"}, bearer("")])
def test_nobody_is_served_without_a_key(two: Two, operation: str, given: dict[str, str]) -> None:
    """Every route but those of health and the description asks for a key first."""
    answer = sent(two, operation, given)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="rightcall"')


def scope_of(operation: str) -> keys.Scope:
    """What a route needs, by what it does."""
    if "/keys" in operation:
        return "admin"
    if operation == "POST /api/v1/traces":
        return "ingest"
    return "read" if operation.startswith("GET") or operation.endswith("/grade") else "write"


@pytest.mark.parametrize("operation", CLOSED_OPERATIONS)
def test_a_key_does_only_what_it_allows(two: Two, operation: str) -> None:
    """Of the scopes, those and no others open a route that imply what it does."""
    implied: dict[keys.Scope, set[str]] = {
        "read": {"read"},
        "write": {"write", "read"},
        "ingest": {"ingest"},
        "admin": set(keys.SCOPES),
    }
    refused = {
        scope
        for scope in keys.SCOPES
        if sent(two, operation, bearer(_limited(two, scope)), dict.fromkeys(two.rows.ids, "nothing")).status_code == 403
    }
    assert {scope for scope in keys.SCOPES if scope_of(operation) not in implied[scope]} == refused


_KEYS: dict[tuple[int, str], str] = {}


def _limited(two: Two, scope: keys.Scope) -> str:
    """A key of the other organization with one scope, made once."""
    known = (id(two.store), scope)
    if known not in _KEYS:
        _KEYS[known] = key_of(two.store, organization(two.store, f"only {scope}"), scope)
    return _KEYS[known]


def test_a_revoked_key_is_refused_at_once(two: Two) -> None:
    """From the next request on."""
    made = ask(
        two.served, "POST", "/api/v1/keys", json={"name": "k", "scopes": ["read"]}, headers=bearer(two.owner)
    ).json()
    before = ask(two.served, "GET", "/api/v1/tests", headers=bearer(made["key"])).status_code
    ask(two.served, "DELETE", f"/api/v1/keys/{made['id']}", headers=bearer(two.owner))
    assert (before, ask(two.served, "GET", "/api/v1/tests", headers=bearer(made["key"])).status_code) == (200, 401)
