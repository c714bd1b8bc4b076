"""Attempts and results, and what becomes of a crash of ours."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rightcall.app import runner
from rightcall.app.regex import compile_regex
from rightcall.assertions import RequiredTool
from rightcall.core.assertion import CannotJudge, Check, Compiled
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.results import Attempt, Outcome
from rightcall.core.rows import Row
from rightcall.core.verdicts import Evidence, Finding, Status
from rightcall.errors import TraceError, Where
from rightcall.testsets import CompiledTest, Test, compile_test

TRAJECTORY = Trajectory(id="t", tool_calls=(ToolCall(name="a", sources=("line 3",)),), output="Done.")
ROW = Row(mark="missing", expected_index=0, expected={"name": "b"})


class Passing:
    """A check that finds nothing against any trajectory."""

    name = "passing"

    def __call__(self, trajectory: Trajectory) -> Evidence:
        return Evidence()

    def align(self, trajectory: Trajectory) -> tuple[Row, ...]:
        raise AssertionError("nothing is shown for a pass")


class Failing(Passing):
    """A check that finds something against every trajectory."""

    name = "failing"

    def __call__(self, trajectory: Trajectory) -> Evidence:
        return Evidence((Finding(code="missing", message="Expected b."),))

    def align(self, trajectory: Trajectory) -> tuple[Row, ...]:
        return (ROW,)


class Unsure(Passing):
    """A check that cannot judge."""

    name = "unsure"

    def __call__(self, trajectory: Trajectory) -> Evidence:
        raise CannotJudge("timeout", "It took too long.")


class Crashing(Passing):
    """A check with a mistake in it."""

    name = "crashing"

    def __call__(self, trajectory: Trajectory) -> Evidence:
        raise ZeroDivisionError("of all things")


class CrashingAlign(Failing):
    """A check whose mistake is in what it shows."""

    name = "crashing_align"

    def align(self, trajectory: Trajectory) -> tuple[Row, ...]:
        raise KeyError("row")


def attempt(*checks: Check, trajectory: Trajectory = TRAJECTORY) -> Attempt:
    assertions = tuple(Compiled(check.name, check.name, "fake", "block", check) for check in checks)
    return runner.attempt(trajectory, CompiledTest(Test(id="x"), assertions), "log.jsonl")


def test_crash_becomes_an_error_that_keeps_the_traceback() -> None:
    """A mistake of ours never passes and never hides the other verdicts."""
    graded = attempt(Passing(), Crashing(), Passing())
    assert graded.outcome == Outcome.ERROR
    assert [verdict.status for verdict in graded.verdicts] == [Status.PASS, Status.ERROR, Status.PASS]
    crashed = graded.verdicts[1]
    assert "ZeroDivisionError: of all things" in crashed.reason
    assert "in __call__" in crashed.details["traceback"]
    assert runner.crashes(runner.result(Test(id="x"), (graded,))) == 1


def test_crash_while_lining_up_is_told() -> None:
    """A failure that cannot be lined up still fails, and is not shown as if all were well with us."""
    graded = attempt(CrashingAlign())
    ((row,),) = graded.alignments.values()
    assert graded.verdicts[0].status == Status.FAIL
    assert row.note.startswith("rightcall could not line this up, please report it: ")


def test_failure_keeps_what_explains_it() -> None:
    """A failed attempt has expected beside made, the reply, the place and the number of calls."""
    graded = attempt(Failing(), Passing())
    assert graded.alignments == {"failing": (ROW,)}
    assert (graded.output, graded.place, graded.calls) == ("Done.", "log.jsonl:3", 1)


def test_pass_keeps_no_more_than_it_must() -> None:
    """A passed attempt has no reply and no rows."""
    graded = attempt(Passing())
    assert (graded.outcome, graded.output, graded.alignments) == (Outcome.PASS, None, {})


def test_unjudged_is_an_error() -> None:
    """A check that cannot judge makes the attempt an error, with its reason."""
    graded = attempt(Passing(), Unsure())
    assert (graded.outcome, graded.verdicts[1].reason) == (Outcome.ERROR, "It took too long.")


def test_not_recorded_differs_from_no_calls() -> None:
    """G3: the number of calls is none where none were recorded, 0 where none were made."""
    assert attempt(Passing(), trajectory=Trajectory(id="t")).calls is None
    assert attempt(Passing(), trajectory=Trajectory(id="t", tool_calls=())).calls == 0


def test_test_without_assertions_is_inconclusive() -> None:
    """G2: where nothing was expected, nothing passed."""
    graded = attempt()
    assert (graded.outcome, graded.reason) == (Outcome.INCONCLUSIVE, "The test expects nothing.")


def test_hash_tells_trajectories_apart() -> None:
    """G6: equal trajectories have equal hashes, others have not."""
    other = Trajectory(id="t", tool_calls=())
    hashes = [attempt(Passing(), trajectory=trajectory).hash for trajectory in (TRAJECTORY, TRAJECTORY, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    assert len(hashes[0]) == 16


def test_result_has_the_place_and_the_labels_of_its_test() -> None:
    """A result says where its test stands and keeps what the test was labelled with."""
    test = Test(
        id="x", topic="Late", tags=("a",), extra={"x-team": "shop"}, where=Where(file="r.yaml", line=3, path="tests[0]")
    )
    result = runner.result(test, (attempt(Passing()),))
    assert result.place == "r.yaml:3"
    assert result.labels == {"topic": "Late", "tags": ["a"], "x-team": "shop"}


def test_statistics_stand_beside_several_attempts_only() -> None:
    """G37: rates are for attempts; one attempt has none."""
    one, other = attempt(Passing()), attempt(Failing())
    assert runner.result(Test(id="x"), (one,)).statistics is None
    statistics = runner.result(Test(id="x"), (one, other)).statistics
    assert statistics is not None
    assert (statistics.passed, statistics.failed, statistics.flaky) == (1, 1, True)


def test_test_without_trajectory_could_not_be_judged() -> None:
    """A test that nothing was recorded for is an error that names it."""
    result = runner.result(Test(id="x"), ())
    assert (result.outcome, result.reason) == (Outcome.ERROR, "no trajectory for test `x`")


def test_unreadable_record_is_an_error_with_its_place() -> None:
    """G39: a bad record is one error result that says where it stands and what is wrong."""
    error = TraceError("not JSON: unexpected end", Where(file="log.jsonl", line=7))
    result = runner.unread(error)
    expected = ("log.jsonl:7", Outcome.ERROR, "The record cannot be read: not JSON: unexpected end")
    assert expected == (result.id, result.outcome, result.reason)
    assert runner.unread(TraceError("x", record_id="r9")).id == "r9"


def test_turns_of_which_nothing_is_expected_are_told() -> None:
    """A conversation that goes on after the last turn of the test is a warning: nothing there could fail."""
    calls = tuple(ToolCall(name="a", turn=turn) for turn in (0, 1, 2))
    test = Test(id="x", turns=("hello", "again"), assertions=(RequiredTool(tool="a", turn=2),))
    longer, whole = (
        runner.attempt(Trajectory(tool_calls=made), compile_test(test, compile_regex), "log.jsonl").warnings
        for made in (calls, calls[:2])
    )
    words = "the test has 2 turns, the conversation 3: nothing is expected of the turns after the test's"
    assert (longer, whole) == ((words,), ())


def planned(outcomes: str, count: int, rate: str = "1") -> tuple[str, str]:
    """What a test comes to of which so many attempts were planned, and why; `p`, `f`, `e`, `i` are those made."""
    words = {"p": Outcome.PASS, "f": Outcome.FAIL, "e": Outcome.ERROR, "i": Outcome.INCONCLUSIVE}
    made = [Attempt(trajectory="", outcome=words[letter]) for letter in outcomes]
    result = runner.result(Test(id="t", min_pass_rate=Fraction(rate)), made, planned=count)
    return str(result.outcome), result.reason


@pytest.mark.parametrize(
    ("outcomes", "count", "rate", "outcome", "reason"),
    [
        ("ppp", 3, "1", "pass", ""),
        ("pp", 3, "1", "error", "1 of 3 attempts was not made"),
        ("p", 3, "1", "error", "2 of 3 attempts were not made"),
        ("pf", 3, "1", "fail", "settled after 2 of 3 attempts"),
        ("pp", 3, "2/3", "pass", "settled after 2 of 3 attempts"),
        ("p", 3, "2/3", "error", "2 of 3 attempts were not made"),
        ("ff", 4, "3/4", "fail", "settled after 2 of 4 attempts"),
        ("pe", 3, "1/3", "pass", "settled after 2 of 3 attempts"),
        ("i", 2, "1", "error", "1 of 2 attempts was not made"),
        ("", 1, "1", "error", "no attempt was made"),
        ("p", 1, "1", "pass", ""),
        ("i", 1, "1", "inconclusive", ""),
    ],
)
def test_attempts_that_were_not_made_are_unknown(
    outcomes: str, count: int, rate: str, outcome: str, reason: str
) -> None:
    """A test passes or fails only if they could not have changed that, and says so (G37)."""
    assert planned(outcomes, count, rate) == (outcome, reason)
