"""Contents of Gemini, which Google ADK records too: `{"role": …, "parts": […]}`, in camel or snake case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import CallStatus, ToolCall
from rightcall.errors import TraceError, Where
from rightcall.traces import shapes
from rightcall.traces.conversation import Answered, Asked, Event, Said

_ROLES: Final = frozenset({"user", "model", "function", "tool", "system"})
_PARTS: Final = frozenset(
    {
        "text",
        "thought",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
    }
)


def field(value: dict[str, Any], camel: str) -> Any:
    """A field under its name in the API, or under its name in dumps of the Python SDK."""
    found = value.get(camel)
    return found if found is not None else value.get(_snake(camel))


def _snake(camel: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)


_KNOWN_PARTS: Final = _PARTS | {_snake(name) for name in _PARTS}


def is_content(value: Any) -> bool:
    """Whether a value is a content: parts, of which each is known, and a role of Gemini if there is one."""
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list) or "kind" in value:
        return False
    parts = value["parts"]
    if value.get("role") not in (None, *_ROLES):
        return False
    return all(isinstance(part, dict) and _is_part(part) for part in parts)


def _is_part(part: dict[str, Any]) -> bool:
    """Whether a part is known; an empty one may be a part that is cut off."""
    return not part or ("type" not in part and bool(_KNOWN_PARTS & part.keys()))


def parts(content: Any, path: str) -> list[tuple[dict[str, Any], str]]:
    """The parts of a content with their places; `TraceError` if there are none to be read."""
    if not isinstance(content, dict):
        raise TraceError(f"expected a content, an object with `parts`; found {shapes.kind(content)}", Where(path=path))
    found = content.get("parts")
    if found is None and content.keys() <= {"role", "parts"}:
        return []
    if not isinstance(found, list):
        raise TraceError(f"expected an array of parts; found {shapes.kind(found)}", Where(path=f"{path}.parts"))
    return [(_part(part, f"{path}.parts[{index}]"), f"{path}.parts[{index}]") for index, part in enumerate(found)]


def _part(part: Any, path: str) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    if not isinstance(part, dict):
        raise TraceError(f"expected a part, an object; found {shapes.kind(part)}", Where(path=path))
    return part


def events(content: Any, path: str, warnings: list[str]) -> Iterator[Event]:
    """What happens in one content: the calls of the model, results, or a word of the user."""
    known = parts(content, path)
    role = content.get("role")
    if role not in (None, *_ROLES):
        raise TraceError(f"unknown role {role!r}", Where(path=f"{path}.role"))
    calls = [(field(part, "functionCall"), at) for part, at in known if isinstance(_call(part), dict)]
    if role == "model" or (role is None and calls):
        made, notes = asked(known)
        warnings += notes
        yield Asked(made)
    elif calls:
        warnings.append(f"{path} has calls although its role is {role!r}; they are not read")
    elif any(isinstance(part.get("text"), str) for part, _ in known) and role in (None, "user"):
        yield Said()
    yield from (_answered(field(part, "functionResponse"), at) for part, at in known if _response(part))


def _call(part: dict[str, Any]) -> Any:
    return field(part, "functionCall")


def _response(part: dict[str, Any]) -> bool:
    return isinstance(field(part, "functionResponse"), dict)


def asked(known: list[tuple[dict[str, Any], str]]) -> tuple[tuple[ToolCall, ...], list[str]]:
    """The calls among the parts of a content of the model, code that ran on the server included."""
    calls: list[ToolCall] = []
    warnings: list[str] = []
    for index, (part, at) in enumerate(known):
        if isinstance(entry := _call(part), dict):
            call, notes = function_call(entry, at)
            calls.append(call)
            warnings += notes
        elif isinstance(code := field(part, "executableCode"), dict):
            calls.append(_ran(code, known[index + 1 : index + 2], at))
        elif not _KNOWN_PARTS & part.keys():
            warnings += shapes.unknown(at, part)
    return tuple(calls), warnings


def function_call(entry: dict[str, Any], at: str) -> tuple[ToolCall, tuple[str, ...]]:
    """One `functionCall`. Without `args` it has no arguments; a reader of streams may have marked it `cut`."""
    call, notes = shapes.named(entry.get("name"), entry.get("args"), id=entry.get("id"), at=at)
    if "cut" in entry:
        text = str(entry["cut"])
        call = msgspec.structs.replace(call, arguments=None, arguments_state="truncated", arguments_text=text)
    return call, notes


def _ran(code: dict[str, Any], following: list[tuple[dict[str, Any], str]], at: str) -> ToolCall:
    """Code that the provider ran; the next part has what came of it."""
    result = field(following[0][0], "codeExecutionResult") if following else None
    known: dict[str, Any] = {}
    if isinstance(result, dict):
        good = str(result.get("outcome")).endswith("OK")
        output = result.get("output")
        known = {"status": "ok" if good else "error", "result": output, "error": None if good else str(output)}
    return ToolCall(name="code_execution", arguments=code, kind="server", sources=(at,), **known)


def _answered(response: dict[str, Any], at: str) -> Answered:
    name, identity = response.get("name"), response.get("id")
    result, error = outcome(response.get("response"))
    status: CallStatus = "ok" if error is None else "error"
    return Answered(
        id=identity if isinstance(identity, str) and identity else None,
        name=name if isinstance(name, str) and name else None,
        result=result,
        status=status,
        error=error,
        place=at,
    )


def outcome(response: Any) -> tuple[Any, str | None]:
    """The result and the error in the `response` of a function: under `output` or `result`, and under `error`."""
    if not isinstance(response, dict):
        return response, None
    if response.get("error") is not None and not {"output", "result"} & response.keys():
        error = response["error"]
        return response, error if isinstance(error, str) else str(error)
    if len(response) == 1 and response.keys() <= {"output", "result"}:
        return next(iter(response.values())), None
    return response, None


def text(content: Any) -> str | None:
    """The text of a content of the model that asks for no call."""
    if not isinstance(content, dict) or content.get("role") not in ("model", None):
        return None
    parts_ = content.get("parts")
    found = [part for part in parts_ if isinstance(part, dict)] if isinstance(parts_, list) else []
    if any(_call(part) for part in found):
        return None
    return "".join(part["text"] for part in found if isinstance(part.get("text"), str) and not part.get("thought"))


def key(content: Any) -> Any:
    """What makes two contents of a history the same: role, text, calls and responses, without ids."""
    if not isinstance(content, dict):
        return content
    return content.get("role"), [_part_key(part) for part in content.get("parts") or () if isinstance(part, dict)]


def _part_key(part: dict[str, Any]) -> Any:
    call, response = field(part, "functionCall"), field(part, "functionResponse")
    if isinstance(call, dict):
        return "call", call.get("name"), call.get("args") or {}
    if isinstance(response, dict):
        return "response", response.get("name"), response.get("response")
    return part.get("text")
