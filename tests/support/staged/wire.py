"""What each provider's API answers, whole and streamed, when its model says a step of a script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from support.staged.scripts import CLOSING, Call, Step

CREATED: Final = 1_764_500_000
"""A time for whatever wants one, in seconds."""


def chat(step: Step, number: int) -> dict[str, Any]:
    """A response of OpenAI Chat Completions."""
    message: dict[str, Any] = {"role": "assistant", "content": None if step else CLOSING}
    if step:
        message["tool_calls"] = [_chat_call(call) for call in step]
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if step else "stop",
        "logprobs": None,
    }
    return {**_chat_head(number, "chat.completion"), "choices": [choice], "usage": _usage("prompt", "completion")}


def chat_events(step: Step, number: int) -> Iterator[dict[str, Any]]:
    """The same as chunks; arguments come in two pieces, in turns where calls are parallel."""
    head = _chat_head(number, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]}

    yield chunk({"role": "assistant", "content": None if step else CLOSING})
    for index, call in enumerate(step):
        function = {"name": call.name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
    for part in (0, 1):
        for index, call in enumerate(step):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": _halves(call.text)[part]}}]})
    yield chunk({}, "tool_calls" if step else "stop")


def responses(step: Step, number: int) -> dict[str, Any]:
    """A response of OpenAI Responses."""
    items = [_response_call(call, f"{number}{index}") for index, call in enumerate(step)]
    text = {"type": "output_text", "text": CLOSING, "annotations": []}
    message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [text]}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": CREATED + number,
        "model": "gpt-4.1",
        "status": "completed",
        "output": items or [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        },
    }


def responses_events(step: Step, number: int) -> Iterator[dict[str, Any]]:
    """The same as events: items are added empty, filled in two pieces, and done."""
    whole = responses(step, number)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}}
    ]
    for index, item in enumerate(whole["output"]):
        events += _item_events(item, index)
    events.append({"type": "response.completed", "response": whole})
    yield from ({**event, "sequence_number": at} for at, event in enumerate(events))


def anthropic(step: Step, number: int) -> dict[str, Any]:
    """A response of Anthropic Messages."""
    blocks: list[dict[str, Any]] = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.text)} for call in step
    ]
    return {**_anthropic_head(number, step), "content": blocks or [{"type": "text", "text": CLOSING}]}


def anthropic_events(step: Step, number: int) -> Iterator[dict[str, Any]]:
    """The same as events; a call without arguments gets no piece of them."""
    head = {**_anthropic_head(number, step), "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": head}
    for index, call in enumerate(step):
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        pieces = [] if call.text == "{}" else list(_halves(call.text))
        yield from _block(index, block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces])
    if not step:
        yield from _block(0, {"type": "text", "text": ""}, [{"type": "text_delta", "text": CLOSING}])
    stop = {"stop_reason": "tool_use" if step else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def gemini(step: Step, number: int) -> dict[str, Any]:
    """A response of Gemini; a call without arguments has no `args`."""
    parts: list[dict[str, Any]] = [{"functionCall": _gemini_call(call)} for call in step]
    candidate = {
        "content": {"role": "model", "parts": parts or [{"text": CLOSING}]},
        "finishReason": "STOP",
        "index": 0,
    }
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-2.5-flash",
        "responseId": f"gen_{number}",
    }


def gemini_events(step: Step, number: int) -> Iterator[dict[str, Any]]:
    """The same as chunks, one a call; only the last one finishes."""
    steps: list[Step] = [(call,) for call in step] or [()]
    for at, part in enumerate(steps, 1):
        chunk = gemini(part, number)
        if at < len(steps):
            del chunk["candidates"][0]["finishReason"]
        yield chunk


def _chat_head(number: int, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": CREATED + number, "model": "gpt-4.1"}


def _chat_call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.text}}


def _usage(given: str, made: str) -> dict[str, int]:
    return {f"{given}_tokens": 10, f"{made}_tokens": 5, "total_tokens": 15}


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _response_call(call: Call, suffix: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{suffix}",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.text,
        "status": "completed",
    }


def _item_events(item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    place = {"output_index": index}
    key, kind = ("arguments", "function_call_arguments") if item["type"] == "function_call" else ("content", None)
    begun: dict[str, Any] = {**item, key: "" if kind else [], "status": "in_progress"}
    yield {"type": "response.output_item.added", **place, "item": begun}
    if kind:
        for piece in _halves(item[key]):
            yield {"type": f"response.{kind}.delta", **place, "item_id": item["id"], "delta": piece}
        yield {
            "type": f"response.{kind}.done",
            **place,
            "item_id": item["id"],
            "name": item["name"],
            "arguments": item[key],
        }
    else:
        yield from _text_events(item, {**place, "item_id": item["id"], "content_index": 0})
    yield {"type": "response.output_item.done", **place, "item": item}


def _text_events(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    (part,) = item["content"]
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    yield {"type": "response.output_text.delta", **place, "delta": part["text"], "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}


def _anthropic_head(number: int, step: Step) -> dict[str, Any]:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "stop_reason": "tool_use" if step else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _block(index: int, start: dict[str, Any], deltas: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop", "index": index}


def _gemini_call(call: Call) -> dict[str, Any]:
    arguments = json.loads(call.text)
    return {"id": call.id, "name": call.name, **({"args": arguments} if arguments else {})}
