"""Steps that appear in order, other calls between them (G24)."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.patterns import Match


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step: a call of `tool`, with arguments that match when `match` is given."""

    tool: str
    match: Match | UnsetType = UNSET


class ToolSequence(Assertion, frozen=True, kw_only=True, tag="sequence"):
    """The steps appear in order. Verdict `tool_sequence`."""

    steps: tuple[Step, ...]

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        raise NotImplementedError
