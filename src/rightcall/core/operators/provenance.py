"""Values that come from the result of an earlier call: `$from`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final

import msgspec

from rightcall.core.operators.base import Accepts, Making, Operator
from rightcall.core.paths import parse
from rightcall.core.provenance import Earlier, Given, Undecided
from rightcall.core.values import cut, display, visible
from rightcall.errors import TestSetError, Where

_SHORT: Final = re.compile(r"([^.\[\]]*[^.\[\]\s][^.\[\]]*)(?:\[([1-9]\d{0,8})\])?\.result(?:\.([^\[.].*)|(\[.+))?")
"""The tool, the number of a call, and a path that begins with a name or with brackets."""

_SHOWN: Final = 3


class From(Operator, frozen=True, kw_only=True, eq=False):
    """A value that the result of an earlier call of a tool holds: `lookup_order.result.items[*].id`.

    `path` leads into the result, `[*]` to every item of an array; without it the value is the whole result. Any
    earlier call of `tool` will do, or with `call` (from 1) the Nth one. Calls of the same message are not earlier.
    """

    name: ClassVar[str] = "$from"
    uses_results: ClassVar[bool] = True
    short_form: ClassVar[str] = f"^{_SHORT.pattern}$"
    tool: Annotated[str, msgspec.Meta(min_length=1)]
    path: str = ""
    call: Annotated[int, msgspec.Meta(ge=1)] | None = None

    @classmethod
    def fields_of(cls, argument: Any) -> dict[str, Any] | None:
        """A mapping of the fields, or all of them in one string."""
        if not isinstance(argument, str):
            return argument if isinstance(argument, dict) else None
        found = _SHORT.fullmatch(argument)
        if found is None:
            message = (
                f"expected `TOOL.result.PATH` or `TOOL[2].result.PATH`, found {display(argument, 60)}; "
                "a tool with dots in its name is written {tool: …, path: …}"
            )
            raise TestSetError(message)
        tool, call, path, items = found.groups()
        fields = {"tool": tool, "path": path or items or ""}
        return {**fields, "call": int(call)} if call else fields

    def __post_init__(self) -> None:
        if not isinstance(self.tool, str) or not self.tool.strip():
            raise TestSetError(f"expected the name of a tool, found {display(self.tool)}", Where(path="tool"))
        if self.call is not None and (isinstance(self.call, bool) or not isinstance(self.call, int) or self.call < 1):
            raise TestSetError(f"expected the number of a call, from 1, found {display(self.call)}", Where(path="call"))
        try:
            parse(self.path)
        except ValueError as error:
            raise TestSetError(str(error), Where(path="path")) from None

    def compile(self, making: Making) -> Accepts:
        """Accept what an earlier result holds; without the earlier results, nothing is decided."""
        earlier = making.earlier
        if earlier is None:
            return _undecided
        given = self._given(earlier, making)
        return lambda actual: earlier.gave(given, actual)

    def _given(self, earlier: Earlier, making: Making) -> Given:
        return earlier.results.given(self.tool, self.call, parse(self.path), making.aliases)

    def argument(self) -> Any:
        """One string, or a mapping where the tool's name has dots."""
        short = self._short()
        if _SHORT.fullmatch(short):
            return short
        fields = {"tool": self.tool, "path": self.path, "call": self.call}
        return {name: value for name, value in fields.items() if value not in ("", None)}

    def _short(self) -> str:
        number = f"[{self.call}]" if self.call else ""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return f"{self.tool}{number}.result{dot}{self.path}"

    def words(self) -> str:
        """`from lookup_order.result.id`."""
        return f"from {visible(self._short())}"

    def note(self, actual: Any, making: Making) -> str:
        """What the earlier calls gave there."""
        earlier = making.earlier
        if earlier is None:
            return ""
        given = self._given(earlier, making)
        try:
            earlier.gave(given, actual)
        except Undecided as doubt:
            return doubt.reason.partition(";")[0]
        shown = list(earlier.shown(given))
        if not shown:
            number = f" {self.call}" if self.call else ""
            return f"no earlier call{number} of {visible(self.tool)}"
        return ", ".join(_gave(shown))


def _gave(shown: list[tuple[int, list[Any]]]) -> Iterator[str]:
    """The latest calls, and what each gave."""
    if len(shown) > _SHOWN:
        yield f"{len(shown) - _SHOWN} calls before"
    for number, values in shown[-_SHOWN:]:
        text = ", ".join(display(value, 30) for value in values[:_SHOWN]) if values else "no such value"
        more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
        yield cut(f"call {number} gave {text}{more}", 100)


def _undecided(actual: Any) -> bool:
    raise Undecided("no_calls", "Where a value comes from is not known here: there are no calls before it.")
