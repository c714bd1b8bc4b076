"""A thousand rules between calls on a trajectory of ten thousand: what is found once serves all of them (G22)."""

from __future__ import annotations

import functools
import random
from typing import Any

import msgspec

from bench.measure import show_table, spread, timed
from bench.scale import Scale
from rightcall.app.regex import JavaScriptRegex
from rightcall.assertions.rules import Rule
from rightcall.core.assertion import Setting, compile_all, grade
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.constraints import TEMPLATES, UNARY

TARGET = "about a second"
ROUNDS = 5
TOOLS = [f"tool_{number}" for number in range(20)]
PAGES = 5
COLUMNS = ("rules", "calls", "passed", "compile s", "grade s")


def run(scale: Scale) -> bool:
    """Measure and print; whether every round came to the same verdicts."""
    rng = random.Random(5)
    calls = scale.calls // 10
    rules = [_rule(rng, number) for number in range(max(len(TEMPLATES), calls // 10))]
    made = [ToolCall(name=rng.choice(TOOLS), arguments={"page": rng.randrange(PAGES)}) for _ in range(calls)]
    trajectory = Trajectory(tool_calls=tuple(made))
    compiled = [timed(functools.partial(compile_all, rules, Setting(regex=JavaScriptRegex()))) for _ in range(ROUNDS)]
    graded = [timed(functools.partial(grade, trajectory, checks)) for _, checks in compiled]
    passed = {sum(verdict.status == "pass" for verdict in verdicts) for _, verdicts in graded}
    compiling, grading = [seconds for seconds, _ in compiled], [seconds for seconds, _ in graded]
    figures = [spread(seconds).show() for seconds in (compiling, grading)]
    row = (f"{len(rules):,}", f"{calls:,}", "/".join(map(str, sorted(passed))), *figures)
    show_table(f"Rules: every template, {len(TOOLS)} tools; the target is {TARGET} to grade", COLUMNS, [row])
    return len(passed) == 1


def _rule(rng: random.Random, number: int) -> Rule:
    """Every fourth rule asks for arguments too."""
    template = TEMPLATES[number % len(TEMPLATES)]
    first, second = rng.sample(TOOLS, 2)
    match = {"mode": "partial", "args": {"page": rng.randrange(PAGES)}}
    operand: Any = first if number % 4 else {"tool": first, "match": match}
    return msgspec.convert({template: operand if template in UNARY else [operand, second]}, Rule)
