"""What some recordings cannot say, each as the change that it makes to the rows of a script; docstrings say why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from support.staged.projection import Row

Limit = Callable[[list[Row]], list[Row]]


def no_word_for_failure(rows: list[Row]) -> list[Row]:
    """A result is text like any other: a call with a result is `ok`, whatever the text says."""
    return [{**row, "status": "ok"} for row in rows]


def no_results(rows: list[Row]) -> list[Row]:
    """What a model says is recorded, not what became of it."""
    return [{**row, "status": "requested", "answer": None} for row in rows]


def whole_error(rows: list[Row]) -> list[Row]:
    """A failure is an object that holds an error, and stays one."""
    return [{**row, "answer": {"error": row["answer"]} if row["status"] == "error" else row["answer"]} for row in rows]


NONE: Final[tuple[Limit, ...]] = ()
