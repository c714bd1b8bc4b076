"""Runs in few words, and what is learned from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.assertions import KINDS
from rightcall.core.assertion import grade
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.testsets import compile_test, from_keys
from rightcall.testsets.promotion import Draft, Drawing, Recorded, draft


def unchanged(value: Any) -> Any:
    """Hides nothing."""
    return value


def run(*calls: ToolCall, **fields: Any) -> Recorded:
    """One recorded conversation."""
    return Recorded(Trajectory(tool_calls=calls, **fields), "runs.jsonl")


def calls(names: str) -> tuple[ToolCall, ...]:
    """Calls without arguments, by names between blanks; what follows a colon is the argument `x`."""
    split = (name.partition(":") for name in names.split())
    return tuple(ToolCall(name=name, arguments={"x": x} if colon else {}) for name, colon, x in split)


def learned(*runs: str) -> Draft:
    """What is learned from runs, each in the words of `calls`."""
    return draft("a", [run(*calls(names)) for names in runs], Drawing(conceal=unchanged))


def drafted(*runs: Recorded, **drawing: Any) -> Draft:
    """The test that runs make."""
    return draft("a", runs, Drawing(**{"conceal": unchanged, **drawing}))


def passes(made: Draft, one: Recorded) -> bool:
    """Whether a run passes the test; `AssertionError` if it could not be judged."""
    test = compile_test(from_keys(made.keys, KINDS), compile_regex, compile_schema)
    outcome = attempt_outcome(grade(one.trajectory, test.assertions), test.test.min_assertion_rate)
    assert outcome in (Outcome.PASS, Outcome.FAIL), outcome
    return outcome is Outcome.PASS


def steps_in_words(steps: Sequence[Any]) -> str:
    """Steps of a sequence, short: `a (b | c)? {d e} f+1..3`, where braces hold what is in any order."""
    return " ".join(map(_step, steps))


def _step(step: dict[str, Any]) -> str:
    ((key, value),) = ((key, value) for key, value in step.items() if key != "match")
    match key:
        case "tool":
            args = step.get("match", {}).get("args", {})
            return f"{value}:{args['x']}" if "x" in args else str(value)
        case "any_order":
            return f"{{{steps_in_words(value)}}}"
        case "in_order":
            return f"({steps_in_words(value)})"
        case "one_of":
            return f"({' | '.join(map(_step, value))})"
        case "optional":
            return f"{_step(value)}?"
        case _:
            return f"{_step(value['step'])}+{value['min']}..{value['max']}"
