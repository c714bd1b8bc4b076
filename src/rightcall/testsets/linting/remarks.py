"""What can be wrong with expectations, by stable codes, and how it is said."""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from rightcall.errors import Where


class Level(enum.StrEnum):
    """How bad a remark is: an error is proven, a warning very likely a mistake, a note worth a look."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """From 0, the worst."""
        return list(Level).index(self)


CODES: Final[dict[str, str]] = {
    "contradiction": "A tool that must be called is forbidden, or is not in `allowed_tools`.",
    "unreachable-step": "A step that may be left out, or one of several, is of a tool that is refused.",
    "impossible-value": "No value meets the operators that stand together on one argument.",
    "never-passes": "No trajectory was found that passes; an error where there can be none, else a warning.",
    "never-fails": "No trajectory was found that fails; an error where there can be none, else a warning.",
    "matches-everything": "A match on arguments accepts whatever was tried.",
    "empty-arguments": "`arguments: {}` accepts any arguments, unless they are compared as `exact`.",
    "allows-every-tool": "`allowed_tools` lists all tools there are, so that only unknown ones are refused.",
    "unknown-tool": "A name is none of the tools in `tool_schemas`, or of those that the traces say there were.",
    "unknown-argument": "An expected argument is not in the tool's JSON Schema; an error where it allows no other.",
    "refused-argument": "The tool's JSON Schema refuses an expected value.",
    "duplicate-assertion": "The same expectation stands twice in a test.",
    "duplicate-test": "Two tests ask the same and expect the same.",
    "duplicate-id": "Two tests of different files share an id.",
    "no-id": "A test has no `id`: its position stands for it.",
    "nothing-expected": "A test expects nothing, so that it is never graded.",
    "nothing-gates": "All expectations of a test are of a severity that does not block.",
    "zero-rate": "A rate of 0 is reached by whatever happens.",
    "gate-unreachable": "The gate asks for verdicts or for numbers of tests that the test set does not have.",
    "undecided": "An expectation was not tried: no value was found that it accepts.",
}
"""Every code with what it means."""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong: what and why (`message`), what to do (`advice`), where, and in which test."""

    code: str
    level: Level
    message: str
    advice: str
    where: Where
    test: str = ""

    def record(self) -> dict[str, object]:
        """The remark as JSON has it."""
        return {
            "code": self.code,
            "level": self.level,
            "message": self.message,
            "advice": self.advice,
            "test": self.test,
            "file": self.where.file,
            "line": self.where.line,
            "column": self.where.column,
            "path": self.where.path,
        }
