"""What becomes of the tests of one run in another."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given

from rightcall.core.comparison import Kind
from rightcall.core.comparison.calls import changed_calls, same_calls
from rightcall.core.comparison.outlines import ResultRow, RunRow, VerdictRow
from support.comparing import BASELINE, CANDIDATE, attempt, compare, made, one, result, runs, verdict

GONE: list[ResultRow] = []


def kind_of(before: list[ResultRow], after: list[ResultRow]) -> list[str]:
    """The kinds that there are."""
    return [str(kind) for kind, number in compare(before, after).counts.items() if number]


@pytest.mark.parametrize(
    ("before", "after", "kind", "code"),
    [
        (["pass"], ["fail"], "regression", 1),
        (["error"], ["fail"], "new_failure", 1),
        (["not_applicable"], ["fail"], "new_failure", 1),
        (None, ["fail"], "new_failure", 1),
        (["pass"], ["error"], "unjudged", 3),
        (["pass"], ["not_applicable"], "unjudged", 3),
        (["fail"], ["error"], "unjudged", 3),
        (["fail"], ["not_applicable"], "unjudged", 3),
        (["fail"], ["pass"], "fix", 0),
        (["error"], ["pass"], "judged", 0),
        (["not_applicable"], ["pass"], "judged", 0),
        (["fail"], ["fail"], "still_failing", 0),
        (["error"], ["error"], "still_unjudged", 0),
        (["error"], ["not_applicable"], "still_unjudged", 0),
        (["pass"], ["pass"], "still_passing", 0),
        (None, ["pass"], "new", 0),
        (None, ["not_applicable"], "new", 0),
        (None, ["error"], "unjudged", 3),
        (["not_applicable"], ["error"], "unjudged", 3),
        (["pass"], None, "removed", 0),
        (["fail"], None, "removed", 0),
    ],
)
def test_each_pair_of_outcomes_has_a_kind(
    before: list[str] | None, after: list[str] | None, kind: str, code: int
) -> None:
    """A failure is excused only by a failure before; what is not judged any more is incomplete (G1, G39)."""
    others = [one("other", "pass")]
    then = [*others, *([] if before is None else [one("t", *before)])]
    now = [*others, *([] if after is None else [one("t", *after)])]
    compared = compare(then, now)
    assert {key: number for key, number in compared.counts.items() if number} == (
        {"still_passing": 2} if kind == "still_passing" else {kind: 1, "still_passing": 1}
    )
    assert compared.decide().exit_code == code


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("a=fail b=pass", "a=fail b=fail", "regression"),
        ("a=fail b=pass", "a=pass b=fail", "regression"),
        ("a=fail", "a=fail b=fail", "new_failure"),
        ("a=fail b=error", "a=fail b=fail", "new_failure"),
        ("a=fail b~fail", "a=fail b=fail", "new_failure"),
        ("a=fail b~pass", "a=fail b~fail", "still_failing"),
        ("a=fail b=pass", "a=fail b=error", "unjudged"),
        ("a=fail b=pass c=pass", "a=fail b=error c=fail", "regression"),
        ("a=fail b=fail", "a=fail b=error", "still_failing"),
        ("a=fail b~pass", "a=fail b~error", "still_failing"),
        ("a=fail b=fail", "a=fail", "still_failing"),
    ],
)
def test_a_failure_excuses_only_itself(before: str, after: str, kind: str) -> None:
    """In a test that failed before, another blocking verdict that fails now is a regression or a new failure."""
    assert [kind] == kind_of([result("t", attempt(*_verdicts(before)))], [result("t", attempt(*_verdicts(after)))])


def _verdicts(text: str) -> Iterator[VerdictRow]:
    """Verdicts that a text writes: `=` before the status of one that blocks, `~` of one that warns."""
    for name, sign, status in re.findall(r"(\w)([=~])(\w+)", text):
        yield verdict(name, status, severity="block" if sign == "=" else "warn")


@pytest.mark.parametrize("hashes", [("1", "2"), ("", "")])
@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (("fail", "x"), ("fail", "x"), "still_failing"),
        (("fail", "x"), ("fail", "y"), "new_failure"),
        (("error", "x"), ("error", "x"), "still_unjudged"),
        (("error", "x"), ("error", "y"), "unjudged"),
        (("pass", "x"), ("pass", "y"), "still_passing"),
    ],
)
def test_what_is_paired_by_position_is_excused_only_for_the_same_reason(
    hashes: tuple[str, str], before: tuple[str, str], after: tuple[str, str], kind: str
) -> None:
    """Without an id it may be another test than before: a failure of another one is none of it."""
    runs = [RunRow(name="run.json", test_set_hash=one) for one in hashes]
    then, now = ([result("[1]", attempt(verdict("v", *one)), positional=True)] for one in (before, after))
    assert [kind] == [kind for kind, number in compare(then, now, *runs).counts.items() if number]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("fail:x pass:y", "fail:x", "still_failing"),
        ("fail:x pass:y", "fail:y", "new_failure"),
        ("fail:x fail:y", "fail:y", "still_failing"),
        ("fail:x", "fail:z fail:x", "new_failure"),
        ("fail:x", "fail:y", "still_failing"),
        ("fail:x pass:y", "fail:z pass:y", "new_failure"),
    ],
)
def test_verdicts_that_share_a_name_are_excused_only_for_the_same_reason(before: str, after: str, kind: str) -> None:
    """Their ids are numbers by their order: in another test set the second may be the first (G6)."""
    runs = [RunRow(name="run.json", test_set_hash=one) for one in "12"]
    then, now = ([result("t", attempt(*_alike(text)))] for text in (before, after))
    assert [kind] == [kind for kind, number in compare(then, now, *runs).counts.items() if number]


def _alike(text: str) -> Iterator[VerdictRow]:
    """Verdicts of one name: the status and reason of each."""
    for number, each in enumerate(text.split(), 1):
        status, _, reason = each.partition(":")
        yield verdict("v" if number == 1 else f"v[{number}]", status, reason, name="v")


def test_the_same_test_set_has_the_same_tests_in_the_same_places() -> None:
    """Of one test set a test without an id is the same one, whatever the reason is now."""
    run = RunRow(name="run.json", test_set_hash="1")
    then, now = ([result("[1]", attempt(verdict("v", "fail", why)), positional=True)] for why in "xy")
    assert compare(then, now, run, run).counts[Kind.STILL_FAILING] == 1


def test_a_fix_by_a_lower_severity_or_a_verdict_left_out_can_be_seen() -> None:
    """What made a test pass is told: another severity, or a verdict that is not there any more."""
    then = [one("t", "fail", "fail", "pass")]
    now = [result("t", attempt(verdict("v0", "fail", severity="warn"), verdict("v2", "pass")))]
    (change,) = compare(then, now).changes
    assert change.kind == Kind.FIX
    found = [(each.id, each.before, each.after) for each in change.verdicts]
    told = [(name, before and before.severity, after and after.severity) for name, before, after in found]
    assert told == [("v0", "block", "warn"), ("v1", "block", None)]


def test_a_share_of_attempts_that_slides_is_told_though_the_test_still_passes() -> None:
    """3 of 3 and then 2 of 3 is no regression of a test that allows it, and is not lost in an average."""
    passed, failed = attempt(verdict("v", "pass")), attempt(verdict("v", "fail"))
    then = result("t", passed, passed, passed, outcome="pass")
    now = result("t", passed, failed, passed, outcome="pass")
    (change,) = compare([then], [now]).changes
    assert (change.kind, change.before and change.before.passed, change.after and change.after.passed) == (
        Kind.STILL_PASSING,
        3,
        2,
    )
    assert change.p_value == 1.0


def test_nothing_is_told_of_a_test_that_is_as_it_was() -> None:
    """A test that passes with the same calls is counted and not listed."""
    compared = compare([one("t", "pass", calls=["a"])], [one("t", "pass", calls=["a"])])
    assert (compared.changes, compared.counts[Kind.STILL_PASSING]) == ((), 1)


@pytest.mark.parametrize(
    ("before", "after"), [(GONE, GONE), (GONE, [one("t", "pass")]), ([one("t", "error")], [one("t", "pass")])]
)
def test_where_no_test_was_judged_in_both_nothing_was_compared(before: list[ResultRow], after: list[ResultRow]) -> None:
    """A comparison of nothing is never a pass (G36)."""
    decision = compare(before, after).decide()
    assert (decision.exit_code, decision.reasons) == (3, ("nothing to compare: no test was judged in both runs",))


def test_results_of_one_id_are_paired_in_their_order() -> None:
    """An id that stands twice in both runs is two tests."""
    compared = compare([one("t", "pass"), one("t", "fail")], [one("t", "pass"), one("t", "fail"), one("t", "pass")])
    assert {kind: number for kind, number in compared.counts.items() if number} == {
        "still_failing": 1,
        "still_passing": 1,
        "new": 1,
    }


def test_rates_are_counts_of_tests_attempts_and_verdicts() -> None:
    """G35: rates are integers until they are shown, and of pairs it is counted which way they went."""
    passed, failed = attempt(verdict("v", "pass")), attempt(verdict("v", "fail"))
    then = [result("a", passed), result("b", failed), result("c", passed, failed), result("gone", passed)]
    now = [result("a", failed), result("b", passed), result("c", passed, passed), result("new", failed)]
    compared = compare(then, now)
    rates = (compared.pass_rate, compared.attempt_rate, compared.verdict_rates["v"])
    assert [(rate.before.passed, rate.before.graded, rate.after.passed, rate.after.graded) for rate in rates] == [
        (2, 4, 2, 4),
        (3, 5, 3, 5),
        (2, 4, 2, 4),
    ]
    assert [(rate.worse, rate.better) for rate in rates] == [(1, 2), (None, None), (1, 2)]


def test_a_difference_is_significant_from_six_tests_that_only_got_worse() -> None:
    """Five tests that got worse may be chance by McNemar's exact test, six are not."""
    for number, expected in ((5, False), (6, True)):
        ids = [str(at) for at in range(number)]
        compared = compare([one(each, "pass") for each in ids], [one(each, "fail") for each in ids])
        assert compared.pass_rate.is_significant is expected


