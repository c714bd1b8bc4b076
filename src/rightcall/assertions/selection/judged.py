"""The tool selection score without expected tools: a judge says of each call whether it was right (G33)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

import msgspec

from rightcall.core import doubt
from rightcall.core.asking import Question
from rightcall.core.assertion import CannotJudge, Setting
from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.core.counting import Scope
from rightcall.core.rates import percent, plain
from rightcall.core.recounting import asked_for, fitting, said
from rightcall.core.values import cut, visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.core.wording import listed

INSTRUCTIONS: Final = """\
You decide whether an AI agent chose the right tools for its task, for an automatic test.

`Messages` is the conversation, `Available tools` is what the agent could call, and `Calls` is what it called, each \
call with its number. Judge the choice of tools only: not the arguments, not the results, not the order, and not what \
the agent said. Arguments are shown so that you see whether two calls do the same.

In `calls`, give each numbered call exactly one verdict: `correct` if the task needs that tool at that point, \
`redundant` if the call only repeats what another call already does, and `incorrect` if the tool is not for this task. \
In `missing`, name each available tool that the task needs and that was not called at all; leave it empty if there is \
none. Every `reason` says why in one sentence."""

NOT_AVAILABLE: Final = "it is not among the available tools"
SHOWN: Final = 300

Reason = Annotated[str, msgspec.Meta(min_length=1)]


class CallJudgement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a judge says of one call."""

    number: int
    reason: Reason
    verdict: Literal["correct", "redundant", "incorrect"]


class MissingTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool that was needed and not called."""

    name: str
    reason: Reason


class ChoiceJudgement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a judge answers."""

    calls: tuple[CallJudgement, ...]
    missing: tuple[MissingTool, ...]


class Misjudged(msgspec.Struct, frozen=True):
    """A call, or a tool that was not called, that is not as it should be."""

    name: str
    verdict: Literal["redundant", "incorrect", "missing"]
    reason: str


class JudgedSelection(msgspec.Struct, frozen=True):
    """How many calls were right, and what was not: calls in their order, then the tools that were missing."""

    correct: int
    misjudged: tuple[Misjudged, ...]

    @property
    def score(self) -> float:
        """`100 · correct / (called + missing)`, in percent as `percent` rounds it; 100 where there is neither."""
        total = self.correct + len(self.misjudged)
        return percent(Fraction(self.correct, total)) if total else 100

    @property
    def explanation(self) -> str:
        """How many were right, and the others with the judge's reasons."""
        if not self.misjudged:
            return "The judge found every call correct, and no tool missing."
        total = self.correct + len(self.misjudged)
        return " ".join([f"Correct: {self.correct} of {total}.", *_categories(self.misjudged)])

    @property
    def incorrect_tools(self) -> list[dict[str, str]]:
        """What is not as it should be, as `{name, verdict, reason}`."""
        return [{"name": item.name, "verdict": item.verdict, "reason": item.reason} for item in self.misjudged]


def _categories(items: Sequence[Misjudged]) -> Iterator[str]:
    for verdict in ("missing", "incorrect", "redundant"):
        tools = [f"`{visible(item.name)}` ({cut(item.reason, SHOWN)})" for item in items if item.verdict == verdict]
        if tools:
            yield f"{verdict.capitalize()}: {listed(tools)}."


def judge_selection(
    messages: dict[str, Any], tools: Sequence[ToolSpec], made: Sequence[tuple[int, ToolCall]]
) -> Generator[Question, Any, JudgedSelection]:
    """Ask about the calls made, each with its index, of tools that were available; about others there is no question.

    `CannotJudge` where the available tools are not known, or what is recorded is too long.
    """
    if not tools:
        raise CannotJudge(
            "no_tools",
            "The tools that were available are not recorded (in a span: `llm.tools.*.tool.json_schema`); "
            "without them the choice cannot be judged.",
        )
    available = {tool.name for tool in tools}
    asked = {index + 1: call for index, call in made if call.name in available}
    answer: ChoiceJudgement = yield Question(
        instructions=INSTRUCTIONS,
        data=fitting(
            {
                "Messages": messages,
                "Available tools": tools,
                "Calls": [asked_for(one) for one in made if one[0] + 1 in asked],
            }
        ),
        answer=ChoiceJudgement,
        check=_checking(asked, available),
    )
    return _selection(made, answer)


