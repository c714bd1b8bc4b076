"""Very long trajectories: 100,000 calls in order, and 10,000 expected calls of one tool against as many made (G22)."""

from __future__ import annotations

import functools
import random
from typing import Any, Literal, NamedTuple

from bench.measure import cpu_seconds, show_table, spread, timed
from bench.scale import Scale
from rightcall.app.regex import JavaScriptRegex
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Setting, compile_all, grade
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.patterns import ExpectedCall
from rightcall.core.verdicts import Status

TARGET = "about a second"
ROUNDS = 3
SETTING = Setting(regex=JavaScriptRegex())
COLUMNS = ("shape", "match", "expected", "made", "status", "compile s", "grade s", "read s")

Mode = Literal["exact", "in_order", "any_order", "superset", "subset"]


class Shape(NamedTuple):
    """A trajectory, what is expected of it, and whether it passes."""

    name: str
    match: Mode
    expected: list[ExpectedCall]
    made: list[ToolCall]
    status: Status = Status.PASS


def run(scale: Scale) -> bool:
    """Measure and print; whether every shape came to the status that it was built for."""
    shapes = [*ordered(scale.calls), *unordered(scale.calls // 10)]
    rounds = min(ROUNDS, scale.rounds)
    measured = [_measure(shape, rounds) for shape in shapes]
    rows = [row for row, _ in measured]
    show_table(f"Sizes: the target is {TARGET} to grade; {rounds} rounds", COLUMNS, rows)
    wrong = [shape.name for shape, (_, is_right) in zip(shapes, measured, strict=True) if not is_right]
    print("\n".join(f"wrong status: {name}" for name in wrong), end="")
    return not wrong


def ordered(size: int) -> list[Shape]:
    """Shapes whose order counts."""
    calls = [_made(number) for number in range(size)]
    every = [_expected(number) for number in range(size)]
    half = every[::2]
    equal = [_made(0)] * size
    return [
        Shape("all as expected", "exact", every, calls),
        Shape("one value differs in the middle", "exact", every, _with(calls, size // 2, -1), Status.FAIL),
        Shape("every second call expected", "in_order", half, calls),
        Shape("the last expected call missing", "in_order", half, calls[:-2], Status.FAIL),
        Shape("equal calls, as many", "in_order", [_expected(0)] * size, equal),
        Shape("the first call made last", "in_order", half, [*calls[1:], calls[0]], Status.FAIL),
    ]


def unordered(size: int) -> list[Shape]:
    """Shapes whose order does not count, all of one tool."""
    rng = random.Random(3)
    calls = [_made(number) for number in range(size)]
    every = [_expected(number) for number in range(size)]
    shuffled = rng.sample(calls, size)
    wild = [ExpectedCall(name="lookup") if number % 2 else _expected(number) for number in range(size)]
    pairs = [_expected(number, "page") if number % 2 else _expected(number) for number in range(size)]
    return [
        Shape("shuffled literals", "any_order", every, shuffled),
        Shape("shuffled literals, one differs", "any_order", every, _with(shuffled, size // 3, -1), Status.FAIL),
        Shape("equal calls", "any_order", [_expected(0)] * size, [_made(0)] * size),
        Shape("equal calls, one too few", "superset", [_expected(0)] * size, [_made(0)] * (size - 1), Status.FAIL),
        Shape("half wildcards", "any_order", wild, shuffled),
        Shape(
            "half wildcards, one differs", "superset", wild, _with(shuffled, shuffled.index(calls[0]), -1), Status.FAIL
        ),
        Shape("literals of one key that compete for calls", "superset", pairs, shuffled),
        Shape("literals, all made and none other", "subset", every, shuffled[: size // 2]),
    ]


def _made(number: int) -> ToolCall:
    return ToolCall(name="lookup", arguments=_arguments(number))


def _expected(number: int, *keys: str) -> ExpectedCall:
    arguments = _arguments(number)
    return ExpectedCall(name="lookup", arguments={key: arguments[key] for key in keys} if keys else arguments)


def _arguments(number: int) -> dict[str, Any]:
    return {"order_id": f"A-{number}", "page": number % 97 + 2, "filter": {"since": 2020, "kind": "open"}, "limit": 50}


def _with(calls: list[ToolCall], at: int, number: int) -> list[ToolCall]:
    return [*calls[:at], _made(number), *calls[at + 1 :]]


def _measure(shape: Shape, rounds: int) -> tuple[tuple[str, ...], bool]:
    """The row of a shape, and whether its status is right.

    Every round compiles anew, so that nothing is remembered; reading is asking for findings, reason and details.
    """
    assertion = ToolCallTrajectory(expected_tool_calls=tuple(shape.expected), match=shape.match)
    trajectory = Trajectory(tool_calls=tuple(shape.made))
    compiled = [timed(lambda: compile_all([assertion], SETTING)) for _ in range(rounds)]
    graded = [timed(functools.partial(grade, trajectory, assertions)) for _, assertions in compiled]
    reading = [cpu_seconds(verdicts[0].record) for _, verdicts in graded]
    compiling, grading = [seconds for seconds, _ in compiled], [seconds for seconds, _ in graded]
    statuses = {verdicts[0].status for _, verdicts in graded}
    figures = tuple(spread(seconds).show() for seconds in (compiling, grading, reading))
    lengths = (f"{len(shape.expected):,}", f"{len(shape.made):,}")
    row = (shape.name, shape.match, *lengths, "/".join(sorted(statuses)), *figures)
    return row, statuses == {shape.status}