@given(runs, runs)
def test_every_test_has_one_kind_and_the_decision_follows_from_them(
    before: list[ResultRow], after: list[ResultRow]
) -> None:
    """Law: all tests of both runs are counted once; it blocks exactly if something fails that did not before."""
    compared = compare(before, after)
    counts = compared.counts
    paired = len(before) - counts[Kind.REMOVED]
    assert sum(counts.values()) == len(before) + len(after) - paired
    blocks = bool(counts[Kind.REGRESSION] or counts[Kind.NEW_FAILURE])
    incomplete = bool(counts[Kind.UNJUDGED]) or not compared.judged_in_both
    assert compared.decide().exit_code == (1 if blocks else 3 if incomplete else 0)


@given(runs)
def test_a_run_differs_in_nothing_from_itself(run: list[ResultRow]) -> None:
    """Law: no change of a verdict or of a call, no pair that changed sides, no test added or removed."""
    compared = compare(run, run)
    changed = [one for one in compared.changes if one.verdicts or one.calls or one.before != one.after]
    assert (changed, compared.calls_changed, compared.pass_rate.worse, compared.pass_rate.better) == ([], 0, 0, 0)
    assert {Kind.STILL_PASSING, Kind.STILL_FAILING, Kind.STILL_UNJUDGED} >= {
        kind for kind, number in compared.counts.items() if number
    }