def _checking(asked: dict[int, ToolCall], available: set[str]) -> Any:
    """What is wrong with an answer about these calls: in words of ours alone, for a judge may be told them."""
    uncalled = available - {call.name for call in asked.values()}

    def problem(answer: ChoiceJudgement) -> str:
        judged = Counter(judgement.number for judgement in answer.calls)
        if judged != Counter(asked.keys()):
            wanted = listed([str(number) for number in asked]) if asked else "no call"
            return f"`calls` must have exactly one verdict for each numbered call: {wanted}"
        names = [tool.name for tool in answer.missing]
        if not uncalled.issuperset(names) or len(set(names)) < len(names):
            return "`missing` may name only available tools that were not called, each once"
        return ""

    return problem


def _selection(made: Sequence[tuple[int, ToolCall]], answer: ChoiceJudgement) -> JudgedSelection:
    judged = {judgement.number: judgement for judgement in answer.calls}
    items: list[Misjudged] = []
    for index, call in made:
        judgement = judged.get(index + 1)
        if judgement is None:
            items.append(Misjudged(call.name, "incorrect", NOT_AVAILABLE))
        elif judgement.verdict != "correct":
            items.append(Misjudged(call.name, judgement.verdict, judgement.reason))
    missing = [Misjudged(tool.name, "missing", tool.reason) for tool in answer.missing]
    return JudgedSelection(len(made) - len(items), (*items, *missing))


class JudgedSelectionCheck:
    """A compiled selection assertion without expected tools, which asks."""

    name = "tool_select"

    def __init__(self, threshold: float, scope: Scope | None, setting: Setting) -> None:
        self.threshold = threshold
        self.turn = None if scope is None else scope.turn
        self.setting = setting

    def __call__(self, trajectory: Trajectory) -> Generator[Question, Any, Evidence]:
        """Ask about all calls made. Calls that may be missing could change what is judged (G12)."""
        if trajectory.gaps:
            raise doubt.gap(trajectory)
        if not trajectory.messages:
            raise CannotJudge("no_transcript", "No messages were recorded: the task of the agent is not known.")
        counted = self.setting.counted(trajectory)
        made = list(zip(counted.indices, counted.calls, strict=True))
        selection = yield from judge_selection(said(trajectory, self.turn), self._tools(trajectory), made)
        details = {"explanation": selection.explanation, "incorrect_tools": selection.incorrect_tools}
        findings = tuple(self._findings(selection)) if selection.score < self.threshold else ()
        return Evidence(findings, details, score=selection.score)

    def _tools(self, trajectory: Trajectory) -> list[ToolSpec]:
        """Those of the trace, else those of the test set, under the names that expectations use."""
        schemas = self.setting.tool_schemas
        known = trajectory.available_tools or [
            ToolSpec(name=name, parameters=schema) for name, schema in schemas.items()
        ]
        aliases = self.setting.tool_aliases
        return [msgspec.structs.replace(tool, name=aliases.get(tool.name, tool.name)) for tool in known]

    def _findings(self, selection: JudgedSelection) -> Iterator[Finding]:
        score = f"The score {selection.score} is below the threshold {plain(self.threshold)}."
        for number, item in enumerate(selection.misjudged):
            what = f"`{visible(item.name)}` is {item.verdict}: {item.reason}"
            message = f"{score} {selection.explanation}" if number == 0 else what
            yield Finding(code=item.verdict, message=message, actual=item.name)
