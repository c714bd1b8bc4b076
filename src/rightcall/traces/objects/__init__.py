"""Values of Python programs into JSON: what a program holds in memory is read like a file.

No library of anybody is imported here: what a value is, its class and what it offers tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.core.values import display
from rightcall.errors import TraceError
from rightcall.traces.objects import bare
from rightcall.traces.objects.holders import readable_spans
from rightcall.traces.objects.walking import plain

__all__ = ["document", "only", "plain", "readable_spans"]


def document(value: Any) -> bytes:
    """A value as the JSON text of a trace. Text is taken as such a text itself; a bare call becomes a record."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes | bytearray):
        return _text(bytes(value))
    known = plain(value)
    if not isinstance(known, dict | list):
        found = "`None`" if value is None else f"`{display(known, 40)}`"
        raise TraceError(f"expected what holds a conversation; found {found}")
    return jsontext.encode(bare.record(known))


def _text(text: bytes) -> bytes:
    try:
        value = jsontext.decode(text)
    except jsontext.JSONError:
        return text
    return jsontext.encode(bare.record(value))


def only(items: Iterable[Trajectory | TraceError]) -> Trajectory:
    """The one trajectory among the items; `TraceError` if it is broken, or if there is none or more than one."""
    found = list(items)
    for item in found:
        if isinstance(item, TraceError):
            raise item
    made = [item for item in found if isinstance(item, Trajectory)]
    if len(made) != 1:
        many = f"{len(made)}; give each by itself" if made else "none"
        raise TraceError(f"expected one trajectory; found {many}")
    return made[0]