@given(runs, runs)
def test_the_other_way_round_regressions_are_fixes(before: list[ResultRow], after: list[ResultRow]) -> None:
    """Law: what was removed is new, and the numbers that got worse and better change places."""
    there, back = compare(before, after), compare(after, before)
    assert there.counts[Kind.REMOVED] == sum(change.before is None for change in back.changes)
    assert (there.pass_rate.worse, there.pass_rate.p_value) == (back.pass_rate.better, back.pass_rate.p_value)
    assert (there.calls_changed, there.judged_in_both) == (back.calls_changed, back.judged_in_both)


@given(made, made)
def test_calls_side_by_side_are_all_calls_of_both(
    before: tuple[dict[str, object], ...], after: tuple[dict[str, object], ...]
) -> None:
    """Law: each call stands in one line on its side, and all lines are the same exactly if the calls are."""
    rows = changed_calls(before, after)
    assert sorted(row.before_index for row in rows if row.before_index is not None) == list(range(len(before)))
    assert [row.after_index for row in rows if row.after_index is not None] == list(range(len(after)))
    assert all(row.before == before[row.before_index] for row in rows if row.before_index is not None)
    assert (all(row.mark == "same" for row in rows)) is same_calls(before, after)


def test_calls_are_data_though_they_look_like_operators() -> None:
    """An argument that looks like an operator is only equal to itself (G14)."""
    looks = ({"name": "f", "arguments": {"x": {"$regex": ".*"}}},)
    (row,) = changed_calls(looks, ({"name": "f", "arguments": {"x": "anything"}},))
    assert row.mark == "differs"
    assert [change.message for change in row.differences] == ['x was {"$regex":".*"}, and is "anything"']


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ({"a": 1}, {"a": 2}, "a was 1, and is 2"),
        ({"a": 1}, {}, "a was 1, and is gone"),
        ({}, {"a": [True]}, "a = [true] is new"),
        ({"a": {"b": [1]}}, {"a": {"b": ["1"]}}, 'a.b[0] was 1, and is "1"'),
    ],
)
def test_differences_of_arguments_are_told_as_a_change(before: object, after: object, message: str) -> None:
    """What an argument was and is, each at its path."""
    (row,) = changed_calls(({"name": "f", "arguments": before},), ({"name": "f", "arguments": after},))
    assert [change.message for change in row.differences] == [message]


