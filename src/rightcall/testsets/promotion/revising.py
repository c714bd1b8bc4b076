"""What a test of a file should expect once runs that it failed are found to be right.

Only lists of calls are revised: a test's own `expected_tool_calls`, and `expected_tool_sequence` if there are several
runs. Bans, rules, budgets and all else say what must hold whatever the agent does; no run revises them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.core.judging import CannotJudge
from rightcall.core.operators import Making, compile_value
from rightcall.core.patterns import Pattern
from rightcall.errors import TestSetError
from rightcall.testsets.arguments import MisplacedError
from rightcall.testsets.editing import GONE
from rightcall.testsets.operators import native
from rightcall.testsets.promotion.calls import Arguments, shared
from rightcall.testsets.promotion.common import common
from rightcall.testsets.promotion.concealing import Conceal, hidden_in
from rightcall.testsets.promotion.learning import learn

CALLS: Final = "expected_tool_calls"
SEQUENCE: Final = "expected_tool_sequence"

_BESIDE: Final = ("match", "arguments", "only_successful", "parallel")
_MOST: Final = 4_000_000
"""Expected times made calls that are lined up, at most; beyond it the whole list is written anew."""

Runs = Sequence[Sequence[ToolCall]]
"""The calls of each run that count, under the names that expectations use."""


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """What a test states now: its keys as written, what holds for its list of calls, and that list made ready."""

    keys: Mapping[str, Any]
    match: str = "in_order"
    arguments: Arguments = "partial"
    patterns: Sequence[Pattern] = ()


class Revised(msgspec.Struct, frozen=True):
    """The keys of a test that change, `GONE` for one that goes, and what was generalised, in sentences."""

    keys: dict[str, Any]
    notes: tuple[str, ...] = ()


def revise(stated: Stated, runs: Runs, conceal: Conceal) -> Revised:
    """The keys that make the test expect these runs.

    If the tools that are expected were called in their order, only arguments change, and of these only the ones that
    differ; else the list becomes that of all calls made. `TestSetError` says what cannot be revised.
    """
    key = next((name for name in (CALLS, SEQUENCE) if name in stated.keys), None)
    _check(stated, key, runs)
    kept = _kept(stated, runs, conceal) if key == CALLS else None
    if kept is not None and kept != stated.keys[CALLS]:
        return Revised({CALLS: kept})
    learned = learn(runs, "ignore" if stated.arguments == "ignore" else "exact", conceal)
    changed: dict[str, Any] = {} if learned.key == key else {str(key): GONE}
    changed[learned.key] = learned.value
    if learned.key == SEQUENCE:
        changed |= {name: GONE for name in _BESIDE if name in stated.keys}
    elif key == SEQUENCE:
        changed |= {"match": "exact", "arguments": "exact"}
    return Revised(changed, learned.reasons)


def _check(stated: Stated, key: str | None, runs: Runs) -> None:
    if key is None:
        raise TestSetError("it states no list of calls of its own, and nothing else is ever rewritten")
    if key == CALLS and stated.match == "subset":
        raise TestSetError("`match: subset` says what may be called, not what was: change it by hand")
    if key == SEQUENCE and len(runs) < 2:
        raise TestSetError(f"one run cannot tell which steps of its `{SEQUENCE}` may vary: give several runs to learn")


def _kept(stated: Stated, runs: Runs, conceal: Conceal) -> list[Any] | None:
    """The list with the arguments that differ changed; `None` if other tools were called."""
    if stated.match not in ("exact", "in_order"):
        return None
    paired = [_paired(stated, run) for run in runs]
    if not all(one is not None for one in paired):
        return None
    each = zip(*(one for one in paired if one is not None), strict=True)
    lists = zip(stated.keys[CALLS], stated.patterns, each, strict=True)
    return [_call(written, pattern, calls, stated.arguments, conceal) for written, pattern, calls in lists]


def _paired(stated: Stated, run: Sequence[ToolCall]) -> list[ToolCall] | None:
    """The call for each expected one, in order, as many as can be accepted as they are; `None` if there are none."""
    expected = stated.patterns
    if stated.match == "exact":
        is_alike = [pattern.name for pattern in expected] == [call.name for call in run]
        return list(run) if is_alike else None
    if len(expected) * len(run) > _MOST:
        return None
    best = _best(expected, run)
    chosen: list[ToolCall] = []
    at = 0
    for index, pattern in enumerate(expected):
        here = [place for place in range(at, len(run)) if run[place].name == pattern.name]
        scored = [(best[index + 1][place + 1] + _takes(pattern, run[place]), -place) for place in here]
        if not scored or max(scored)[0] < 0:
            return None
        at = -max(scored)[1] + 1
        chosen.append(run[at - 1])
    return chosen


def _best(expected: Sequence[Pattern], run: Sequence[ToolCall]) -> list[list[float]]:
    """How many of the expected calls from each on are accepted by calls from each on, `-inf` where names run out."""
    none = float("-inf")
    best: list[list[float]] = [[none] * (len(run) + 1) for _ in expected] + [[0.0] * (len(run) + 1)]
    for index in range(len(expected) - 1, -1, -1):
        for place in range(len(run) - 1, -1, -1):
            best[index][place] = best[index][place + 1]
            if run[place].name == expected[index].name:
                taken = best[index + 1][place + 1] + _takes(expected[index], run[place])
                best[index][place] = max(best[index][place], taken)
    return best


def _takes(pattern: Pattern, call: ToolCall) -> bool:
    """Whether a pattern accepts a call; what cannot be told without the calls before it counts as accepted."""
    try:
        return pattern.accepts(call)
    except CannotJudge:
        return True


def _call(written: Any, pattern: Pattern, calls: Sequence[ToolCall], arguments: Arguments, conceal: Conceal) -> Any:
    """An expected call: as it is written if it accepts the calls, else with the arguments that were made."""
    if all(_takes(pattern, call) for call in calls):
        return written
    listed = written.get("arguments")
    are_objects = all(call.arguments_state == "ok" and isinstance(call.arguments, dict) for call in calls)
    if not isinstance(listed, dict) or not are_objects or any(key.startswith("$") for key in listed):
        return shared(calls, arguments, conceal).expected()
    made = [call.arguments for call in calls]
    wanted = dict(listed) if arguments != "exact" else {**listed, **{key: None for one in made for key in one}}
    members = {key: _member(key, listed, made, conceal) for key in wanted}
    return {**written, "arguments": {key: form for key, form in members.items() if form is not GONE}}


def _member(key: str, listed: Mapping[str, Any], made: Sequence[dict[str, Any]], conceal: Conceal) -> Any:
    """One argument: as it is written if it accepts what was made, else what was made; `GONE` if it never was."""
    values = [one[key] for one in made if key in one]
    if not values:
        return GONE
    is_whole = len(values) == len(made)
    if key in listed and is_whole and all(_accepts(listed[key], value) for value in values):
        return listed[key]
    form = hidden_in(common(values).form, values, conceal)
    return form if is_whole else {"$optional": form}


def _accepts(written: Any, value: Any) -> bool:
    """Whether an expected value as written accepts a value; what cannot be told here counts as accepted."""
    try:
        return compile_value(native({"value": written}, ""), Making())({"value": value})
    except (TestSetError, MisplacedError, CannotJudge):
        return True
