"""Marks that stand where something was hidden before it was recorded."""

from __future__ import annotations

import re
from typing import Any, Final

_MARKS: Final = frozenset({"__REDACTED__", "[REDACTED]", "REDACTED", "***", "<redacted>", "[redacted]"})
_SCRUBBED: Final = re.compile(r"\[Scrubbed due to .*\]|\[redacted:[0-9a-f]+\]")


def is_masked(value: Any) -> bool:
    """Whether a value is a mark that something was hidden."""
    return isinstance(value, str) and (value in _MARKS or bool(_SCRUBBED.fullmatch(value)))
