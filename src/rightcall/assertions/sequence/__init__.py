"""Steps that appear in order (G24, G41)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rightcall.assertions.sequence.composed import LooseCheck, StrictCheck
from rightcall.assertions.sequence.plain import SequenceCheck
from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.automata import AnyOrder, InOrder, OneCall, OneOf, Times, Tree
from rightcall.core.patterns import Match, compile_match
from rightcall.errors import TestSetError, Where

MAX_TIMES: Final = 100_000
"""More repetitions than any trajectory has calls are refused."""

Number = Annotated[int, Meta(ge=0, le=MAX_TIMES)]


_PARALLEL: Final = (
    "`parallel: unordered` cannot act on a sequence that is strict or whose steps are made of others; "
    "write `parallel: ordered` on the test, and calls that may change places under `any_order`"
)


class Repeat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A step that is made at least `min` times (by default once) and at most `max` times (by default any number)."""

    step: Step
    min: Number = 1
    max: Number | UnsetType = UNSET


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step: a call of `tool`, with arguments that match when `match` is given, or a step made of others.

    `any_order` is all of its steps, in whatever order, `in_order` all of them one after another, `one_of` exactly one
    of them; `optional` may be left out, `repeat` is made several times. A step has one of these keys.
    """

    tool: str | UnsetType = UNSET
    match: Match | UnsetType = UNSET
    any_order: Annotated[tuple[Step, ...], Meta(min_length=1)] | UnsetType = UNSET
    in_order: Annotated[tuple[Step, ...], Meta(min_length=1)] | UnsetType = UNSET
    one_of: Annotated[tuple[Step, ...], Meta(min_length=1)] | UnsetType = UNSET
    optional: Step | UnsetType = UNSET
    repeat: Repeat | UnsetType = UNSET


SHAPES: Final = ("tool", "any_order", "in_order", "one_of", "optional", "repeat")
"""The keys of a step, of which it has one; `match` stands beside `tool`."""

KINDS_OF_STEPS: Final[dict[str, Callable[[tuple[Tree, ...]], Tree]]] = {
    "any_order": AnyOrder,
    "in_order": InOrder,
    "one_of": OneOf,
}


class ToolSequence(Assertion, frozen=True, kw_only=True, tag="sequence"):
    """The steps appear in order. Verdict `tool_sequence`.

    Each step names a `tool` and may carry a `match` for its arguments, or is made of other steps: `any_order`,
    `in_order`, `one_of`, `optional`, `repeat`. One call satisfies at most one step. Other calls may come before,
    between and after, unless the sequence is `strict`: then the calls that count are exactly its steps. Under
    `parallel: unordered` the calls of one message may match single calls in any order.
    """

    steps: tuple[Step, ...]
    strict: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is a list of single calls between which others may come, and nothing else."""
        return not self.strict and all(isinstance(step.tool, str) for step in self.steps)

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` for no steps, or with the path of a bad one."""
        if not self.steps:
            raise TestSetError("a sequence needs at least one step", Where(path="steps"))
        if setting.parallel_unordered and not self.is_plain:
            raise TestSetError(_PARALLEL)
        trees = tuple(_trees(self.steps, "steps", setting))
        if self.strict:
            return StrictCheck(trees, setting)
        for index, step in enumerate(self.steps):
            _refuse_limits(step, f"steps[{index}]")
        patterns = [tree.pattern for tree in trees if isinstance(tree, OneCall)]
        return SequenceCheck(patterns, setting) if len(patterns) == len(trees) else LooseCheck(trees, setting)


def _trees(steps: tuple[Step, ...], path: str, setting: Setting) -> Iterator[Tree]:
    for index, step in enumerate(steps):
        yield _tree(step, f"{path}[{index}]", setting)


def _tree(step: Step, path: str, setting: Setting) -> Tree:
    shape = _shape(step, path)
    value, at = getattr(step, shape), f"{path}.{shape}"
    match value:
        case str():
            return _one_call(step, value, path, setting)
        case Step():
            return Times(_tree(value, at, setting), 0, 1)
        case Repeat():
            return _times(value, at, setting)
        case _:
            return KINDS_OF_STEPS[shape](tuple(_trees(value, at, setting)))


def _shape(step: Step, path: str) -> str:
    given = [name for name in SHAPES if getattr(step, name) is not UNSET]
    if len(given) == 1:
        if step.match is not UNSET and given != ["tool"]:
            raise TestSetError("`match` has no effect without `tool`", Where(path=f"{path}.match"))
        return given[0]
    keys = ", ".join(f"`{name}`" for name in SHAPES[:-1])
    found = " and ".join(f"`{name}`" for name in given) or "none of them"
    raise TestSetError(f"a step has one of the keys {keys} and `{SHAPES[-1]}`; found {found}", Where(path=path))


def _one_call(step: Step, tool: str, path: str, setting: Setting) -> Tree:
    try:
        return OneCall(compile_match(tool, step.match, setting))
    except TestSetError as error:
        raise error.within(path=path) from None


def _times(repeat: Repeat, path: str, setting: Setting) -> Tree:
    most = None if isinstance(repeat.max, UnsetType) else repeat.max
    if most is not None and most < max(repeat.min, 1):
        least = f"`min`, {repeat.min}" if repeat.min else "1"
        raise TestSetError(f"expected a `max` of at least {least}, found {most}", Where(path=f"{path}.max"))
    return Times(_tree(repeat.step, f"{path}.step", setting), repeat.min, most)


def _refuse_limits(step: Step, path: str) -> None:
    """A limit that other calls in between make void would be passed by what it seems to forbid."""
    if isinstance(step.repeat, Repeat):
        if step.repeat.max is not UNSET:
            message = (
                "`max` limits nothing where other calls may come in between, and calls of the same tool are such calls;"
                " write `strict: true` beside `steps`, or a rule such as `absence` with `n`"
            )
            raise TestSetError(message, Where(path=f"{path}.repeat.max"))
        _refuse_limits(step.repeat.step, f"{path}.repeat.step")
    if isinstance(step.optional, Step):
        _refuse_limits(step.optional, f"{path}.optional")
    for name in ("any_order", "in_order", "one_of"):
        steps = getattr(step, name)
        for index, inner in enumerate(() if steps is UNSET else steps):
            _refuse_limits(inner, f"{path}.{name}[{index}]")
