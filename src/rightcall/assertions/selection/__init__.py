"""The tool selection score: which tools were chosen, as a multiset of names, or as a judge sees it (G29 to G33)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.assertions.selection.judged import JudgedSelectionCheck
from rightcall.core import doubt
from rightcall.core.asking import JudgedCheck
from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.calls import Trajectory
from rightcall.core.rates import percent, plain
from rightcall.core.verdicts import Evidence, Finding
from rightcall.core.wording import listed


class ToolSelect(Assertion, frozen=True, kw_only=True, tag="selection"):
    """The tools called are the tools expected, counted with multiplicity. Verdict `tool_select`.

    The score runs from 0 to 100: the F1 of the two multisets of names, 100 only when they are equal and 0 only
    when nothing is common. It passes when the score reaches `threshold` (default 100). Arguments and order do
    not count. Details hold `explanation` and `incorrect_tools`, each a name with a verdict of `missing`,
    `incorrect` or `redundant` and a reason.

    Without `expected_tools` a judge says of each call whether the task needs it, and which of the available tools are
    missing; the score is `100 · correct / (called + missing)`. A tool that was not available is `incorrect` without
    asking. It is an `error` where no judge, no available tools or no messages are known.
    """

    expected_tools: (
        Annotated[tuple[Annotated[str, msgspec.Meta(min_length=1)], ...], msgspec.Meta(min_length=1)] | UnsetType
    ) = UNSET
    threshold: Annotated[float, msgspec.Meta(ge=0, le=100)] = 100

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        if isinstance(self.expected_tools, UnsetType):
            return JudgedCheck(JudgedSelectionCheck(self.threshold, self.scope, setting), setting.judge)
        return SelectionCheck(self.expected_tools, self.threshold, setting)


class Misalignment(msgspec.Struct, frozen=True):
    """A tool that was not called as often as expected, in one of four categories (G32)."""

    name: str
    category: Literal["missing", "under-called", "extra", "duplicated"]
    expected: int
    called: int

    @property
    def verdict(self) -> str:
        """The published verdict word: `missing`, `incorrect` or `redundant`."""
        return {"extra": "incorrect", "duplicated": "redundant"}.get(self.category, "missing")

    @property
    def reason(self) -> str:
        """Why, in one clause."""
        return f"{self.category}: expected {self.expected}, called {self.called}"


class Selection(msgspec.Struct, frozen=True):
    """The score of a choice of tools, and where it went wrong."""

    score: float
    misalignments: tuple[Misalignment, ...]

    @property
    def explanation(self) -> str:
        """The non-empty categories, each tool with its counts (G32)."""
        if not self.misalignments:
            return "The tools called are the tools expected."
        return " ".join(_categories(self.misalignments))

    @property
    def incorrect_tools(self) -> list[dict[str, str]]:
        """The misaligned tools as `{name, verdict, reason}`, by first expectation, then by first call."""
        return [{"name": item.name, "verdict": item.verdict, "reason": item.reason} for item in self.misalignments]


def _categories(items: Sequence[Misalignment]) -> Iterator[str]:
    for category in ("missing", "under-called", "extra", "duplicated"):
        tools = [
            f"`{item.name}` (expected {item.expected}, called {item.called})"
            for item in items
            if item.category == category
        ]
        if tools:
            yield f"{category.capitalize()}: {listed(tools)}."


def select_tools(expected: Iterable[str], called: Iterable[str]) -> Selection:
    """Score called names against expected ones."""
    wanted, made = Counter(expected), Counter(called)
    names = [name for name in {**wanted, **made} if wanted[name] != made[name]]
    items = tuple(Misalignment(name, _category(wanted[name], made[name]), wanted[name], made[name]) for name in names)
    return Selection(selection_score(wanted, made), items)


def _category(expected: int, called: int) -> Literal["missing", "under-called", "extra", "duplicated"]:
    if called == 0:
        return "missing"
    if expected == 0:
        return "extra"
    return "under-called" if called < expected else "duplicated"


def selection_score(expected: Counter[str], called: Counter[str]) -> float:
    """Multiset F1 in percent, `200·|E∩C| / (|E|+|C|)`, as `percent` rounds it (G31, our formula).

    Only equal multisets give 100 and only an empty intersection gives 0.
    """
    total = expected.total() + called.total()
    return percent(Fraction(2 * (expected & called).total(), total)) if total else 100


class SelectionCheck:
    """A compiled selection assertion."""

    name = "tool_select"

    def __init__(self, expected: Sequence[str], threshold: float, setting: Setting) -> None:
        self.expected = expected
        self.threshold = threshold
        self.setting = setting

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Score the names of all calls made."""
        counted = self.setting.counted(trajectory)
        names = [call.name for call in counted.calls]
        selection = select_tools(self.expected, names)
        if trajectory.gaps and self._could_cross(names, selection.score):
            raise doubt.gap(trajectory)
        details = {"explanation": selection.explanation, "incorrect_tools": selection.incorrect_tools}
        findings = tuple(self._findings(selection)) if selection.score < self.threshold else ()
        return Evidence(findings, details, score=selection.score)

    def _could_cross(self, names: Sequence[str], score: float) -> bool:
        """Whether calls added to these could turn a pass into a fail or a fail into a pass."""
        wanted, made = Counter(self.expected), Counter(names)
        if score >= self.threshold:
            return self.threshold > (0.01 if (wanted & made) else 0)
        return selection_score(wanted, made | wanted) >= self.threshold

    def _findings(self, selection: Selection) -> Iterator[Finding]:
        score = f"The score {selection.score} is below the threshold {plain(self.threshold)}."
        for number, item in enumerate(selection.misalignments):
            message = f"{score} {selection.explanation}" if number == 0 else f"`{item.name}` is {item.reason}."
            yield Finding(
                code=item.category.replace("-", "_"),
                message=message,
                expected=item.expected,
                actual=item.called,
            )
