"""Executions whose span is that of a wrapper, as calls of the tool that was called through it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET

from rightcall.core import paths
from rightcall.traces.conventions.carriers import carried
from rightcall.traces.conventions.model import Around, Part
from rightcall.traces.merging import Execution
from rightcall.traces.wrappers import ToolAt


def unwrapped(parts: Iterable[Part | None], at: ToolAt) -> tuple[list[Part | None], tuple[str, ...]]:
    """What spans are, each execution by the name that `at` leads to; and a note of those that have none there."""
    found: list[Part | None] = []
    kept = 0
    for part in parts:
        inner = _unwrapped(part, at)
        kept += inner is None and isinstance(part, Execution)
        found.append(inner or part)
    return found, (f"spans of tools that have no name at `{at.path}`, and keep their own: {kept}",) if kept else ()


def _unwrapped(part: Part | None, at: ToolAt) -> Part | None:
    """What a span is instead, if it is or may be an execution, and names the tool."""
    if isinstance(part, Execution):
        return _named(part, at)
    if isinstance(part, Around) and part.perhaps is not None and (run := _named(part.perhaps, at)):
        return msgspec.structs.replace(part, perhaps=run)
    return None


def _named(run: Execution, at: ToolAt) -> Execution | None:
    """The execution of the tool that the wrapper names, `None` if it names none."""
    given = run.arguments.value
    name = next(paths.values_at(given, at.name), None)
    if not isinstance(name, str) or not name:
        return None
    if at.arguments is None:
        return msgspec.structs.replace(run, name=name)
    arguments = carried(next(paths.values_at(given, at.arguments), UNSET))
    return msgspec.structs.replace(run, name=name, arguments=arguments)
