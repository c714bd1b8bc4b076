"""Tool calls as an agent reports them: in any shape that a reader knows, by themselves or in messages.

What cannot be a call is refused with its place. Above all the tools that an agent could have called are not the calls
that it made, however alike the two are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from rightcall import traces
from rightcall.core import jsontext
from rightcall.core.calls import ToolCall
from rightcall.core.values import display
from rightcall.errors import EndpointError, TraceError, Where
from rightcall.testsets.marks import child
from rightcall.traces import native, shapes

_SCHEMAS: Final = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "args_schema",
)
"""Where the definition of a tool has the JSON Schema of its arguments."""

_CATALOGUES: Final = frozenset({"function_declarations", "functionDeclarations", "toolSpec"})
"""Keys that only definitions of tools have."""

_OF_MESSAGES: Final = frozenset({"role", "content", "messages", "tool_calls", "choices"})
_OF_PARTS: Final = frozenset({"functionCall", "function_call", "functionResponse", "function_response", "thought"})


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """Calls that were reported, `None` if none were recorded; where some may be missing, and what else to say.

    `messages` are there if it was messages that held them.
    """

    calls: tuple[ToolCall, ...] | None = None
    messages: list[Any] | None = None
    gaps: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def identity(call: ToolCall) -> tuple[str, bytes]:
    """What a call is compared by, where two sides tell of it: its name and its arguments."""
    return call.name, jsontext.encode(call.arguments)


def is_definition(entry: Any) -> bool:
    """Whether a value defines a tool, which is then no call of it."""
    if not isinstance(entry, Mapping):
        return False
    if _CATALOGUES & entry.keys():
        return True
    inner = entry.get("function")
    inner = inner if isinstance(inner, Mapping) else entry
    if any(key in inner for key in shapes.ARGUMENT_KEYS):
        return False
    schemas = [inner[key] for key in _SCHEMAS if isinstance(inner.get(key), Mapping)]
    return any(map(_is_schema, schemas)) or (isinstance(inner.get("description"), str) and "name" in inner)


def _is_schema(value: Mapping[str, Any]) -> bool:
    return str(value.get("type")).lower() == "object" or "properties" in value or "$schema" in value


def read(value: Any, path: str, places: Sequence[str] | None = None) -> Reported:
    """The calls that a value at a path reports; `EndpointError` with the path if it reports none in a known shape.

    `null` is: none were recorded; an empty list is: none were made. `places` are the paths of the items of a list that
    was put together.
    """
    if isinstance(value, str):
        value = decoded(value, path)
    if value is None:
        return Reported()
    entries = [value] if isinstance(value, Mapping) else value
    if not isinstance(entries, list | tuple):
        raise _unknown(value, path)
    at = list(places or [path if entries is not value else child(path, index) for index in range(len(entries))])
    for entry, place in zip(entries, at, strict=True):
        if is_definition(entry):
            raise _catalogue(entry, place)
    return _read(list(entries), at)


def _read(entries: list[Any], at: list[str]) -> Reported:
    if any(map(_is_message, entries)):
        return _of_story(entries, at)
    strange = next((place for entry, place in zip(entries, at, strict=True) if not shapes.is_call(entry)), None)
    if strange is None:
        found = native.trajectory({"tool_calls": entries})
        return Reported(calls=found.tool_calls, gaps=found.gaps, warnings=found.warnings)
    if not any(isinstance(entry, Mapping) for entry in entries):
        raise _unknown(entries[at.index(strange)], strange)
    if any(isinstance(entry, Mapping) and _OF_PARTS & entry.keys() for entry in entries):
        return _of_story([{"role": "model", "parts": entries}], at)
    return _of_story(entries, at)


def _of_story(entries: list[Any], at: list[str]) -> Reported:
    """The calls in messages, or in what a message is made of."""
    try:
        found = traces.read_object(entries[0] if len(entries) == 1 else entries)
    except TraceError as error:
        advice = "expected tool calls, or messages that hold them"
        raise EndpointError(f"{advice}: {error.message}", Where(path=at[0])) from error
    if any(not call.name for call in found.tool_calls or ()):
        raise _unknown(entries[0], at[0])
    messages = entries if any(map(_is_message, entries)) else None
    return Reported(calls=found.tool_calls, messages=messages, gaps=found.gaps, warnings=found.warnings)


def _is_message(entry: Any) -> bool:
    return isinstance(entry, Mapping) and bool(_OF_MESSAGES & entry.keys())


def decoded(text: str, path: str) -> Any:
    """Calls that stand in a text, as JSON; `EndpointError` with the path if it is none."""
    try:
        return jsontext.decode(text)
    except jsontext.JSONError:
        raise _unknown(text, path) from None


def _unknown(value: Any, path: str) -> EndpointError:
    return EndpointError(
        f"expected tool calls such as `{{name, arguments}}`, found {shapes.kind(value)}: {display(value, 60)}",
        Where(path=path),
    )


def _catalogue(entry: Any, path: str) -> EndpointError:
    return EndpointError(
        f"this defines a tool that could be called, and is no call: {display(entry, 60)}; name where the calls stand"
        " that were made",
        Where(path=path),
    )
