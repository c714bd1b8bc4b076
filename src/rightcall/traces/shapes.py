"""Single tool calls in any shape that a reader knows (G9), and arguments at the door.

Shapes: `{name, arguments}`, `{name, args}`, `{name, input}`, `{tool, input}`, `{function_name, arguments}`,
OpenAI's `{function: {name, arguments}}` and `{type: custom, custom: {name, input}}`, Gemini's
`{functionCall: {name, args}}`, `{type: function_call, call_id, …}` of the Responses API; a JSON string of one.
"""

from __future__ import annotations

import difflib
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core import jsontext
from rightcall.core.calls import ArgumentsState, ToolCall

ARGUMENT_KEYS: Final = ("arguments", "args", "input")
"""Where arguments stand, in order of precedence."""

NAME_KEYS: Final = ("name", "tool", "function_name", "tool_name", "toolName")
_ID_KEYS: Final = ("id", "call_id", "tool_call_id", "toolCallId", "toolUseId")
WRAPPERS: Final = ("function", "functionCall", "function_call", "toolUse", "tool_call")
_IGNORED: Final = frozenset({"type", "index", "status", "caller", "kind", *NAME_KEYS, *_ID_KEYS, *ARGUMENT_KEYS})
READ: Final = frozenset({*_IGNORED, *WRAPPERS})
"""Keys that the shapes of calls have."""

AWAITED: Final = "arguments_awaited"
"""What a call is marked by whose stream broke off before any of its arguments came: they are unknown (G10)."""

_NO_ARGUMENTS: Final = frozenset({"", "null"})


class Arguments(msgspec.Struct, frozen=True):
    """Decoded arguments, or why there are none."""

    value: Any
    state: ArgumentsState = "ok"
    text: str | None = None


def arguments(source: Any = UNSET, absent: ArgumentsState = "ok") -> Arguments:
    """Arguments as they were recorded: JSON text is decoded once, strictly (G9).

    Missing, null and empty text are `{}` if `absent` is `ok`, else unknown in that state (G10).
    """
    if isinstance(source, str):
        if source.strip() in _NO_ARGUMENTS:
            return nothing(absent)
        return _decoded(source)
    if source is UNSET or source is None:
        return nothing(absent)
    return Arguments(source)


def nothing(state: ArgumentsState) -> Arguments:
    """The arguments of a call that shows none."""
    return Arguments({}) if state == "ok" else Arguments(None, state)


def _decoded(text: str) -> Arguments:
    try:
        return Arguments(jsontext.decode(text))
    except jsontext.JSONError:
        return Arguments(None, "malformed", text)


def call(entry: Any) -> tuple[ToolCall, tuple[str, ...]]:
    """The tool call that an entry of any known shape writes, and what there is to warn about.

    An entry that no shape knows is a call named `""`: counted, never dropped (G9).
    """
    entry = _decode_entry(entry)
    if not isinstance(entry, dict):
        text = jsontext.encode(entry).decode()
        unknown = ToolCall(name="", arguments=None, arguments_state="malformed", arguments_text=text)
        return unknown, (f"is {kind(entry)}, not a tool call; counted as a call without a name",)
    return _call(entry)


def named(
    name: Any, source: Any = UNSET, *, id: Any = None, absent: ArgumentsState = "ok", at: str = ""
) -> tuple[ToolCall, tuple[str, ...]]:
    """The call of a format that says where the parts of a call stand, and what there is to warn about.

    `absent` is what missing arguments mean in that format (G10); `at` is the place of the call.
    """
    decoded = arguments(source, absent)
    made = ToolCall(
        name=name if isinstance(name, str) else "",
        arguments=decoded.value,
        arguments_state=decoded.state,
        arguments_text=decoded.text,
        id=id if isinstance(id, str) and id else None,
        sources=(at,) if at else (),
    )
    if isinstance(name, str):
        return made, ()
    return made, (f"{at} has no string for its name; counted as a call without a name".strip(),)


