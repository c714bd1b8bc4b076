"""Tools that must, may or must not be called (G25, G26)."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.patterns import Match


class RequiredTool(Assertion, frozen=True, kw_only=True, tag="required_tool"):
    """`tool` is called at some point. Verdict `tool_called:<tool>`."""

    tool: str

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        raise NotImplementedError


class AllowedTools(Assertion, frozen=True, kw_only=True, tag="allowed_tools"):
    """No other tool is called. Verdict `no_unexpected_tool`."""

    tools: tuple[str, ...]

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        raise NotImplementedError


class ForbiddenTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool that must not be called; with `match`, not with such arguments."""

    tool: str
    match: Match | UnsetType = UNSET


class ForbiddenTools(Assertion, frozen=True, kw_only=True, tag="forbidden_tools"):
    """None of these calls is made. Verdict `no_forbidden_tool`."""

    tools: tuple[str | ForbiddenTool, ...]

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        raise NotImplementedError
