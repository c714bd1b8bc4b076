"""The gate of a run: what the test sets ask for, what the command line asks for, and the exit code (G36, G39)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Final, get_args

import msgspec

from rightcall.core.calls import CallKind
from rightcall.core.counting import Count
from rightcall.core.rates import parse_rate
from rightcall.core.summary import Decision, Gate
from rightcall.core.wording import amount
from rightcall.errors import UsageError

if TYPE_CHECKING:
    from rightcall.core.comparison import Comparison
    from rightcall.testsets import TestSet


class FailOn(enum.StrEnum):
    """Which failures block: those that the pass rate does not allow, or those that the baseline does not have."""

    FAILURE = "failure"
    REGRESSION = "regression"


_NEVER: Final = Fraction(0)
"""The least pass rate of a gate that does not ask for one."""


class GateOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What replaces the test sets' gate, where it is given."""

    min_pass_rate: Fraction | None = None
    min_graded: int | None = None
    allow_errors: int | None = None
    thresholds: Mapping[str, Fraction] = {}
    fail_on: FailOn = FailOn.FAILURE


def rate(text: str, name: str) -> Fraction:
    """Return the exact rate that an option's text writes; `UsageError` naming the option."""
    try:
        return parse_rate(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def threshold(text: str) -> tuple[str, Fraction]:
    """Return the verdict name and the rate of `NAME=RATE`. A name may hold `=`, a rate may not."""
    name, separator, value = text.rpartition("=")
    if not separator or not name:
        raise UsageError(f"--threshold: expected NAME=RATE, such as tool_sequence=0.9; found {text!r}")
    return name, rate(value, f"--threshold {name}")


def strictest(gates: Iterable[Gate]) -> Gate:
    """Return the gate that passes only what all of them pass."""
    all_gates = list(gates)
    if not all_gates:
        return Gate()
    thresholds: dict[str, Fraction] = {}
    for gate in all_gates:
        for name, least in gate.thresholds.items():
            thresholds[name] = max(least, thresholds.get(name, least))
    return Gate(
        min_pass_rate=max(gate.min_pass_rate for gate in all_gates),
        min_graded=max(gate.min_graded for gate in all_gates),
        allow_errors=min(gate.allow_errors for gate in all_gates),
        thresholds=thresholds,
    )


def with_options(gate: Gate, options: GateOptions) -> Gate:
    """Return the gate with what the options give put in its place; thresholds are added."""
    asked = _NEVER if options.fail_on is FailOn.REGRESSION else options.min_pass_rate
    return Gate(
        min_pass_rate=gate.min_pass_rate if asked is None else asked,
        min_graded=gate.min_graded if options.min_graded is None else options.min_graded,
        allow_errors=gate.allow_errors if options.allow_errors is None else options.allow_errors,
        thresholds={**gate.thresholds, **options.thresholds},
    )


def of(sets: Iterable[TestSet], options: GateOptions) -> Gate:
    """Return the gate of a run with these test sets."""
    return with_options(strictest(test_set.gate for test_set in sets), options)


def check_baseline(options: GateOptions, baseline: str | None) -> None:
    """Refuse to ask for regressions without a baseline, or for a pass rate beside them; `UsageError`."""
    if options.fail_on is FailOn.REGRESSION and baseline is None:
        raise UsageError("--fail-on regression needs the run to compare with: name its report with --baseline")
    if options.fail_on is FailOn.REGRESSION and options.min_pass_rate is not None:
        raise UsageError("--fail-on regression takes the place of the least pass rate: leave out --min-pass-rate")


def with_comparison(decision: Decision, comparison: Comparison | None, fail_on: FailOn) -> Decision:
    """Return the decision with what the comparison says of it, where that is asked for."""
    if comparison is None or fail_on is not FailOn.REGRESSION:
        return decision
    other = comparison.decide()
    codes = {decision.exit_code, other.exit_code}
    code = next((code for code in (1, 3) if code in codes), 0)
    return Decision(
        passed=code == 0,
        exit_code=code,
        reasons=(*other.reasons, *decision.reasons),
        incomplete=decision.incomplete or other.incomplete,
    )


def excused(comparison: Comparison | None, fail_on: FailOn) -> tuple[str, ...]:
    """Return what is worth saying of failures that block nothing, since the baseline has them too."""
    if comparison is None or fail_on is not FailOn.REGRESSION:
        return ()
    number = comparison.excused
    return (f"{amount(number, 'failure')} that the baseline has too: no reason to block",) if number else ()


def with_crashes(decision: Decision, crashes: int) -> Decision:
    """Return the decision when verdicts crashed: no allowance for errors covers a mistake of ours."""
    if not crashes:
        return decision
    reason = f"rightcall itself failed on {amount(crashes, 'verdict')}"
    return Decision(
        passed=False,
        exit_code=decision.exit_code or 3,
        reasons=(*decision.reasons, reason),
        incomplete=True,
    )


def forgiving(decision: Decision) -> int:
    """Return the exit code when failures are forgiven: only what is incomplete still blocks."""
    return 3 if decision.incomplete else 0


def counted(counts: Iterable[Count]) -> str:
    """Return in words which calls count, given what the tests say of it."""
    texts = sorted({_calls(count) for count in counts} or {_calls(Count())})
    return texts[0] if len(texts) == 1 else "calls as each test says"


def _calls(count: Count) -> str:
    whose = "all calls" if count.requestor == "any" else f"calls of the {count.requestor}"
    nested = " and its sub-agents" if count.requestor == "assistant" else ""
    agents = nested if count.agents is None else f", of the agents {', '.join(count.agents)} only"
    left_out = [kind for kind in get_args(CallKind) if kind not in count.kinds]
    kinds = f", but not of kind {', '.join(left_out)}" if left_out else ""
    return f"{whose}{agents}{kinds}"
