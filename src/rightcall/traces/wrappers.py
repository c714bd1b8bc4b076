"""Wrappers around tools: where in what a wrapper was given its span says which tool was called, and with what."""

from __future__ import annotations

import msgspec

from rightcall.core import paths
from rightcall.core.paths import Step
from rightcall.errors import UsageError

_GIVEN = "inputs"


class ToolAt(msgspec.Struct, frozen=True, kw_only=True):
    """The steps, into what a span of a tool was given, to the name and to the arguments; `path` is that to the name.

    Without `arguments` they are everything that the span was given.
    """

    path: str
    name: tuple[Step, ...]
    arguments: tuple[Step, ...] | None = None


def tool_at(name: str | None, arguments: str | None = None) -> ToolAt | None:
    """What two paths such as `inputs.call.tool_name` mean, `None` without any; `UsageError` for what is no such path.

    Arguments are taken only from a span that has a name.
    """
    if name is None:
        if arguments is not None:
            raise UsageError(f"`{arguments}` says where arguments are; say where the name of the tool is, too")
        return None
    return ToolAt(path=name, name=_steps(name), arguments=None if arguments is None else _steps(arguments))


def _steps(path: str) -> tuple[Step, ...]:
    try:
        steps = paths.parse(path)
    except ValueError as error:
        raise UsageError(f"`{path}` is no path: {error}") from None
    if len(steps) < 2 or steps[0] != _GIVEN:
        raise UsageError(
            f"`{path}` does not lead into what a span was given; expected a path such as `{_GIVEN}.call.tool_name`"
        )
    if paths.EVERY in steps:
        raise UsageError(f"`{path}` leads to many values; name one item, as `[0]`, instead of `[*]`")
    return steps[1:]
