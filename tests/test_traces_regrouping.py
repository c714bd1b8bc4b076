"""Records of one file put together: by conversation, by a key of their metadata, or all of the file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import traces
from rightcall.app.spool import Spools
from rightcall.core.calls import Ingestion, ToolCall, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents
from rightcall.traces.cutting import Cutting, group_by

Record = dict[str, Any]


def items(records: list[Record | str], by: str | None) -> list[Trajectory | TraceError]:
    """What native records, or broken lines, become."""
    lines = [line if isinstance(line, str) else json.dumps(line) for line in records]
    return list(traces.read(["\n".join(lines).encode()], file="f", group_by=by))


def read(records: list[Record | str], by: str | None) -> list[Trajectory]:
    """The trajectories, of which none may be an error."""
    found = items(records, by)
    assert [item for item in found if isinstance(item, TraceError)] == []
    return [item for item in found if isinstance(item, Trajectory)]


def one(records: list[Record | str], by: str = "file") -> Trajectory:
    """The only trajectory."""
    (made,) = read(records, by)
    return made


def record(identity: str, *names: str, **more: Any) -> Record:
    """A record with calls of these tools."""
    return {"id": identity, "tool_calls": [{"name": name} for name in names], **more}


PARTS: list[Record | str] = [
    record("1", "a", conversation_id="s", metadata={"team": 7}),
    record("2", "b", metadata={"team": "7"}),
    record("3", "c", conversation_id="s"),
    record("4", "d", conversation_id="t", metadata={"team": True}),
]

TABLE: dict[str | None, list[tuple[str, str]]] = {
    None: [("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")],
    "trace": [("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")],
    "conversation": [("s", "ac"), ("2", "b"), ("4", "d")],
    "attribute:team": [("7", "ab"), ("3", "c"), ("4", "d")],
    "file": [("", "abcd")],
}


@pytest.mark.parametrize("by", TABLE)
def test_records_stand_as_they_are_unless_they_are_put_together(by: str | None) -> None:
    """By conversation, by a key, or all; in the order of the first parts; what has no key stands alone."""
    shown = [(item.id, "".join(call.name for call in item.tool_calls or ())) for item in read(PARTS, by)]
    assert TABLE[by] == shown


def test_indices_go_on_counting() -> None:
    """Calls inside calls, calls of one message and user turns keep meaning what they meant."""
    calls = [{"name": "a", "turn": 0, "message": 0}, {"name": "b", "turn": 1, "message": 0, "parent": 0}]
    made = one([{"tool_calls": calls}, {"tool_calls": calls}])
    assert made.tool_calls is not None
    assert [(call.turn, call.message, call.parent) for call in made.tool_calls] == [
        (0, 0, None),
        (1, 0, 0),
        (2, 1, None),
        (3, 1, 2),
    ]


def test_turns_are_not_known_after_a_part_that_does_not_tell_them() -> None:
    """A number that is not known is not made up."""
    told = {"tool_calls": [{"name": "a", "turn": 0}]}
    made = one([told, {"tool_calls": [{"name": "b"}]}, told])
    assert [call.turn for call in made.tool_calls or ()] == [0, None, None]


def test_turns_without_calls_are_counted_in_the_messages() -> None:
    """A user who was answered in words had a turn."""
    part = {"tool_calls": [{"name": "a", "turn": 0}], "messages": [{"role": "user"}, {"role": "user"}]}
    assert [call.turn for call in one([part, {**part, "messages": None}]).tool_calls or ()] == [0, 2]


GAPS: list[tuple[list[Record | str], tuple[str, ...], int | None]] = [
    ([record("1", "a"), record("2", "a")], (), 2),
    ([record("1", "a"), {"id": "2", "tool_calls": None}], ("the calls of part `2` were not recorded",), 1),
    ([{"id": "1", "tool_calls": None}, {"id": "2", "tool_calls": None}], (), None),
    ([record("1", gaps=["x"]), record("2", gaps=["x", "y"])], ("x", "y"), 0),
]


@pytest.mark.parametrize(("records", "gaps", "calls"), GAPS)
def test_what_is_missing_in_a_part_is_missing_in_the_whole(
    records: list[Record | str], gaps: tuple[str, ...], calls: int | None
) -> None:
    """Nothing is recorded only if no part is; gaps are all told, each once."""
    made = one(records)
    assert (gaps, calls) == (made.gaps, None if made.tool_calls is None else len(made.tool_calls))


def test_a_rejected_record_is_a_gap_of_the_file() -> None:
    """Its calls are missing, so no ban can pass."""
    made = one([record("1", "a"), "{", record("2", "b")])
    assert [call.name for call in made.tool_calls or ()] == ["a", "b"]
    (gap,) = made.gaps
    assert gap.startswith("a record on line 2 was rejected: not JSON")


def test_a_rejected_record_is_a_gap_of_every_conversation_that_it_may_belong_to() -> None:
    """And still an error of its own; what belongs to no conversation stands alone, as it is."""
    error, joined, alone = items([record("1", "a", conversation_id="s"), "{", record("2", "b")], "conversation")
    assert isinstance(error, TraceError)
    assert isinstance(joined, Trajectory)
    assert isinstance(alone, Trajectory)
    assert (len(joined.gaps), len(alone.gaps)) == (1, 0)


def test_a_part_that_the_next_one_repeats_is_not_counted_twice() -> None:
    """Each line of a log may repeat the conversation so far (R5)."""
    user = {"role": "user", "content": "x"}
    called = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "t", "arguments": "{}"}}]}
    again = {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "u", "arguments": "{}"}}]}
    lines: list[Record | str] = [{"messages": [user, called]}, {"messages": [user, called, user, again]}]
    assert [call.name for call in one(lines).tool_calls or ()] == ["t", "u"]


ALIKE: list[list[Record | str]] = [
    [record("1", "a", messages=[{"role": "user"}]), record("2", "b", messages=[{"role": "user"}])],
    [record("1", "a", messages=[{"role": "user"}]), record("2", "a", "b", messages=[{"role": "user"}] * 2)],
]


@pytest.mark.parametrize("records", ALIKE)
def test_parts_that_only_begin_alike_all_count(records: list[Record | str]) -> None:
    """The same prompt, or calls that no message shows, do not make one part a repetition of another."""
    shown = [call["name"] for part in records if isinstance(part, dict) for call in part["tool_calls"]]
    assert [call.name for call in one(records).tool_calls or ()] == shown


REFUSED = [
    ([record("1", test_id="x"), record("2", test_id="y")], "they name different tests, `x`, `y`"),
    ([record("1", allowed_tools=["a"]), record("2", allowed_tools=["b"])], "they expect different things"),
]


@pytest.mark.parametrize(("records", "why"), REFUSED)
def test_parts_of_different_tests_are_not_put_together(records: list[Record | str], why: str) -> None:
    """Which test the whole belongs to would be a guess."""
    (error,) = items(records, "file")
    assert isinstance(error, TraceError)
    assert f"trajectories of one group cannot be put together: {why}" == error.message


def test_what_the_parts_say_around_their_calls_is_united() -> None:
    """The last answer, every tool once, one test, one expectation; metadata on which they differ are left out."""
    first = record("1", "a", test_id="x", available_tools=[{"name": "a"}], output="o", metadata={"k": 1, "same": 1})
    second = record("2", "b", allowed_tools=["a", "b"], output="p", metadata={"k": 2, "same": 1}, trace_ids=["t"])
    second["available_tools"] = [{"name": "a"}, {"name": "b"}]
    made = one([first, second])
    assert (
        made.test_id,
        made.trace_ids,
        [tool.name for tool in made.available_tools],
        made.output,
        made.metadata,
        made.expectations,
    ) == ("x", ("t",), ["a", "b"], "p", {"same": 1}, {"allowed_tools": ["a", "b"]})
    assert made.warnings == ("the parts have different values of `k` in their metadata; it is left out",)


def test_what_was_read_of_the_parts_is_added_up() -> None:
    """Counts, names each once, and whether content was off anywhere."""
    first = record("1", ingestion={"spans": 2, "unknown": ["x"], "content_off": True})
    second = record("2", ingestion={"spans": 3, "unknown": ["x", "y"]})
    assert one([first, second, record("3")]).ingestion == Ingestion(spans=5, unknown=("x", "y"), content_off=True)


def test_more_calls_than_a_trajectory_may_hold_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is that of any trajectory (G8)."""
    monkeypatch.setattr(documents, "MAX_CALLS", 3)
    parts: list[Record | str] = [record("1", "a", "b", conversation_id="s"), record("2", "c", "d", conversation_id="s")]
    for by in ("file", "conversation"):
        (error,) = items(parts, by)
        assert isinstance(error, TraceError)
        assert error.message == "the calls put together are more than the limit of 3"


def test_records_are_put_together_from_a_file_as_from_memory() -> None:
    """However little is kept in memory."""
    data = "\n".join(json.dumps(part) for part in PARTS).encode()
    with Spools(0) as keep:
        kept = list(traces.read_as(None, [data], "f", Cutting(by=group_by("conversation"), keep=keep)))
        assert read(PARTS, "conversation") == kept


def test_a_python_value_can_be_read_as_one_trajectory() -> None:
    """What holds several is one if it is said to be."""
    made = traces.read_object(PARTS, group_by="file")
    assert (ToolCall(name="a"), 4) == ((made.tool_calls or ())[0], len(made.tool_calls or ()))
