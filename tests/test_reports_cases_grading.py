"""Public bug reports about grading itself: semantics, arguments, duplicates, order, numbers."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest

import rightcall
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.core.summary import Decision, Gate, Summary
from rightcall.core.verdicts import Status, Verdict
from rightcall.metrics import ToolCallTrajectory
from support.bug_reports import Case, check, document, judge, report
from support.command_line import run_here


@report(
    *("B001", "B002", "B003", "B005", "B009", "B010", "B013", "B014", "B015", "B016", "B017", "B018", "B019", "B020"),
    *("B022", "B025", "B026", "B027"),
)
def test_grading_semantics(case: Case) -> None:
    """What each mode passes, and how a verdict, its rates and its reason hang together."""
    check(case)


@report("B001")
def test_grading_semantics_of_nothing_at_all(case: Case) -> None:
    """Where there is nothing to divide by, a rate is null: never 0 and never NaN (G19)."""
    details = judge(case["input"]).details
    assert (details["precision"], details["recall"]) == (None, None)


@report("B006")
def test_grading_semantics_of_an_idle_turn(case: Case) -> None:
    """A turn that expects nothing and does nothing passes, alone and as part of the conversation."""
    turns = case["input"]["turns"]
    whole = {side: [call for turn in turns for call in turn[side]] for side in ("expected", "actual")}
    verdicts = [judge({**part, "config": case["input"]["config"]}) for part in (*turns, whole)]
    assert [case["expect"]["verdict"]] * 3 == [verdict.status for verdict in verdicts]


@report("B021")
def test_grading_semantics_of_each_turn(case: Case) -> None:
    """What each turn should do is expected of it, and a count over the run is another question that fails."""
    turns = case["input"]["turns"]
    made = [{**call, "turn": number} for number, turn in enumerate(turns) for call in turn["actual"]]
    expected = [{"expected_tool_calls": turn["expected"], "match": "superset"} for turn in turns]
    verdicts = rightcall.grade(made, {"turns": expected, "budget": {"max_calls": 2}})
    assert [verdict.status for verdict in verdicts if verdict.kind == "trajectory"] == [case["expect"]["verdict"]] * 2
    assert [verdict.status for verdict in verdicts if verdict.kind == "budget"] == ["fail"]


@report("B007")
def test_grading_semantics_of_a_part_that_does_not_apply(case: Case) -> None:
    """What does not apply is no zero: it leaves the others as they are (G1, G2)."""
    selection = judge({"expected": [], "actual": []})
    nothing = ToolCallTrajectory().evaluate([], {})
    assert (nothing.score, nothing.status) == (None, Status.NOT_APPLICABLE)
    apart = Verdict(id="arguments", name="arguments", kind="arguments", status=nothing.status, score=nothing.score)
    assert attempt_outcome([selection, apart]) == Outcome.PASS
    assert case["expect"]["score"] == selection.score


@report("B008")
def test_grading_semantics_of_checks_that_do_not_count(
    case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Expected calls count; only a check that is declared not to does not, and then the report says so (G2)."""
    given = case["input"]
    assert judge({"expected": given["expected"], "actual": given["actual"]}).status == "fail"
    made = {"tool_calls": [{"name": "read_state"}], "required_tools": ["read_state"]}
    informational = {"kind": "trajectory", "severity": "warn", "expected_tool_calls": given["expected"]}
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps({"id": "one", **made, "assertions": [informational]}), encoding="utf-8")
    ran = run_here(capfdbinary, "grade", file, "--verbose")
    assert ran.code == 0
    assert "tool_call_trajectory (warn: does not count): Expected check_record; it was never called." in ran.out


