"""Two published metrics as Python classes, of the same names and with the same results.

    from rightcall.metrics import ToolCallTrajectory

    metric = ToolCallTrajectory(match="in_order", arguments="partial")
    result = metric.evaluate(
        tool_calls=[{"name": "lookup_order", "arguments": {"order_id": 42}}],
        expectations={"tool_calls": [{"name": "lookup_order"}]},
    )
    print(result.score, result.details["reason"])

Mappings given to these classes are data, whatever their keys. `rightcall.match` objects, and others with an `__eq__` of
their own, decide by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.app import judging, python
from rightcall.assertions.selection import Selection, select_tools
from rightcall.assertions.selection.judged import JudgedSelection, judge_selection
from rightcall.core.asking import Answer, driven, used
from rightcall.core.assertion import grade
from rightcall.core.calls import Trajectory
from rightcall.core.judging import CannotJudge
from rightcall.core.models import ModelConfig
from rightcall.core.verdicts import Status
from rightcall.errors import TraceError

if TYPE_CHECKING:
    from rightcall.judges.functions import Judge
    from rightcall.traces.openinference import LLMSpan

__all__ = ["MetricResult", "SelectionResult", "ToolCallTrajectory", "ToolSelect"]


class MetricResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a trajectory metric says of one run.

    `score` is 1 or 0, `None` when the status is `error` or `not_applicable`. `details` holds `reason`,
    `precision` and `recall` (from 0 to 1, `None` where there is nothing to divide by) and the counts behind them.
    """

    score: float | None
    status: Status
    details: dict[str, Any]


class ToolCallTrajectory:
    """The tools that an agent called, compared with the tools that a test expects it to call.

    `match` is `exact`, `in_order`, `any_order`, `subset` or `superset`; `arguments` is `partial`, `exact`,
    `ignore` or `deep`. `TestSetError` for any other word. Frozen after construction: safe to share by threads.
    """

    __slots__ = ("arguments", "match")

    def __init__(self, match: str = "in_order", arguments: str = "partial") -> None:
        python.compiled({"expected_tool_calls": [], "match": match, "arguments": arguments})
        self.match = match
        self.arguments = arguments

    def evaluate(self, tool_calls: Sequence[Any] | None, expectations: Mapping[str, Any] | None = None) -> MetricResult:
        """Compare the calls made with `expectations["tool_calls"]`.

        `tool_calls` are calls in any shape that `rightcall.read` knows, or a trajectory; `None` means that none
        were recorded. Without expected calls the metric does not apply; an empty list expects no calls at all.
        """
        expected = (expectations or {}).get("tool_calls")
        if expected is None:
            return _not_applicable()
        keys = {"expected_tool_calls": expected, "match": self.match, "arguments": self.arguments}
        (verdict,) = grade(_trajectory(tool_calls), python.compiled(keys, "rhesis").assertions)
        return MetricResult(score=verdict.score, status=verdict.status, details=verdict.details)


def _not_applicable() -> MetricResult:
    details = {"reason": "No tool calls are expected: the metric does not apply.", "precision": None, "recall": None}
    return MetricResult(score=None, status=Status.NOT_APPLICABLE, details=details)


def _trajectory(tool_calls: Any) -> Trajectory:
    if tool_calls is None or isinstance(tool_calls, list | tuple):
        return python.read({"tool_calls": tool_calls}, format="native")
    return python.read(tool_calls)


class SelectionResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the tool selection metric says of one span.

    `score` runs from 0 to 100, `None` when the evaluation failed: then `is_success` is false, `explanation` says
    why and `is_gte_threshold` is `None`. `eval_metadata` is `{"incorrect_tools": [{name, verdict, reason}]}`, or
    `None` when nothing is misaligned. `judge` says what the judge's answers came from and cost, if one was asked.
    """

    score: float | None
    is_success: bool
    is_gte_threshold: bool | None
    threshold: float
    explanation: str
    eval_metadata: dict[str, Any] | None = None
    judge: dict[str, Any] | None = None


class ToolSelect:
    """Whether an agent chose the right tools on a single OpenInference LLM span, scored from 0 to 100.

    With `expected_tools` the names called are compared as a multiset (ground truth). Without them a judge decides:
    `model` is a model as `provider:model`, or whatever else `rightcall.grade` takes as `judge`; by default what the
    environment says. Without a judge, or an answer of it that can be used, the evaluation fails with the reason.
    """

    __slots__ = ("_ask", "expected_tools", "threshold")

    def __init__(
        self,
        expected_tools: Sequence[str] | None = None,
        threshold: float = 100,
        model: str | ModelConfig | Judge | None = None,
    ) -> None:
        names = list(expected_tools or ())
        python.compiled({"expected_tools": names or ["any"], "threshold": threshold})
        self.expected_tools = tuple(names)
        self.threshold = threshold
        self._ask = judging.given(model)

    def evaluate(self, span: Any) -> SelectionResult:
        """Score the tools called in one span: `{"attributes": {…}}`, flat or nested, or a bare attribute map."""
        from rightcall.traces.openinference import read_llm_span

        try:
            read = read_llm_span(span)
        except TraceError as error:
            return self._failed(str(error))
        if not self.expected_tools:
            return self._judged(read)
        return self._scored(select_tools(self.expected_tools, [call.name for call in read.called]))

    def _judged(self, span: LLMSpan) -> SelectionResult:
        answers: list[Answer] = []
        asking = judge_selection({"messages": span.messages}, span.available_tools, list(enumerate(span.called)))
        try:
            selection = driven(asking, self._ask, answers)
        except CannotJudge as error:
            return self._failed(error.reason, _spent(answers))
        return self._scored(selection, _spent(answers))

    def _failed(self, why: str, spent: dict[str, Any] | None = None) -> SelectionResult:
        return SelectionResult(
            score=None, is_success=False, is_gte_threshold=None, threshold=self.threshold, explanation=why, judge=spent
        )

    def _scored(self, selection: Selection | JudgedSelection, spent: dict[str, Any] | None = None) -> SelectionResult:
        incorrect = selection.incorrect_tools
        return SelectionResult(
            score=selection.score,
            is_success=True,
            is_gte_threshold=selection.score >= self.threshold,
            threshold=self.threshold,
            explanation=selection.explanation,
            eval_metadata={"incorrect_tools": incorrect} if incorrect else None,
            judge=spent,
        )


def _spent(answers: Sequence[Answer]) -> dict[str, Any] | None:
    return used(answers).record() if answers else None
