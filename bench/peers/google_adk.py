"""google-adk: `TrajectoryEvaluator.evaluate_invocations`. Its ANY_ORDER allows other calls: our `superset`."""

from __future__ import annotations

from typing import Any

from google.adk.evaluation.eval_case import IntermediateData, Invocation
from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
from google.adk.evaluation.evaluator import EvalStatus
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from google.genai import types

from bench.peers.serving import Evaluate, serve

CONTENT = types.Content(parts=[types.Part(text="hello")])


def invocation(calls: list[dict[str, Any]]) -> list[Invocation]:
    made = [types.FunctionCall(name=call["name"], args=call["arguments"]) for call in calls]
    return [Invocation(user_content=CONTENT, intermediate_data=IntermediateData(tool_uses=made))]


def evaluator(match: str, *, ignore_args: bool) -> Evaluate:
    match_type = ToolTrajectoryCriterion.MatchType[match]
    criterion = ToolTrajectoryCriterion(threshold=1.0, match_type=match_type, ignore_args=ignore_args)
    metric = EvalMetric(metric_name="tool_trajectory_avg_score", threshold=1.0, criterion=criterion)
    evaluate = TrajectoryEvaluator(eval_metric=metric).evaluate_invocations
    return lambda expected, made: evaluate(made, expected).overall_eval_status == EvalStatus.PASSED


SETTINGS = {
    "in_order/exact": evaluator("IN_ORDER", ignore_args=False),
    "in_order/ignore": evaluator("IN_ORDER", ignore_args=True),
    "superset/exact": evaluator("ANY_ORDER", ignore_args=False),
    "superset/ignore": evaluator("ANY_ORDER", ignore_args=True),
}

if __name__ == "__main__":
    serve("google-adk", "score and status; no reason, no precision or recall", (invocation, invocation), SETTINGS)
