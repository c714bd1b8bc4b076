"""Spans of one file grouped by conversation, trace, file or a key of the user's own, in memory and beyond it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.app.spool import Spools
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, UsageError
from rightcall.traces import spans, spilling
from rightcall.traces.cutting import Cutting
from rightcall.traces.spans import Grouping, Record, Span
from rightcall.traces.spans.model import Event
from support import corpus
from support.spanning import asked, ran, span, told

Lines = list[dict[str, Any]]


def text(lines: Lines) -> bytes:
    """JSON lines."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def read(lines: Lines, group_by: str | None = None) -> list[Trajectory]:
    """All trajectories of JSON lines; none may be an error."""
    found = list(traces.read([text(lines)], file="f", group_by=group_by))
    assert not any(isinstance(item, TraceError) for item in found)
    return [item for item in found if isinstance(item, Trajectory)]


def of_trace(trace: str, number: int, attributes: dict[str, Any], parent: int = 0) -> dict[str, Any]:
    """A span of a trace by a short name."""
    return span(number, attributes, parent, traceId=trace * 32)


SESSION = {"session.id": "s"}
INTERLEAVED = [
    of_trace("b", 6, asked(("third", {}), **SESSION, tenant="x")),
    of_trace("a", 2, ran("first", {})),
    of_trace("c", 3, asked(("second", {}), tenant="y")),
    of_trace("a", 1, asked(("first", {}, "i"), **SESSION, tenant="x")),
]

TABLE = {
    None: [("s", "s", ["first", "third"]), ("c" * 32, None, ["second"])],
    "conversation": [("s", "s", ["first", "third"]), ("c" * 32, None, ["second"])],
    "trace": [("a" * 32, "s", ["first"]), ("c" * 32, None, ["second"]), ("b" * 32, "s", ["third"])],
    "file": [("s", "s", ["first", "second", "third"])],
    "attribute:tenant": [("x", "x", ["first", "third"]), ("y", "y", ["second"])],
    "attribute:nothing": [("a" * 32, None, ["first"]), ("c" * 32, None, ["second"]), ("b" * 32, None, ["third"])],
}


@pytest.mark.parametrize("group_by", TABLE)
def test_what_belongs_together_is_one_trajectory(group_by: str | None) -> None:
    """A conversation unless told otherwise; each trace alone; all of the file; or what has a value in common."""
    found = read(INTERLEAVED, group_by)
    shown = [(item.id, item.conversation_id, [name for name, _ in told(item)]) for item in found]
    assert TABLE[group_by] == shown


@pytest.mark.parametrize("word", ["", "traces", "attribute", "attribute:", "Conversation"])
def test_an_unknown_group_is_refused_with_those_that_are_known(word: str) -> None:
    """A typing error must not be read as something else."""
    with pytest.raises(UsageError, match="expected `conversation`, `trace`, `file` or `attribute:KEY`"):
        traces.read([b"{}"], group_by=word)


def test_a_span_without_its_parent_is_warned_of() -> None:
    """A parent that is not there is a sign that more of the trace is not."""
    (whole,) = read([of_trace("a", 1, {}), of_trace("a", 2, asked(("t", {})), parent=1)])
    (torn,) = read([of_trace("a", 2, asked(("t", {})), parent=1)])
    note = "spans whose parent is not among those that were read: 1; others may be missing too"
    assert ((), (note,)) == (whole.warnings, torn.warnings)


IDS = st.sampled_from(["", "1", "2", "3", "4"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["session.id", "gen_ai.conversation.id", "a"]), st.sampled_from(["s", "t", ""]) | VALUES, max_size=3
)
EVENTS = st.builds(Event, name=st.sampled_from(["gen_ai.choice", "x"]), attributes=ATTRIBUTES)
TIMES = st.none() | st.integers(0, 4) | st.just(2**80)
SPANS = st.builds(
    Span,
    trace_id=IDS,
    span_id=IDS,
    parent_id=IDS,
    name=st.sampled_from(["", "n"]),
    start=TIMES,
    end=TIMES,
    attributes=ATTRIBUTES,
    events=st.lists(EVENTS, max_size=1).map(tuple),
)
RECORDS = st.builds(
    Record,
    trace_id=IDS,
    span_id=IDS,
    name=st.sampled_from(["gen_ai.choice", "gen_ai.user.message", "x"]),
    time=TIMES,
    attributes=ATTRIBUTES,
    body=VALUES,
)
KEYS = ("session.id", "gen_ai.conversation.id")
UNITS = st.sampled_from(["conversation", "trace", "file"])


@given(st.lists(SPANS, max_size=10))
def test_grouping_with_sorting_is_grouping_in_one_piece(found: list[Span]) -> None:
    """Trace by trace as all at once: copies, ancestors and sessions of a span are in its trace (R1, R9)."""
    groups = spans.grouped(found, Grouping(session_keys=KEYS), lambda group: True).groups
    assert spans.groups(found, KEYS) == list(groups)


@given(st.lists(SPANS | RECORDS, max_size=10), UNITS, st.sampled_from([0, 100]))
def test_what_is_kept_in_a_file_is_grouped_the_same(found: list[Span | Record], unit: Any, in_memory: int) -> None:
    """Beyond memory as in memory, with log records, copies, missing parents, odd numbers and missing times."""

    def tells(group: spans.Group) -> bool:
        return any(span.name for span in group.spans)

    here, others = spans.grouped(found, Grouping(session_keys=KEYS, unit=unit), tells)
    with Spools(in_memory) as keep:
        there, left_out = spans.grouped(found, Grouping(session_keys=KEYS, unit=unit, keep=keep), tells)
        assert (list(here), others) == (list(there), left_out)


@pytest.mark.parametrize("in_memory", [0, 1_000])
@pytest.mark.parametrize("entry", [entry for entry in corpus.entries(corpus.OWN) if entry.reader], ids=str)
def test_real_files_read_the_same_from_memory_and_from_a_file(entry: corpus.Entry, in_memory: int) -> None:
    """Every trajectory and every error, byte for byte, of all formats."""
    for group_by in (None, "conversation", "trace", "file"):
        by = None if group_by is None else traces.cutting.group_by(group_by)
        with Spools(in_memory) as keep:
            there = map(shown, traces.read_as(None, [entry.path.read_bytes()], "f", Cutting(by=by, keep=keep)))
            here = map(shown, traces.read_as(None, [entry.path.read_bytes()], "f", Cutting(by=by)))
            assert list(here) == list(there)


def shown(item: Trajectory | TraceError) -> bytes:
    """An item as bytes that differ where it differs."""
    return traces.native.encode(item) if isinstance(item, Trajectory) else repr((str(item), item.record_id)).encode()


@given(st.lists(st.tuples(st.integers(0, 5), st.text(max_size=2), st.integers()), unique=True), st.integers(1, 7))
def test_sorting_in_runs_is_sorting(rows: list[tuple[int, str, int]], held: int) -> None:
    """However few rows fit into memory."""
    with Spools(0) as keep:
        keeper = keep(list[tuple[int, str, int]])
        assert sorted(rows) == list(spilling.in_order(iter(rows), keeper, held))


def test_late_and_repeated_spans_find_their_trace() -> None:
    """Any order of lines gives the same; a line delivered twice changes nothing (R1, R8)."""
    lines = [of_trace(trace, number, asked((f"{trace}{number}", {}))) for trace in "abc" for number in range(1, 5)]
    shuffled = random.Random(5).sample(lines + lines[::2], 18)
    assert read(lines) == read(shuffled)
