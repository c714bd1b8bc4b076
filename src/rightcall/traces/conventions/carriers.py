"""What frameworks put around the arguments and the results of an execution."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.traces import shapes
from rightcall.traces.spans import arguments, decoded

_PREFIX: Final = re.compile(r"(?:execute_tool|running tool:?|tools/call|Tool:) +|tool\.(?=.)")
_LITERAL_LIMIT: Final = 1_000_000
_BOX: Final = frozenset({"output", "outputs", "kwargs", "tags", "metadata"})
_CARRIER: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})


def bare(name: str) -> str:
    """The name of a tool from the name of a span, without what conventions write before it."""
    found = _PREFIX.match(name)
    return name[found.end() :] if found else name


def carried(source: Any) -> shapes.Arguments:
    """The arguments of an execution, without the carriers of frameworks; only an object is a set of arguments."""
    if source is UNSET or source is None:
        return shapes.Arguments(None, "not_captured")
    read = arguments(source, "not_captured")
    value = unwrapped(read.value) if read.state == "ok" else read.value
    if read.state == "malformed" and not str(read.text).lstrip().startswith(("{", "[")):
        return shapes.Arguments(None, "not_captured", read.text)
    if read.state != "ok" or isinstance(value, dict):
        return msgspec.structs.replace(read, value=value)
    return shapes.Arguments(None, "not_captured", source if isinstance(source, str) else None)


def unwrapped(value: Any) -> Any:
    """Decoded arguments without `{"args": [], "kwargs": {…}}`, `{"input_str": "<Python>", "tags": …}` and the like.

    Positional arguments have no names, so they are none.
    """
    value = decoded(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and "content" in value[0]:
        return unwrapped(value[0]["content"])
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("kwargs"), dict) and value.keys() <= _CARRIER:
        return None if value.get("args") else value["kwargs"]
    if "input_str" in value and value.keys() & {"tags", "metadata"}:
        inputs = value.get("inputs")
        return inputs if isinstance(inputs, dict) else literal(value["input_str"])
    return value


def literal(text: Any) -> Any:
    """A value written as Python, as `str(dict)` does; the text itself if it is none."""
    import ast

    if not isinstance(text, str) or len(text) > _LITERAL_LIMIT:
        return text
    try:
        return plain(ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return text


def plain(value: Any) -> Any:
    """A literal as JSON: tuples as lists. `ValueError` for what JSON does not have."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("keys are not all strings")
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and value - value == 0):
        return value
    raise ValueError("no JSON value")


class Outcome(msgspec.Struct, frozen=True):
    """A result, the id of the call that it answers, and whether it says that the call failed."""

    value: Any = None
    id: str | None = None
    failed: bool = False


def outcome(source: Any) -> Outcome:
    """What came of a call, without the tool message of LangChain that may hold it."""
    if source is UNSET or source is None:
        return Outcome()
    value = decoded(source)
    message = _message(value)
    if message is None and isinstance(value, dict) and value.keys() == {"id", "name", "response"}:
        return Outcome(value["response"])
    if message is None:
        return Outcome(value if isinstance(value, dict | list | str) else source)
    identity = message.get("tool_call_id")
    failed = message.get("status") == "error"
    return Outcome(message.get("content"), identity if isinstance(identity, str) else None, failed)


def unboxed(source: Any) -> Any:
    """A result without the object around it in which runs of LangChain put it."""
    value = decoded(source)
    if isinstance(value, dict) and value.keys() & {"output", "outputs"} and value.keys() <= _BOX:
        return value.get("output", value.get("outputs"))
    return source


def _message(value: Any) -> dict[str, Any] | None:
    """The fields of a tool message of LangChain, in any of its dumps."""
    if not isinstance(value, dict):
        return None
    for key in ("kwargs", "data"):
        if isinstance(value.get(key), dict) and ("lc" in value or value.get("type") == "tool"):
            value = value[key]
            break
    return value if "tool_call_id" in value and "content" in value else None
