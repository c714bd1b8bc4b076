"""The report for people."""

from __future__ import annotations

from typing import Any

import pytest

from rightcall.core.results import Result
from rightcall.core.rows import Row
from rightcall.core.sidebyside import ASCII_MARKS, call_text, cells, side_by_side, wrap
from rightcall.reports.terminal import Detail, Look, TerminalReport
from support.reporting import EMPTY, FAILED, FLAKY, PASSED, RUN, UNJUDGED, attempt, report, result, verdict


def shown(*made: Result, look: Look | None = None, **end: Any) -> list[str]:
    return report(TerminalReport(look), made, **end).decode().split("\n")


def test_whole_run() -> None:
    """One line for what passed, a block for what did not, the counts and the decision at the end."""
    expected = """\
Refund flow

✓ late-order  Late order  tool_sequence

✗ damaged  failed  refund.rightcall.yaml:12
  ✗ tool_sequence: Expected check_policy; it was never called.
      Expected amount = 19.5.

        expected                      made
      = 1 lookup_order(order_id=7)    1 lookup_order(order_id=7)
      - 2 check_policy(…)
      ≠ 3 issue_refund(amount=19.5)   2 issue_refund(amount=195)
          expected with amount = 19.5; had amount = 195
      +                               3 send_email()

  ✓ no_unexpected_tool
  trajectory t-1: 2 calls, in log.jsonl:3
  The agent replied: All done, 195 EUR are on their way.

! gone  could not be judged  r.yaml:4
  no trajectory for test `gone`

? empty  inconclusive
  - tool_sequence
  trajectory t-1: 2 calls

✗ flaky  failed  1 of 2 attempts passed; rate 0.50, 95 % interval 0.09 to 0.91; flaky
  attempt 2 of 2: failed
    ✗ tool_sequence: No b.
    trajectory t-1: 2 calls

note: No test was for 1 trajectory: t-9
note: no ids

passed 1, failed 2, errors 1, inconclusive 1, total 5, coverage 60 %
Blocked: pass rate 1/3 = 0.3333 < 1.0000; 1 test could not be judged
"""
    assert expected.split("\n") == shown(*RUN, unused=("t-9",), warnings=("no ids",))


def test_ascii_symbols() -> None:
    """Where the locale has no other symbols, those of ASCII are used."""
    lines = shown(PASSED, FAILED, look=Look(ascii_only=True))
    assert "ok late-order  Late order  tool_sequence" in lines
    assert "      ! 3 issue_refund(amount=19.5)   2 issue_refund(amount=195)" in lines


def test_quiet_shows_only_what_did_not_pass() -> None:
    """The quiet report leaves out what passed."""
    lines = shown(*RUN, look=Look(detail=Detail.QUIET))
    assert not any("late-order" in line for line in lines)
    assert any("damaged" in line for line in lines)


def test_verbose_shows_every_verdict() -> None:
    """The verbose report lists the verdicts of what passed, too."""
    lines = shown(PASSED, look=Look(detail=Detail.VERBOSE))
    assert "  ✓ tool_sequence" in lines


def test_verdict_that_does_not_count_is_marked() -> None:
    """A failure that only warns is shown under a passed test, and said not to count."""
    warned = result("a", attempt(verdict("x", "pass"), verdict("w", "fail", "Odd.", severity="warn")))
    lines = shown(warned)
    assert "✓ a  x, w" in lines
    assert "  ✗ w (warn: does not count): Odd." in lines


def test_every_failed_verdict_is_shown() -> None:
    """G2: the first failure hides nothing."""
    lines = shown(result("a", attempt(verdict("x", "fail", "One."), verdict("y", "fail", "Two."))))
    assert "  ✗ x: One." in lines
    assert "  ✗ y: Two." in lines


def test_a_note_that_a_reason_says_already_is_not_told_twice() -> None:
    """Notes on an attempt are shown where they add something."""
    notes = ("the reply says nothing of tool calls", "two calls had one id")
    unjudged = verdict("x", "error", f"No tool calls were recorded: {notes[0]}")
    lines = shown(result("a", attempt(unjudged, warnings=notes)))
    assert [line for line in lines if "note: " in line] == ["  note: two calls had one id"]


