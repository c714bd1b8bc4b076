"""Rules between calls, as a file writes them."""

from __future__ import annotations

from typing import Any

import msgspec

from rightcall.assertions.rules import Rule
from rightcall.core.constraints import UNARY


def rule(template: str, first: Any = "a", second: Any = "b", **more: Any) -> Rule:
    """The rule of a template and its operands."""
    if template in UNARY:
        return msgspec.convert({template: first, **more}, Rule)
    return msgspec.convert({template: [first, second], **more}, Rule)
