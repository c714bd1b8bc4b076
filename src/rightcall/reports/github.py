"""Annotations for GitHub Actions: workflow commands that mark the lines of the expectations that were not met.

`::error file=…,line=…,col=…,title=…::message` for what failed, `::warning` for what could not be judged and for what
does not count. Values are escaped as GitHub's toolkit does it: `%`, CR and LF everywhere, `:` and `,` in properties.
GitHub shows ten annotations of each sort a step; the tenth then tells how many more there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from rightcall.core.results import Result
from rightcall.core.story import Level, Remark, remarks
from rightcall.core.summary import RunEnd, RunHead
from rightcall.core.values import cut, visible
from rightcall.errors import Where

SHOWN: Final = 10
"""Annotations of one sort that GitHub shows of a step."""

SHOWN_TITLE: Final = 200
SHOWN_MESSAGE: Final = 2000

Command = Literal["error", "warning"]

_COMMANDS: Final[dict[Level, Command]] = {"failure": "error", "error": "warning", "warning": "warning"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


class GitHubReport:
    """Keeps as many annotations as are shown, counts the others, and writes them at the end."""

    hides_secrets = True

    def __init__(self) -> None:
        self._kept: dict[Command, list[Remark]] = {"error": [], "warning": []}
        self._counts: dict[Command, int] = {"error": 0, "warning": 0}

    def start(self, head: RunHead) -> bytes:
        """Write nothing yet."""
        return b""

    def add(self, result: Result) -> bytes:
        """Keep what is to be annotated; write nothing yet."""
        for remark in remarks(result):
            command = _COMMANDS.get(remark.level)
            if command is not None:
                self._counts[command] += 1
                if len(self._kept[command]) < SHOWN:
                    self._kept[command].append(remark)
        return b""

    def end(self, end: RunEnd) -> bytes:
        """Write the commands, one a line. A run that does not pass has at least one error."""
        lines = [line for command in self._kept for line in self._lines(command)]
        if not self._counts["error"] and not end.decision.passed:
            message = f"{end.decision.word}: {'; '.join(end.decision.reasons)}"
            lines.append(_command("error", "rightcall", message, Where()))
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")

    def _lines(self, command: Command) -> Iterator[str]:
        kept, count = self._kept[command], self._counts[command]
        shown = kept if count <= SHOWN else kept[: SHOWN - 1]
        for remark in shown:
            yield _command(
                command, f"{remark.result}: {remark.verdict}".removesuffix(": "), remark.message, remark.where
            )
        if count > SHOWN:
            noun = "failures" if command == "error" else "warnings"
            yield _command(command, "rightcall", f"and {count - len(shown)} more {noun}: see the step summary", Where())


def _command(command: Command, title: str, message: str, where: Where) -> str:
    properties = {"file": where.file, "line": where.line, "col": where.column, "title": cut(title, SHOWN_TITLE)}
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value is not None)
    lines = "\n".join(map(visible, message.split("\n")))
    return f"::{command} {written}::{cut(lines, SHOWN_MESSAGE).translate(_DATA)}"


def _property(value: str | int) -> str:
    return visible(str(value)).translate(_PROPERTY)
