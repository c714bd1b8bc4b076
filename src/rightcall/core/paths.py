"""Paths into JSON values, a small part of JSONPath: `items[*].id`, `["odd key"]`, `[0]`.

Members are written `.name` or `["name"]`, items `[0]`, counted from 0, and `[*]` stands for every item of an array.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

EVERY: Final = object()
"""The step to every item of an array."""

Step = str | int | object

_STEP: Final = re.compile(
    r"""\.?(?P<name>[^\s.\[\]"*]+)|\[(?:(?P<index>0|[1-9]\d{0,8})|(?P<every>\*)|(?P<quoted>"(?:[^"\\]|\\.)*"))\]"""
)


def parse(path: str) -> tuple[Step, ...]:
    """The steps of a path, none for the empty one; `ValueError` with where it stops being one."""
    steps: list[Step] = []
    at = 0
    while at < len(path):
        found = _STEP.match(path, at)
        # A name follows a dot, but for the first one of all.
        if found is None or (found["name"] and (path[at] == ".") is (at == 0)):
            raise ValueError(f'`{path[at:]}` is no step of a path; steps are `.name`, `[0]`, `[*]` and `["name"]`')
        steps.append(_step(found))
        at = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step:
    if found["every"]:
        return EVERY
    if found["index"]:
        return int(found["index"])
    return str(json.loads(found["quoted"])) if found["quoted"] else found["name"]


def values_at(value: Any, steps: tuple[Step, ...]) -> Iterator[Any]:
    """The values that the steps lead to, in order: none where one of them leads nowhere."""
    here = [value]
    for step in steps:
        here = [inner for item in here for inner in _into(item, step)]
    yield from here


def _into(value: Any, step: Step) -> list[Any]:
    if isinstance(value, dict):
        return [value[step]] if isinstance(step, str) and step in value else []
    if not isinstance(value, list | tuple):
        return []
    if step is EVERY:
        return list(value)
    return [value[step]] if isinstance(step, int) and step < len(value) else []
