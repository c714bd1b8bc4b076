"""The words in which a comparison is told, in the terminal, in Markdown and in text."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.core.comparison import Kind, RateChange, rate_of
from rightcall.core.comparison.outlines import ResultRow
from rightcall.core.comparison.rates import significance
from rightcall.core.comparison.telling import SHOWN, told
from rightcall.core.significance import mcnemar
from rightcall.reports.json import comparison_document
from rightcall.reports.markdown import LIMIT, MarkdownReport, comparison_as_markdown
from rightcall.reports.terminal import Detail, Look, TerminalReport, comparison_as_text
from support.comparing import attempt, compare, one, result, runs, verdict
from support.reporting import HOSTILE, report


def lines(before: list[ResultRow], after: list[ResultRow], **options: Any) -> list[str]:
    """What is told, without the rates."""
    text = [line.text for line in told(compare(before, after), 100, **options)]
    return text[2 : next(at for at, line in enumerate(text) if line.startswith("pass rate")) - 1]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            [one("t", "pass")],
            [one("t", "fail")],
            ["t  regression: passed before, failed now", "  v0: pass before, fail now: v0 is wrong."],
        ),
        ([], [one("t", "fail")], ["t  new failure: failed", "  v0 is wrong."]),
        (
            [one("t", "error")],
            [one("t", "fail")],
            [
                "t  new failure: could not be judged before, failed now",
                "  v0: error before, fail now: v0 is wrong.",
            ],
        ),
        (
            [one("t", "fail", "pass")],
            [one("t", "fail", "fail")],
            [
                "t  regression: failed before too, but not by all that fails now",
                "  v1: pass before, fail now: v1 is wrong.",
            ],
        ),
        (
            [one("t", "pass")],
            [result("t", reason="no trajectory for test `t`")],
            ["t  newly unjudged: passed before, could not be judged now", "  v0: pass before, not there now"],
        ),
        (
            [one("t", "pass")],
            [one("t", "not_applicable")],
            ["t  newly unjudged: passed before, was inconclusive now", "  v0: pass before, not applicable now"],
        ),
        (
            [one("t", "fail")],
            [result("t", attempt(verdict("v0", "fail", severity="warn"), verdict("v1", "pass")))],
            [
                "t  fixed: failed before, passed now",
                "  v0: fail (block) before, fail (warn) now: v0 is wrong.",
                "  v1: not there before, pass now",
            ],
        ),
        ([one("t", "fail")], [one("t", "fail")], ["still failing, as before: t"]),
        (
            [one("t", "fail", calls=["a"]), one("u", "error"), one("v", "error")],
            [one("t", "fail", calls=["b"]), one("u", "error"), one("v", "error")],
            ["t  still failing; calls changed", "  v0 is wrong.", "still not judged, as before: u, v"],
        ),
        (
            [one("t", "fail")],
            [result("t", attempt(verdict("v0", "fail", "Something else.")))],
            ["t  still failing", "  v0: still fail, otherwise now: Something else."],
        ),
        (
            [one("t", "fail", "pass")],
            [one("t", "fail", "error")],
            [
                "t  newly unjudged: failed before too, but what passed then could not be judged now",
                "  v1: pass before, error now: v1 is wrong.",
            ],
        ),
        ([one("t", "fail")], [], ["t  removed: failed", "  v0 is wrong."]),
        ([], [one("t", "pass")], ["t  new: passed"]),
        ([one("t", "pass")], [one("t", "pass")], []),
    ],
)
def test_what_became_of_a_test_is_told(before: list[ResultRow], after: list[ResultRow], expected: list[str]) -> None:
    """What it is called, what it came to, and which verdicts made it so."""
    assert lines(before, after) == expected


def test_attempts_are_told_with_the_chance_that_they_differ_so() -> None:
    """How many passed before and now, and which of them the calls are of."""
    passed = attempt(verdict("v", "pass"), calls=["a"])
    failed = attempt(verdict("v", "fail"), calls=["b"])
    then, now = [result("t", passed, passed)], [result("t", passed, failed)]
    assert lines(then, now)[:2] == [
        "t  regression: passed before, failed now; 2 of 2 attempts passed before, 1 of 2 now (p = 1.0000, Fisher's "
        "exact test); calls changed",
        "  v: pass (2 of 2 attempts) before, fail (1 of 2 attempts) now: v is wrong.",
    ]
    assert "before, attempt 1 of 2" in lines(then, now)[3]
    assert "now, attempt 2 of 2" in lines(then, now)[3]


def test_calls_are_shown_of_what_blocks_and_of_all_when_asked() -> None:
    """A fix says that calls changed; side by side they stand only where somebody wants it."""
    then, now = [one("t", "fail", calls=["b"])], [one("t", "pass", calls=["a"])]
    assert lines(then, now) == [
        "t  fixed: failed before, passed now; calls changed",
        "  v0: fail before, pass now",
    ]
    assert [line.split() for line in lines(then, now, with_calls=[Kind.FIX])[3:]] == [
        ["before", "now"],
        ["+", "1", "a()"],
        ["-", "1", "b()"],
    ]


@pytest.mark.parametrize(
    ("worse", "better", "text"),
    [
        (0, 0, "nothing judged in both runs changed sides"),
        (1, 0, "1 worse, 0 better: may be chance (p = 1.0000, McNemar's exact test)"),
        (6, 0, "6 worse, 0 better: more than chance (p = 0.0313, McNemar's exact test)"),
        (90, 10, "90 worse, 10 better: more than chance (p < 0.0001, McNemar's exact test)"),
    ],
)
def test_chance_is_told_in_words(worse: int, better: int, text: str) -> None:
    """The counts, what they say, and the p-value with as many digits as it needs."""
    same = rate_of(0, 0)
    change = RateChange(before=same, after=same, worse=worse, better=better, p_value=mcnemar(worse, better))
    assert significance(change) == text


def test_of_very_many_tests_so_many_are_told() -> None:
    """The others are counted, and the decision is still made of all."""
    ids = [f"t{number}" for number in range(SHOWN + 7)]
    found = lines([one(each, "pass") for each in ids], [one(each, "fail") for each in ids])
    assert len(found) == 2 * SHOWN + 1
    assert found[-1] == "and 7 more: regression"


hostile = st.sampled_from([HOSTILE, "::error::x", "##[error]x", "|`*_<!--"])


@given(hostile, hostile)
def test_nothing_that_was_recorded_steers_what_shows_it(text: str, other: str) -> None:
    """Ids, reasons, names and arguments are text: no control character, no command, no markup."""
    then = [result(text, attempt(verdict(other, "pass"), made=({"name": text, "arguments": {other: text}},)))]
    now = [result(text, attempt(verdict(other, "fail", text), made=({"name": other, "arguments": {text: other}},)))]
    compared = compare(then, now)
    shown = comparison_as_text(compared).decode()
    assert {unicodedata.category(letter) for letter in shown if letter != "\n"}.isdisjoint({"Cc", "Cf", "Cs", "Co"})
    assert [line for line in shown.splitlines() if line.lstrip().startswith("::") or "##[" in line] == []
    markdown = comparison_as_markdown(compared).decode()
    assert markdown.count("\n```") == 2
    assert json.loads(comparison_document(compared))["comparison"]["changes"][0]["kind"] == "regression"


@given(runs, runs)
def test_every_way_of_telling_a_comparison_takes_any(before: list[ResultRow], after: list[ResultRow]) -> None:
    """Whatever became of the tests, each is told, and the last line is the decision."""
    compared = compare(before, after)
    words = {0: "Passed", 1: "Blocked", 3: "Incomplete"}
    for detail in Detail:
        shown = comparison_as_text(compared, Look(detail=detail, width=40)).decode()
        assert shown.splitlines()[-1].startswith(words[compared.decide().exit_code])
    assert words[compared.decide().exit_code] in comparison_as_markdown(compared).decode().splitlines()[0]
    assert json.loads(comparison_document(compared))["decision"]["exit_code"] == compared.decide().exit_code


def test_a_comparison_leaves_room_in_the_summary_of_a_step() -> None:
    """A step summary has 1 MiB: of a huge comparison as much is told as fits, and how much is not."""
    reason = "x" * 2000
    failed = attempt(*(verdict(f"v{number}", "fail", reason) for number in range(3)))
    then = [one(f"t{number}", "pass") for number in range(900)]
    now = [result(f"t{number}", failed) for number in range(900)]
    written = report(MarkdownReport(LIMIT), [], comparison=compare(then, now))
    assert len(written) < LIMIT
    assert b"lines of the comparison.**" in written
    assert b"pass rate: 900/900 = 1.0000" in written


def test_a_terminal_report_tells_the_comparison_before_the_counts() -> None:
    """What changed stands after the results, and the decision of the gate is the last line."""
    compared = compare([one("t", "pass")], [one("t", "fail")])
    shown = report(TerminalReport(), [], comparison=compared).decode().splitlines()
    assert shown.index("compared with main.json: 1 regression") < shown.index(
        "passed 0, failed 0, errors 0, inconclusive 0, total 0, coverage 0 %"
    )
    quiet = report(TerminalReport(Look(detail=Detail.QUIET)), [], comparison=compared).decode()
    assert "compared with main.json: 1 regression" in quiet
    assert "regression: passed before" not in quiet
