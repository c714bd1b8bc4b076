"""strands-agents-evals: its scorers of trajectories, which are functions. The one for any order takes names only."""

from __future__ import annotations

from typing import Any

from strands_evals.tools.evaluation_tools import any_order_match_scorer, in_order_match_scorer

from bench.peers.serving import serve


def calls(made: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    return made, [call["name"] for call in made]


SETTINGS = {
    "in_order/exact": lambda expected, made: in_order_match_scorer(made[0], expected[0]) == 1,
    "in_order/ignore": lambda expected, made: in_order_match_scorer(made[1], expected[1]) == 1,
    "superset/ignore": lambda expected, made: any_order_match_scorer(made[1], expected[1]) == 1,
}

if __name__ == "__main__":
    serve("strands-agents-evals", "a share of matched calls; no reason, no verdict", (calls, calls), SETTINGS)
