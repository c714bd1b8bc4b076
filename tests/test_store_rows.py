"""Rows that organizations make, read, list, change and delete; on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest

from rightcall.errors import ChangedRowError, ConflictError, RefusedRowError, UnknownRowError, UsageError
from rightcall.store import keys, metrics, migrating, organizations
from rightcall.store.engine import Org, Store, Transaction
from rightcall.store.pages import Wanted
from rightcall.store.requirements import REQUIREMENTS, Requirement
from rightcall.store.rows import Kept
from rightcall.store.tests import TESTS, Test
from support.databases import NOW, Maker, later


def test_a_row_is_read_as_it_was_kept(store: Store, org: Org) -> None:
    """What was kept is read: absent, null and `[]` stay what they are, and so do numbers and the order of keys."""
    content: dict[str, Any] = {"z": None, "a": [], "big": 10**30, "float": 1.0, "text": "ü\0\ud800", "true": True}
    with store.writing(NOW) as on:
        made = TESTS.create(org, on, Test(name="refund", content=content))
    with store.reading() as on:
        kept = TESTS.need(org, on, made.id)
    assert kept == made
    assert repr(kept.value.content) == repr(content)
    assert (kept.version, kept.created_at, kept.updated_at) == (1, NOW, NOW)


def test_rows_are_listed_in_the_order_of_their_making(store: Store, org: Org) -> None:
    """Pages follow one another without a gap or a double, also while rows are added."""
    with store.writing(NOW) as on:
        made = TESTS.create_all(org, on, [Test(name=str(number), content={}) for number in range(7)])
    seen: list[Kept[Test]] = []
    cursor = None
    for number in range(3):
        with store.writing(later(1 + number)) as on:
            page = TESTS.page(org, on, Wanted(limit=3, cursor=cursor))
            made += TESTS.create_all(org, on, [Test(name="later", content={})] * (number < 2))
        seen += page.rows
        cursor = page.next
    assert cursor is None
    assert [kept.id for kept in seen] == [kept.id for kept in made]


def test_a_list_can_be_of_what_is_equal(store: Store, org: Org) -> None:
    """Lists and counts can be of the rows whose columns are equal to something."""
    with store.writing(NOW) as on:
        first, second = TESTS.create_all(org, on, [Test(name="a", content={}), Test(name="b", content={})])
        assert [kept.id for kept in TESTS.page(org, on, Wanted(), name="b").rows] == [second.id]
        assert (TESTS.count(org, on), TESTS.count(org, on, name="a"), TESTS.count(org, on, name="c")) == (2, 1, 0)
        assert first.id < second.id


@pytest.mark.parametrize("cursor", ["", "?", "bm8", "MQ", "é", "IlwwIg", "IlxuIg"])
def test_a_cursor_that_no_page_gave_is_refused(store: Store, org: Org, cursor: str) -> None:
    """A cursor that no page gave is told to be none."""
    with store.reading() as on, pytest.raises(UsageError, match="expected a cursor that an earlier page gave"):
        TESTS.page(org, on, Wanted(cursor=cursor))


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_has_a_size(store: Store, org: Org, limit: int) -> None:
    """A page of no rows or of too many is refused."""
    with store.reading() as on, pytest.raises(UsageError, match="a page has 1 to 1,000 rows"):
        TESTS.page(org, on, Wanted(limit=limit))


def test_a_change_counts_the_version(store: Store, org: Org) -> None:
    """A change of the version that was read is made, and the same change once more is refused."""
    with store.writing(NOW) as on:
        made = REQUIREMENTS.create(org, on, Requirement(name="a"))
    with store.writing(later(5)) as on:
        changed = REQUIREMENTS.update(org, on, made.id, Requirement(name="b"), version=1)
    assert (changed.version, changed.value.name, changed.updated_at) == (2, "b", later(5))
    assert changed.created_at == NOW
    with store.writing(later(6)) as on, pytest.raises(ChangedRowError, match="is version 2 now; read it again"):
        REQUIREMENTS.update(org, on, made.id, Requirement(name="c"), version=1)
    with store.writing(later(7)) as on, pytest.raises(ChangedRowError, match="is version 2 now"):
        REQUIREMENTS.delete(org, on, made.id, version=1)
    with store.writing(later(8)) as on:
        assert REQUIREMENTS.update(org, on, made.id, Requirement(name="d")).version == 3


def test_what_is_not_there_is_said_to_be_unknown(store: Store, org: Org) -> None:
    """Reading gives nothing; needing, changing and deleting say that there is no such row."""
    with store.writing(NOW) as on:
        assert TESTS.get(org, on, "test_x") is None
        with pytest.raises(UnknownRowError, match="there is no test `test_x`"):
            TESTS.need(org, on, "test_x")
        with pytest.raises(UnknownRowError, match="there is no test `test_x`"):
            TESTS.update(org, on, "test_x", Test(name="a", content={}))
        with pytest.raises(UnknownRowError, match="there is no test `test_x`"):
            TESTS.delete(org, on, "test_x")


def test_a_row_cannot_point_at_nothing(store: Store, org: Org) -> None:
    """A row that points at one that is not there is refused, and so is a change that makes it point there."""
    with store.writing(NOW) as on:
        made = TESTS.create(org, on, Test(name="a", content={}))
    lost = Test(name="a", content={}, requirement_id="req_x")
    for change in (lambda on: TESTS.create(org, on, lost), lambda on: TESTS.update(org, on, made.id, lost)):
        with pytest.raises(UnknownRowError, match="the test refers to something that is not there"):
            store.write(change, NOW)


def test_what_is_pointed_at_stays(store: Store, org: Org) -> None:
    """A requirement with tests cannot be deleted; without them it can."""
    with store.writing(NOW) as on:
        requirement = REQUIREMENTS.create(org, on, Requirement(name="a"))
        test = TESTS.create(org, on, Test(name="a", content={}, requirement_id=requirement.id))
    with pytest.raises(ConflictError, match="the requirement is still in use"), store.writing(NOW) as on:
        REQUIREMENTS.delete(org, on, requirement.id)
    with store.writing(NOW) as on:
        TESTS.delete(org, on, test.id)
        REQUIREMENTS.delete(org, on, requirement.id)
        assert REQUIREMENTS.get(org, on, requirement.id) is None


@pytest.mark.parametrize(("name", "words"), [("a\0b", "NUL"), ("a\ud800", "surrogate")])
def test_text_that_one_database_cannot_hold_is_refused_on_both(store: Store, org: Org, name: str, words: str) -> None:
    """PostgreSQL holds no NUL, and neither holds half a surrogate pair: SQLite must not be any more lenient."""
    with store.writing(NOW) as on, pytest.raises(RefusedRowError, match=words):
        REQUIREMENTS.create(org, on, Requirement(name=name))


def test_a_failed_transaction_changes_nothing(store: Store, org: Org) -> None:
    """Changes before an exception are gone with it."""

    def fail(on: Transaction) -> None:
        TESTS.create(org, on, Test(name="a", content={}))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(fail, NOW)
    with store.reading() as on:
        assert TESTS.count(org, on) == 0


def test_every_organization_has_the_built_in_metric(store: Store, org: Org) -> None:
    """An organization begins with the metric of tool call trajectories, in order and partial, which it has once."""
    with store.writing(NOW) as on:
        (kept,) = metrics.METRICS.page(org, on, Wanted()).rows
        assert (kept.value.name, kept.value.content) == (
            "Tool Call Trajectory",
            {"match": "in_order", "arguments": "partial"},
        )
        with pytest.raises(ConflictError, match="another metric has this name already"):
            metrics.METRICS.create(org, on, kept.value)


def test_names_of_organizations_are_unique(databases: Maker) -> None:
    """Two organizations never have one name, and each is found by its own."""
    with migrating.open_store(databases()) as store:
        with store.writing(NOW) as on:
            organizations.create(on, "acme")
        _check_names(store)


def _check_names(store: Store) -> None:
    with pytest.raises(ConflictError, match="another organization has this name already"), store.writing(NOW) as on:
        organizations.create(on, "acme")
    with store.writing(later(1)) as on:
        other = organizations.create(on, "beta")
        assert [one.name for one in organizations.all_of_them(on)] == ["acme", "beta"]
        assert organizations.named(on, "beta") == other
        assert organizations.named(on, "gamma") is None


def test_an_organization_goes_with_everything_it_has(store: Store, org: Org) -> None:
    """Deleting an organization deletes its rows, also those that point at one another, and no others."""
    with store.writing(NOW) as on:
        other = organizations.create(on, f"other than {org}").id
        for one in (org, other):
            requirement = REQUIREMENTS.create(one, on, Requirement(name="a"))
            TESTS.create(one, on, Test(name="a", content={}, requirement_id=requirement.id))
            keys.create(one, on, "a", ["read"])
        organizations.remove(org, on)
        assert (TESTS.count(org, on), TESTS.count(other, on)) == (0, 1)
        assert (organizations.get(org, on), keys.all_of(org, on)) == (None, [])
        with pytest.raises(UnknownRowError, match="there is no organization"):
            organizations.remove(org, on)
