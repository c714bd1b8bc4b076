"""What the page shows of a comparison with a baseline."""

from __future__ import annotations

from typing import Final

import msgspec

from rightcall.core.comparison import Comparison, TestChange
from rightcall.core.comparison.telling import as_row, call_heads, described, summed
from rightcall.reports.html.longtext import LongText, long_text
from rightcall.reports.html.story import AlignmentView, Sides, alignment_view

SHOWN_CHANGES: Final = 200
SHOWN_ROWS: Final = 50
SHOWN_LINES: Final = 100

_WORDS: Final = {
    "match": "the same",
    "differs": "other arguments",
    "moved": "moved",
    "missing": "removed",
    "unexpected": "added",
}


class ChangeView(msgspec.Struct, frozen=True):
    """What became of one test, in words, the first of which are its title; and its calls before beside those now."""

    style: str
    title: LongText
    lines: tuple[LongText, ...]
    calls: AlignmentView


class ComparisonView(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside its baseline: tests by what became of them, rates and their limits, and the tests that changed."""

    baseline: str
    lines: tuple[LongText, ...]
    lines_left_out: int
    changes: tuple[ChangeView, ...]
    changes_left_out: int


def comparison_view(comparison: Comparison) -> ComparisonView:
    """What is shown of a comparison."""
    changes, lines = comparison.changes, [line.text.strip() for line in summed(comparison)]
    return ComparisonView(
        baseline=comparison.baseline,
        lines=tuple(map(long_text, lines[:SHOWN_LINES])),
        lines_left_out=max(0, len(lines) - SHOWN_LINES),
        changes=tuple(map(_change, changes[:SHOWN_CHANGES])),
        changes_left_out=max(0, len(changes) - SHOWN_CHANGES) + comparison.left_out,
    )


def _change(change: TestChange) -> ChangeView:
    title, *lines = described(change)
    calls = AlignmentView()
    if change.calls is not None:
        rows = [as_row(row) for row in change.calls.rows]
        calls = alignment_view(rows, Sides(call_heads(change, change.calls), _WORDS), SHOWN_ROWS)
    return ChangeView(title.kind, long_text(title.text), tuple(long_text(line.text.strip()) for line in lines), calls)
