"""Detection, values held in memory, and the promise that bytes give declared errors or nothing."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError, UsageError
from rightcall.traces import conventions, openinference
from support import corpus

CALL = {"name": "a", "arguments": {"x": 1}}
MADE = (ToolCall(name="a", arguments={"x": 1}),)
OPENAI_CALL = {"id": "t", "type": "function", "function": {"name": "a", "arguments": '{"x": 1}'}}
MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [OPENAI_CALL]}]
RESPONSE = {"choices": [{"index": 0, "message": MESSAGES[1]}]}
SPAN = {
    "attributes": {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "a",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"x": 1}',
    }
}


class Dumped:
    """What an SDK hands out: an object that can dump itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def model_dump(self, mode: str = "python") -> Any:
        return self.value


class OldDumped(Dumped):
    def to_dict(self) -> Any:
        return self.value

    model_dump = None  # type: ignore[assignment]  # an SDK that offers only `to_dict`


@pytest.mark.parametrize(
    "value",
    [
        {"tool_calls": [CALL]},
        {"tool_calls": (CALL,)},
        [CALL],
        (CALL,),
        CALL,
        [OPENAI_CALL],
        OPENAI_CALL,
        ['{"name": "a", "arguments": {"x": 1}}'],
        {"type": "function_call", "name": "a", "call_id": "c", "arguments": '{"x": 1}'},
        json.dumps({"type": "function_call", "name": "a", "call_id": "c", "arguments": '{"x": 1}'}),
        MESSAGES,
        {"messages": MESSAGES},
        MESSAGES[1],
        RESPONSE,
        Dumped(RESPONSE),
        OldDumped(RESPONSE),
        [MESSAGES[0], Dumped(MESSAGES[1])],
        {"messages": (MESSAGES[0], OldDumped(MESSAGES[1]))},
        SPAN,
        [SPAN],
        SPAN["attributes"],
        json.dumps(MESSAGES),
        json.dumps({"tool_calls": [CALL]}).encode(),
        Trajectory(tool_calls=MADE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_in_memory_read_like_files(value: Any) -> None:
    """Records, calls in any shape, messages, bodies, spans, JSON text, objects of SDKs (G9; B066)."""
    read = traces.read_object(value)
    assert [(call.name, call.arguments) for call in read.tool_calls or ()] == [("a", {"x": 1})]


@pytest.mark.parametrize("calls", [[], None])
def test_a_record_in_memory_says_whether_calls_were_recorded(calls: list[Any] | None) -> None:
    """An empty list of calls is recorded; a record without them is not (G3)."""
    assert traces.read_object({"id": "r", "tool_calls": calls}).tool_calls == (calls if calls is None else ())


@pytest.mark.parametrize("nothing", [[], (), "[]"])
def test_a_list_of_nothing_is_not_taken_for_a_conversation_without_calls(nothing: Any) -> None:
    """It may as well be messages that nobody recorded: who means no calls says so (G3)."""
    with pytest.raises(TraceError, match="an empty list may be no calls or nothing recorded; if no calls were made"):
        traces.read_object(nothing)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"tool_calls": [{"name": "a", "arguments": {"x": float("nan")}}]},
            "tool_calls[0].arguments.x: expected a JSON",
        ),
        (
            {"tool_calls": [{"name": "a", "arguments": {"x": {1, 2}}}]},
            "tool_calls[0].arguments.x: expected a JSON value",
        ),
        ({"tool_calls": [{"name": "a", "arguments": {1: 2}}]}, "tool_calls[0].arguments: expected a string as key"),
        ({"tool_calls": [{"name": "a", "arguments": deep(300)}]}, "nested deeper than the limit of 200"),
        ([{"tool_calls": []}, {"tool_calls": []}], "expected one trajectory; found 2"),
        ("", "expected one trajectory; found none"),
        (None, "expected what holds a conversation; found `None`"),
        (object(), "expected a JSON value; found an object of type `object`"),
        ({"hello": 1}, "the format is not known: this looks like a JSON object with the keys `hello`"),
        (["a", "b"], "the format is not known: this looks like a JSON array of strings"),
        ("not json", "the format is not known: this looks like text"),
        ({"tool_calls": [], "toolcalls": []}, "unknown key `toolcalls`"),
    ],
)
def test_values_that_hold_no_one_trajectory_are_refused(value: Any, message: str) -> None:
    """The error has the path and says what was expected."""
    with pytest.raises(TraceError) as caught:
        traces.read_object(value)
    assert message in str(caught.value)


def test_deep_values_are_walked_without_recursion() -> None:
    """A value of any depth gives the declared error."""
    with pytest.raises(TraceError, match="nested deeper"):
        traces.read_object({"tool_calls": [{"name": "a", "arguments": deep(100_000)}]})


def test_an_unknown_format_suggests_the_nearest() -> None:
    """The known names are listed."""
    with pytest.raises(UsageError, match=r"no format `openai_chat` \(did you mean `openai-chat`\?\)"):
        traces.read([], format="openai_chat")


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"PAR1....", "Parquet"),
        (b"\x28\xb5\x2f\xfd", "Zstandard"),
        (b"\xff\xfe{\x00", "text in UTF-16"),
        (b"\x0a\x05\x00\x01", "binary data"),
    ],
)
def test_binary_files_are_named(head: bytes, what: str) -> None:
    """A container is told apart from broken JSON."""
    with pytest.raises(TraceError, match=what) as caught:
        list(traces.read([head], file="f"))
    assert caught.value.where.file == "f"


