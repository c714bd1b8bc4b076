"""Captured streams: server-sent events of every provider, and the older data stream of Vercel's SDK."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support import corpus

ARGUMENTS = '{"city": "Paris"}'


def chat(id: str | None = "c1", *, ended: bool = True) -> list[Any]:
    """The chunks of one streamed chat completion."""
    part = {"index": 0, "id": "t1", "type": "function", "function": {"name": "weather", "arguments": ""}}
    more = {"index": 0, "function": {"arguments": ARGUMENTS}}
    deltas: list[tuple[Any, Any]] = [
        ({"role": "assistant", "content": None, "tool_calls": [part]}, None),
        ({"tool_calls": [more]}, None),
        *([({}, "tool_calls")] if ended else []),
    ]
    named = {} if id is None else {"id": id}
    return [
        {**named, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in deltas
    ]


RESPONSES = [
    {"type": "response.created", "response": {"id": "r1", "object": "response", "status": "in_progress", "output": []}},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {"type": "function_call", "id": "f1", "call_id": "t1", "name": "weather", "arguments": ""},
    },
    {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "f1", "delta": ARGUMENTS},
    {
        "type": "response.completed",
        "response": {
            "id": "r1",
            "object": "response",
            "status": "completed",
            "output": [
                {"type": "function_call", "id": "f1", "call_id": "t1", "name": "weather", "arguments": ARGUMENTS}
            ],
        },
    },
]
ANTHROPIC = [
    {"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant", "content": []}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t1", "name": "weather", "input": {}},
    },
    {"type": "ping"},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": ARGUMENTS},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]
GEMINI = [
    {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "weather", "args": {"city": "Paris"}}}],
                },
                "finishReason": "STOP",
            }
        ],
        "responseId": "g1",
    }
]
COHERE = [
    {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}},
    {
        "type": "tool-call-start",
        "index": 0,
        "delta": {"message": {"tool_calls": {"id": "t1", "function": {"name": "weather", "arguments": ""}}}},
    },
    {
        "type": "tool-call-delta",
        "index": 0,
        "delta": {"message": {"tool_calls": {"function": {"arguments": ARGUMENTS}}}},
    },
    {"type": "tool-call-end", "index": 0},
    {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
]
VERCEL = [
    {"type": "start", "messageId": "m1"},
    {"type": "start-step"},
    {"type": "tool-input-start", "toolCallId": "t1", "toolName": "weather"},
    {"type": "tool-input-available", "toolCallId": "t1", "toolName": "weather", "input": {"city": "Paris"}},
    {"type": "finish-step"},
    {"type": "finish"},
]
MCP = [
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "weather", "arguments": {"city": "Paris"}}},
    {"jsonrpc": "2.0", "id": 1, "result": {"content": []}},
]
STREAMS: dict[str, list[Any]] = {
    "openai-chat": chat(),
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "cohere": COHERE,
    "vercel-ai": VERCEL,
    "mcp-jsonrpc": MCP,
}


def as_lines(values: list[Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def as_events(values: list[Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values) + b"data: [DONE]\n\n"


def with_all_fields(values: list[Any]) -> bytes:
    told = (
        f"id: {number}\nevent: {value.get('type', 'message')}\nretry: 3000\ndata: {json.dumps(value)}\n\n"
        for number, value in enumerate(values)
    )
    return (": connected\n\n" + "event: ping\n\n" + "".join(told)).encode()


def without_spaces(values: list[Any]) -> bytes:
    return b"".join(b"event:x\ndata:" + json.dumps(value).encode() + b"\n\n" for value in values)


def with_carriage_returns(values: list[Any]) -> bytes:
    return as_events(values).replace(b"\n", b"\r\n")


def over_several_lines(values: list[Any]) -> bytes:
    printed = (json.dumps(value, indent=1).splitlines() for value in values)
    return "".join("".join(f"data: {line}\n" for line in one) + "\n" for one in printed).encode()


def filtered_for_data(values: list[Any]) -> bytes:
    return as_events(values).replace(b"\n\n", b"\n")


LAYOUTS: list[Callable[[list[Any]], bytes]] = [
    as_events,
    with_all_fields,
    without_spaces,
    with_carriage_returns,
    over_several_lines,
    filtered_for_data,
]


def read(data: bytes, size: int = 50, format: str | None = None) -> list[Any]:
    """What a capture reads as; its errors as text."""
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    items = traces.read(chunks, format=format, file="f")
    return [str(item) if isinstance(item, TraceError) else msgspec.to_builtins(item) for item in items]


def trajectories(data: bytes) -> list[Trajectory]:
    return [item for item in traces.read([data], file="f") if isinstance(item, Trajectory)]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_events_read_as_the_json_lines_in_them(name: str, layout: Callable[[list[Any]], bytes]) -> None:
    """However the provider, a proxy or a recorder frames them, also compressed, detected or named."""
    data = layout(STREAMS[name])
    expected = read(as_lines(STREAMS[name]))
    (made,) = trajectories(data)
    assert [(call.name, call.arguments) for call in made.tool_calls or ()] == [("weather", {"city": "Paris"})]
    assert made.gaps == ()
    assert traces.detect(data) == name
    assert read(data) == read(gzip.compress(data)) == read(data, format=name) == expected


@pytest.mark.parametrize("entry", corpus.everything())
def test_real_streams_read_the_same_as_events(entry: corpus.Entry | None) -> None:
    """Every file of the corpus that holds one JSON value a line could have come so; places are those of the file."""
    entry = corpus.present(entry)
    if entry.reader is None or entry.path.suffix != ".jsonl" or entry.format in corpus.PACKED:
        pytest.skip("it is no trace of JSON lines")
    data = entry.path.read_bytes()
    events = b"".join(b"data: " + line + b"\n" for line in data.splitlines())
    assert read(events, 100_000) == read(data, 100_000)


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "cohere", "vercel-ai"])
def test_captures_one_after_another_are_streams_of_their_own(name: str) -> None:
    """Each with its own `[DONE]`, also where they have the same id, as captures of a replayed request have."""
    one = as_events(STREAMS[name])
    assert read(one + one) == read(one) * 2


def test_captures_without_ids_are_told_apart_by_their_ends() -> None:
    """Some servers give a stream no id; one that broke off is not another's beginning."""
    assert len(trajectories(as_events(chat(None)) * 3)) == 3
    usage = [*chat(None), {"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 9}}]
    assert len(trajectories(as_events(usage) * 2)) == 2


def test_a_first_chunk_about_filters_is_no_stream() -> None:
    """Azure sends one that has neither an id nor a choice."""
    first = {"choices": [], "created": 0, "id": "", "model": "", "object": "", "prompt_filter_results": []}
    assert read(as_events([first, *chat()])) == read(as_events(chat()))


def test_a_stream_that_breaks_off_has_a_gap() -> None:
    """The finish reason never came (G12)."""
    (made,) = trajectories(as_events(chat(ended=False)))
    assert made.gaps


def test_a_cut_event_is_a_gap_of_its_stream_at_its_line() -> None:
    """The line is that of the file, whatever stands between the events."""
    data = with_all_fields(chat()).rstrip()[:-5]
    (made,) = trajectories(data)
    number = data.count(b"\n") + 1
    assert any(gap.startswith(f"line {number} was rejected: the last line is cut off") for gap in made.gaps)


def test_lines_stay_those_of_the_file_after_data_over_several_lines() -> None:
    """The data of an event stands where its last line stood."""
    data = over_several_lines(chat())
    (made,) = trajectories(data + b"data: no JSON\n\n")
    number = data.count(b"\n") + 1
    assert any(gap.startswith(f"line {number} was rejected") for gap in made.gaps)


def test_events_of_no_known_format_are_described() -> None:
    """By what is in them, as JSON lines are."""
    with pytest.raises(TraceError, match="this looks like a JSON object with the keys `run`, `attempt`"):
        read(b'event: a\ndata: {"run": 1, "attempt": 2}\n\nevent: b\ndata: {"x": 1}\n\n', 1000)


@pytest.mark.parametrize("line", [b"curl: (18) transfer closed", b"data: no JSON", b"id 5"])
def test_a_line_that_is_no_event_is_a_gap(line: bytes) -> None:
    """Nothing is passed over in silence (G12)."""
    first, rest = as_events(chat()).split(b"\n\n", 1)
    (made,) = trajectories(first + b"\n\n" + line + b"\n\n" + rest)
    assert any("line 3 was rejected" in gap for gap in made.gaps)


def test_a_line_feed_inside_a_string_is_not_mended() -> None:
    """Several lines of data are joined by what ends a line, which no JSON string may hold."""
    with pytest.raises(TraceError, match="not JSON"):
        read(b'data: {"tool_calls": [{"name": "a\ndata: b", "arguments": {}}]}\n\n', 1000)


@given(st.lists(st.sampled_from([b"data: ", b"data:{", b"{}", b"[1]", b"\n", b"\r\n", b":x", b"id: 1", b"9:{", b"e"])))
def test_any_mixture_of_lines_gives_declared_errors_or_trajectories(parts: list[bytes]) -> None:
    """And the number of lines stays what it was, so that places do (G5)."""
    data = b'data: {"type": "ping"}\n' + b"".join(parts)
    with contextlib.suppress(TraceError):
        for item in traces.read([data]):
            assert not isinstance(item, TraceError) or (item.where.line or 1) <= data.count(b"\n") + 1


PARTS = b"""f:{"messageId":"m1"}
0:"Let me look."
b:{"toolCallId":"t1","toolName":"weather"}
c:{"toolCallId":"t1","argsTextDelta":"{}"}
9:{"toolCallId":"t1","toolName":"weather","args":{"city":"Paris"}}
a:{"toolCallId":"t1","result":{"celsius":20}}
e:{"finishReason":"tool-calls","usage":{"promptTokens":1},"isContinued":false}
f:{"messageId":"m2"}
0:"20 degrees."
e:{"finishReason":"stop","usage":{"promptTokens":1},"isContinued":false}
d:{"finishReason":"stop","usage":{"promptTokens":1}}
"""


@pytest.mark.parametrize("data", [PARTS, PARTS.partition(b"\n")[2]], ids=["a step begins", "text begins"])
def test_the_data_stream_of_version_4_is_read(data: bytes) -> None:
    """Each line has a code; calls, results and ends are those of the newer parts."""
    assert traces.detect(data) == "vercel-ai"
    (made,) = trajectories(data)
    (call,) = made.tool_calls or ()
    told = (call.name, call.arguments, call.id, call.status, call.result, made.gaps)
    assert told == ("weather", {"city": "Paris"}, "t1", "ok", {"celsius": 20}, ())


def test_data_streams_that_break_off_or_follow_one_another() -> None:
    """A call whose input never came whole is cut; two captures are two trajectories (G12)."""
    (made,) = trajectories(PARTS.partition(b"9:")[0])
    assert [(call.name, call.arguments_state) for call in made.tool_calls or ()] == [("weather", "truncated")]
    assert made.gaps == ("the stream ends without its last part",)
    assert len(trajectories(PARTS * 2)) == 2


def test_a_data_stream_that_ends_in_an_error_has_a_gap() -> None:
    """What the model would have called is not known (G12)."""
    (made,) = trajectories(PARTS.partition(b"d:")[0] + b'3:"overloaded"\n')
    assert (len(made.tool_calls or ()), made.gaps) == (1, ("the stream ends without its last part",))
