"""Uploads, traces and spans: the same bytes once, and the same trace however its spans come."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import ConflictError, UnknownRowError
from rightcall.store import spans, traces, uploads
from rightcall.store.engine import Org, Store
from rightcall.store.spans import Span
from rightcall.store.traces import TRACES, Trace
from support.databases import NOW, later, new_organization


def test_the_same_bytes_are_kept_once(store: Store, org: Org) -> None:
    """Bytes come back as they came, small ones and those that deflate; the second time the first upload is given."""
    for data in (b"", b"\0\1\2", b'{"tool_calls": []}\n' * 1000):
        with store.writing(NOW) as on:
            first, is_new = uploads.keep(org, on, data, "a.jsonl", "native")
        with store.writing(later(1)) as on:
            again, is_new_again = uploads.keep(org, on, data, "b.jsonl", "otlp")
            assert (is_new, is_new_again, again) == (True, False, first)
            assert uploads.get(org, on, first.id) == first
            assert uploads.body(org, on, first.id) == data
            assert first.size == len(data)


def test_bytes_can_be_deleted_with_what_was_read_from_them(store: Store, org: Org) -> None:
    """An upload stays while a trace was read from it, and is gone after that."""
    with store.writing(NOW) as on:
        upload, _ = uploads.keep(org, on, b"secret")
        trace = TRACES.create(org, on, Trace(key="t", upload_id=upload.id))
    with pytest.raises(ConflictError, match="the upload is still in use"), store.writing(NOW) as on:
        uploads.remove(org, on, upload.id)
    with store.writing(NOW) as on:
        TRACES.delete(org, on, trace.id)
        uploads.remove(org, on, upload.id)
        assert uploads.body(org, on, upload.id) is None
        with pytest.raises(UnknownRowError, match="there is no upload"):
            uploads.remove(org, on, upload.id)


def test_traces_of_an_upload_stay_in_order(store: Store, org: Org) -> None:
    """Traces are read in their order in the upload, with what was read from them, and found by their key."""
    with store.writing(NOW) as on:
        upload, _ = uploads.keep(org, on, b"two lines")
        made = [Trace(key=f"t{place}", upload_id=upload.id, position=place) for place in (1, 0)]
        second, first = TRACES.create_all(org, on, made)
        traces.set_trajectories(org, on, {first.id: b"one", second.id: b"two"})
        assert [kept.id for kept in traces.of_upload(org, on, upload.id)] == [first.id, second.id]
        assert traces.trajectory(org, on, first.id) == b"one"
        assert traces.by_key(org, on, "t1") == second
        assert traces.by_key(org, on, "t2") is None
    with pytest.raises(ConflictError), store.writing(NOW) as on:
        TRACES.create(org, on, Trace(key="t1"))


SPANS = [
    Span(span_id="root", name="agent", started_at=0, ended_at=9, body=b"root"),
    Span(span_id="a", parent_id="root", name="model", started_at=1, ended_at=4, body=b"a"),
    Span(span_id="b", parent_id="root", started_at=2, ended_at=8, body=b"b"),
    Span(span_id="c", parent_id="b", started_at=3, ended_at=None, body=b"c, not ended"),
    Span(span_id="c", parent_id="b", started_at=3, ended_at=7, body=b"c"),
    Span(span_id="c", parent_id="b", started_at=3, ended_at=7, body=b"c, otherwise"),
]


@pytest.mark.parametrize(
    ("came", "state"),
    [
        ([0], "complete"),
        ([1], "incomplete"),
        ([0, 1], "complete"),
        ([0, 4], "incomplete"),
        ([0, 2, 3], "incomplete"),
        ([0, 2, 3, 4], "complete"),
        ([1, 2, 4], "incomplete"),
    ],
)
def test_a_trace_is_incomplete_while_something_is_missing(store: Store, org: Org, came: list[int], state: str) -> None:
    """A trace is complete with a root, every parent that is named, and an end of each span."""
    with store.writing(NOW) as on:
        taken = spans.take(org, on, "trace", [SPANS[place] for place in came], "otlp")
        kept = TRACES.need(org, on, taken.trace_id)
    assert (kept.value.state, kept.value.format) == (state, "otlp")


def test_late_spans_join_their_trace(store: Store, org: Org) -> None:
    """A later span changes its trace, which is to be read again; one that has come before changes nothing."""
    with store.writing(NOW) as on:
        first = spans.take(org, on, "trace", SPANS[1:2], "otlp")
        traces.set_trajectories(org, on, {first.trace_id: b"read"})
        before = TRACES.need(org, on, first.trace_id)
    with store.writing(later(1)) as on:
        assert spans.take(org, on, "trace", SPANS[1:2], "otlp") == spans.Taken(trace_id=first.trace_id, new=0)
        assert TRACES.need(org, on, first.trace_id) == before
        assert traces.trajectory(org, on, first.trace_id) == b"read"
        assert spans.take(org, on, "trace", SPANS[:2], "otlp") == spans.Taken(trace_id=first.trace_id, new=1)
        after = TRACES.need(org, on, first.trace_id)
        assert traces.trajectory(org, on, first.trace_id) is None
    assert (after.version, after.updated_at, after.value.name) == (before.version + 1, later(1), "agent")
    assert (after.value.spans, after.value.started_at, after.value.ended_at) == (2, 0, 9)


def test_of_spans_with_one_id_the_same_one_stays(store: Store, org: Org) -> None:
    """Of spans with one id one that ended last stays, in whatever order they come."""
    kept = []
    for number, order in enumerate(itertools.permutations(SPANS[3:6])):
        with store.writing(NOW) as on:
            taken = [spans.take(org, on, str(number), [span], "otlp") for span in order]
            kept.append(spans.of_trace(org, on, taken[0].trace_id))
    assert kept == [kept[0]] * 6
    assert [span.ended_at for span in kept[0]] == [7]


@settings(max_examples=25)
@given(data=st.data())
def test_however_spans_come_the_same_trace_comes_of_them(store: Store, data: st.DataObject) -> None:
    """Any order and any batches, with spans twice, leave the same spans and the same trace as all of them at once."""
    came = data.draw(st.lists(st.sampled_from(SPANS), min_size=1, max_size=10))
    otherwise = data.draw(st.permutations([*came, *came[:2]]))
    cut = data.draw(st.integers(0, len(otherwise)))
    org = new_organization(store)
    with store.writing(NOW) as on:
        whole = spans.take(org, on, "whole", came, "otlp").trace_id
        first = spans.take(org, on, "parts", otherwise[:cut], "otlp").trace_id
        assert spans.take(org, on, "parts", otherwise[cut:], "otlp").trace_id == first
        assert spans.of_trace(org, on, first) == spans.of_trace(org, on, whole)
        assert told(TRACES.need(org, on, first).value) == told(TRACES.need(org, on, whole).value)


def told(trace: Trace) -> Trace:
    """What a trace says but for what its sender calls it."""
    return msgspec.structs.replace(trace, key="")
