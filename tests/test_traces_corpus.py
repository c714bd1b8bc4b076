"""Every trace of the corpus reads as exactly the calls that were established by hand, or is refused."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError
from support import corpus

ENTRIES = corpus.everything()
READABLE = [entry for entry in ENTRIES if entry.values[0] is None or entry.values[0].reader]


def chunks(data: bytes, size: int = 4096) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def trajectories(data: bytes, format: str | None = None) -> list[Trajectory]:
    """Everything that a file holds; its first error is raised."""
    items = list(traces.read(chunks(data), format=format, file="trace"))
    for item in items:
        if isinstance(item, TraceError):
            raise item
    return [item for item in items if isinstance(item, Trajectory)]


def calls_of(found: list[Trajectory]) -> list[ToolCall]:
    return [call for trajectory in found for call in trajectory.tool_calls or ()]


def told(call: ToolCall) -> dict[str, Any]:
    """A call in the words of the index, as far as every entry says it."""
    words: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
    if call.arguments_state == "malformed":
        words |= {"malformed": True, "arguments_raw": call.arguments_text}
    return words


def listed(row: dict[str, Any]) -> dict[str, Any]:
    words: dict[str, Any] = {key: row[key] for key in ("name", "arguments", "malformed", "arguments_raw") if key in row}
    if row.get("kind") == "custom" and isinstance(row["arguments"], str):
        words["arguments"] = {"input": row["arguments"]}
    return words


@pytest.mark.parametrize("entry", READABLE)
@pytest.mark.parametrize("by", ["detection", "name"])
def test_a_file_reads_as_exactly_the_calls_in_it(entry: corpus.Entry | None, by: str) -> None:
    """Names, arguments, their states and the order are those of the index, by detection and by name (G9, G13)."""
    entry = corpus.present(entry)
    found = trajectories(entry.path.read_bytes(), entry.reader if by == "name" else None)
    assert [told(call) for call in calls_of(found)] == [listed(row) for row in entry.calls]
    assert all(trajectory.tool_calls is not None for trajectory in found)


@pytest.mark.parametrize("entry", READABLE)
def test_a_file_splits_into_its_sessions(entry: corpus.Entry | None) -> None:
    """One trajectory a session, in order, where the index says so; else one trajectory."""
    entry = corpus.present(entry)
    found = trajectories(entry.path.read_bytes())
    sizes = [(trajectory.conversation_id, len(trajectory.tool_calls or ())) for trajectory in found]
    if entry.sessions:
        assert sizes == [(row["session_id"], len(row["calls"])) for row in entry.sessions]
    elif entry.file in corpus.SEVERAL:
        assert [session for session, _ in sizes] == corpus.SEVERAL[entry.file]
    else:
        assert len(found) == 1


@pytest.mark.parametrize("entry", READABLE)
def test_what_became_of_each_call_is_read(entry: corpus.Entry | None) -> None:
    """Failures, calls that never ran, kinds, servers, delegation to agents, and parents are those of the index."""
    entry = corpus.present(entry)
    made = calls_of(trajectories(entry.path.read_bytes()))
    names = {row["name"] for row in entry.calls}
    for call, row in zip(made, entry.calls, strict=True):
        if entry.file in corpus.UNSAID:
            continue
        if row.get("error"):
            assert call.status != "ok"
        if row.get("executed") is False:
            assert call.status in ("requested", "pending")
        if row.get("delegation"):
            assert call.kind == "agent"
        if "server" in row:
            assert call.server == row["server"]
        if "kind" in row:
            assert call.kind == {"builtin": "client"}.get(row["kind"], row["kind"])
        if "parent" in row and call.parent is not None:
            assert made[call.parent].name == row["parent"]
        assert (row.get("parent") in names or _is_called_by_a_call(row)) == (call.parent is not None)


def _is_called_by_a_call(row: dict[str, Any]) -> bool:
    """Whether the index says that code which another call ran made this one."""
    caller = row.get("caller")
    return isinstance(caller, dict) and "tool_id" in caller


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_file_is_read_as_something_that_it_is_not(entry: corpus.Entry | None) -> None:
    """A file is detected as its own format; one of another format is refused, or its very calls are read."""
    entry = corpus.present(entry)
    data = entry.path.read_bytes()
    if entry.is_expectation:
        with pytest.raises(TraceError, match="which say what should be called; give a recorded trace"):
            traces.detect(data[:65536])
        return
    if entry.reader is not None:
        assert traces.detect(data[:65536]) == entry.reader
        return
    with contextlib.suppress(TraceError):
        found = trajectories(data)
        assert [told(call) for call in calls_of(found)] == [listed(row) for row in entry.calls]


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_wrong_format_by_name_makes_up_no_call(entry: corpus.Entry | None) -> None:
    """Told to read a file as another format, a reader refuses, tells a gap, or reads the very calls."""
    entry = corpus.present(entry)
    data = entry.path.read_bytes()
    assert [name for name in traces.FORMATS if not _makes_up_nothing(entry, data, name)] == []


def _makes_up_nothing(entry: corpus.Entry, data: bytes, name: str) -> bool:
    try:
        found = trajectories(data, name)
    except TraceError:
        return True
    if any(trajectory.gaps for trajectory in found):
        return all(told(call) in map(listed, entry.calls) for call in calls_of(found))
    if all(trajectory.tool_calls is None for trajectory in found):
        return True
    return [told(call) for call in calls_of(found)] == [listed(row) for row in entry.calls]
