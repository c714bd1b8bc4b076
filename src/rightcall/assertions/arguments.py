"""A named tool was called with arguments that match (G23)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.patterns import Match


class ToolCallArgs(Assertion, frozen=True, kw_only=True, tag="arguments"):
    """A call of `tool` has arguments that match. Verdict `tool_call_args:<tool>[#<call_index>]`."""

    tool: str
    match: Match
    call_index: Annotated[int, msgspec.Meta(ge=1)] | None = None
    negate: bool = False

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        raise NotImplementedError
