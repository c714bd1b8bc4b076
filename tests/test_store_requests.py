"""What a server keeps of those that ask: keys, numbers, requests that are sent again, the audit log, sealed secrets."""

from __future__ import annotations

import base64

import pytest

from rightcall.errors import ConflictError, StoreError, UnknownRowError, UsageError
from rightcall.store import audit, counters, endpoints, idempotency, keys, metrics, test_sets, tests
from rightcall.store.endpoints import ENDPOINTS, Endpoint
from rightcall.store.engine import Org, Store, Transaction
from rightcall.store.idempotency import Answer
from rightcall.store.pages import Wanted
from rightcall.store.sealing import Sealer
from rightcall.store.test_sets import TEST_SETS, TestSet
from support.databases import NOW, later
from support.filling import rows


def test_a_key_is_recognized_by_its_text_alone(store: Store, org: Org) -> None:
    """The text of a key is what recognizes it, and it is not among what is kept."""
    with store.writing(NOW) as on:
        key, text = keys.create(org, on, "ci", ["write", "read", "read"])
        assert keys.recognize(on, text) == key
        assert keys.recognize(on, text[:-1]) is None
        assert keys.recognize(on, key.prefix) is None
        assert keys.recognize(on, "\udcff") is None
        assert text not in repr(rows(on, org))
    assert (key.scopes, text.startswith(key.prefix)) == (("read", "write"), True)


def test_a_revoked_key_is_of_no_use(store: Store, org: Org) -> None:
    """A key is revoked at once and for good, and stays in the list."""
    with store.writing(NOW) as on:
        key, text = keys.create(org, on, "ci", ["admin"])
    with store.writing(later(1)) as on:
        revoked = keys.revoke(org, on, key.id)
    with store.writing(later(2)) as on:
        assert keys.recognize(on, text) is None
        assert keys.revoke(org, on, key.id) == revoked
        assert (revoked.revoked_at, keys.all_of(org, on), keys.get(org, on, key.id)) == (later(1), [revoked], revoked)
        with pytest.raises(UnknownRowError, match="there is no key `key_x`"):
            keys.revoke(org, on, "key_x")


def test_the_use_of_a_key_is_noted_once_a_minute(store: Store, org: Org) -> None:
    """A use is worth writing down where the last one is a minute ago."""
    with store.writing(NOW) as on:
        key, text = keys.create(org, on, "ci", ["read"])
        assert keys.is_use_due(key, NOW)
        keys.note_use(org, on, key.id)
        used = keys.recognize(on, text)
    assert used is not None
    assert (used.last_used_at, keys.is_use_due(used, later(59)), keys.is_use_due(used, later(60))) == (NOW, False, True)


def test_numbers_count_on(store: Store, org: Org) -> None:
    """A counter begins at 1 and gives each number once; those of a failed transaction are given again."""
    with store.writing(NOW) as on:
        assert list(counters.take(org, on, "evaluations")) == [1]
        assert list(counters.take(org, on, "evaluations", 3)) == [2, 3, 4]
        assert list(counters.take(org, on, "datasets")) == [1]

    def fail(on: Transaction) -> None:
        counters.take(org, on, "datasets")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(fail, NOW)
    with store.writing(NOW) as on:
        assert list(counters.take(org, on, "datasets")) == [2]


def test_a_request_that_is_sent_again_gets_the_same_answer(store: Store, org: Org) -> None:
    """The work is done once; another request with the same key is refused, and so is none that failed."""
    done: list[str] = []

    def work() -> Answer:
        done.append("done")
        return Answer(status=201, headers={"location": "/x"}, body=b"\0made")

    for seconds in (0, 1):
        with store.writing(later(seconds)) as on:
            answer = idempotency.once(org, on, "key", "hash", work)
            assert answer == Answer(status=201, headers={"location": "/x"}, body=b"\0made")
    assert done == ["done"]
    with pytest.raises(ConflictError, match="was used for another request"), store.writing(NOW) as on:
        idempotency.once(org, on, "key", "other", work)


def test_a_request_that_failed_can_be_sent_again(store: Store, org: Org) -> None:
    """A key whose work raised is free, and is forgotten after a while."""

    def fail() -> Answer:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), store.writing(NOW) as on:
        idempotency.once(org, on, "key", "hash", fail)
    with store.writing(NOW) as on:
        assert idempotency.once(org, on, "key", "hash", lambda: Answer(status=204)) == Answer(status=204)
        assert idempotency.forget(org, on, NOW) == 0
        assert idempotency.forget(org, on, later(1)) == 1
        assert idempotency.once(org, on, "key", "other", lambda: Answer(status=200)) == Answer(status=200)


