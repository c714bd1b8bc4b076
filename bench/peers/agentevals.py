"""agentevals: `create_trajectory_match_evaluator`. Arguments stand as JSON text in messages, as OpenAI writes them."""

from __future__ import annotations

import json
from typing import Any

from agentevals.trajectory.match import create_trajectory_match_evaluator

from bench.peers.serving import Evaluate, serve


def messages(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = [
        {
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for at, call in enumerate(calls)
    ]
    return [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "", "tool_calls": made}]


def evaluator(match: str, arguments: str) -> Evaluate:
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode=match, tool_args_match_mode=arguments)
    return lambda expected, made: bool(evaluate(outputs=made, reference_outputs=expected)["score"])


SETTINGS = {
    "superset/partial": evaluator("superset", "superset"),
    "superset/exact": evaluator("superset", "exact"),
    "superset/ignore": evaluator("superset", "ignore"),
    "any_order/exact": evaluator("unordered", "exact"),
    "any_order/ignore": evaluator("unordered", "ignore"),
}

if __name__ == "__main__":
    serve("agentevals", "score; no reason, no precision or recall", (messages, messages), SETTINGS)
