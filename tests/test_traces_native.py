"""The native format: what is written reads back, what is broken says where, and nothing is lost in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.core.calls import Ingestion, ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents, native

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TEXTS = st.lists(st.text(), max_size=2).map(tuple)
MAYBE_TEXT = st.none() | st.text()
OTHER_FIELDS = {
    "id": MAYBE_TEXT,
    "status": st.sampled_from(["requested", "ok", "error", "refused", "pending"]),
    "result": JSON,
    "error": MAYBE_TEXT,
    "kind": st.sampled_from(["client", "server", "mcp", "handoff", "agent", "output", "custom"]),
    "server": MAYBE_TEXT,
    "agent": MAYBE_TEXT,
    "agent_path": TEXTS,
    "parent": st.none() | st.integers(0, 9),
    "requestor": st.sampled_from(["assistant", "user"]),
    "turn": st.none() | st.integers(0, 9),
    "message": st.none() | st.integers(0, 9),
    "started_at": MAYBE_TEXT,
    "ended_at": MAYBE_TEXT,
    "sources": TEXTS,
}
READABLE_CALLS = st.builds(
    ToolCall, name=st.text(), arguments=JSON.filter(lambda value: value is not None), **OTHER_FIELDS
)
UNREADABLE_CALLS = st.builds(
    ToolCall,
    name=st.text(),
    arguments=st.none(),
    arguments_state=st.sampled_from(["malformed", "redacted", "not_captured", "truncated"]),
    arguments_text=MAYBE_TEXT,
    **OTHER_FIELDS,
)
TRAJECTORIES = st.builds(
    Trajectory,
    id=st.text(),
    test_id=MAYBE_TEXT,
    conversation_id=MAYBE_TEXT,
    trace_ids=TEXTS,
    tool_calls=st.none() | st.lists(READABLE_CALLS | UNREADABLE_CALLS, max_size=4).map(tuple),
    gaps=TEXTS,
    available_tools=st.lists(
        st.builds(ToolSpec, name=st.text(), description=MAYBE_TEXT, parameters=JSON), max_size=2
    ).map(tuple),
    messages=st.none() | st.lists(JSON, max_size=3),
    output=JSON,
    failure=MAYBE_TEXT,
    trouble=MAYBE_TEXT,
    warnings=TEXTS,
    metadata=st.dictionaries(st.text(), JSON, max_size=2),
    ingestion=st.none()
    | st.builds(
        Ingestion,
        messages=st.integers(0, 3),
        spans=st.integers(0, 3),
        joined=st.integers(0, 3),
        unknown=TEXTS,
        content_off=st.booleans(),
    ),
    expectations=st.dictionaries(
        st.sampled_from(["expected_tool_calls", "match", "threshold", "x-owner", "prompt"]), JSON, max_size=3
    ),
)


def items(data: bytes | str) -> list[Trajectory | TraceError]:
    """What the native reader yields."""
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return list(traces.read([text], format="native", file="records.jsonl"))


def one(record: Any) -> Trajectory:
    """The one trajectory that a record writes."""
    (item,) = items(json.dumps(record))
    if isinstance(item, TraceError):
        raise item
    return item


def told(item: Trajectory | TraceError) -> str:
    return str(item) if isinstance(item, TraceError) else item.id


@given(TRAJECTORIES)
def test_what_is_written_reads_back_as_the_same(trajectory: Trajectory) -> None:
    """Write, then read is the identity, calls whose arguments are unknown or no object included."""
    assert items(native.encode(trajectory)) == [trajectory]


@given(st.lists(TRAJECTORIES, max_size=3), st.integers(1, 64))
def test_chunks_may_be_cut_anywhere(written: list[Trajectory], size: int) -> None:
    """The reader sees lines, however the bytes arrive."""
    data = b"".join(map(native.encode, written))
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    assert list(traces.read(chunks, format="native")) == written


@pytest.mark.parametrize(
    ("entry", "made"),
    [
        ({"name": "a", "arguments": {"x": 1}}, ToolCall(name="a", arguments={"x": 1})),
        ({"name": "a"}, ToolCall(name="a")),
        ({"name": "a", "arguments": None}, ToolCall(name="a")),
        ({"name": "a", "arguments": ""}, ToolCall(name="a")),
        ({"name": "a", "arguments": " \n"}, ToolCall(name="a")),
        ({"name": "a", "arguments": "null"}, ToolCall(name="a")),
        ({"name": "a", "arguments": '{"x": 1}'}, ToolCall(name="a", arguments={"x": 1})),
        ({"name": "a", "arguments": '"{}"'}, ToolCall(name="a", arguments="{}")),
        ({"name": "a", "arguments": [1, 2]}, ToolCall(name="a", arguments=[1, 2])),
        ({"name": "a", "args": {"x": 1}}, ToolCall(name="a", arguments={"x": 1})),
        ({"name": "a", "input": {"x": 1}}, ToolCall(name="a", arguments={"x": 1})),
        ({"tool": "a", "input": {"x": 1}}, ToolCall(name="a", arguments={"x": 1})),
        ({"function_name": "a", "arguments": {"x": 1}}, ToolCall(name="a", arguments={"x": 1})),
        (
            {"id": "t", "type": "function", "function": {"name": "a", "arguments": '{"x": 1}'}},
            ToolCall(name="a", arguments={"x": 1}, id="t"),
        ),
        (
            {"id": "t", "type": "custom", "custom": {"name": "a", "input": "SELECT 1"}},
            ToolCall(name="a", arguments={"input": "SELECT 1"}, id="t", kind="custom"),
        ),
        ({"functionCall": {"name": "a", "args": {"x": 1}}}, ToolCall(name="a", arguments={"x": 1})),
        ({"function_call": {"name": "a", "args": {"x": 1}}}, ToolCall(name="a", arguments={"x": 1})),
        (
            {"type": "function_call", "name": "a", "arguments": '{"x": 1}', "call_id": "c", "id": "fc"},
            ToolCall(name="a", arguments={"x": 1}, id="c"),
        ),
        ('{"type": "tool_call", "name": "a", "arguments": {"x": 1}}', ToolCall(name="a", arguments={"x": 1})),
        (
            {"function": {"name": "a"}, "status": "error", "result": "no"},
            ToolCall(name="a", status="error", result="no"),
        ),
    ],
)
def test_a_call_may_have_any_shape_that_is_known(entry: Any, made: ToolCall) -> None:
    """Every single-call shape reads as the same call, its arguments decoded once (G9, G10)."""
    assert one({"tool_calls": [entry]}).tool_calls == (made,)


@pytest.mark.parametrize(
    "text",
    ['{"x": 1, "y": "lon', '{"x": 1, "x": 2}', '{"x": NaN}', '{}""', "plain words", "[" * 300 + "]" * 300],
)
def test_arguments_that_are_not_json_are_kept_and_flagged(text: str) -> None:
    """Broken, repeated or too deep: the call stays, with its text (G8, G9)."""
    (call,) = one({"tool_calls": [{"name": "a", "arguments": text}]}).tool_calls or ()
    assert (call.name, call.arguments, call.arguments_state, call.arguments_text) == ("a", None, "malformed", text)


@pytest.mark.parametrize(
    ("entry", "text"), [("a", '"a"'), (7, "7"), (None, "null"), ([1], "[1]"), ('["a"]', '"[\\"a\\"]"')]
)
def test_an_entry_that_is_no_call_is_counted_as_one_without_a_name(entry: Any, text: str) -> None:
    """Counted with a warning that names its place (G9)."""
    read = one({"tool_calls": [{"name": "b"}, entry]})
    assert read.tool_calls == (
        ToolCall(name="b"),
        ToolCall(name="", arguments=None, arguments_state="malformed", arguments_text=text),
    )
    assert [warning.partition(" ")[0] for warning in read.warnings] == ["tool_calls[1]"]


def test_a_call_without_a_name_keeps_its_arguments() -> None:
    """An object without a string for its name is a call named `""` (G9)."""
    read = one({"tool_calls": [{"arguments": {"x": 1}}, {"name": 5}]})
    assert [(call.name, call.arguments) for call in read.tool_calls or ()] == [("", {"x": 1}), ("", {})]
    assert len(read.warnings) == 2


def test_misspelt_arguments_are_unknown_rather_than_none() -> None:
    """A near miss of `arguments` must not read as a call without arguments."""
    read = one({"tool_calls": [{"name": "a", "argumets": {"x": 1}}]})
    assert [(call.name, call.arguments_state) for call in read.tool_calls or ()] == [("a", "not_captured")]
    assert "`argumets`" in read.warnings[0]


def test_states_of_unknown_arguments_are_read_as_written() -> None:
    """A call may say that its arguments are unknown; what is given of them is kept as text (G11)."""
    read = one({"tool_calls": [{"name": "a", "arguments_state": "redacted", "arguments": {"x": "***"}}]})
    assert read.tool_calls == (
        ToolCall(name="a", arguments=None, arguments_state="redacted", arguments_text='{"x":"***"}'),
    )


@pytest.mark.parametrize(("record", "recorded"), [({}, None), ({"tool_calls": None}, None), ({"tool_calls": []}, ())])
def test_not_recorded_is_not_the_same_as_none_made(record: dict[str, Any], recorded: Any) -> None:
    """Absent and `null` mean not recorded, `[]` means that no call was made (G3)."""
    assert one({"id": "r", **record}).tool_calls == recorded


def test_expectations_beside_the_calls_are_kept_as_they_stand() -> None:
    """Every expectation key and `x-…` key goes along undecoded, `null` included."""
    expected = {"expected_tool_calls": [{"name": "a"}], "match": "exact", "threshold": None, "x-owner": "me"}
    assert one({"id": "r", "tool_calls": [], **expected}).expectations == expected


def test_an_unknown_key_is_told_and_does_not_lose_the_calls() -> None:
    """The warning names the key and the nearest one that is known."""
    read = one({"tool_calls": [{"name": "a"}], "mesages": []})
    assert read.tool_calls == (ToolCall(name="a"),)
    assert read.warnings == ("unknown key `mesages` is not read (did you mean `messages`?)",)


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("expected_tool_call", "expected_tool_calls"),
        ("toolcalls", "tool_calls"),
        ("allowed_tool", "allowed_tools"),
        ("Forbidden_tools", "forbidden_tools"),
    ],
)
def test_a_near_miss_of_an_expectation_is_an_error(key: str, near: str) -> None:
    """Read past it, a wrong call would pass in silence."""
    (item,) = items(json.dumps({"id": "r", "tool_calls": [], key: []}))
    assert told(item) == f"records.jsonl:1: {key}: unknown key `{key}` (did you mean `{near}`?)"


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({"id": 5}, "id"),
        ({"gaps": "none"}, "gaps"),
        ({"metadata": []}, "metadata"),
        ({"tool_calls": {"name": "a"}}, "tool_calls"),
        ({"tool_calls": [{"name": "a", "status": "done"}]}, "tool_calls[0].status"),
        ({"tool_calls": [{"name": "a", "turn": "1"}]}, "tool_calls[0].turn"),
        ({"tool_calls": [{"function": {"name": "a"}, "status": 1}]}, "tool_calls[0].status"),
        ({"available_tools": [{"description": "no name"}]}, "available_tools[0]"),
        ([], None),
        ("text", ""),
    ],
)
def test_a_field_of_the_wrong_type_is_an_error_of_its_record(record: Any, path: str | None) -> None:
    """The records beside it are read; the error has file, line and JSON path."""
    found = items("\n".join([json.dumps({"id": "before"}), json.dumps(record), json.dumps({"id": "after"})]))
    errors = [item for item in found if isinstance(item, TraceError)]
    assert [item.id for item in found if isinstance(item, Trajectory)] == ["before", "after"]
    assert [(e.where.file, e.where.line, e.where.path) for e in errors] == (
        [] if path is None else [("records.jsonl", 2, path)]
    )


def test_a_bad_line_among_good_ones_is_yielded_with_its_id() -> None:
    """One error for that record alone; its id is told where it stands before the fault (G39)."""
    found = items('{"id": "a"}\n{"id": "b", "tool_calls": [}\n\n{"id": "c"}\n')
    assert [told(item) for item in found] == [
        "a",
        "records.jsonl:2:28: not JSON: expecting value",
        "c",
    ]
    assert [item.record_id for item in found if isinstance(item, TraceError)] == ["b"]


def test_a_cut_last_line_says_so() -> None:
    """The last line without its end is one error (G39)."""
    found = items('{"id": "a", "tool_calls": []}\n{"id": "b", "tool_c')
    assert told(found[1]).startswith("records.jsonl:2:13: the last line is cut off, or not JSON")


@pytest.mark.parametrize("text", ["{", "[1", '{"id": "a"', "nonsense", "{]\n{]\n"])
def test_a_document_that_cannot_be_read_at_all_is_raised(text: str) -> None:
    """Nothing in it is a record, so it is no file of records (G39)."""
    with pytest.raises(TraceError) as caught:
        items(text)
    assert caught.value.where.file == "records.jsonl"


@pytest.mark.parametrize("text", ["", "  \n\n", "\ufeff", "[]"])
def test_an_empty_input_holds_no_trajectory(text: str) -> None:
    """Nothing is yielded (G39)."""
    assert items(text) == []


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "a"}\n{"id": "b"}\n',
        '{"id": "a"}\r\n\r\n{"id": "b"}',
        '\ufeff{"id": "a"}\n \t\n{"id": "b"}\n\n',
        '[{"id": "a"}, {"id": "b"}]',
        '[\n  {"id": "a"},\n  {"id": "b"}\n]\n',
        '{\n  "id": "a"\n}\n{\n  "id": "b"\n}\n',
        '{"id": "a"} {"id": "b"}',
    ],
)
def test_lines_and_documents_hold_the_same_records(text: str) -> None:
    """JSON lines with any line ends, an array, or documents one after another."""
    assert [told(item) for item in items(text)] == ["a", "b"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"id": "r", "output": NaN}', "`NaN` is not JSON"),
        ('{"id": "r", "id": "r"}', "the key `id` is repeated in one object"),
        ('{"id": "r", "output": {"a": 1, "a": 1}}', "the key `a` is repeated in one object"),
        ('{"id": "r", "tool_calls": [{"name": "a", "name": "a"}]}', "the key `name` is repeated in one object"),
        ('{"id": "r", "tool_calls": [{"name": "a", "arguments": {}, "arguments": {"x": 1}}]}', "repeated"),
        ('{"id": "r", "output": {"\\u003a": 1, "a": 1, "a": 2}}', "the key `a` is repeated in one object"),
        ('{"id": "r", "output": ' + "[" * 200 + "]" * 200 + "}", "nested deeper than the limit of 200"),
        ('{"id": "r", "output": "' + "\x01" + '"}', "not JSON"),
    ],
)
def test_what_is_not_json_spoils_its_record_alone(record: str, message: str) -> None:
    """NaN, repeated keys and too much depth are faults of one record (G8)."""
    found = items('{"id": "a"}\n' + record + '\n{"id": "b"}\n')
    assert [item.id for item in found if isinstance(item, Trajectory)] == ["a", "b"]
    assert [message in told(item) for item in found if isinstance(item, TraceError)] == [True]


def test_invalid_utf_8_spoils_its_record_alone() -> None:
    """The error names the byte (G8)."""
    found = items(b'{"id": "a"}\n{"id": "\xff"}\n{"id": "b"}')
    assert [told(item) for item in found] == ["a", "records.jsonl:2:9: not UTF-8: byte 0xff", "b"]


def test_lone_surrogates_and_large_integers_are_exact() -> None:
    """They are JSON, so they are read (G7)."""
    read = items('{"tool_calls": [{"name": "\\ud800", "arguments": {"n": 123456789012345678901234567890}}]}')
    assert [call.name for item in read if isinstance(item, Trajectory) for call in item.tool_calls or ()] == ["\ud800"]
    assert native.encode(read[0]) if isinstance(read[0], Trajectory) else None
    assert [call.arguments for item in read if isinstance(item, Trajectory) for call in item.tool_calls or ()] == [
        {"n": 123456789012345678901234567890}
    ]


def test_an_oversized_line_is_skipped_while_it_streams_by() -> None:
    """A record beyond the limit is one error; neither it nor its chunks are kept (G8)."""
    seen: list[int] = []

    def chunks() -> Any:
        yield b'{"id": "a"}\n{"id": "big", "output": "'
        for number in range(60):
            seen.append(number)
            yield b"x" * (256 * 1024)
        yield b'"}\n{"id": "b"}\n'

    found = list(traces.read(chunks(), format="native", file="f"))
    assert [told(item) for item in found] == [
        "a",
        "f:2: the record is larger than the limit of 10 MiB",
        "b",
    ]
    assert [item.record_id for item in found if isinstance(item, TraceError)] == ["big"]
    assert len(seen) == 60


def test_too_many_calls_are_an_error_of_their_record() -> None:
    """The limit on the number of calls is named (G8)."""
    calls = ",".join(['{"name":"a"}'] * (documents.MAX_CALLS + 1))
    found = items('{"id":"a"}\n{"id":"many","tool_calls":[' + calls + "]}\n")
    assert told(found[1]) == "records.jsonl:2: tool_calls: 100,001 calls are more than the limit of 100,000"
