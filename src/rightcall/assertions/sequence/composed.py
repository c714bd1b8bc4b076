"""Steps that are made of other steps, and sequences that allow no other calls (G41)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rightcall.core import doubt
from rightcall.core.assertion import Setting
from rightcall.core.automata import (
    AnyOrder,
    InOrder,
    Machine,
    OneCall,
    OneOf,
    Times,
    Tree,
    Walk,
    with_gaps,
    without_freedom,
)
from rightcall.core.calls import Trajectory
from rightcall.core.counting import Counted
from rightcall.core.nearest import nearest
from rightcall.core.pairing import Accepts, accepts, may_accept
from rightcall.core.patterns import Pattern
from rightcall.core.values import cut, visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.core.wording import listed, name_of, times

SHOWN_NEXT = 5
"""Calls that could come next, named in a reason at most."""


class Progress(msgspec.Struct, frozen=True):
    """How far calls led: steps that are complete, the position of the last call that took part, what could come next.

    `stuck` is the position of a call that may not be there.
    """

    matched: int
    last: int | None
    following: Sequence[Pattern] = ()
    stuck: int | None = None
    is_met: bool = False


class LooseCheck:
    """A compiled sequence between whose calls any others may come.

    Each step ends as early as it can: that leaves the most calls to the next one.
    """

    name = "tool_sequence"

    def __init__(self, steps: tuple[Tree, ...], setting: Setting) -> None:
        self.steps = steps
        self.needed = tuple(map(without_freedom, steps))
        self.setting = setting

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Follow the steps through the calls; more calls could only help."""
        counted = self.setting.counted(trajectory)
        progress = self._follow(counted, accepts)
        details = {"matched_steps": progress.matched, "steps": len(self.steps)}
        if progress.is_met:
            return Evidence((), details)
        if counted.unknown and self._follow(counted, may_accept).is_met:
            raise doubt.arguments(counted, counted.unknown[0])
        if trajectory.gaps:
            raise doubt.gap(trajectory)
        return Evidence((self._finding(counted, progress),), details)

    def _follow(self, counted: Counted, takes: Accepts) -> Progress:
        machine, at, last = Machine(), 0, None
        for matched, step in enumerate(self.needed):
            walk = Walk(machine, machine.start(step), takes)
            while not walk.can_end:
                if at == len(counted.calls):
                    return Progress(matched, last, machine.next_patterns(walk.states))
                if walk.notice(counted.calls[at]):
                    last = at
                at += 1
        return Progress(len(self.needed), last, is_met=True)

    def _finding(self, counted: Counted, progress: Progress) -> Finding:
        step = self.steps[progress.matched]
        after = "" if progress.last is None else f" after call {counted.indices[progress.last] + 1}"
        head = f"matched {progress.matched} of {len(self.steps)} steps; step {progress.matched + 1}"
        if isinstance(step, OneCall):
            wanted = f"{head} {in_words(step)} was not called{after}"
        else:
            wanted = f"{head}, {in_words(step)}, is not complete: {_either(progress.following)} was not called{after}"
        start = 0 if progress.last is None else progress.last + 1
        message = f"{wanted}.{nearest(progress.following, counted, range(start, len(counted.calls)))}"
        return Finding(code="step_missing", message=message, expected_index=progress.matched)


class StrictCheck:
    """A compiled sequence in which every call that counts has its place."""

    name = "tool_sequence"

    def __init__(self, steps: tuple[Tree, ...], setting: Setting) -> None:
        self.steps = steps
        self.setting = setting

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Follow the calls; more calls could always break it, and complete it where the calls are some of its own."""
        counted = self.setting.counted(trajectory)
        progress = self._follow(self.steps, counted, accepts)
        whole = not trajectory.gaps
        can_fail = not (progress.is_met and whole)
        can_pass = progress.is_met or self._can_be_met(counted, whole)
        if can_fail and can_pass:
            is_settled = progress.is_met or not self._can_be_met(counted, True)
            raise doubt.gap(trajectory) if is_settled else doubt.arguments(counted, counted.unknown[0])
        details = {"matched_steps": progress.matched, "steps": len(self.steps)}
        return Evidence(() if can_pass else (self._finding(counted, progress),), details)

    def _can_be_met(self, counted: Counted, whole: bool) -> bool:
        """Whether the calls could be right, their unknown arguments and those that may be missing at their best."""
        if whole and not counted.unknown:
            return False
        steps = self.steps if whole else tuple(map(with_gaps, self.steps))
        return self._follow(steps, counted, may_accept).is_met

    def _follow(self, steps: Sequence[Tree], counted: Counted, takes: Accepts) -> Progress:
        machine = Machine()
        rests = machine.chain([machine.start(step) for step in steps])
        complete = {state: matched for matched, state in enumerate(rests)}
        walk, matched, last = Walk(machine, rests[0], takes), 0, None
        for at, call in enumerate(counted.calls):
            if not walk.follow(call):
                return Progress(matched, last, machine.next_patterns(walk.states), stuck=at)
            last = at
            matched = max(matched, *(complete.get(state, 0) for state in walk.states))
        if walk.can_end:
            return Progress(len(steps), last, is_met=True)
        return Progress(matched, last, machine.next_patterns(walk.states))

    def _finding(self, counted: Counted, progress: Progress) -> Finding:
        head = f"matched {progress.matched} of {len(self.steps)} steps"
        after = "" if progress.last is None else f" after call {counted.indices[progress.last] + 1}"
        if progress.stuck is None:
            message = f"{head}; {_either(progress.following)} was expected{after}, and no further call was made."
            return Finding(code="step_missing", message=message, expected_index=progress.matched)
        index = counted.indices[progress.stuck]
        here = f"call {index + 1}, {name_of(counted.calls[progress.stuck])}, does not fit"
        due = f"expected {_either(progress.following)}{after}" if progress.following else "no further call was expected"
        message = f"{head}; {here}: {due}.{nearest(progress.following, counted, [progress.stuck])}"
        return Finding(code="unexpected", message=message, made_index=index)


def _either(patterns: Sequence[Pattern]) -> str:
    names = list(dict.fromkeys(f"`{visible(pattern.name)}`" for pattern in patterns))
    shown = names[:SHOWN_NEXT] + (["another tool"] if len(names) > SHOWN_NEXT else [])
    return listed(shown, "or")


def in_words(tree: Tree) -> str:
    """A step as a reason names it, cut where it is long."""
    return cut(_words(tree), 200)


def _words(tree: Tree) -> str:
    match tree:
        case OneCall(pattern):
            return f"`{visible(pattern.name)}`"
        case AnyOrder(parts):
            return f"{listed(_parts(parts))} in any order"
        case OneOf(parts):
            return listed(_parts(parts), "or")
        case InOrder(parts):
            return ", then ".join(_parts(parts))
        case Times(part, 0, 1):
            return f"perhaps {_part(part)}"
        case Times(part, least, most):
            return f"{_part(part)} {_how_often(least, most)}"


def _how_often(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {times(least)}"
    return times(most) if least == most else f"{least} to {times(most)}"


def _parts(parts: Sequence[Tree]) -> list[str]:
    return [_part(part) for part in parts]


def _part(tree: Tree) -> str:
    return _words(tree) if isinstance(tree, OneCall) else f"({_words(tree)})"
