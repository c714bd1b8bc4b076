"""deepeval: `ToolCorrectnessMetric.measure`, without its progress indicator. No model is asked, but it wants one."""

from __future__ import annotations

from typing import Any

from deepeval.metrics import ToolCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

from bench.peers.serving import Evaluate, serve


class NoModel(DeepEvalBaseLLM):
    """Stands where a model must be named."""

    def load_model(self, *args: Any, **kwargs: Any) -> Any:
        """Nothing is loaded."""
        return None

    def generate(self, *args: Any, **kwargs: Any) -> str:
        """Nothing is asked."""
        raise NotImplementedError

    async def a_generate(self, *args: Any, **kwargs: Any) -> str:
        """Nothing is asked."""
        raise NotImplementedError

    def get_model_name(self, *args: Any, **kwargs: Any) -> str:
        """Return a name that no model has."""
        return "none"


def calls(made: list[dict[str, Any]]) -> list[ToolCall]:
    return [ToolCall(name=call["name"], input_parameters=call["arguments"]) for call in made]


def evaluator(*, with_arguments: bool, in_order: bool) -> Evaluate:
    metric = ToolCorrectnessMetric(
        threshold=1,
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS] if with_arguments else [],
        model=NoModel(),
        async_mode=False,
        should_consider_ordering=in_order,
    )
    case = LLMTestCase(input="hello", actual_output="done", tools_called=[], expected_tools=[])

    def evaluate(expected: Any, made: Any) -> bool:
        case.tools_called, case.expected_tools = made, expected
        metric.measure(case, _show_indicator=False)
        return bool(metric.success)

    return evaluate


SETTINGS = {
    "in_order/exact": evaluator(with_arguments=True, in_order=True),
    "in_order/ignore": evaluator(with_arguments=False, in_order=True),
    "superset/exact": evaluator(with_arguments=True, in_order=False),
    "superset/ignore": evaluator(with_arguments=False, in_order=False),
}

if __name__ == "__main__":
    serve("deepeval", "score, success and reason; no precision or recall", (calls, calls), SETTINGS)
