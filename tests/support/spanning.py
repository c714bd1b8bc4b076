"""Spans of any convention in few words, as objects with the field names of OTLP."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError


def span(number: int, attributes: Mapping[str, Any], parent: int = 0, **more: Any) -> dict[str, Any]:
    """The span of that number, which starts that many milliseconds after the first and lasts one."""
    return {
        "traceId": "ab" * 16,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"span {number}",
        "startTimeUnixNano": str(number * 1_000_000),
        "endTimeUnixNano": str(number * 1_000_000 + 999_999),
        "attributes": dict(attributes),
        **more,
    }


def asked(*calls: Any, **more: Any) -> dict[str, Any]:
    """The attributes of a model span of GenAI that puts out calls: `(name, arguments, id)` or whole parts."""
    parts = [call if isinstance(call, dict) else _part(*call) for call in calls]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
        **more,
    }


def _part(name: str, arguments: Any = None, id: str | None = None) -> dict[str, Any]:
    known = {"type": "tool_call", "name": name, "arguments": arguments, "id": id}
    return {key: value for key, value in known.items() if value is not None}


def ran(name: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """The attributes of a tool span of GenAI."""
    given = {} if arguments is None else {"gen_ai.tool.call.arguments": json.dumps(arguments)}
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **given, **more}


def read(values: Any, format: str | None = None) -> list[Trajectory]:
    """All trajectories of a JSON value; the first error is raised."""
    return read_bytes(json.dumps(values).encode(), format)


def read_lines(values: Iterable[Any], format: str | None = None) -> list[Trajectory]:
    """All trajectories of JSON lines."""
    return read_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in values), format)


def read_bytes(data: bytes, format: str | None = None) -> list[Trajectory]:
    """All trajectories of a file."""
    found = []
    for item in traces.read([data], format=format, file="f"):
        if isinstance(item, TraceError):
            raise item
        found.append(item)
    return found


def one(values: Any, format: str | None = None) -> Trajectory:
    """The only trajectory of a JSON value."""
    (trajectory,) = read(values, format)
    return trajectory


def told(trajectory: Trajectory) -> list[tuple[str, Any]]:
    """Names and arguments; the state of arguments that are not known."""
    calls = trajectory.tool_calls or ()
    return [(call.name, call.arguments if call.arguments_state == "ok" else call.arguments_state) for call in calls]
