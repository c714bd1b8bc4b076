"""Documents read as the lines of one file in a format that is named, and calls in few words."""

from __future__ import annotations

import json
from typing import Any

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError


def items(format: str, *documents: Any) -> list[Trajectory | TraceError]:
    """What is read of documents, one a line; a text is a line as it is."""
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in documents)
    return list(traces.read([text.encode()], format=format, file="f"))


def one(format: str, *documents: Any) -> Trajectory:
    """The one trajectory that is read of documents; its error is raised."""
    (item,) = items(format, *documents)
    if isinstance(item, TraceError):
        raise item
    return item


def told(trajectory: Trajectory) -> list[tuple[str, Any, str, Any]]:
    """The name, the arguments, the status and the result of each call."""
    return [(call.name, call.arguments, call.status, call.result) for call in trajectory.tool_calls or ()]