@pytest.mark.parametrize("name", list(traces.FORMATS))
@pytest.mark.parametrize("chunks", [[], [b""], [b" \n", b"\n"], [b"\xef\xbb\xbf"]])
def test_an_empty_file_holds_no_trajectory(name: str, chunks: list[bytes]) -> None:
    """In every format, and by detection (G39)."""
    assert list(traces.read(chunks, format=name)) == []
    assert list(traces.read(chunks)) == []


def test_formats_are_detected_in_files_longer_than_the_head() -> None:
    """The head ends in the middle of a value."""
    long = {"role": "user", "content": 'x", {"y": [' * 20_000}
    assert traces.detect(json.dumps([*MESSAGES, long]).encode()) == "openai-chat"
    assert traces.detect(json.dumps({"messages": [*MESSAGES, long, long]}).encode()) == "openai-chat"
    assert traces.detect(json.dumps({"tool_calls": [{**CALL, "result": long}]}).encode()) == "native"
    assert traces.detect(json.dumps([{**SPAN, "name": long["content"]}]).encode()) == "openinference"


def read_quietly(data: bytes, name: str | None) -> None:
    """Read to the end; only declared errors may come."""
    with contextlib.suppress(TraceError):
        assert all(isinstance(item, Trajectory | TraceError) for item in traces.read([data], format=name))


NAMES = st.sampled_from([None, *traces.FORMATS])


@given(st.binary(max_size=200), NAMES)
def test_any_bytes_give_declared_errors_or_trajectories(data: bytes, name: str | None) -> None:
    """Never a traceback (G5)."""
    read_quietly(data, name)


WORDS = st.sampled_from(
    [
        "tool_calls", "messages", "choices", "message", "delta", "role", "content", "function", "name", "arguments",
        "request", "response", "attributes", "resourceSpans", "scopeSpans", "spans", "key", "value", "stringValue",
        "context", "span_id", "trace_id", "openinference.span.kind", "llm.output_messages", "llm.input_messages",
        "0.message", "tool_call", "id", "status", "events", "input.value", "tool.name", "llm", "tools", "kvlistValue",
    ]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
ROLES = st.sampled_from(["user", "assistant", "tool", "LLM", "TOOL"])
SHAPED = st.recursive(
    JSON | ROLES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(SHAPED, NAMES)
def test_any_json_gives_declared_errors_or_trajectories(value: Any, name: str | None) -> None:
    """Whatever stands where something else was expected (G5)."""
    read_quietly(json.dumps(value).encode(), name)


@given(SHAPED)
def test_any_json_as_one_span_gives_declared_errors_or_calls(value: Any) -> None:
    """The metric over one span meets rows of every kind (G29)."""
    with contextlib.suppress(TraceError):
        assert isinstance(openinference.read_llm_span(value), openinference.LLMSpan)


OWN = sorted(
    (entry.path for entry in corpus.entries(corpus.OWN) if entry.reader and entry.path.stat().st_size < 30_000),
    key=str,
)


@given(
    st.sampled_from(OWN),
    st.lists(st.tuples(st.integers(0, 30_000), st.integers(0, 40), st.binary(max_size=6)), min_size=1, max_size=4),
    NAMES,
)
def test_real_files_with_damage_give_declared_errors_or_trajectories(
    path: Any, edits: list[tuple[int, int, bytes]], name: str | None
) -> None:
    """Bytes cut out and put in at any place (G5)."""
    data = path.read_bytes()
    for start, length, put in edits:
        data = data[:start] + put + data[start + length :]
    read_quietly(data, name)


def test_every_convention_of_spans_is_a_format() -> None:
    """The formats name the conventions in the order in which spans are asked for them."""
    names = list(traces.FORMATS)
    assert names[-len(conventions.NAMES) :] == list(conventions.NAMES)


CASSETTE = "f.json: none of the {} exchanges of this log is a request to a model with a JSON body"
LEFT_OUT = "of a directory, files with `rightcall.` in their name, such as `rightcall.json`, are left out"
OF_OURS = f"f.json: this is a report of rightcall, not a trace; {LEFT_OUT}"
NODE_CONSOLE = "f.json: this is what Node's console exporter prints: no JSON, and without deep values; export OTLP"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"messages": [\n{"role": "user" "content": 1}]}', "f.json:2:17: not JSON: expecting ',' delimiter"),
        ("tests:\n  - id: a\n", "f.json: this looks like a test set, not a trace; name it with --tests"),
        ('{"tests": []}', "f.json: this looks like a test set, not a trace; name it with --tests"),
        ('{"rightcall": "0.1.0", "schema": 1}', OF_OURS),
        ('{"id": "a", "name": "", "outcome": "pass", "positional": false, "attempts": []}', OF_OURS),
        ("result,test,outcome,attempts,trajectory\n1,a,pass,1,x\n", OF_OURS),
        ("interactions:\n- request:\n    body: '{}'\n", CASSETTE.format(1)),
        ('{"interactions": [], "version": 1}', CASSETTE.format(0)),
        ("{\n  resource: {\n    attributes: { 'service.name': 'a' }\n  },\n  attributes: [Object]\n}\n", NODE_CONSOLE),
        ("{\n  traceId: '0af7651916cd43dd8448eb211c80319c',\n  name: 'chat'\n}\n", NODE_CONSOLE),
    ],
)
def test_a_file_that_is_no_trace_is_refused_for_what_it_is(text: str, message: str) -> None:
    """Broken JSON has its place, and our own files are known."""
    with pytest.raises(TraceError) as caught:
        list(traces.read([text.encode()], file="f.json"))
    assert str(caught.value) == message
