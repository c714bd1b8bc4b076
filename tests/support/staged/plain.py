"""Conversations held with the bare SDKs of the providers, whole and streamed: a loop around a model and tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from support.staged.scripts import BROKEN, Script, Stage, ToolError
from support.staged.server import Files, Model, Run


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a call."""

    text: str
    failed: bool


def _run(stage: Stage, name: str, text: str) -> Outcome:
    try:
        return Outcome(text=stage.play(name, **json.loads(text)), failed=False)
    except ToolError as error:
        return Outcome(text=str(error), failed=True)
    except ValueError:
        return Outcome(text=BROKEN, failed=True)


def _turns(script: Script) -> Iterator[str]:
    yield from (f"Question {number}" for number, _ in enumerate(script.turns, 1))


def tools(script: Script) -> list[tuple[str, dict[str, Any]]]:
    """The names of the tools of a script, with the schemas of what they take."""
    found: dict[str, dict[str, Any]] = {}
    for call in script.calls:
        properties: dict[str, Any] = {} if call.is_malformed else {key: {} for key in json.loads(call.text)}
        found[call.name] = {"type": "object", "properties": properties}
    return list(found.items())


def chat(script: Script, model: Model) -> list[dict[str, Any]]:
    """The messages of a conversation over OpenAI Chat Completions."""
    return _chat(script, _openai(model).chat.completions.create)


def chat_streamed(script: Script, model: Model) -> list[dict[str, Any]]:
    """The same, with streamed answers put together by hand, as programs do."""
    create = _openai(model).chat.completions.create
    return _chat(script, lambda **given: _gathered(create(stream=True, **given)))


def _openai(model: Model) -> Any:
    return _openai_client(model.url)


