"""The rows of the conformance suite, read independently of the code that they test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support.tables import hold

FOLDER = Path(__file__).parent.parent / "conformance"
TRAJECTORY_KEYS = ("match", "arguments", "expected_tool_calls")
"""The keys of a row that are expectation keys of a test."""


def rows(name: str) -> list[dict[str, Any]]:
    """Every row of a file. A row without an id gets that of its line."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [{"id": f"line-{number}", **json.loads(line)} for number, line in enumerate(lines, 1) if line]


def params(items: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Rows as parameters of a test, each under its own id."""
    return [pytest.param(row, id=row["id"]) for row in items]


def of_every_row(table: Iterable[dict[str, Any]]) -> Callable[[Callable[[dict[str, Any]], None]], Callable[[], None]]:
    """Make what tests one row a test of the table, which fails with every row that is wrong."""
    kept = list(table)

    def whole(check: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        def test() -> None:
            hold((row["id"], partial(check, row)) for row in kept)

        test.__name__, test.__qualname__, test.__doc__ = check.__name__, check.__qualname__, check.__doc__
        return test

    return whole


def expectations(row: Mapping[str, Any]) -> dict[str, Any]:
    """The expectation keys of a row about trajectories."""
    return {key: row[key] for key in TRAJECTORY_KEYS}


def share(part: int, whole: int) -> list[int] | None:
    """A fraction as the suite writes it; none where there is nothing to divide by."""
    return [part, whole] if whole else None