def test_deeds_are_listed_as_they_were_done(store: Store, org: Org) -> None:
    """The audit log tells who did what to which row, page by page, the oldest first."""
    for number in range(3):
        with store.writing(later(number)) as on:
            audit.note(org, on, "key_a", "delete", f"test_{number}", why="old")
    with store.reading() as on:
        page = audit.page(org, on, Wanted(limit=2))
        rest = audit.page(org, on, Wanted(limit=2, cursor=page.next))
    deeds = [*page.rows, *rest.rows]
    assert [(deed.at, deed.subject) for deed in deeds] == [(later(number), f"test_{number}") for number in range(3)]
    assert (deeds[0].actor, deeds[0].action, deeds[0].details) == ("key_a", "delete", {"why": "old"})


def test_secrets_are_sealed(store: Store, org: Org) -> None:
    """Secrets are opened with the key that sealed them, are named without it, and are nowhere in what is kept."""
    old, new = (base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2))
    with store.writing(NOW) as on:
        endpoint = ENDPOINTS.create(org, on, Endpoint(name="agent", kind="http", content={})).id
        endpoints.set_secrets(org, on, endpoint, {"B": "hush-b", "A": "hush-ä\0"}, Sealer([old]))
        assert endpoints.secret_names(org, on, endpoint) == ["A", "B"]
        assert endpoints.open_secrets(org, on, endpoint, Sealer([new, old])) == {"A": "hush-ä\0", "B": "hush-b"}
        assert "hush" not in repr(rows(on, org))
        with pytest.raises(StoreError, match="a key that the server has not been given"):
            endpoints.open_secrets(org, on, endpoint, Sealer([new]))
        endpoints.set_secrets(org, on, endpoint, {"C": "other"}, Sealer([new, old]))
        assert endpoints.open_secrets(org, on, endpoint, Sealer([new])) == {"C": "other"}
        with pytest.raises(StoreError, match="secrets are kept only where the server has a key"):
            endpoints.set_secrets(org, on, endpoint, {"C": "other"}, Sealer())
    with pytest.raises(UnknownRowError), store.writing(NOW) as on:
        endpoints.set_secrets(org, on, "end_x", {"C": "other"}, Sealer([new]))


@pytest.mark.parametrize("key", ["short!", "AAAA", "ä", ""])
def test_a_key_for_secrets_has_32_bytes(key: str) -> None:
    """Anything else is refused, with how one is made."""
    with pytest.raises(UsageError, match="expected 32 random bytes in base64: openssl rand -base64 32") as caught:
        Sealer([key])
    assert not key or key not in str(caught.value)


def test_members_keep_their_order(store: Store, org: Org) -> None:
    """Tests are added at the end, once; set as a whole; taken out; and go with the test."""
    with store.writing(NOW) as on:
        test_set = TEST_SETS.create(org, on, TestSet(name="set")).id
        a, b, c = (kept.id for kept in tests.TESTS.create_all(org, on, [tests.Test(name="x", content={})] * 3))
        members = test_sets.TESTS
        assert members.add(org, on, test_set, [b, a, b]) == 2
        assert members.add(org, on, test_set, [a, c]) == 1
        assert members.all_of(org, on, test_set) == [b, a, c]
        first = members.page(org, on, test_set, Wanted(limit=2))
        rest = members.page(org, on, test_set, Wanted(limit=2, cursor=first.next))
        assert (first.rows, rest.rows, rest.next) == ((b, a), (c,), None)
        members.set(org, on, test_set, [c, b])
        members.remove(org, on, test_set, c)
        members.add(org, on, test_set, [a])
        assert members.all_of(org, on, test_set) == [b, a]
        tests.TESTS.delete(org, on, b)
        assert members.all_of(org, on, test_set) == [a]
        with pytest.raises(ConflictError, match="a test is named twice; a test set has each of them once"):
            members.set(org, on, test_set, [a, a])
        with pytest.raises(UnknownRowError, match="has no test"):
            members.remove(org, on, test_set, c)
        with pytest.raises(UnknownRowError, match="there is no test set `set_x`"):
            members.add(org, on, "set_x", [a])
        TEST_SETS.delete(org, on, test_set)
        assert tests.TESTS.get(org, on, a) is not None


def test_a_metric_goes_from_where_it_was_attached(store: Store, org: Org) -> None:
    """Deleting a metric takes it out of the test sets that had it."""
    with store.writing(NOW) as on:
        metric = metrics.METRICS.create(org, on, metrics.Metric(name="m", kind="budget")).id
        test_set = TEST_SETS.create(org, on, TestSet(name="set")).id
        test_sets.METRICS.add(org, on, test_set, [metric])
        metrics.METRICS.delete(org, on, metric)
        assert test_sets.METRICS.all_of(org, on, test_set) == []
