"""The native format: one JSON object a line, the call record and trajectory by their own names.

A document may also hold one record, or an array of records. Lines are decoded by type (`wire`); what that
cannot decide (other shapes of calls, unknown or repeated keys, anything broken) is read as plain JSON here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from rightcall.core import jsontext
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import documents, heads, hidden, records, shapes
from rightcall.traces.native import wire
from rightcall.traces.native.identities import identities

__all__ = ["claims", "encode", "identities", "read"]

_T = TypeVar("_T")

_FIELDS: Final = tuple(name for name in Trajectory.__struct_fields__ if name != "expectations")
_CALL_FIELDS: Final = frozenset(ToolCall.__struct_fields__)
_FOREIGN: Final = frozenset(
    {
        "role",
        "content",
        "type",
        "delta",
        "choices",
        "tool_plan",
        "contents",
        "steps",
        "generation_id",
        "chat_history",
        "event_type",
    }
)


def claims(head: bytes) -> bool:
    """Whether the first value is a record with calls, or with expectations and nothing of another format."""
    value = heads.sketch(head)
    if isinstance(value, list):
        value = value[0] if value else {"tool_calls": None}
    return isinstance(value, dict) and not _FOREIGN & value.keys() and _is_record(value)


def _is_record(value: dict[str, Any]) -> bool:
    return "tool_calls" in value or ("messages" not in value and bool(records.DECISIVE_KEYS & value.keys()))


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every record, in order; a record that cannot be read is yielded as an error."""
    head, chunks = documents.peek(chunks)
    parts: Iterator[Trajectory | documents.Document | TraceError]
    parts = documents.readable(_lines(chunks)) if documents.is_lines(head) else documents.documents(chunks)
    for part in parts:
        if isinstance(part, Trajectory):
            yield part
        elif isinstance(part, TraceError):
            yield part.within(file=file)
        else:
            yield from _placed(_records(part), file, part.line)


def _placed(items: Iterable[Trajectory | TraceError], file: str, line: int) -> Iterator[Trajectory | TraceError]:
    for item in items:
        yield item.within(file=file, line=line) if isinstance(item, TraceError) else item


def _lines(chunks: Iterable[bytes]) -> Iterator[Trajectory | documents.Document | TraceError]:
    """Each line as the trajectory it writes, or as a value that is still to be read, or as an error."""
    for block in documents.blocks(chunks):
        if block.oversized:
            yield from documents.lines(block)
            continue
        for number, line in enumerate(block.data.split(b"\n"), block.line):
            if line and not line.isspace():
                quick = wire.trajectory(line) if len(line) <= documents.MAX_RECORD else None
                yield documents.line(line, number, block.ended) if quick is None else quick


def _records(document: documents.Document) -> Iterator[Trajectory | TraceError]:
    """The record or records that one value holds."""
    if not isinstance(document.value, list):
        yield _record(document.value, "", document)
        return
    for index, value in enumerate(document.value):
        yield _record(value, f"[{index}]", document)


def _record(value: Any, path: str, document: documents.Document) -> Trajectory | TraceError:
    try:
        return trajectory(documents.within_limit(value, document))
    except TraceError as error:
        identity = value.get("id") if isinstance(value, dict) else None
        error.record_id = identity if isinstance(identity, str) else None
        return error.within(path=path)


def trajectory(value: Any) -> Trajectory:
    """The trajectory that one decoded record writes; `TraceError` with the JSON path of what is wrong."""
    if not isinstance(value, dict):
        raise TraceError(f"expected a record, an object with `tool_calls`; found {shapes.kind(value)}")
    try:
        jsontext.check_depth(value)
    except jsontext.JSONError as error:
        raise TraceError(error.message) from None
    value = _naming_its_test(value)
    warnings = records.unknown_keys(value, _FIELDS)
    calls, call_warnings = _calls(value.get("tool_calls"))
    known = convert({name: value[name] for name in wire.AROUND if name in value}, wire.Around, "")
    fields = {name: part for name in wire.AROUND if (part := getattr(known, name)) is not UNSET}
    fields["warnings"] = (*fields.get("warnings", ()), *warnings, *call_warnings)
    if found := tuple(_gaps(value, calls, fields.get("gaps", ()))):
        fields["gaps"] = (*fields.get("gaps", ()), *found)
    return Trajectory(tool_calls=calls, expectations=records.expectations(value), **fields)


