"""The tool selection score: which tools were chosen, as a multiset of names (G29 to G32)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from rightcall.core.assertion import Assertion, Check, Setting


class ToolSelect(Assertion, frozen=True, kw_only=True, tag="selection"):
    """The tools called are the tools expected, counted. Verdict `tool_select`, score 0 to 100."""

    expected_tools: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    threshold: Annotated[float, msgspec.Meta(ge=0, le=100)] = 100

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        raise NotImplementedError
