"""What a span of a tool says of one run: the arguments by name, as they were given, and the result.

Content is left out where OpenTelemetry is told so: `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=false`.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import json
import math
import os
import re
import uuid
from collections.abc import Callable
from typing import Any, Final

import msgspec

ARGUMENTS: Final = "gen_ai.tool.call.arguments"
RESULT: Final = "gen_ai.tool.call.result"
UNWRITTEN: Final = "rightcall.tool.unwritten"
"""Why the arguments of a run are not on its span."""

_SWITCH: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_OFF: Final = frozenset({"false", "0", "no", "off", "no_content", "event_only"})
_OWN: Final = frozenset({"self", "cls"})
_CONTEXTS: Final = frozenset(
    {
        "agents.RunContextWrapper",
        "fastmcp.Context",
        "google.ReadonlyContext",
        "langchain_core.BaseRunManager",
        "langchain_core._DirectlyInjectedToolArg",
        "mcp.Context",
        "pydantic_ai.RunContext",
    }
)
"""What frameworks hand to tools beside the arguments of the call, by package and class."""


class Parameters(msgspec.Struct, frozen=True):
    """The parameters of a function by name; no signature where Python knows none.

    `skip` says how many of the first are no arguments: the `self` of a method.
    """

    signature: inspect.Signature | None
    skip: int = 0

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Parameters:
        """The parameters of the function."""
        try:
            signature = inspect.signature(function)
        except (ValueError, TypeError):
            return cls(None)
        around, _, _ = getattr(function, "__qualname__", "").rpartition(".")
        is_of_class = bool(around) and not around.endswith("<locals>") and not inspect.ismethod(function)
        return cls(signature, int(is_of_class and next(iter(signature.parameters), "") in _OWN))

    def told(self, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, str]:
        """The attribute that tells the arguments of a run, or why they cannot be told. Raises nothing."""
        if _is_off():
            return {}
        try:
            return {ARGUMENTS: _written(self._bound(given, named))}
        except Exception as error:  # whatever objects of the user's do when they are written, the tool must run
            return {UNWRITTEN: f"{error}" or type(error).__name__}

    def _bound(self, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The arguments by name, without defaults: nobody gave those."""
        if self.signature is None:
            raise ValueError("the function has no signature that Python knows")
        bound: dict[str, Any] = {}
        for name, value in list(self.signature.bind(*given, **named).arguments.items())[self.skip :]:
            is_free = self.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            bound |= value if is_free else {name: value}
        return {name: value for name, value in bound.items() if not _is_context(value)}


def _is_off() -> bool:
    return os.environ.get(_SWITCH, "").strip().lower() in _OFF


def _is_context(value: Any) -> bool:
    return any(f"{kind.__module__.partition('.')[0]}.{kind.__name__}" in _CONTEXTS for kind in type(value).__mro__)


def result(value: Any) -> dict[str, Any]:
    """The attribute that tells what a run returned; nothing where JSON cannot write it. Raises nothing."""
    if _is_off() or value is None:
        return {}
    try:
        return {RESULT: value if _is_scalar(value) else _written(value)}
    except Exception:  # as above
        return {}


def _is_scalar(value: Any) -> bool:
    """Whether an attribute can hold the value itself."""
    if type(value) is str:
        return _SURROGATE.search(value) is None  # exporters could not write it
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return type(value) is bool or (type(value) is float and math.isfinite(value))


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _written(value: Any) -> str:
    return json.dumps(value, allow_nan=False, default=_default)


def _default(value: Any) -> Any:
    """What JSON does not have, where there is one plain way to write it: that in which it was given to a tool."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return dump(mode="json", exclude_unset=True)
    raise TypeError(f"an object of type `{type(value).__name__}` is not JSON")