def label(value: Any) -> str | None:
    """The name of an MCP server as a field holds it, `None` if there is no text."""
    return value if isinstance(value, str) and value else None


def is_call(entry: Any) -> bool:
    """Whether an entry is a tool call of a known shape, with a name."""
    entry = _decode_entry(entry)
    return isinstance(entry, dict) and isinstance(_name(_inner(entry)), str)


def _decode_entry(entry: Any) -> Any:
    if not isinstance(entry, str):
        return entry
    try:
        value = jsontext.decode(entry)
    except jsontext.JSONError:
        return entry
    return value if isinstance(value, dict) else entry


def _call(entry: dict[str, Any]) -> tuple[ToolCall, tuple[str, ...]]:
    inner = _inner(entry)
    name = _name(inner)
    source, warnings = _source(inner)
    custom = entry.get("type") in ("custom", "custom_tool_call")
    decoded = free_text(source) if custom else arguments(source, _absent(warnings))
    decoded = nothing("not_captured") if entry.get(AWAITED) is True else decoded
    if not isinstance(name, str):
        warnings = (*warnings, "has no string for its name; counted as a call without a name")
    made = ToolCall(
        name=name if isinstance(name, str) else "",
        arguments=decoded.value,
        arguments_state=decoded.state,
        arguments_text=decoded.text,
        id=_id(entry) or _id(inner),
        kind="custom" if custom else "client",
    )
    return made, warnings


def free_text(source: Any) -> Arguments:
    """The arguments of a tool that takes text rather than JSON: `{"input": text}`."""
    return Arguments({"input": "" if source is UNSET or source is None else source})


def _inner(entry: dict[str, Any]) -> dict[str, Any]:
    """The object that holds name and arguments."""
    if entry.get("type") == "custom" and isinstance(entry.get("custom"), dict):
        return dict(entry["custom"])
    for key in WRAPPERS:
        if isinstance(entry.get(key), dict):
            return dict(entry[key])
    return entry


def _name(inner: dict[str, Any]) -> Any:
    for key in NAME_KEYS:
        if key in inner:
            return inner[key]
    return inner.get("function")


def _id(entry: dict[str, Any]) -> str | None:
    keys = ("call_id", *_ID_KEYS) if entry.get("type") == "function_call" else _ID_KEYS
    return next((entry[key] for key in keys if isinstance(entry.get(key), str) and entry[key]), None)


def _source(inner: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """The arguments as recorded, `UNSET` if there are none, and warnings about keys beside them."""
    found = [key for key in ARGUMENT_KEYS if key in inner]
    if not found:
        near = [key for key in inner if key not in _IGNORED and means_arguments(key)]
        return UNSET, tuple(f"has `{key}`, which is not read; its arguments are unknown" for key in near)
    best = inner[found[0]]
    if any(inner[key] != best for key in found[1:]):
        return best, (f"has differing `{'`, `'.join(found)}`; `{found[0]}` is read",)
    return best, ()


def means_arguments(key: str) -> bool:
    """Whether a key looks like one for arguments that is not read."""
    if key in ("parameters", "params", "kwargs", "payload"):
        return True
    return bool(difflib.get_close_matches(key, ARGUMENT_KEYS[:1], n=1, cutoff=0.75))


def _absent(warnings: tuple[str, ...]) -> ArgumentsState:
    return "not_captured" if warnings else "ok"


def unknown(at: str, part: dict[str, Any]) -> tuple[str, ...]:
    """The warning about a part of a message that the reader does not know; none about an empty one."""
    kind = part.get("type", part.get("part_kind"))
    named = (
        f"type `{kind[:60]}`"
        if isinstance(kind, str)
        else f"keys `{'`, `'.join(str(key)[:40] for key in list(part)[:4])}`"
    )
    return (f"{at} is a part of the unknown {named} and is not read",) if part else ()


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {
        str: "text",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "null")