def _naming_its_test(value: dict[str, Any]) -> dict[str, Any]:
    """The record with `case_id`, another word for `test_id`, under that name."""
    named = value.get("case_id")
    if not isinstance(named, str) or not named or value.get("test_id") is not None:
        return value
    return {"test_id" if key == "case_id" else key: part for key, part in value.items() if key != "test_id"}


def _gaps(value: dict[str, Any], calls: tuple[ToolCall, ...] | None, told: tuple[str, ...]) -> Iterator[str]:
    """Where the record shows calls that are not among its `tool_calls`."""
    unknown = {key: part for key, part in value.items() if key not in _FIELDS and not records.is_expectation(key)}
    yield from hidden.gaps(hidden.signs(unknown), calls or ())
    for index, entry in enumerate(value.get("tool_calls") or ()):
        yield from hidden.in_call(entry, f"tool_calls[{index}]")
    if calls == () and not told:
        yield from hidden.gaps(hidden.in_messages(value.get("messages")))


def convert(value: Any, type_: type[_T], path: str) -> _T:
    """A decoded value as a struct; `TraceError` with the path of the first field of a wrong type."""
    try:
        return msgspec.convert(value, type_)
    except UnicodeEncodeError:
        # The library words its errors as UTF-8, in which a lone surrogate cannot be written.
        raise TraceError("a lone surrogate stands where it cannot", Where(path=path)) from None
    except msgspec.ValidationError as error:
        message, _, at = str(error).partition(" - at `$")
        inner = at.rstrip("`").removeprefix(".")
        raise TraceError(_lower(message), Where(path=_joined(path, inner))) from None


def _joined(front: str, back: str) -> str:
    return front + back if not front or back.startswith("[") else f"{front}.{back}" if back else front


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _calls(value: Any) -> tuple[tuple[ToolCall, ...] | None, tuple[str, ...]]:
    if value is None:
        return None, ()
    if not isinstance(value, list):
        raise TraceError(f"expected an array of tool calls; found {shapes.kind(value)}", Where(path="tool_calls"))
    if too_many := documents.too_many_calls(len(value), path="tool_calls"):
        raise too_many
    read = [_call(entry, f"tool_calls[{index}]") for index, entry in enumerate(value)]
    return tuple(call for call, _ in read), tuple(warning for _, warnings in read for warning in warnings)


def _call(entry: Any, path: str) -> tuple[ToolCall, tuple[str, ...]]:
    if isinstance(entry, dict) and isinstance(entry.get("name"), str) and entry.keys() <= _CALL_FIELDS:
        return wire.call(convert(entry, wire.Call, path)), ()
    made, warnings = shapes.call(entry)
    if isinstance(entry, dict):
        made = _with_fields(made, entry, path)
        warnings = (*warnings, *(f"has `{key}`, which is not read" for key in hidden.unread_keys(entry)))
    return made, tuple(f"{path} {warning}" for warning in warnings)


def _with_fields(made: ToolCall, entry: dict[str, Any], path: str) -> ToolCall:
    """Fields of our own call record that stand beside another shape."""
    own = _CALL_FIELDS & entry.keys() - {"name", "arguments", "arguments_text", "id"}
    if not own:
        return made
    read = wire.call(convert({"name": "", **{name: entry[name] for name in own}}, wire.Call, path))
    return msgspec.structs.replace(made, **{name: getattr(read, name) for name in own})


_EMPTY: Final = Trajectory()


def encode(trajectory: Trajectory) -> bytes:
    """One line that reads back as the same trajectory."""
    calls = trajectory.tool_calls
    plain = calls if calls is None else tuple([wire.writable(call) for call in calls])
    fields = {name: getattr(trajectory, name) for name in _FIELDS if name != "tool_calls"}
    kept = {name: value for name, value in fields.items() if value != getattr(_EMPTY, name)}
    return jsontext.encode({**kept, "tool_calls": plain, **trajectory.expectations}) + b"\n"
