"""Expected beside made, row by row, as it is shown where a check has failed (G20)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from rightcall.core.calls import ToolCall


class RowDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One place where the arguments of a call made are not as expected.

    `path` is its JSON path inside the arguments, empty for the whole of them. `expected`, as a file writes it, and
    `actual` are left out where there is no value.
    """

    path: str
    message: str
    expected: Any = msgspec.UNSET
    actual: Any = msgspec.UNSET


Mark = Literal["match", "differs", "moved", "missing", "unexpected", "note"]


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of expected beside made: a pair that matches, differs or has moved, or a call on one side only.

    `expected` and `made` are calls as `{"name": …, "arguments": …}`; indices count from 0. `differences` are the
    places where a pair differs, and `note` is a remark on the row: that there are more of them. A row marked `note`
    is nothing but a remark.
    """

    mark: Mark
    expected_index: int | None = None
    expected: dict[str, Any] | None = None
    made_index: int | None = None
    made: dict[str, Any] | None = None
    differences: tuple[RowDifference, ...] = ()
    note: str = ""


def as_made(call: ToolCall) -> dict[str, Any]:
    """The call as rows and reports write it: name and arguments, or why there are none that can be read."""
    if call.arguments_state == "ok":
        return {"name": call.name, "arguments": call.arguments}
    return {"name": call.name, "arguments_state": call.arguments_state, "arguments_text": call.arguments_text}
