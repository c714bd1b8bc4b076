"""Expected calls against calls made: five ways to line them up (G17 to G22)."""

from __future__ import annotations

from typing import Literal

from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.patterns import ExpectedCall

Mode = Literal["exact", "in_order", "any_order", "subset", "superset"]


class ToolCallTrajectory(Assertion, frozen=True, kw_only=True, tag="trajectory"):
    """The calls made line up with the calls expected. Verdict `tool_call_trajectory`."""

    expected_tool_calls: tuple[ExpectedCall, ...]
    match: Mode = "in_order"
    arguments: Literal["partial", "exact", "ignore", "deep"] = "partial"
    only_successful: bool = False
    parallel: Literal["ordered", "unordered"] = "ordered"

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        raise NotImplementedError