@cache
def _openai_client(url: str) -> Any:
    import openai

    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def _chat(script: Script, create: Callable[..., Any]) -> list[dict[str, Any]]:
    stage = Stage(script)
    known = [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in tools(script)]
    given: dict[str, Any] = {"model": "gpt-4.1", **({"tools": known} if known else {})}
    messages: list[dict[str, Any]] = []
    for question in _turns(script):
        messages.append({"role": "user", "content": question})
        while True:
            answer = create(messages=messages, **given)
            message = answer if isinstance(answer, dict) else answer.choices[0].message.model_dump(exclude_none=True)
            messages.append(message)
            for call in message.get("tool_calls", ()):
                made = _run(stage, call["function"]["name"], call["function"]["arguments"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": made.text})
            if not message.get("tool_calls"):
                break
    return messages


def _gathered(chunks: Any) -> dict[str, Any]:
    """The message that chunks of a stream make."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        delta = chunk.choices[0].delta
        if delta.content:
            message["content"] = (message["content"] or "") + delta.content
        for piece in delta.tool_calls or ():
            whole = {"id": piece.id, "type": "function", "function": {"name": piece.function.name, "arguments": ""}}
            calls.setdefault(piece.index, whole)["function"]["arguments"] += piece.function.arguments or ""
    return {**message, **({"tool_calls": list(calls.values())} if calls else {})}


def responses(script: Script, model: Model) -> list[dict[str, Any]]:
    """The items of a conversation over OpenAI Responses."""
    return _responses(script, _openai(model).responses.create)


def responses_streamed(script: Script, model: Model) -> list[dict[str, Any]]:
    """The same, streamed: the last event holds the response."""
    create = _openai(model).responses.create
    return _responses(script, lambda **given: list(create(stream=True, **given))[-1].response)


def _responses(script: Script, create: Callable[..., Any]) -> list[dict[str, Any]]:
    stage = Stage(script)
    known = [
        {"type": "function", "name": name, "parameters": schema, "strict": False} for name, schema in tools(script)
    ]
    items: list[dict[str, Any]] = []
    for question in _turns(script):
        items.append({"role": "user", "content": question})
        while True:
            answer = create(model="gpt-4.1", input=items, tools=known)
            made = [item.model_dump(exclude_none=True) for item in answer.output]
            items += made
            calls = [item for item in made if item["type"] == "function_call"]
            for call in calls:
                output = _run(stage, call["name"], call["arguments"]).text
                items.append({"type": "function_call_output", "call_id": call["call_id"], "output": output})
            if not calls:
                break
    return items


def anthropic(script: Script, model: Model) -> list[dict[str, Any]]:
    """The messages of a conversation over Anthropic Messages."""
    return _anthropic(script, _anthropic_client(model.url).messages.create)


def anthropic_streamed(script: Script, model: Model) -> list[dict[str, Any]]:
    """The same, streamed with the SDK's own helper."""
    client = _anthropic_client(model.url)

    def create(**given: Any) -> Any:
        with client.messages.stream(**given) as stream:
            return stream.get_final_message()

    return _anthropic(script, create)


@cache
def _anthropic_client(url: str) -> Any:
    import anthropic as sdk

    return sdk.Anthropic(base_url=url, api_key="none", max_retries=0)


def _anthropic(script: Script, create: Callable[..., Any]) -> list[dict[str, Any]]:
    stage = Stage(script)
    known = [{"name": name, "input_schema": schema} for name, schema in tools(script)]
    messages: list[dict[str, Any]] = []
    for question in _turns(script):
        messages.append({"role": "user", "content": question})
        while True:
            answer = create(model="claude-sonnet-4-5", max_tokens=999, messages=messages, tools=known)
            blocks = [block.model_dump(exclude_none=True) for block in answer.content]
            messages.append({"role": "assistant", "content": blocks})
            results = [_tool_result(stage, block) for block in blocks if block["type"] == "tool_use"]
            if not results:
                break
            messages.append({"role": "user", "content": results})
    return messages


def _tool_result(stage: Stage, block: dict[str, Any]) -> dict[str, Any]:
    made = _run(stage, block["name"], json.dumps(block["input"]))
    result = {"type": "tool_result", "tool_use_id": block["id"], "content": made.text}
    return {**result, **({"is_error": True} if made.failed else {})}


def gemini(script: Script, model: Model) -> list[dict[str, Any]]:
    """The contents of a conversation with Gemini, as its SDK dumps them."""
    client = _gemini_client(model.url)
    return _gemini(script, lambda **given: client.models.generate_content(**given).candidates[0].content)


def gemini_streamed(script: Script, model: Model) -> list[dict[str, Any]]:
    """The same, streamed: the parts of all chunks are one content."""
    from google.genai import types

    client = _gemini_client(model.url)

    def create(**given: Any) -> Any:
        chunks = list(client.models.generate_content_stream(**given))
        return types.Content(role="model", parts=[part for one in chunks for part in one.candidates[0].content.parts])

    return _gemini(script, create)


@cache
def _gemini_client(url: str) -> Any:
    from google import genai

    return genai.Client(api_key="none", http_options={"base_url": url})


def _gemini(script: Script, create: Callable[..., Any]) -> list[dict[str, Any]]:
    from google.genai import types

    stage = Stage(script)
    known = [{"name": name, "parameters_json_schema": schema} for name, schema in tools(script)]
    config = {"tools": [{"function_declarations": known}], "automatic_function_calling": {"disable": True}}
    contents: list[Any] = []
    for question in _turns(script):
        contents.append(types.Content(role="user", parts=[types.Part(text=question)]))
        while True:
            content = create(model="gemini-2.5-flash", contents=contents, config=config)
            contents.append(content)
            calls = [part.function_call for part in content.parts if part.function_call]
            if not calls:
                break
            contents.append(types.Content(role="user", parts=[_response(stage, call) for call in calls]))
    return [content.model_dump(mode="json", exclude_none=True) for content in contents]


def _response(stage: Stage, call: Any) -> Any:
    from google.genai import types

    made = _run(stage, call.name, json.dumps(call.args or {}))
    response = {"error": made.text} if made.failed else {"result": made.text}
    return types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))


CONVERSATIONS: Final[dict[str, Callable[[Script, Model], list[dict[str, Any]]]]] = {
    "openai-chat": chat,
    "openai-chat-streamed": chat_streamed,
    "openai-responses": responses,
    "openai-responses-streamed": responses_streamed,
    "anthropic": anthropic,
    "anthropic-streamed": anthropic_streamed,
    "gemini": gemini,
    "gemini-streamed": gemini_streamed,
}
"""The conversations by name; each gives its own list of messages."""


def runs() -> dict[str, Run]:
    """Each conversation: its list of messages, and what went over the wire."""
    return {name: _run_of(converse) for name, converse in CONVERSATIONS.items()}


def _run_of(converse: Callable[[Script, Model], list[dict[str, Any]]]) -> Run:
    def run(script: Script, model: Model) -> Files:
        files = {"messages.json": json.dumps(converse(script, model)).encode()}
        if any(one.events for one in model.exchanges):
            return {**files, "stream.sse": b"".join(one.text.encode() for one in model.exchanges)}
        exchanges = [{"request": one.request, "response": one.response} for one in model.exchanges]
        lines = b"".join(json.dumps(one).encode() + b"\n" for one in exchanges)
        return {**files, "exchanges.json": json.dumps(exchanges).encode(), "exchanges.jsonl": lines}

    return run
