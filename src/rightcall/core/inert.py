"""Text that the runner of a CI job does not take for a command.

Runners read what a job prints: GitHub's takes a line that begins with `::` for a command, and `##[…]` anywhere in a
line, as Azure Pipelines does with `##vso[…]` and TeamCity with `##teamcity[…]`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from rightcall.core.jsontext import encode

_COMMAND: Final = re.compile(r"\A\s*::|##(?=[\w.-]*\[)")
_SIGN: Final = re.compile(r":(?=:)|#(?=#)")


def is_command(line: str) -> bool:
    """Whether a runner could take something in the line for a command."""
    return _COMMAND.search(line) is not None


def inert(text: str) -> str:
    """The text with the signs of commands broken by escapes, as control characters are shown."""
    return _SIGN.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def inert_line(line: str) -> str:
    """The line as it is, or with the signs of commands broken if a runner could take it for one."""
    return inert(line) if is_command(line) else line


def escaped_json(value: Any) -> bytes:
    """The value as JSON, with an escape in each `##`: it is read back as it was, and is no command where printed."""
    return encode(value).replace(b"##", b"#\\u0023")
