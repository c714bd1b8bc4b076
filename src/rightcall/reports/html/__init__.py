"""The HTML report: one file that opens anywhere, offline, and asks for nothing else.

What is shown is made in two steps: views (`run`, `rows`, `story`, `transcript`) say what, in plain text; the other
modules make markup of them through one door that escapes (`markup`). Browsers bear a page of some size, so there is
room for so many rows and so many bytes of details, tests that did not pass first; what is left out is counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

from rightcall.core.results import Outcome, Result
from rightcall.core.summary import RunEnd, RunHead
from rightcall.core.wording import amount
from rightcall.reports.html.article import article
from rightcall.reports.html.page import after, before
from rightcall.reports.html.rows import MOST_VALUES, Labels, Row, row
from rightcall.reports.html.run import run_view
from rightcall.reports.html.story import result_view, without_transcripts

ROWS: Final = 20_000
"""Rows that the grid holds at most of tests that passed, and of tests that did not."""

ROOM: Final = 16 * 1024 * 1024
"""Bytes of details, half of them for tests that passed."""

ROOM_OF_ONE: Final = 1024 * 1024
"""Bytes of details of one test; beyond them its transcripts are left out."""

OPEN: Final = 20
"""Tests that did not pass whose details are open at first."""

_DIGITS: Final = 10


class _Part:
    """Results that passed, or that did not: rows and details as far as there is room for them, the others counted."""

    def __init__(self, rows: int, room: int) -> None:
        self.rows: list[Row] = []
        self.details: list[bytes] = []
        self.lacks_row = 0
        self.lacks_details = 0
        self._most_rows = rows
        self._room = room

    def add(self, result: Result, anchor: str, labels: Labels) -> None:
        """Take what there is room for; after details for which there was none, no others are made."""
        details = b"" if self.lacks_details else _details(result, anchor, len(self.details))
        self._room -= len(details)
        has_details = bool(details) and self._room >= 0
        if has_details:
            self.details.append(details)
        else:
            self.lacks_details += 1
        if len(self.rows) < self._most_rows:
            self.rows.append(row(result, anchor if has_details else "", labels.numbers(result.labels)))
        else:
            self.lacks_row += 1


class HTMLReport:
    """Keeps what there is room for and writes the page at the end, with the decision at its head."""

    shows_transcripts: Final = True
    hides_secrets: Final = True

    def __init__(self, rows: int = ROWS, room: int = ROOM) -> None:
        self._rows, self._room = rows, room
        self._begin(RunHead(product=""))

    def _begin(self, head: RunHead) -> None:
        self._head = head
        self._labels = Labels()
        self._anchors = Counter[str]()
        self._parts = {passed: _Part(self._rows, self._room // 2) for passed in (False, True)}

    def start(self, head: RunHead) -> bytes:
        """Write nothing yet: the decision comes first."""
        self._begin(head)
        return b""

    def add(self, result: Result) -> bytes:
        """Keep the row and the details; write nothing yet."""
        self._parts[result.outcome == Outcome.PASS].add(result, self._anchor(result.id), self._labels)
        return b""

    def end(self, end: RunEnd) -> bytes:
        """Write the whole page."""
        parts = self._parts.values()
        rows = [row for part in parts for row in part.rows]
        details = [piece for part in parts for piece in part.details]
        opening = before(run_view(self._head, end), rows, self._labels, list(self._left_out()))
        return b"".join([opening.encode(), *details, after().encode()])

    def _anchor(self, identity: str) -> str:
        """Where the page tells of a test: the same in the report of another run."""
        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
        self._anchors[digest] += 1
        number = self._anchors[digest]
        return f"test-{digest}" if number == 1 else f"test-{digest}-{number}"

    def _left_out(self) -> Iterator[str]:
        for passed, part in self._parts.items():
            tests = "tests that passed" if passed else "tests that did not pass"
            if part.lacks_row:
                yield f"Left out for want of room: {amount(part.lacks_row, 'row', 'rows')} of {tests}."
            if part.lacks_details:
                yield f"Left out for want of room: the details of {part.lacks_details:,} {tests}."
        for label in sorted(self._labels.full):
            yield f"Only the first {MOST_VALUES} values of `{label}` can be chosen below."
        if any(part.lacks_row or part.lacks_details for part in self._parts.values()):
            yield "-o results.json keeps everything."


def _details(result: Result, anchor: str, number: int) -> bytes:
    view = result_view(result, anchor)
    is_open = result.outcome != Outcome.PASS and number < OPEN
    details = article(view, is_open=is_open).encode()
    return details if len(details) <= ROOM_OF_ONE else article(without_transcripts(view), is_open=is_open).encode()