@report("B011")
def test_grading_semantics_of_an_absent_expectation(
    case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """No expectation is `not_applicable`, and a test with nothing else is inconclusive: neither is a pass (G3)."""
    calls = case["input"]["actual"]
    result = ToolCallTrajectory().evaluate(calls, {"tool_calls": case["input"]["expected"]})
    assert case["expect"]["verdict"] == result.status
    (tmp_path / "t.jsonl").write_text(json.dumps({"id": "one", "tool_calls": calls}), encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps({"version": 1, "tests": [{"id": "one"}]}), encoding="utf-8")
    ran = run_here(capfdbinary, "grade", tmp_path / "t.jsonl", "-t", tmp_path / "s.json", "--json")
    counts = json.loads(ran.out)["counts"]
    assert (ran.code, counts["inconclusive"], counts["passed"], counts["pass_rate"]) == (3, 1, 0, None)


@report("B012")
def test_grading_semantics_of_extra_keys(case: Case) -> None:
    """`partial`: the calls made may have more keys than were listed, and never fewer; `exact`: neither may."""
    for arguments in ("partial", "exact"):
        found = [
            judge({"expected": [pair["expected"]], "actual": [pair["actual"]]}, arguments=arguments).status
            for pair in case["input"]["pairs"]
        ]
        assert case["expect"][f"pair_verdicts_{arguments}"] == found


@report("B024")
def test_grading_semantics_of_the_nth_call(case: Case) -> None:
    """Any call of the tool will do; with `call_index` the Nth must be it, and one that is missing is said (G23)."""
    assert case["expect"]["verdict"] == judge(case["input"]).status
    (assertion,) = case["input"]["tool_call_args"]
    verdicts = {
        str(index): judge({**case["input"], "tool_call_args": [{**assertion, "call_index": index}]})
        for index in (1, 2, 3)
    }
    assert case["expect"]["by_call_index"] == {index: verdict.status for index, verdict in verdicts.items()}
    assert verdicts["3"].reason == "no call 3 to `save`: it was called 2 times."


@report("B027")
def test_grading_semantics_of_an_allow_list(case: Case) -> None:
    """`subset` counts calls one by one; the allow-list of the same names does not (G18, G25)."""
    allowed = {"allowed_tools": [call["name"] for call in case["input"]["expected"]]}
    (verdict,) = rightcall.grade(document(case["input"]), allowed)
    assert (verdict.name, verdict.status) == ("no_unexpected_tool", "pass")


@report("B028", "B029", "B030", "B031", "B032", "B033", "B034", "B035", "B036", "B040")
def test_argument_comparison(case: Case) -> None:
    """Arguments are compared as JSON values, whole, and nothing is coerced (G7, section 5)."""
    check(case)


@report("B031")
def test_argument_comparison_with_nothing_listed(case: Case) -> None:
    """`partial` with `{}` accepts any arguments."""
    variants = case["input"]["variants"]
    found = [judge({**case["input"], **variant}, arguments="partial").status for variant in variants]
    assert found == ["pass", "pass"]


@report("B034")
def test_argument_comparison_inside_objects(case: Case) -> None:
    """The reason points into the object at the key that is too many."""
    assert "filter.page" in judge(case["input"]).reason


@report("B036")
def test_argument_comparison_with_unreadable_text(case: Case) -> None:
    """Text that is not JSON keeps the call, flagged, and the reason says it (G9)."""
    broken = {**case["input"], "actual_raw": [{"name": "open_page", "arguments": '{"path": '}]}
    assert judge(broken).reason == (
        'Expected open_page with arguments {"path":"/a"}; call 1 had malformed arguments "{\\"path\\": ".'
    )


@report("B040")
def test_argument_comparison_by_pattern(case: Case) -> None:
    """A pattern that ignores case and spacing says what may differ; the grader never guesses it."""
    match = {"mode": "regex", "pattern": r"select\s+a(\s|\\n)+from\s+t", "flags": "i"}
    (verdict,) = rightcall.grade(document(case["input"]), {"tool_call_args": [{"tool": "run_sql", "match": match}]})
    assert verdict.status == "pass"


@report("B041", "B042", "B043", "B044", "B045")
def test_duplicates(case: Case) -> None:
    """Calls are paired one to one, however equal they are (G18, G19)."""
    check(case)


@report("B042")
def test_duplicates_that_are_missing(case: Case) -> None:
    """The reason says how often the tool was wanted and called."""
    assert judge(case["input"]).reason == "Expected ping 2 times; it was called 1 time."


@report("B044")
def test_duplicates_in_the_rates(case: Case) -> None:
    """F1 and the selection score count every call; the call too many is redundant (G19, G32)."""
    assert Fraction(judge(case["input"]).details["f1"]).limit_denominator(100) == Fraction(4, 5)
    (verdict,) = rightcall.grade(document(case["input"]), {"expected_tools": ["a", "b"]})
    assert verdict.score == 80
    assert verdict.details["incorrect_tools"] == [
        {"name": "a", "verdict": "redundant", "reason": "duplicated: expected 1, called 2"}
    ]


@report("B045")
def test_duplicates_of_a_name(case: Case) -> None:
    """The second call of a tool is another call: only it is named when only it differs."""
    calls = [{"name": "set_alarm", "arguments": {"h": hour}} for hour in (6, 8)]
    (finding,) = judge({**case["input"], "actual": calls}).findings
    assert finding.message == "Expected set_alarm with h = 7; call 2 had h = 8."


@report("B046")
def test_duplicates_in_any_order_of_writing(case: Case) -> None:
    """Shuffling either list changes neither the verdict nor the rates (G18)."""
    given = case["input"]
    orders = itertools.product(itertools.permutations(given["expected"]), itertools.permutations(given["actual"]))
    found = set()
    for expected, actual in orders:
        verdict = judge({**given, "expected": expected, "actual": actual})
        found.add((str(verdict.status), verdict.details["precision"], verdict.details["recall"]))
    assert found == {tuple(case["expect"][part] for part in ("verdict", "precision", "recall"))}


@report("B054")
def test_order(case: Case) -> None:
    """Order is that of a subsequence, and only where the mode says so (section 6)."""
    check(case)


@report("B096", "B097")
def test_numbers(case: Case) -> None:
    """Numbers are JSON numbers: 5 is 5.0, and text is none (G7)."""
    check(case)


@report("B096")
def test_numbers_without_tolerance(case: Case) -> None:
    """Nearly the same is not the same."""
    calls = [{"name": "set_temp", "arguments": {"t": 5.0000001}}]
    assert judge({**case["input"], "actual": calls}).status == "fail"


@report("B097", "B099")
def test_numbers_given_as_text(case: Case) -> None:
    """A number in quotes is no number, however long it is, and the reason names both types (G7)."""
    actual = case["input"].get("actual") or case["input"]["variants"][2]["actual"]
    verdict = judge({**case["input"], "actual": actual})
    assert verdict.status == "fail"
    assert (", a number" in verdict.reason, ", a string" in verdict.reason) == (True, True)


@report("B102", "B103")
def test_numbers_at_a_threshold(case: Case) -> None:
    """Rates are exact fractions, and a rate that is below its threshold blocks (G35)."""
    assert case["expect"]["gate"] == _gate(_decision(case).exit_code)


@report("B102")
def test_numbers_shown_at_a_threshold(case: Case) -> None:
    """What would be equal when rounded is shown with more digits."""
    assert _decision(case).reasons == ("pass rate 2249/2500 = 0.8996 < 0.9000",)


@report("B134")
def test_reporting_at_a_threshold(case: Case) -> None:
    """The message shows as many digits as it takes to see the decision (G35)."""
    decision = _decision(case)
    assert case["expect"]["gate"] == _gate(decision.exit_code)
    assert decision.reasons == ("pass rate 7973/10000 = 0.7973 < 0.8000",)


def _decision(case: Case) -> Decision:
    given = case["input"]
    rate = Fraction(given["passed"], given["total"]) if "passed" in given else Fraction(str(given["rate"]))
    return _counted(rate).decide(Gate(min_pass_rate=Fraction(str(given["threshold"]))))


@report("B103")
def test_numbers_as_fractions(case: Case) -> None:
    """A threshold of 2/3 is exactly two thirds (G35)."""
    summary = _counted(Fraction(case["input"]["passed"], case["input"]["total"]))
    decision = summary.decide(Gate(min_pass_rate=Fraction("2/3")))
    assert case["expect"]["gate_with_threshold_2/3"] == _gate(decision.exit_code)


def _counted(rate: Fraction) -> Summary:
    return Summary(passed=rate.numerator, failed=rate.denominator - rate.numerator)


def _gate(exit_code: int) -> str:
    return "fail" if exit_code == 1 else "pass"
