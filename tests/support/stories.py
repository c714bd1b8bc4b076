"""A user's folder: files written as they would be, and the command line run in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from support.command_line import run_apart


class Told(NamedTuple):
    """The exit code of `rightcall grade --json`, and what its report says."""

    code: int
    report: dict[str, Any]

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each result by its id."""
        return {result["id"]: result["outcome"] for result in self.report["results"]}

    def verdicts_of(self, identity: str) -> list[dict[str, Any]]:
        """The verdicts of the one attempt of a result."""
        ((attempt,),) = (result["attempts"] for result in self.report["results"] if result["id"] == identity)
        verdicts: list[dict[str, Any]] = attempt["verdicts"]
        return verdicts

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """The verdicts of the one attempt of the one result."""
        (result,) = self.report["results"]
        return self.verdicts_of(result["id"])


def write(folder: Path, files: Mapping[str, Any]) -> None:
    """Write files by name: text as it stands, a list of records as JSON Lines, all else as JSON."""
    for name, content in files.items():
        (folder / name).write_text(_text(name, content), encoding="utf-8")


def _text(name: str, content: Any) -> str:
    if isinstance(content, str):
        return content
    if name.endswith(".jsonl"):
        return "".join(f"{json.dumps(record)}\n" for record in content)
    return json.dumps(content)


def grade(folder: Path, *arguments: str) -> Told:
    """Run `rightcall grade … --json` in the folder."""
    ran = run_apart("grade", *arguments, "--json", cwd=folder)
    assert ran.out, ran.err
    return Told(ran.code, json.loads(ran.out))
