"""The gate of a run: several test sets, the options, and the exit code."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rightcall.app import gates
from rightcall.app.gates import GateOptions
from rightcall.core.counting import Count
from rightcall.core.summary import Decision, Gate
from rightcall.errors import UsageError


def test_several_gates_become_the_strictest() -> None:
    """G36: a run over several test sets passes only what the gate of each would pass."""
    one = Gate(min_pass_rate=Fraction(1, 2), min_graded=3, allow_errors=2, thresholds={"a": Fraction(1, 3)})
    other = Gate(min_pass_rate=Fraction(2, 3), allow_errors=1, thresholds={"a": Fraction(1, 4), "b": Fraction(1, 5)})
    expected = Gate(
        min_pass_rate=Fraction(2, 3),
        min_graded=3,
        allow_errors=1,
        thresholds={"a": Fraction(1, 3), "b": Fraction(1, 5)},
    )
    assert expected == gates.strictest([one, other])
    assert Gate() == gates.strictest([])


def test_options_replace_the_gate() -> None:
    """What the command line gives stands above the test set; a threshold is added."""
    gate = Gate(min_pass_rate=Fraction(1, 2), thresholds={"a": Fraction(1)})
    options = GateOptions(min_pass_rate=Fraction(0), allow_errors=4, thresholds={"b": Fraction(1, 2)})
    expected = Gate(min_pass_rate=Fraction(0), allow_errors=4, thresholds={"a": Fraction(1), "b": Fraction(1, 2)})
    assert expected == gates.with_options(gate, options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool_sequence=0.9", ("tool_sequence", Fraction(9, 10))),
        ("tool_called:a=b=4/5", ("tool_called:a=b", Fraction(4, 5))),
        ("x=80%", ("x", Fraction(4, 5))),
    ],
)
def test_threshold_is_a_name_and_an_exact_rate(text: str, expected: tuple[str, Fraction]) -> None:
    """G35: the rate is what its literal writes; the name may hold an equals sign."""
    assert expected == gates.threshold(text)


@pytest.mark.parametrize("text", ["tool_sequence", "=0.5", "a=", "a=1.5", "a=nan", "a=1/0", "a=-1"])
def test_bad_threshold_is_refused(text: str) -> None:
    """G36: a threshold without a name, or outside the range of rates, stops the run."""
    with pytest.raises(UsageError, match="--threshold"):
        gates.threshold(text)


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (Decision(passed=True, exit_code=0), 0),
        (Decision(passed=False, exit_code=1), 0),
        (Decision(passed=False, exit_code=3, incomplete=True), 3),
        (Decision(passed=False, exit_code=1, incomplete=True), 3),
    ],
)
def test_only_failures_are_forgiven(decision: Decision, expected: int) -> None:
    """G39: forgiving failures leaves what could not be judged as it is."""
    assert expected == gates.forgiving(decision)


@pytest.mark.parametrize(("code", "expected"), [(0, 3), (1, 1), (3, 3)])
def test_crash_of_ours_never_passes(code: int, expected: int) -> None:
    """A crash blocks whatever number of errors is allowed, and is said."""
    decision = gates.with_crashes(Decision(passed=code == 0, exit_code=code), 2)
    assert (False, expected, True) == (decision.passed, decision.exit_code, decision.incomplete)
    assert decision.reasons == ("rightcall itself failed on 2 verdicts",)
    assert gates.with_crashes(Decision(passed=True, exit_code=0), 0).passed


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], "calls of the assistant and its sub-agents, but not of kind output"),
        ([Count()], "calls of the assistant and its sub-agents, but not of kind output"),
        ([Count(), Count(requestor="user")], "calls as each test says"),
        ([Count(requestor="any")], "all calls, but not of kind output"),
        ([Count(requestor="user")], "calls of the user, but not of kind output"),
        (
            [Count(requestor="any", kinds=("client",), agents=("planner",))],
            "all calls, of the agents planner only, but not of kind server, mcp, handoff, agent, output, custom",
        ),
    ],
)
def test_what_counts_is_said(counts: list[Count], expected: str) -> None:
    """G13: which calls take part is told with the decision."""
    assert expected == gates.counted(counts)
