"""Messages of Microsoft's Agent Framework and of Microsoft.Extensions.AI: lists, responses, stored sessions.

A message is `{"role": …, "contents": [{"type": "function_call", "call_id": …, …}, …]}` in Python; in .NET the type is
`$type` and names are in camel case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallKind, CallStatus, ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import chat, conversation, families, heads, records, shapes, stopping
from rightcall.traces.conversation import Answered, Asked, Event, Said

_CALLS: Final[dict[str, CallKind]] = {
    "function_call": "client",
    "mcp_server_tool_call": "mcp",
    "code_interpreter_tool_call": "server",
    "image_generation_tool_call": "server",
    "search_tool_call": "server",
    "shell_tool_call": "server",
    "computer_tool_call": "client",
}
_ANSWERS: Final = frozenset(
    {"function_result", *(kind.replace("_call", "_result") for kind in _CALLS if kind != "function_call")}
)
_REQUEST: Final = "function_approval_request"
_RESPONSE: Final = "function_approval_response"
_SILENT: Final = frozenset(
    {
        "text",
        "text_reasoning",
        "reasoning",
        "data",
        "uri",
        "error",
        "usage",
        "hosted_file",
        "hosted_vector_store",
        "shell_command_output",
        "oauth_consent_request",
    }
)
_KINDS: Final = frozenset({*_CALLS, *_ANSWERS, _REQUEST, _RESPONSE, *_SILENT})
_INPUTS: Final = ("arguments", "inputs", "commands", "actions")
_RESULTS: Final = ("result", "output", "outputs", "screenshot")


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _field(part: dict[str, Any], name: str, absent: Any = None) -> Any:
    """A field under its name in Python, or under its name in .NET."""
    first, *rest = name.split("_")
    return part.get(name, part.get(first + "".join(word.title() for word in rest), absent))


def _type(part: Any) -> str:
    """The type of a content in Python's words; a bare text is a text."""
    if isinstance(part, str):
        return "text"
    found = part.get("type", part.get("$type")) if isinstance(part, dict) else None
    return _snake(found) if isinstance(found, str) else ""


def _role(message: dict[str, Any]) -> Any:
    """The role of a message, which early versions wrote as an object."""
    role = message.get("role")
    return role.get("value") if isinstance(role, dict) else role


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("contents"), list) or "parts" in value:
        return False
    return str(_role(value)) in chat.ROLES and all(map(_type, value["contents"]))


def _is_distinctive(value: Any) -> bool:
    return _is_message(value) and all(_type(part) in _KINDS for part in value["contents"])


def _history(value: dict[str, Any]) -> tuple[list[Any], str] | None:
    """The messages of a response or of a stored session, with their path; those of several stores are no one story."""
    found = [
        (messages, path)
        for holder, path in _holders(value)
        if isinstance(messages := holder.get("messages"), list) and messages and any(map(_is_message, messages))
    ]
    return found[0] if len(found) == 1 else None