def test_many_findings_are_cut_with_how_many_there_were() -> None:
    """A verdict shows its first findings and says how many more there are."""
    lines = shown(result("a", attempt(verdict("x", "fail", *(f"Finding {number}." for number in range(9))))))
    assert "      Finding 5." in lines
    assert "      and 3 more findings" in lines


def test_reply_is_cut_with_how_much_was_cut() -> None:
    """A long reply is shown in part, and says how much more there is."""
    lines = shown(result("a", attempt(verdict("x", "fail", "No."), output="y" * 1000)))
    assert f"  The agent replied: {'y' * 300}… (700 more characters)" in lines


def test_reply_of_several_lines_is_shown_on_one() -> None:
    """White space of a reply is one space, not an escape; what a terminal would obey stays an escape."""
    lines = shown(result("a", attempt(verdict("x", "fail", "No."), output="Sunny:\n\n* Oslo\x1b[2J\r\n")))
    assert "  The agent replied: Sunny: * Oslo\\x1b[2J" in lines


def test_reply_that_is_no_text_is_shown_as_json() -> None:
    """A structured reply is shown as JSON."""
    assert '  The agent replied: {"ok":true}' in shown(
        result("a", attempt(verdict("x", "fail", "No."), output={"ok": True}))
    )


@pytest.mark.parametrize(
    ("calls", "expected"),
    [(None, "no calls recorded"), (0, "0 calls"), (1, "1 call"), (2, "2 calls")],
)
def test_number_of_calls_is_told(calls: int | None, expected: str) -> None:
    """G3: no recording and no calls are told apart."""
    lines = shown(result("a", attempt(verdict("x", "fail", "No."), calls=calls)))
    assert f"  trajectory t-1: {expected}" in lines


@pytest.mark.parametrize(
    ("passed", "others", "expected"),
    [(1, 0, "coverage 100 %"), (2, 1, "coverage 66.6 %"), (1999, 1, "coverage 99.9 %"), (0, 1, "coverage 0 %")],
)
def test_coverage_is_never_rounded_up(passed: int, others: int, expected: str) -> None:
    """Coverage of 100 % means that everything was graded."""
    lines = shown(*[PASSED] * passed, *[UNJUDGED] * others)
    assert lines[-3].endswith(expected)


def test_passed_run_says_so() -> None:
    """The last line of a run that passed is one word."""
    assert shown(PASSED)[-2:] == ["Passed", ""]


def test_run_that_could_not_be_judged_says_so() -> None:
    """Trouble that is no failure is called incomplete."""
    assert shown(UNJUDGED)[-2].startswith("Incomplete: graded 0 of 1, at least 1 needed; 1 test could not be judged")


def test_inconclusive_result_is_shown_with_its_verdicts() -> None:
    """G1: not applicable is a status of its own."""
    assert "  - tool_sequence" in shown(EMPTY)


def test_unused_trajectories_are_listed_up_to_a_limit() -> None:
    """Many unused trajectories are counted, the first ones named."""
    lines = shown(PASSED, unused=tuple(f"t{number}" for number in range(12)))
    assert "note: No test was for 12 trajectories: t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more" in lines


@pytest.mark.parametrize(
    ("detail", "passed", "blocks", "notes"),
    [
        (Detail.NORMAL, 1000, 50, ["2 more tests passed", "1 more test did not pass"]),
        (Detail.QUIET, 0, 50, ["1 more test did not pass"]),
        (Detail.VERBOSE, 1002, 51, []),
    ],
)
def test_a_huge_run_shows_so_many_tests_and_counts_the_rest(
    detail: Detail, passed: int, blocks: int, notes: list[str]
) -> None:
    """Nothing is cut without saying how much, and the counts are of all."""
    lines = shown(*[PASSED] * 1002, *[FAILED] * 51, look=Look(detail=detail))
    assert sum(line.startswith(f"✓ {PASSED.id}") for line in lines) == passed
    assert sum(line.startswith(f"✗ {FAILED.id}") for line in lines) == blocks
    assert [line.partition(";")[0] for line in lines if " more test" in line] == notes
    assert any("passed 1002, failed 51" in line for line in lines)


def test_passed_attempts_of_a_failed_test_are_not_explained() -> None:
    """Only attempts that did not pass are shown, by their number."""
    lines = shown(FLAKY)
    assert not any("attempt 1" in line for line in lines)


