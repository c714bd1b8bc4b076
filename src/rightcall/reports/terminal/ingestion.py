"""What was read of a trace file, for people: how much of it, what became calls, and what did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from rightcall.core.calls import MOST_NAMES, Ingestion, ToolCall, Trajectory
from rightcall.core.sidebyside import wrap
from rightcall.core.values import visible
from rightcall.core.wording import amount, first
from rightcall.errors import TraceError
from rightcall.reports.terminal.paint import Line

_REASONS: Final = {
    "redacted": "masked",
    "not_captured": "the trace does not hold them",
    "truncated": "cut off at a limit of the exporter",
    "malformed": "the model wrote no JSON",
}
_CONTENT_OFF: Final = "content capture was off"
_NAMES: Final = ("unknown", "unread", "labels")


class Totals:
    """The sums over trajectories of one file, or of several."""

    def __init__(self) -> None:
        self.rejected = 0
        self.trajectories = 0
        self._counts = Counter[str]()
        self._reasons = Counter[str]()
        self._names: dict[str, dict[str, None]] = {field: {} for field in _NAMES}

    def count(self, item: Trajectory | TraceError) -> None:
        """Count a trajectory, or the error that stands in the place of one."""
        if isinstance(item, Trajectory):
            self._add(item)
        else:
            self.rejected += 1

    def _add(self, trajectory: Trajectory) -> None:
        read = trajectory.ingestion or Ingestion(joined=sum(map(_further, trajectory.tool_calls or ())))
        self.trajectories += 1
        self._counts["not recorded"] += trajectory.tool_calls is None
        self._counts["gaps"] += len(trajectory.gaps)
        for field in Ingestion.__struct_fields__:
            value: Any = getattr(read, field)
            if field in _NAMES:
                self._names[field] |= dict.fromkeys(value)
            else:
                self._counts[field] += value
        for call in trajectory.tool_calls or ():
            self._counts["calls"] += 1
            if call.arguments_state != "ok":
                off = read.content_off and call.arguments_state == "not_captured"
                self._reasons[_CONTENT_OFF if off else _REASONS[call.arguments_state]] += 1

    def lines(self, width: int) -> Iterator[Line]:
        """Say the sums, each sort on its line; sorts of which there is nothing are left out."""
        for text in (*self._read(), self._calls(), *self._arguments(), *self._named(), *self._missing()):
            pieces = wrap(visible(text), width - 4)
            yield (("plain", f"  {pieces[0]}"),)
            yield from ((("plain", f"    {piece.strip()}"),) for piece in pieces[1:])

    def _read(self) -> Iterator[str]:
        counts = self._counts
        if counts["messages"]:
            yield f"messages {counts['messages']:,}"
        if counts["spans"]:
            tools = f"tool-like {counts['tool_spans']:,}, understood {counts['understood']:,}"
            yield (
                f"spans {counts['spans']:,}, of models {counts['model_spans']:,}, {tools}, "
                f"without a call {counts['idle']:,}"
            )

    def _calls(self) -> str:
        joined = self._counts["joined"]
        more = f", joined {amount(joined, 'further sighting')}" if joined else ""
        return f"calls {self._counts['calls']:,}{more}"

    def _arguments(self) -> Iterator[str]:
        for reason, number in sorted(self._reasons.items()):
            yield f"{amount(number, 'call')} without arguments that can be read: {reason}"

    def _named(self) -> Iterator[str]:
        if self._counts["unknown_spans"]:
            yield f"no convention knows {amount(self._counts['unknown_spans'], 'span')}: {self._listed('unknown')}"
        if self._names["unread"]:
            yield f"look like tools, but no call was read from them: {self._listed('unread')}"
        if self._names["labels"]:
            yield f"named by the label of their span alone: {self._listed('labels')}"

    def _missing(self) -> Iterator[str]:
        if number := self._counts["not recorded"]:
            yield f"{amount(number, 'trajectory', 'trajectories')} without recorded calls"
        if number := self._counts["gaps"]:
            yield f"{amount(number, 'gap')}: calls may be missing"
        if self.rejected:
            yield f"{amount(self.rejected, 'record')} not read"

    def _listed(self, field: str) -> str:
        return first([f"`{name}`" for name in sorted(self._names[field])], MOST_NAMES)


def _further(call: ToolCall) -> int:
    return max(0, len(call.sources) - 1)