def test_calls_are_compared_as_json() -> None:
    """5 and 5.0 are the same, 1 and true are not (G7); calls that were not recorded are not those of no call."""
    five, real, one_, true = ([{"name": "f", "arguments": {"x": value}}] for value in (5, 5.0, 1, True))
    assert same_calls(five, real)
    assert not same_calls(one_, true)
    assert [row.mark for row in changed_calls(one_, true)] == ["differs"]
    assert [row.mark for row in changed_calls(five, real)] == ["same"]
    assert not same_calls(None, [])
    assert same_calls(None, None)


def test_it_is_said_where_calls_are_not_known() -> None:
    """A report without calls, or a test without an attempt, leaves open whether calls changed."""
    then = [result("a", attempt(verdict("v", "pass"), made=msgspec.UNSET)), result("b")]
    compared = compare(then, [one("a", "pass"), one("b", "pass")])
    assert (compared.calls_changed, compared.calls_unknown) == (0, 2)


def test_what_limits_a_comparison_is_said() -> None:
    """Other test sets, other versions, JSON Lines, and tests that are paired by position."""
    full = RunRow(name="a.json", product="0.1", test_set="Desk", test_set_hash="1" * 64)
    other = RunRow(name="b.json", product="0.2", test_set="Desk", test_set_hash="2" * 64)
    nameless = [one("t", "pass"), result("tests[1]", attempt(verdict("v", "pass")), positional=True)]
    assert compare(nameless, nameless, full, other).notes == (
        "the test sets differ: Desk (111111111111) before, Desk (222222222222) now",
        "graded by rightcall 0.1 before, 0.2 now",
        "1 test has no id and is paired by position, and excused only for the same reason: tests[1]",
    )
    assert compare([], [], RunRow(name="a.jsonl", is_complete=False), full).notes == (
        "a.jsonl does not say by which rules and for which test set it was graded",
    )
    assert compare([], [], BASELINE, CANDIDATE).notes == ()


def test_changes_beyond_a_number_are_counted() -> None:
    """Of each kind a thousand changes are kept; the others are counted, and decide all the same."""
    ids = [str(number) for number in range(1003)]
    compared = compare([one(each, "pass") for each in ids], [one(each, "fail") for each in ids])
    assert (len(compared.changes), compared.left_out, compared.counts[Kind.REGRESSION]) == (1000, 3, 1003)
    assert compared.decide().reasons == ("1,003 regressions: 0, 1, 2, 3, 4, …",)