def test_colours_are_codes_around_the_text() -> None:
    """Colours are asked for, not guessed."""
    lines = shown(PASSED, look=Look(colours=True))
    assert "\x1b[32mPassed\x1b[0m" in lines


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_columns_stay_in_line(width: int) -> None:
    """Every made call begins in the same column, whatever the width and the characters."""
    rows = (
        Row(mark="match", expected={"name": "漢字漢字", "arguments": {"ключ": "é" * 50}}, made={"name": "made"}),
        Row(mark="missing", expected={"name": "x" * 70}),
        Row(mark="unexpected", made={"name": "made", "arguments": {"a": [1, 2, 3], "b": "🚀" * 30}}),
    )
    lines = [line.text for line in side_by_side(rows, width)]
    starts = {cells(line[: line.index("made")]) for line in lines if "made" in line}
    assert len(starts) == 1
    assert all(cells(line) <= max(width, 62) for line in lines)


def test_long_runs_of_matches_are_told_by_their_number() -> None:
    """Among many rows what is wrong is found: matches far from it are counted, those beside it are shown."""
    match = Row(mark="match", expected={"name": "a"}, made={"name": "a"})
    wrong = Row(mark="unexpected", made={"name": "b"})
    lines = [line.text.strip() for line in side_by_side((*(match,) * 100, wrong, *(match,) * 7, match), 80)]
    assert [line[0] for line in lines] == [
        "e",
        "=",
        "=",
        "=",
        "(",
        "=",
        "=",
        "=",
        "+",
        "=",
        "=",
        "=",
        "(",
        "=",
        "=",
        "=",
    ]
    assert [line for line in lines if line[0] == "("] == ["(94 more that match)", "(2 more that match)"]


def test_few_rows_are_all_shown() -> None:
    """A run of matches stays whole where there are few rows."""
    match = Row(mark="match", expected={"name": "a"}, made={"name": "a"})
    assert len(list(side_by_side((match,) * 30, 80))) == 31


def test_remarks_stand_among_the_rows() -> None:
    """A remark has no columns, and stands below its row where it has one."""
    rows = (
        Row(mark="note", note="Too many."),
        Row(mark="missing", expected={"name": "a"}, note="and 2 more differences"),
    )
    assert [line.text for line in side_by_side(rows, 80)] == [
        "    expected      made",
        "      Too many.",
        "  - a(…)",
        "      and 2 more differences",
    ]


def test_no_rows_are_nothing() -> None:
    """Without rows there are no columns either."""
    assert list(side_by_side((), 80)) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"name": "a"}, "a(…)"),
        ({"name": "a", "arguments": {}}, "a()"),
        ({"name": "a", "arguments": {"n": 1, "s": "x"}}, 'a(n=1, s="x")'),
        ({"name": "a", "arguments": [1]}, "a([1])"),
        ({"name": "a", "pattern": "^x"}, "a(pattern: ^x)"),
        ({"name": ""}, '""(…)'),
        ({"name": "a\x1b", "arguments": {"k\n": "\u202e"}}, 'a\\x1b(k\\n="\\u202e")'),
    ],
)
def test_call_is_written_as_in_a_program(call: dict[str, Any], expected: str) -> None:
    """A call is shown as its name and arguments; arguments that were not asked for are `…`."""
    assert expected == call_text(call)


def test_long_call_is_cut_with_how_much_was_cut() -> None:
    """A call of very many arguments is cut."""
    text = call_text({"name": "a", "arguments": {f"key{number}": number for number in range(100)}})
    assert text.endswith("more characters)")
    assert len(text) < 340


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("a b", ["a b"]),
        ("lookup(order=12345)", ["lookup(", "  order=1234", "  5)"]),
        ("漢" * 7, ["漢" * 5, "  漢漢"]),
    ],
)
def test_text_is_wrapped_by_cells(text: str, expected: list[str]) -> None:
    """Lines break after spaces and opening brackets, and inside what is longer than a line."""
    assert expected == wrap(text, 12)


def test_marks_of_both_sets_are_one_cell() -> None:
    """Rows stay in line with either set of marks."""
    assert {cells(mark) for mark in ASCII_MARKS.values()} == {1}
