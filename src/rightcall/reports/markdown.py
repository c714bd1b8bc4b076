"""The Markdown report: a table of the tests and an explanation of each that did not pass, as GitHub shows it.

It is GitHub Flavored Markdown. Recorded text stands in `<code>` with every character that means something written
as an entity, or in a fenced block whose fence is longer than any run of backticks in it, so that it stays text.
A step summary of GitHub holds 1 MiB and is dropped whole when it is larger: what does not fit is left out and told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from rightcall.core.rates import show_interval, show_rate
from rightcall.core.results import Outcome, Result
from rightcall.core.sidebyside import Line
from rightcall.core.story import WIDTH, reason, story
from rightcall.core.summary import Decision, RunEnd, RunHead, StatusCounts, Summary
from rightcall.core.values import cut, visible
from rightcall.core.verdicts import Status
from rightcall.core.wording import amount, shadowed

if TYPE_CHECKING:
    from rightcall.core.comparison import Comparison

LIMIT: Final = 1024 * 1024
"""Bytes of a step summary that GitHub takes."""

SHOWN_NAME: Final = 200
SHOWN_REASON: Final = 1000
SHOWN_LINES: Final = 500
SHOWN_CELLS: Final = 20
_LINE = 2000
_OVERHEAD = 64 * 1024

_SIGNS = {Outcome.PASS: "✅", Outcome.FAIL: "❌", Outcome.ERROR: "⚠️", Outcome.INCONCLUSIVE: "➖"}
_DECISION_SIGNS = {0: "✅", 1: "❌", 3: "⚠️"}
# An underscore inside a word means nothing; those of names stay legible.
_MEANINGFUL = re.compile(
    r"[^\w\s,;/+%(){}=?^.-]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=www)\.", re.IGNORECASE | re.ASCII
)


class _Part:
    """Pieces of the document, as many as fit into so many bytes, and how many did not."""

    def __init__(self, room: int) -> None:
        self.left_out = 0
        self._room = room
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        """Take the piece, or count it; after one that did not fit nothing more is taken."""
        self._room -= len(piece.encode("utf-8"))
        if self._room < 0:
            self.left_out += 1
        else:
            self._pieces.append(piece)

    def text(self) -> str:
        """Everything that fitted."""
        return "".join(self._pieces)


class MarkdownReport:
    """Keeps what fits into `limit` bytes, tests that did not pass first, and writes it at the end."""

    hides_secrets = True

    def __init__(self, limit: int = LIMIT) -> None:
        room = max(0, limit - _OVERHEAD)
        self._title = ""
        self._explanations = _Part(room * 3 // 8)
        self._room_for_comparison = room // 8
        self._rows = {False: _Part(room // 8), True: _Part(room // 8)}
        self._verdicts = _Part(room // 8)
        self._notes = _Part(room // 8)

    def start(self, head: RunHead) -> bytes:
        """Write nothing yet: the decision comes first."""
        self._title = head.test_set
        return b""

    def add(self, result: Result) -> bytes:
        """Keep the row and the explanation; write nothing yet."""
        passed = result.outcome == Outcome.PASS
        self._rows[passed].add(_row(result))
        if not passed:
            self._explanations.add("".join(_explanation(result)))
        return b""

    def end(self, end: RunEnd) -> bytes:
        """Write the whole document."""
        return "".join(self._document(end)).encode("utf-8", "backslashreplace")

    def _document(self, end: RunEnd) -> Iterator[str]:
        title = f": {_code(self._title)}" if self._title else ""
        yield f"## {_decided(end.decision)}{title}\n\n"
        if end.decision.reasons:
            yield f"{_code('; '.join(end.decision.reasons), SHOWN_REASON)}\n\n"
        yield from _counts(end.summary)
        if end.summary.total:
            yield "|  | test | outcome | attempts | verdicts |\n|---|---|---|---|---|\n"
            yield f"{self._rows[False].text()}{self._rows[True].text()}\n"
        yield from self._table_of_verdicts(end.summary.verdicts)
        if end.comparison is not None:
            yield from compared(end.comparison, self._room_for_comparison)
        yield self._explanations.text()
        yield from self._told(end)
        yield from self._left_out()

    def _table_of_verdicts(self, verdicts: Mapping[str, StatusCounts]) -> Iterator[str]:
        for name, counts in sorted(verdicts.items()):
            numbers = (counts.passed, counts.failed, counts.errors, counts.not_applicable)
            rate = show_interval(counts.passed, counts.passed + counts.failed)
            self._verdicts.add(f"| {_code(name)} | {' | '.join(map(str, numbers))} | {rate} |\n")
        if rows := self._verdicts.text():
            head = "| verdict | pass | fail | error | n/a | pass rate (95 % interval) |\n|---|---|---|---|---|---|\n"
            yield f"{head}{rows}\n"

    def _told(self, end: RunEnd) -> Iterator[str]:
        for text in (*(f"no test for trajectory {name}" for name in end.unused), *end.warnings):
            self._notes.add(f"- {_code(text, SHOWN_REASON)}\n")
        if notes := self._notes.text():
            yield f"### Notes\n\n{notes}\n"
        if end.counted:
            yield f"Counted: {_code(end.counted, SHOWN_REASON)}\n"

    def _left_out(self) -> Iterator[str]:
        kinds = (
            (self._rows[False], "row of a test that did not pass", "rows of tests that did not pass"),
            (self._rows[True], "row of a test that passed", "rows of tests that passed"),
            (self._verdicts, "verdict name", "verdict names"),
            (self._explanations, "explanation", "explanations"),
            (self._notes, "note", "notes"),
        )
        told = [amount(part.left_out, one, many) for part, one, many in kinds if part.left_out]
        if told:
            yield f"\n**Left out for want of room: {', '.join(told)}.** `-o results.json` keeps everything.\n"


def _decided(decision: Decision) -> str:
    return f"{_DECISION_SIGNS[decision.exit_code]} {decision.word}"


def _counts(summary: Summary) -> Iterator[str]:
    yield "| passed | failed | errors | inconclusive | total | pass rate (95 % interval) | coverage |\n"
    yield "|---|---|---|---|---|---|---|\n"
    numbers = (summary.passed, summary.failed, summary.errors, summary.inconclusive, summary.total)
    coverage = show_rate(Fraction(summary.graded, summary.total)) if summary.total else "n/a"
    yield f"| {' | '.join(map(str, numbers))} | {show_interval(summary.passed, summary.graded)} | {coverage} |\n\n"
    shadow = summary.shadow
    if shadow.total:
        yield f"Shadow: {shadowed(shadow.failed, shadow.errors, shadow.total)}.\n\n"


def comparison_as_markdown(comparison: Comparison) -> bytes:
    """Return a comparison of two runs as a document, headed by what it comes to."""
    decision = comparison.decide()
    reasons = f"{_code('; '.join(decision.reasons), SHOWN_REASON)}\n\n" if decision.reasons else ""
    title = f"## {_decided(decision)}: {_code(comparison.candidate)}\n\n"
    return "".join((title, reasons, *compared(comparison, LIMIT // 2))).encode("utf-8", "backslashreplace")


def compared(comparison: Comparison, room: int) -> Iterator[str]:
    """What a run differs in from its baseline: the counts as a table, then rates, then what is told of each test."""
    from rightcall.core.comparison.telling import changed, heads, summed

    numbers = {heads(kind): number for kind, number in comparison.counts.items() if number}
    yield f"### Compared with {_code(comparison.baseline)}\n\n"
    if numbers:
        yield f"| {' | '.join(numbers)} |\n|{'---|' * len(numbers)}\n| {' | '.join(map(str, numbers.values()))} |\n\n"
    lines = _Part(room)
    for line in (*summed(comparison), Line("plain", ""), *changed(comparison, WIDTH)):
        lines.add(f"{cut(line.text, _LINE)}\n")
    yield from _fenced(lines.text().rstrip("\n"))
    if lines.left_out:
        yield f"**Left out for want of room: {amount(lines.left_out, 'line')} of the comparison.**\n\n"


def _row(result: Result) -> str:
    cells = (_SIGNS[result.outcome], _name(result), str(result.outcome), _attempts(result), _verdicts(result))
    return f"| {' | '.join(cells)} |\n"


def _name(result: Result) -> str:
    name = f" {_code(result.name)}" if result.name not in ("", result.id) else ""
    return f"{_code(result.id)}{name}"


def _attempts(result: Result) -> str:
    statistics = result.statistics
    if statistics is None:
        return str(len(result.attempts)) if result.attempts else "n/a"
    flaky = ", flaky" if statistics.flaky else ""
    passed = f"{statistics.passed} of {len(result.attempts)} passed{flaky}"
    return f"{passed}; {show_interval(statistics.passed, statistics.passed + statistics.failed)}"


def _verdicts(result: Result) -> str:
    """Each verdict with its status, or over several attempts with how often it came to each."""
    statuses: dict[str, list[Status]] = {}
    for attempt in result.attempts:
        for verdict in attempt.verdicts:
            statuses.setdefault(verdict.id, []).append(verdict.status)
    shown = [f"{_code(name)} {_times(found)}" for name, found in list(statuses.items())[:SHOWN_CELLS]]
    more = len(statuses) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown) or "n/a"


def _times(found: list[Status]) -> str:
    if len(found) == 1:
        return found[0].short
    return " ".join(f"{found.count(status)}× {status.short}" for status in Status if status in found)


def _explanation(result: Result) -> Iterator[str]:
    yield f"### {_SIGNS[result.outcome]} {_name(result)}\n\n{_code(reason(result), SHOWN_REASON)}\n\n"
    if result.place:
        yield f"Stands at {_code(result.place)}\n\n"
    lines = [cut(line, _LINE) for line in story(result)]
    if len(lines) > SHOWN_LINES:
        lines[SHOWN_LINES:] = [f"… and {len(lines) - SHOWN_LINES} more lines"]
    if lines:
        yield from _fenced("\n".join(lines))


def _fenced(text: str) -> Iterator[str]:
    """A block of code. Its fence is longer than any run of backticks in the text, so the text cannot close it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text\n{text}\n{fence}\n\n"


def _code(text: str, most: int = SHOWN_NAME) -> str:
    """Inline code. Entities and a comment keep what is in it from being read as markup, a link or a mention."""
    safe = _MEANINGFUL.sub(_entity, cut(visible(text), most).strip())
    return f"<code>{safe}</code>" if safe else "<code>(empty)</code>"


def _entity(found: re.Match[str]) -> str:
    character = found[0]
    # Readers make addresses of text such as `a@b.example`, also where the sign is an entity; not across a comment.
    return "&#64;<!-- -->" if character == "@" else f"&#{ord(character)};" if character.isascii() else character
