"""Native records as they stand in a file, decoded by type: the fast path of the native format.

A line is decoded straight into call records, and written back. If no colon got lost on the way, no key was
unknown, repeated or equal to its default, so the records are exact. Else it is decoded once more with every field
that was not written left unset: if now no colon is lost, only defaults were. All else is read as plain JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core import jsontext
from rightcall.core.calls import (
    ArgumentsState,
    CallKind,
    CallStatus,
    Ingestion,
    Requestor,
    ToolCall,
    ToolSpec,
    Trajectory,
)
from rightcall.traces import documents, records, shapes

_Text = str | None | UnsetType
_Number = int | None | UnsetType
_Texts = tuple[str, ...] | UnsetType


class Call(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A call record as written: what was not written is `UNSET`."""

    name: str
    arguments: Any = UNSET
    arguments_state: ArgumentsState | UnsetType = UNSET
    arguments_text: _Text = UNSET
    id: _Text = UNSET
    status: CallStatus | UnsetType = UNSET
    result: Any = UNSET
    error: _Text = UNSET
    kind: CallKind | UnsetType = UNSET
    server: _Text = UNSET
    agent: _Text = UNSET
    agent_path: _Texts = UNSET
    parent: _Number = UNSET
    requestor: Requestor | UnsetType = UNSET
    turn: _Number = UNSET
    message: _Number = UNSET
    started_at: _Text = UNSET
    ended_at: _Text = UNSET
    sources: _Texts = UNSET


class Around(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What stands around the calls in a record, as written."""

    id: str | UnsetType = UNSET
    test_id: _Text = UNSET
    conversation_id: _Text = UNSET
    trace_ids: _Texts = UNSET
    gaps: _Texts = UNSET
    available_tools: tuple[ToolSpec, ...] | UnsetType = UNSET
    messages: list[Any] | UnsetType | None = UNSET
    output: Any = UNSET
    failure: _Text = UNSET
    trouble: _Text = UNSET
    warnings: _Texts = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    ingestion: Ingestion | UnsetType | None = UNSET


_EXPECTED: Final = [(key, Any, UNSET) for key in records.EXPECTATION_KEYS]


def _as_trajectory(field: msgspec.structs.FieldInfo) -> tuple[str, Any, Any]:
    made = field.default_factory is not msgspec.NODEFAULT
    return field.name, field.type, msgspec.field(default_factory=dict) if made else field.default


_AROUND_AND_CALLS: Final = [
    _as_trajectory(field) for field in msgspec.structs.fields(Trajectory) if field.name != "expectations"
]
_Quick = msgspec.defstruct(
    "_Quick",
    [*_AROUND_AND_CALLS, *_EXPECTED],
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
)
_Exact = msgspec.defstruct(
    "_Exact",
    [("tool_calls", tuple[Call, ...] | None | UnsetType, UNSET), *_EXPECTED],
    bases=(Around,),
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
)

_decode_quick: Callable[[bytes], Any] = msgspec.json.Decoder(_Quick).decode
_decode_exact: Callable[[bytes], Any] = msgspec.json.Decoder(_Exact).decode
_encode = msgspec.json.Encoder().encode

_CALL_FIELDS: Final = ToolCall.__struct_fields__
_call_values = attrgetter(*_CALL_FIELDS)
AROUND: Final = Around.__struct_fields__
_expected_values = attrgetter(*records.EXPECTATION_KEYS)
_NOTHING_EXPECTED: Final = (UNSET,) * len(records.EXPECTATION_KEYS)


def trajectory(line: bytes) -> Trajectory | None:
    """The trajectory that one line writes, or `None` if only the slow path can decide."""
    if b"\\u003" in line or line.count(b"[") + line.count(b"{") > jsontext.MAX_DEPTH:
        return None
    try:
        record = _decode_quick(line)
        colons = line.count(b":")
        if _encode(record).count(b":") == colons or _encode(_decode_exact(line)).count(b":") == colons:
            return _trajectory(record)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError, ValueError):
        return None
    return None


def _trajectory(record: Any) -> Trajectory | None:
    calls = record.tool_calls
    if calls is not None and len(calls) > documents.MAX_CALLS:
        return None
    if calls == () and record.messages and not record.gaps:
        return None
    return Trajectory(
        id=record.id,
        test_id=record.test_id,
        conversation_id=record.conversation_id,
        trace_ids=record.trace_ids,
        tool_calls=calls if calls is None else tuple([made if _is_plain(made) else call(made) for made in calls]),
        gaps=record.gaps,
        available_tools=record.available_tools,
        messages=record.messages,
        output=record.output,
        failure=record.failure,
        trouble=record.trouble,
        warnings=record.warnings,
        metadata=record.metadata,
        ingestion=record.ingestion,
        expectations=_expectations(_expected_values(record)),
    )


def _is_plain(made: ToolCall) -> bool:
    return made.arguments.__class__ is dict and made.arguments_state == "ok"


def _expectations(values: tuple[Any, ...]) -> dict[str, Any]:
    if values == _NOTHING_EXPECTED:
        return {}
    pairs = zip(records.EXPECTATION_KEYS, values, strict=True)
    return {key: value for key, value in pairs if value is not UNSET}


def call(written: Call | ToolCall) -> ToolCall:
    """The call that a record writes: text arguments are decoded once, none are `{}` (G9, G10)."""
    fields = {
        name: value for name, value in zip(_CALL_FIELDS, _call_values(written), strict=True) if value is not UNSET
    }
    source = fields.pop("arguments", UNSET)
    if fields.get("arguments_state", "ok") != "ok":
        kept = fields.pop("arguments_text", None)
        return ToolCall(arguments=None, arguments_text=_text(source) if kept is None else kept, **fields)
    read = shapes.arguments(source)
    if read.state != "ok":
        fields |= {"arguments_state": read.state, "arguments_text": read.text}
    return ToolCall(arguments=read.value, **fields)


def _text(source: Any) -> str | None:
    """What was written as arguments of a call whose state says that they cannot be read."""
    if source is UNSET or source is None or source == {}:
        return None
    return source if isinstance(source, str) else jsontext.encode(source).decode()


def writable(made: ToolCall) -> dict[str, Any]:
    """The fields of a call as the native format writes them; arguments that are no object as JSON text."""
    values = zip(_CALL_FIELDS, _call_values(made), _DEFAULTS, strict=True)
    fields = {name: value for name, value, default in values if value != default or name == "name"}
    fields.pop("arguments", None)
    if made.arguments_state == "ok" and made.arguments.__class__ is not dict:
        fields["arguments"] = jsontext.encode(made.arguments).decode()
    elif made.arguments:
        fields["arguments"] = made.arguments
    return fields


_DEFAULTS: Final = _call_values(ToolCall(name=""))
