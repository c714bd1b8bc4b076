"""Recorded calls as expected calls: their arguments as they were, or what several of them share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.core.leaves import leaves
from rightcall.core.values import visible
from rightcall.errors import TestSetError
from rightcall.testsets.promotion.common import common, opened
from rightcall.testsets.promotion.concealing import Conceal, hidden_in

ANY: Final[Any] = msgspec.UNSET
"""The form of arguments that may be anything."""


Arguments = Literal["exact", "partial", "deep", "ignore"]

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

_STATES: Final = {
    "malformed": "were no JSON",
    "redacted": "were redacted",
    "not_captured": "were not recorded",
    "truncated": "were cut off",
}


class Shared(msgspec.Struct, frozen=True):
    """How the arguments of calls that are expected alike must be (`ANY`: in no way), and why, in sentences."""

    tool: str
    form: Any
    reasons: tuple[str, ...] = ()

    def expected(self) -> Any:
        """As an expected call of a list: a bare name where any arguments are accepted."""
        return self.tool if self.form is ANY else {"name": self.tool, "arguments": self.form}

    def step(self, arguments: Arguments) -> dict[str, Any]:
        """As a step of a sequence."""
        if self.form is ANY:
            return {"tool": self.tool}
        return {"tool": self.tool, "match": {"mode": arguments, "args": self.form}}


def shared(calls: Sequence[ToolCall], arguments: Arguments, conceal: Conceal) -> Shared:
    """What calls of one tool have in common, with no secret in it; `TestSetError` where their name is one."""
    tool = calls[0].name
    if conceal(tool) != tool:
        message = "the name of a tool that was called is to be hidden, and a test would have to say it"
        raise TestSetError(f"{message}; promote it without redaction, or write the test by hand")
    if arguments == "ignore":
        return Shared(tool, ANY)
    unknown = next((call for call in calls if call.arguments_state != "ok"), None)
    if unknown is not None:
        why = f"{_named(tool)}: its arguments {_STATES[unknown.arguments_state]}, so any are accepted"
        return Shared(tool, ANY, (why,))
    found = common([call.arguments for call in calls])
    shown = opened(found.form)
    reasons = list(found.reasons)
    if shown != found.form:
        reasons.append("a value was masked when it was recorded: any is accepted")
    form = hidden_in(shown, [call.arguments for call in calls], conceal)
    if form != shown:
        reasons.append("what looks like a secret is left out: only its type is expected")
    if len(calls) == 1:
        reasons += _generated(calls[0].arguments)
    return Shared(tool, _at_root(form), tuple([f"{_named(tool)}: {reason}" for reason in reasons]))


def _generated(arguments: Any) -> Iterator[str]:
    """What a reviewer should look at where one run cannot tell whether a value was made up by the agent's program."""
    for leaf in leaves(arguments):
        if isinstance(leaf.value, str) and _UUID.fullmatch(leaf.value):
            yield f"{leaf.path} is a UUID: if each run makes a new one, expect its type, {{$type: string}}"


def _named(tool: str) -> str:
    return f"`{visible(tool)}`"


def _at_root(form: Any) -> Any:
    """Arguments that are no object, as files write them: text is JSON inside text, and null has only its type."""
    if form is None:
        return {"$type": "null"}
    return json.dumps(form) if isinstance(form, str) else form
