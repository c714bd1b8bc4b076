"""Rows behave as a dictionary would, whatever is done to them in whatever order."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from rightcall.errors import ChangedRowError, ConflictError, UnknownRowError
from rightcall.store.engine import Org, Store
from rightcall.store.pages import Wanted
from rightcall.store.requirements import REQUIREMENTS, Requirement
from rightcall.store.rows import Kept
from rightcall.store.tests import TESTS, Test
from support.databases import later, new_organization

CONTENT = st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(max_size=3) | st.lists(st.none()))


class Rows(RuleBasedStateMachine):
    """Tests and requirements in the store, beside what they ought to be."""

    store: Store
    ids = Bundle("ids")
    needs = Bundle("needs")

    @initialize()
    def begin(self) -> None:
        self.org: Org = new_organization(self.store)
        self.tests: dict[str, Kept[Test]] = {}
        self.requirements: set[str] = set()
        self.seconds = 0

    def now(self) -> datetime.datetime:
        self.seconds += 1
        return later(self.seconds)

    @rule(target=needs)
    def require(self) -> str:
        with self.store.writing(self.now()) as on:
            made = REQUIREMENTS.create(self.org, on, Requirement(name="r")).id
        self.requirements.add(made)
        return made

    @rule(target=ids, content=CONTENT, need=st.none() | needs)
    def create(self, content: dict[str, Any], need: str | None) -> str:
        value = Test(name="t", content=content, requirement_id=need)
        if need is not None and need not in self.requirements:
            with pytest.raises(UnknownRowError), self.store.writing(self.now()) as on:
                TESTS.create(self.org, on, value)
            return "test_x"
        with self.store.writing(self.now()) as on:
            made = TESTS.create(self.org, on, value)
        self.tests[made.id] = made
        return made.id

    @rule(identity=ids, content=CONTENT, version=st.none() | st.integers(1, 3))
    def update(self, identity: str, content: dict[str, Any], version: int | None) -> None:
        now, before = self.now(), self.tests.get(identity)
        expected = self._refusal(before, version)
        value = Test(name="u", content=content)
        if expected is not None:
            with pytest.raises(expected), self.store.writing(now) as on:
                TESTS.update(self.org, on, identity, value, version)
            return
        assert before is not None
        with self.store.writing(now) as on:
            after = TESTS.update(self.org, on, identity, value, version)
        assert (after.version, after.created_at, after.updated_at) == (before.version + 1, before.created_at, now)
        self.tests[identity] = after

    @rule(identity=ids, version=st.none() | st.integers(1, 3))
    def delete(self, identity: str, version: int | None) -> None:
        expected = self._refusal(self.tests.get(identity), version)
        if expected is None:
            with self.store.writing(self.now()) as on:
                TESTS.delete(self.org, on, identity, version)
            del self.tests[identity]
        else:
            with pytest.raises(expected), self.store.writing(self.now()) as on:
                TESTS.delete(self.org, on, identity, version)

    @rule(need=needs)
    def release(self, need: str) -> None:
        used = any(kept.value.requirement_id == need for kept in self.tests.values())
        expected = UnknownRowError if need not in self.requirements else ConflictError if used else None
        if expected is None:
            with self.store.writing(self.now()) as on:
                REQUIREMENTS.delete(self.org, on, need)
            self.requirements.remove(need)
        else:
            with pytest.raises(expected), self.store.writing(self.now()) as on:
                REQUIREMENTS.delete(self.org, on, need)

    def _refusal(self, kept: Kept[Test] | None, version: int | None) -> type[Exception] | None:
        if kept is None:
            return UnknownRowError
        return None if version in (None, kept.version) else ChangedRowError

    @invariant()
    def all_of_them_are_listed(self) -> None:
        if not hasattr(self, "org"):
            return
        seen: list[Kept[Test]] = []
        cursor = None
        with self.store.reading() as on:
            while len(seen) <= len(self.tests):
                page = TESTS.page(self.org, on, Wanted(limit=2, cursor=cursor))
                seen += page.rows
                cursor = page.next
                if cursor is None:
                    break
            assert TESTS.count(self.org, on) == len(self.tests)
        assert seen == [self.tests[identity] for identity in sorted(self.tests)]


def test_rows_are_as_a_dictionary_would_be(store: Store) -> None:
    """Creating, changing and deleting in any order leaves what it would leave in a dictionary, with its versions."""

    class Machine(Rows):
        pass

    Machine.store = store
    run_state_machine_as_test(Machine, settings=settings(max_examples=12, stateful_step_count=15))
