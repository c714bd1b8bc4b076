"""Recordings that come as bytes: read whole, within limits, and made into tests."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rightcall.app import promoting
from rightcall.app.promoting import PromoteRequest
from rightcall.app.reading import How, trace_reader
from rightcall.app.spool import Spools
from rightcall.app.updating import Refused
from rightcall.core.calls import Trajectory
from rightcall.core.lining import Mode
from rightcall.errors import TestSetError, TraceError
from rightcall.testsets.promotion import Recorded
from rightcall.testsets.promotion.calls import Arguments
from rightcall.traces import containers, native

FILE: Final = "trace"

MOST: Final = 1000
"""Trajectories of one upload."""

_COMPRESSED: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "Zstandard", b"PK\x03\x04": "ZIP", b"PAR1": "Parquet"}
"""How files begin that are small for what they hold."""


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """One trajectory that was read: what people call it, and its line in the native format."""

    name: str
    conversation_id: str | None
    line: bytes


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: the format, the trajectories in their order, and what could not be read, in words."""

    format: str
    trajectories: tuple[Received, ...]
    rejected: tuple[str, ...] = ()


def read(body: bytes, trace_format: str | None, group_by: str | None) -> Reading:
    """Read what came; `TraceError` if nothing of it can be read, or it holds too much for one upload."""
    packed = next((name for magic, name in _COMPRESSED.items() if body.startswith(magic)), None)
    if packed is not None:
        raise TraceError(f"this is packed with {packed}; send it unpacked, so that its size is known")
    reader = trace_reader(How(format=trace_format, group_by=group_by))
    source = containers.Source([body])
    kept: list[Received] = []
    rejected: list[str] = []
    with Spools() as keep:
        for item in reader(source, FILE, keep, None):
            if len(kept) + len(rejected) == MOST:
                raise TraceError(f"it holds more than {MOST:,} trajectories; send them in several uploads")
            if isinstance(item, TraceError):
                rejected.append(str(item.out_of(FILE)))
            else:
                kept.append(_received(item))
    if not kept:
        raise TraceError(rejected[0] if rejected else "it holds no trajectory")
    return Reading(format=source.format, trajectories=tuple(kept), rejected=tuple(rejected))


def _received(item: Trajectory) -> Received:
    name = item.id or item.conversation_id or ""
    return Received(name=name, conversation_id=item.conversation_id, line=native.encode(item))


def promoted(line: bytes, match: Mode, arguments: Arguments) -> dict[str, Any]:
    """What a kept test says that a trajectory makes: its `prompt` or `turns`, and a `test_configuration`.

    `TestSetError` if it makes none that it passes itself. Secrets are taken out of it.
    """
    item = next(native.read([line], FILE))
    if isinstance(item, TraceError):
        raise TestSetError(f"its trajectory cannot be read: {item.message}")
    refused: list[Refused] = []
    request = PromoteRequest(traces=(), output="", match=match, arguments=arguments)
    drafts = list(promoting.drafted(request, [Recorded(item, FILE)], refused))
    if not drafts:
        raise TestSetError(refused[0].why)
    keys = {key: value for key, value in drafts[0].keys.items() if key not in ("id", "name")}
    asked: dict[str, Any] = {key: keys.pop(key) for key in ("prompt", "turns") if key in keys}
    return {**asked, "test_configuration": keys}