def _holders(value: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    yield value, "messages"
    for key in ("state", "chat_message_store_state", "storeState", "chatHistoryProviderState"):
        if isinstance(state := value.get(key), dict):
            yield state, f"{key}.messages"
            yield from ((part, f"{key}.{name}.messages") for name, part in state.items() if isinstance(part, dict))


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if _is_message(value):
        return families.MESSAGE
    return families.RECORD if _history(value) else None


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        return [_conversation(value, "")]
    history, path = _history(value) or ([], "messages")
    reason = _field(value, "finish_reason")
    reason = reason.get("value") if isinstance(reason, dict) else reason
    made = _conversation(history, path, reason)
    identity = {**records.identity(value), **({"id": value["response_id"]} if _named(value, "response_id") else {})}
    return [msgspec.structs.replace(made, **identity)]


def _named(value: dict[str, Any], key: str) -> bool:
    return isinstance(value.get(key), str) and bool(value[key])


def _conversation(messages: list[Any], path: str, reason: Any = None) -> Trajectory:
    places = [f"{path}[{index}]" for index in range(len(messages))]
    warnings: list[str] = []
    told = list(_told(messages, places, warnings))
    last = messages[-1:] if _role(messages[-1]) == "assistant" else []
    gaps = [gap for one in last for gap in stopping.gaps(reason, calls=_has_calls(one), text=bool(_text(one)))]
    searched = [(message, at) for message, at in zip(messages, places, strict=True)]
    output = next((_text(one) or None for one in last if not _has_calls(one)), None)
    return conversation.trajectory(
        messages, told, warnings, path=path, gaps=tuple(gaps), output=output, searched=searched
    )


def _has_calls(message: dict[str, Any]) -> bool:
    return any(_type(part) in {*_CALLS, _REQUEST} for part in message["contents"])


def _text(message: dict[str, Any]) -> str:
    texts = (
        part if isinstance(part, str) else part.get("text") for part in message["contents"] if _type(part) == "text"
    )
    return "".join(text for text in texts if isinstance(text, str))


def _told(messages: list[Any], places: list[str], warnings: list[str]) -> Iterator[Event]:
    """What happens in messages; `TraceError` with its place for what is no message."""
    for message, at in zip(messages, places, strict=True):
        if not _is_message(message):
            found = "another format" if isinstance(message, dict) else shapes.kind(message)
            raise TraceError(f"expected a message, `role` and `contents`; found {found}", Where(path=at))
    known = _known([part for message in messages for part in message["contents"]])
    for message, at in zip(messages, places, strict=True):
        yield from _events(message, at, known, warnings)


class _Known(msgspec.Struct, frozen=True):
    """What the whole conversation tells of its calls.

    `asked` are those that stand by themselves, which a request to approve only repeats; `denied` and `answered` the
    ids of those that a person denied, and of those that have a result.
    """

    asked: frozenset[tuple[str, str]]
    denied: frozenset[str]
    answered: frozenset[str]


def _known(contents: list[Any]) -> _Known:
    return _Known(
        frozenset(_identity(part) for part in contents if _type(part) in _CALLS),
        frozenset(str(_approved_id(part)) for part in contents if _is_denial(part)),
        frozenset(str(_field(part, "call_id")) for part in contents if _type(part) in _ANSWERS),
    )


def _identity(part: dict[str, Any]) -> tuple[str, str]:
    return str(_field(part, "call_id")), str(part.get("name"))


def _is_denial(part: Any) -> bool:
    return _type(part) == _RESPONSE and part.get("approved") is False


def _approved_id(part: dict[str, Any]) -> str | None:
    """The id of the call that a person approved or denied."""
    inner = _field(part, "function_call")
    return shapes.label(_field(inner, "call_id")) if isinstance(inner, dict) else None


def _events(message: dict[str, Any], at: str, known: _Known, warnings: list[str]) -> Iterator[Event]:
    """What happens in one message."""
    placed = [(part, f"{at}.contents[{index}]") for index, part in enumerate(message["contents"])]
    calls = [made for part, place in placed if (made := _call(part, place, known, warnings)) is not None]
    answers = [(part, place) for part, place in placed if _type(part) in _ANSWERS]
    responses = [(part, place) for part, place in placed if _type(part) == _RESPONSE]
    if _role(message) == "assistant":
        author = shapes.label(_field(message, "author_name"))
        yield Asked(tuple(msgspec.structs.replace(call, agent=author) for call in calls))
    elif calls:
        warnings.append(f"{at} has calls although it is no message of the model; they are not read")
    elif _role(message) == "user" and not answers and not responses:
        yield Said()
    yield from (_answered(part, place, known) for part, place in answers)
    denials = [(_approved_id(part), place) for part, place in responses if _is_denial(part)]
    yield from (Answered(id=id_, status="refused", place=place) for id_, place in denials if id_ not in known.answered)
    for part, place in placed:
        if _type(part) not in _KINDS:
            warnings += shapes.unknown(place, part)


def _call(part: Any, at: str, known: _Known, warnings: list[str]) -> ToolCall | None:
    """The call that a content writes, or that it asks a person to approve, unless that one is told by itself."""
    if _type(part) == _REQUEST:
        inner = _field(part, "function_call")
        if not isinstance(inner, dict) or _identity(inner) in known.asked:
            return None
        return msgspec.structs.replace(_made(inner, f"{at}.function_call", warnings), status="pending")
    return _made(part, at, warnings) if _type(part) in _CALLS else None


def _made(part: dict[str, Any], at: str, warnings: list[str]) -> ToolCall:
    kind = _CALLS.get(_type(part), "client")
    hosted = kind == "client" and part.get("hosted") is True
    own = _type(part).removesuffix("_tool_call")
    name = part.get("name", _field(part, "tool_name", UNSET))
    source = next((part[key] for key in _INPUTS if part.get(key) is not None), UNSET)
    if isinstance(source, list):
        source = {next(key for key in _INPUTS if part.get(key) is source): source}
    call, notes = shapes.named(
        own if name is UNSET and kind != "mcp" else name, source, id=_field(part, "call_id"), at=at
    )
    warnings += notes
    server = shapes.label(_field(part, "server_name")) if kind == "mcp" or hosted else None
    return msgspec.structs.replace(call, kind="server" if hosted else kind, server=server)


def _answered(part: dict[str, Any], at: str, known: _Known) -> Answered:
    """A result. That of a call which a person denied only says so."""
    failure, identity = part.get("exception"), shapes.label(_field(part, "call_id"))
    result = conversation.structured(next((part[key] for key in _RESULTS if part.get(key) is not None), None))
    error = None if failure is None else (result if isinstance(result, str) and result else str(failure))
    status: CallStatus = "ok" if failure is None else "error"
    if identity in known.denied:
        status, error = "refused", result if isinstance(result, str) else error
    return Answered(id=identity, result=result, status=status, error=error, place=at)


_FAMILY: Final = families.Family(
    expected="messages, a response or a session of Agent Framework", kind=_kind, whole=_whole
)


def claims(head: bytes) -> bool:
    """Whether the first value is a message, messages, a response or a session, with contents that are all known."""
    if not families.claims(_FAMILY, head):
        return False
    value = heads.settled(head)
    listed = value if isinstance(value, list) else [value]
    return any(map(_is_distinctive, (message for one in listed for message in _messages(one))))


def _messages(value: Any) -> list[Any]:
    if _is_message(value) or not isinstance(value, dict):
        return [value]
    history = _history(value)
    return history[0] if history else []


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
