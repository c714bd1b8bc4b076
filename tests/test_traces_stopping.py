"""Why the model stopped, and what stands in the place of what it said: where calls may lack, it is a gap (G12)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory

CALL = {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}
USE = {"type": "tool_use", "id": "1", "name": "a", "input": {}}
USER = {"role": "user", "content": "hello"}
ITEM = {"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"}


def chat(reason: str, **message: Any) -> Any:
    return {"choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}]}


def claude(reason: str, *content: Any) -> Any:
    return {"type": "message", "role": "assistant", "content": list(content), "stop_reason": reason}


def session(reason: str, *content: Any) -> Any:
    return {"type": "assistant", "sessionId": "s", "message": claude(reason, *content)}


def converse(reason: str, *content: Any) -> Any:
    return {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": reason}


def cohere(reason: str, **message: Any) -> Any:
    return {"id": "c", "finish_reason": reason, "message": {"role": "assistant", **message}}


def gemini(reason: str, *parts: Any) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": reason}]}


def langchain(reason: str, **message: Any) -> Any:
    return [{"type": "ai", "content": "", "response_metadata": {"finish_reason": reason}, **message}]


def pydantic(reason: str, *parts: Any) -> Any:
    return [{"kind": "response", "parts": list(parts), "finish_reason": reason}]


def ollama(reason: str, **message: Any) -> Any:
    return {"model": "m", "done": True, "done_reason": reason, "message": {"role": "assistant", **message}}


def step(reason: str, **step: Any) -> Any:
    return {"finishReason": reason, "toolCalls": [], "text": "", **step}


def inspect(reason: str, **message: Any) -> Any:
    output = {"choices": [{"stop_reason": reason, "message": {"role": "assistant", **message}}]}
    told = [{"role": "assistant", "content": "", **message}]
    return {"id": "s", "epoch": 1, "messages": told, "events": [{"event": "model", "output": output}]}


CUT = "was cut off, and calls may be missing"
NONE = "has no calls"
TEXT = "Once upon a"
FUNCTION = {"name": "a", "args": {}}
STOPPED = [
    ("openai-chat", chat("length", tool_calls=[CALL]), CUT),
    ("openai-chat", chat("length", content=None), CUT),
    ("openai-chat", chat("length", content=TEXT), ""),
    ("openai-chat", chat("tool_calls", content=TEXT), NONE),
    ("anthropic", claude("max_tokens", {"type": "text", "text": TEXT}, USE), CUT),
    ("anthropic", claude("max_tokens", {"type": "text", "text": TEXT}), ""),
    ("anthropic", claude("max_tokens"), CUT),
    ("claude-code", session("max_tokens", USE), CUT),
    ("claude-code", session("tool_use", {"type": "text", "text": TEXT}), NONE),
    ("claude-code", session("tool_use", USE), ""),
    ("bedrock-converse", converse("max_tokens", {"toolUse": {"toolUseId": "1", "name": "a", "input": {}}}), CUT),
    ("bedrock-converse", converse("max_tokens", {"text": TEXT}), ""),
    ("cohere", cohere("MAX_TOKENS", tool_calls=[CALL]), CUT),
    ("cohere", cohere("MAX_TOKENS", content=TEXT), ""),
    ("gemini", gemini("MAX_TOKENS", {"functionCall": FUNCTION}), CUT),
    ("gemini", gemini("MAX_TOKENS"), CUT),
    ("gemini", gemini("MAX_TOKENS", {"text": TEXT}), ""),
    ("langchain", langchain("tool_calls"), NONE),
    ("langchain", langchain("length", tool_calls=[{**FUNCTION, "id": "1", "type": "tool_call"}]), CUT),
    ("langchain", langchain("length", content=TEXT), ""),
    ("pydantic-ai", pydantic("length", {"part_kind": "tool-call", "tool_name": "a", "args": {}}), CUT),
    ("pydantic-ai", pydantic("length", {"part_kind": "text", "content": TEXT}), ""),
    ("ollama", ollama("length", content=""), CUT),
    ("ollama", ollama("length", content=TEXT), ""),
    ("vercel-ai", step("tool-calls"), NONE),
    ("vercel-ai", step("length", text=TEXT), ""),
    ("vercel-ai", step("length"), CUT),
    ("inspect-log", inspect("tool_calls"), NONE),
    ("inspect-log", inspect("max_tokens", content=TEXT), ""),
    ("openai-responses", {"object": "response", "status": "incomplete", "output": [ITEM]}, "calls may be missing"),
    (
        "openai-responses",
        {"object": "response", "status": "incomplete", "output": [{"type": "message", "role": "assistant"}]},
        "",
    ),
]


@pytest.mark.parametrize(("format", "value", "gap"), STOPPED, ids=lambda value: json.dumps(value)[:60])
def test_a_message_that_stopped_for_calls_or_was_cut_off_is_a_gap(format: str, value: Any, gap: str) -> None:
    """Unless it was cut in its text, or has the calls for which it stopped (G12)."""
    (read,) = traces.read([json.dumps(value).encode()], format=format)
    assert isinstance(read, Trajectory)
    assert read.tool_calls is not None
    assert [found.endswith(gap) for found in read.gaps] == ([True] if gap else [])


SUMMARY = {"type": "user", "sessionId": "s", "isCompactSummary": True, "message": USER}
BOUNDARY = {"type": "system", "sessionId": "s", "subtype": "compact_boundary"}
SPOKEN = session("tool_use", USE)
COMPACTED = {"type": "compacted", "payload": {"message": "…"}}
ROLLOUT = {"type": "response_item", "payload": ITEM}
ASKED = {"type": "response_item", "payload": {"type": "message", **USER}}
COMPACTION = {"type": "compaction", "encrypted_content": "…"}
BLOCK = {"role": "assistant", "content": [{"type": "compaction", "content": "…"}]}
RESPONSE = {"kind": "response", "parts": [{"part_kind": "compaction", "content": "…"}]}
TOOL = {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "a", "args": {}}]}
CALLED = {"role": "assistant", "content": [USE]}


@pytest.mark.parametrize(
    ("format", "lines", "replaced"),
    [
        ("claude-code", [SUMMARY, SPOKEN], True),
        ("claude-code", [BOUNDARY, SUMMARY, SPOKEN], True),
        ("claude-code", [SPOKEN, BOUNDARY, SUMMARY, session("end_turn", {"type": "text", "text": TEXT})], False),
        ("codex", [ASKED, COMPACTED, ROLLOUT], True),
        ("codex", [ASKED, ROLLOUT, COMPACTED], False),
        ("openai-responses", [USER, COMPACTION, ITEM], True),
        ("openai-responses", [USER, ITEM, COMPACTION], False),
        ("anthropic", [USER, BLOCK, CALLED], True),
        ("pydantic-ai", [RESPONSE, TOOL], True),
        ("pydantic-ai", [TOOL, RESPONSE], False),
        ("anthropic", [USER, CALLED, BLOCK], False),
    ],
)
def test_a_summary_in_the_place_of_what_is_not_there_is_a_gap(format: str, lines: list[Any], replaced: bool) -> None:
    """Where the messages that it sums up stand before it, nothing is missing (G12)."""
    (read,) = traces.read(["\n".join(map(json.dumps, lines)).encode()], format=format)
    assert isinstance(read, Trajectory)
    assert [call.name for call in read.tool_calls or ()] == ["a"]
    assert [gap.endswith("not recorded") for gap in read.gaps] == ([True] if replaced else [])
