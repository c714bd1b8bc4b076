"""The same few messages in the words of each format of messages: a user, an answer, a call, and its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from rightcall import traces
from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError

ABSENT: Final = object()
"""Arguments that are not written at all."""


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """How a format writes messages: `asks` takes the arguments of a call `a` with the id `1`, `answers` its result."""

    user: Any
    says: Callable[[str], Any]
    asks: Callable[[Any], Any]
    answers: Any
    document: Callable[[list[Any]], Any] = lambda messages: messages
    lines: bool = False


def _with(key: str, arguments: Any, **others: Any) -> dict[str, Any]:
    return others if arguments is ABSENT else {**others, key: arguments}


def _rollout(payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}


def _session(kind: str, content: Any) -> dict[str, Any]:
    return {"type": kind, "sessionId": "s", "message": {"role": kind, "content": content}}


def _event(author: str, *parts: dict[str, Any]) -> dict[str, Any]:
    role = "user" if author == "user" else "model"
    return {"author": author, "invocationId": "i", "content": {"role": role, "parts": list(parts)}}


def _function(arguments: Any) -> dict[str, Any]:
    return {"id": "1", "type": "function", "function": _with("arguments", arguments, name="a")}


def _item(arguments: Any) -> dict[str, Any]:
    return _with("arguments", arguments, type="function_call", call_id="1", name="a")


def _step(number: int, **fields: Any) -> dict[str, Any]:
    return {"step_number": number, "tool_calls": None, "observations": None, **fields}


def _state(items: list[Any]) -> dict[str, Any]:
    """The state of a run: what the user said is its input, the rest the model's answers and the run's items."""
    given = [item for item in items if item.get("role") == "user"]
    answers = [{"output": [item]} for item in items if item not in given and item.get("type") != "function_call_output"]
    results = [{"type": "tool_call_output_item", "raw_item": item} for item in items if "output" in item]
    return {"$schemaVersion": "1.0", "original_input": given, "model_responses": answers, "generated_items": results}


def _pieces(messages: list[Any]) -> dict[str, Any]:
    """An exchange with Ollama, of which the last message is the response."""
    *history, last = messages
    given = messages if last["role"] != "assistant" else history
    response = {"model": "m", "message": last if given is history else {"role": "assistant"}, "done": True}
    return {"request": {"model": "m", "messages": given}, "response": response if given is history else []}


_USER: Final = {"role": "user", "content": "hello"}
_TOOL: Final = {"role": "tool", "tool_call_id": "1", "content": "x"}


def _says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _chat(arguments: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [_function(arguments)]}


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    return {"agent": "main", **message}


TELLINGS: Final[dict[str, Telling]] = {
    "openai-chat": Telling(
        user=_USER,
        says=_says,
        asks=_chat,
        answers=_TOOL,
        document=lambda messages: {"messages": messages},
    ),
    "gemini": Telling(
        user={"role": "user", "parts": [{"text": "hello"}]},
        says=lambda text: {"role": "model", "parts": [{"text": text}]},
        asks=lambda arguments: {"role": "model", "parts": [{"functionCall": _with("args", arguments, name="a")}]},
        answers={"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"result": 1}}}]},
        document=lambda messages: {"contents": messages},
    ),
    "google-adk": Telling(
        user=_event("user", {"text": "hello"}),
        says=lambda text: _event("bot", {"text": text}),
        asks=lambda arguments: _event("bot", {"functionCall": _with("args", arguments, id="1", name="a")}),
        answers={
            **_event("bot"),
            "content": {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "a", "response": {}}}]},
        },
        document=lambda events: {"id": "s", "appName": "app", "userId": "u", "events": events},
    ),
    "bedrock-converse": Telling(
        user={"role": "user", "content": [{"text": "hello"}]},
        says=lambda text: {"role": "assistant", "content": [{"text": text}]},
        asks=lambda arguments: {
            "role": "assistant",
            "content": [{"toolUse": _with("input", arguments, toolUseId="1", name="a")}],
        },
        answers={"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"text": "x"}]}}]},
        document=lambda messages: {"messages": messages, "toolConfig": {}},
    ),
    "langchain": Telling(
        user={"type": "human", "content": "hello"},
        says=lambda text: {"type": "ai", "content": text},
        asks=lambda arguments: {
            "type": "ai",
            "content": "",
            "tool_calls": [_with("args", arguments, name="a", id="1", type="tool_call")],
        },
        answers={"type": "tool", "content": "x", "tool_call_id": "1"},
        document=lambda messages: {"messages": messages},
    ),
    "anthropic": Telling(
        user=_USER,
        says=_says,
        asks=lambda arguments: {
            "role": "assistant",
            "content": [_with("input", arguments, type="tool_use", id="1", name="a")],
        },
        answers={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]},
        document=lambda messages: {"messages": messages},
    ),
    "claude-code": Telling(
        user=_session("user", "hello"),
        says=lambda text: _session("assistant", [{"type": "text", "text": text}]),
        asks=lambda arguments: _session("assistant", [_with("input", arguments, type="tool_use", id="1", name="a")]),
        answers=_session("user", [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]),
        lines=True,
    ),
    "codex": Telling(
        user=_rollout({"type": "message", **_USER}),
        says=lambda text: _rollout({"type": "message", **_says(text)}),
        asks=lambda arguments: _rollout(_item(arguments)),
        answers=_rollout({"type": "function_call_output", "call_id": "1", "output": "x"}),
        lines=True,
    ),
    "openai-agents": Telling(
        user=_USER,
        says=lambda text: {"type": "message", **_says(text)},
        asks=_item,
        answers={"type": "function_call_output", "call_id": "1", "output": "x"},
        document=_state,
    ),
    "openai-responses": Telling(
        user=_USER,
        says=_says,
        asks=_item,
        answers={"type": "function_call_output", "call_id": "1", "output": "x"},
        document=lambda items: {"model": "m", "input": items},
    ),
    "vercel-ai": Telling(
        user=_USER,
        says=_says,
        asks=lambda arguments: {
            "role": "assistant",
            "content": [_with("input", arguments, type="tool-call", toolCallId="1", toolName="a")],
        },
        answers={
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "1", "toolName": "a", "output": {"type": "text", "value": "x"}}
            ],
        },
    ),
    "pydantic-ai": Telling(
        user={"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hello"}]},
        says=lambda text: {"kind": "response", "parts": [{"part_kind": "text", "content": text}]},
        asks=lambda arguments: {
            "kind": "response",
            "parts": [_with("args", arguments, part_kind="tool-call", tool_name="a", tool_call_id="1")],
        },
        answers={
            "kind": "request",
            "parts": [{"part_kind": "tool-return", "tool_name": "a", "tool_call_id": "1", "content": "x"}],
        },
        document=lambda messages: {"messages": messages},
    ),
    "otel-genai-messages": Telling(
        user={"role": "user", "parts": [{"type": "text", "content": "hello"}]},
        says=lambda text: {"role": "assistant", "parts": [{"type": "text", "content": text}]},
        asks=lambda arguments: {
            "role": "assistant",
            "parts": [_with("arguments", arguments, type="tool_call", id="1", name="a")],
        },
        answers={"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "x"}]},
        document=lambda messages: {"messages": messages},
    ),
    "agent-framework": Telling(
        user={"role": "user", "contents": [{"type": "text", "text": "hello"}]},
        says=lambda text: {"role": "assistant", "contents": [{"type": "text", "text": text}]},
        asks=lambda arguments: {"role": "assistant", "contents": [_item(arguments)]},
        answers={"role": "tool", "contents": [{"type": "function_result", "call_id": "1", "result": "x"}]},
        document=lambda messages: {"messages": messages},
    ),
    "cohere": Telling(
        user=_USER,
        says=_says,
        asks=lambda arguments: {"role": "assistant", "tool_plan": "", "tool_calls": [_function(arguments)]},
        answers=_TOOL,
        document=lambda messages: {"messages": messages},
    ),
    "cohere-v1": Telling(
        user={"role": "USER", "message": "hello"},
        says=lambda text: {"role": "CHATBOT", "message": text},
        asks=lambda arguments: {
            "role": "CHATBOT",
            "message": "",
            "tool_calls": [_with("parameters", arguments, name="a")],
        },
        answers={"role": "TOOL", "tool_results": [{"call": {"name": "a", "parameters": {}}, "outputs": [{"x": 1}]}]},
        document=lambda messages: {"message": "", "chat_history": messages},
    ),
    "ollama": Telling(
        user=_USER,
        says=_says,
        asks=lambda arguments: {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": _with("arguments", arguments, name="a")}],
        },
        answers={"role": "tool", "tool_name": "a", "content": "x"},
        document=_pieces,
    ),
    "smolagents": Telling(
        user={"task": "hello"},
        says=lambda text: _step(1, model_output=text),
        asks=lambda arguments: _step(2, tool_calls=[_function(arguments)], observations="x"),
        answers={"task": "more"},
        document=lambda steps: {"steps": steps},
    ),
    "swe-agent": Telling(
        user=_marked(_USER),
        says=lambda text: _marked(_says(text)),
        asks=lambda arguments: _marked(_chat(arguments)),
        answers=_marked({**_TOOL, "tool_call_ids": ["1"]}),
        document=lambda history: {"history": history},
    ),
    "tau-bench": Telling(
        user=_USER,
        says=_says,
        asks=_chat,
        answers={**_TOOL, "name": "a"},
        document=lambda messages: {"task_id": 1, "traj": messages},
    ),
    "atif": Telling(
        user={"source": "user", "message": "hello"},
        says=lambda text: {"source": "agent", "message": text},
        asks=lambda arguments: {
            "source": "agent",
            "message": "",
            "tool_calls": [_with("arguments", arguments, tool_call_id="1", function_name="a")],
        },
        answers={"source": "agent", "observation": {"results": [{"source_call_id": "1", "content": "x"}]}},
        document=lambda steps: {"schema_version": "ATIF-v1.6", "session_id": "s", "steps": steps},
    ),
    "inspect-log": Telling(
        user=_USER,
        says=_says,
        asks=lambda arguments: {
            "role": "assistant",
            "content": "",
            "tool_calls": [_with("arguments", arguments, id="1", function="a", type="function")],
        },
        answers={**_TOOL, "function": "a"},
        document=lambda messages: {"id": "s", "epoch": 1, "messages": messages},
    ),
}
"""Every format of messages that people and agents write, by name."""


def text(format: str, *conversations: list[Any]) -> bytes:
    """A file of the format with these conversations, one record each, or their lines."""
    telling = TELLINGS[format]
    if telling.lines:
        return b"\n".join(jsontext.encode(line) for messages in conversations for line in messages)
    return b"\n".join(jsontext.encode(telling.document(messages)) for messages in conversations)


def read(format: str, *messages: Any) -> Trajectory:
    """The one trajectory of some messages, read by the format; a broken one is raised."""
    (item,) = traces.read([text(format, list(messages))], format=format, file="f")
    if isinstance(item, TraceError):
        raise item
    return item
