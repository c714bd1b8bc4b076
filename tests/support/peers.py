"""Rows recorded by running other tools: the tool's configuration as a file of its dialect, and what it decided."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from rightcall import testsets
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.assertions import KINDS
from rightcall.core.assertion import grade
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.results import attempt_outcome
from rightcall.core.verdicts import Verdict
from rightcall.errors import TestSetError

Row = Mapping[str, Any]
REFUSED: Final = "refused"
UNSAID: Final = "unsaid"
"""Of rows about something other than tool calls."""

KINDS_OF_DIFFERENCE: Final = {
    "absent_is_not_empty": "no arguments are something else than empty ones there",
    "arguments_turned_round": "`subset` and `superset` of arguments are also applied the other way round there",
    "broke_off": "the tool broke off with an exception, or refuses the row in another way than we do",
    "calls_after_ignored": "calls after the expected ones are not looked at there",
    "empty_is_zero": "nothing expected and nothing called scores 0 there",
    "empty_passes": "where nothing is expected, any calls pass there; here it is not judged",
    "equal_calls_once": "equal calls count once there",
    "graph_steps": "the row is about nodes of a graph",
    "greedy_pairing": "the first fit is taken there, so that a valid pairing is missed",
    "names_trimmed": "names are trimmed there",
    "number_types": "1 and 1.0 are different there",
    "outputs_compared": "what tools return is compared there; here that is refused",
    "python_equality": "true equals 1 there, and false equals 0",
    "strings_normalised": "case, spaces and punctuation of strings make no difference there",
    "types_compared": "the type of a tool is compared there",
    "values_as_text": "values are compared as Python writes them there",
}
"""Why another tool decides otherwise, by the kind that an exception names."""


class Peer(NamedTuple):
    """How a row is told: the dialect, and the file that says the row's expectation."""

    dialect: str
    file: Callable[[Row], dict[str, Any]]


def _langchain(row: Row) -> dict[str, Any]:
    keys = ("trajectory_match_mode", "tool_args_match_mode", "tool_args_match_overrides")
    calls = [{"function": {"name": call["name"], "arguments": _text(call.get("args"))}} for call in row["expected"]]
    if row["config"]["layout"] == "one_message":
        messages = [{"role": "assistant", "tool_calls": calls}] if calls else []
    else:
        messages = [{"role": "assistant", "tool_calls": [call]} for call in calls]
    config = {key: row["config"][key] for key in keys if key in row["config"]}
    return {**config, "tests": [{"id": "t", "reference_outputs": messages}]}


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _adk(row: Row) -> dict[str, Any]:
    config = row["config"]
    turns = row["expected"] if "turns" in config else [row["expected"]]
    conversation = [{"intermediate_data": {"tool_uses": calls}} for calls in turns]
    criterion = {"threshold": 1.0, "match_type": config["match_type"], "ignore_args": config["ignore_args"]}
    case = {"eval_id": "t", "conversation": conversation}
    return {"criteria": {"tool_trajectory_avg_score": criterion}, "eval_cases": [case]}


def _azure(row: Row) -> dict[str, Any]:
    names = [call["name"] for call in row["expected"]]
    parameters = {call["name"]: call["args"] for call in row["expected"]}
    truth = [names, parameters] if row["config"]["ground_truth"] == "names+parameters" else names
    return {"matching_mode": row["config"]["matching_mode"], "data": [{"id": "t", "ground_truth": truth}]}


_DEEPEVAL: Final = {"name": "name", "type": "type", "input_parameters": "args"}


def _deepeval(row: Row) -> dict[str, Any]:
    if row["expected"] is None:
        return {"threshold": 1, **row["config"], "goldens": [{}]}
    tools = [{key: call[known] for key, known in _DEEPEVAL.items() if known in call} for call in row["expected"]]
    return {"threshold": 1, **row["config"], "goldens": [{"expected_tools": tools}]}


def _ragas(row: Row) -> dict[str, Any]:
    metric = {"ToolCallAccuracy": "tool_call_accuracy", "ToolCallF1": "tool_call_f1"}[row["metric"]]
    order = {"strict_order": row["config"]["strict_order"]} if "strict_order" in row["config"] else {}
    return {"metric": metric, **order, "samples": [{"id": "t", "reference_tool_calls": row["expected"]}]}


def _strands(row: Row) -> dict[str, Any]:
    names = row["config"]["items"] == "names"
    steps = [call["name"] for call in row["expected"]] if names else row["expected"]
    return {"scorer": row["metric"], "cases": [{"name": "t", "expected_trajectory": steps}]}


def _bfcl(row: Row) -> dict[str, Any]:
    answers = [
        {call["name"]: {key: [_answer(value)] for key, value in call["args"].items()}} for call in row["expected"]
    ]
    return {"tests": [{"id": "t", "ground_truth": answers}]}


def _answer(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: [_answer(item)] for key, item in value.items()}
    return [_answer(item) for item in value] if isinstance(value, list) else value


PEERS: Final = {
    "agentevals": Peer("langchain", _langchain),
    "google-adk": Peer("adk", _adk),
    "azure-ai-evaluation": Peer("azure", _azure),
    "deepeval": Peer("deepeval", _deepeval),
    "ragas": Peer("ragas", _ragas),
    "strands-agents-evals": Peer("strands", _strands),
    "bfcl-eval": Peer("bfcl", _bfcl),
}


def theirs(row: Row) -> str:
    """What the other tool decided: `pass` where its score is whole, `fail`, or `error` where it broke off."""
    if row["score"] is None:
        return "error"
    return "pass" if row["score"] in (1.0, True) else "fail"


def ours(row: Row) -> str:
    """What we decide of the same file and calls; `refused` where the file cannot be said."""
    if "kind" in row["config"]:
        return UNSAID
    try:
        return str(attempt_outcome(verdicts(row)))
    except TestSetError:
        return REFUSED


def verdicts(row: Row) -> tuple[Verdict, ...]:
    """Our verdicts on the row's calls for its file; `TestSetError` where the file cannot be said."""
    peer = PEERS[row["peer"]]
    data = json.dumps(peer.file(row)).encode()
    (test,) = testsets.read(data, KINDS, file="peer.json", dialect=peer.dialect).tests
    compiled = testsets.compile_test(test, compile_regex, compile_schema)
    made = Trajectory(tool_calls=tuple(_made(row)), messages=_messages(row))
    return grade(made, compiled.assertions)


def _messages(row: Row) -> list[dict[str, Any]] | None:
    """What tells how many turns there were."""
    if row["config"].get("turns") is None:
        return None
    pair = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Done."}]
    return [message for _ in row["actual"] for message in pair]


def _made(row: Row) -> list[ToolCall]:
    is_in_turns = row["config"].get("turns") is not None
    turns = row["actual"] if is_in_turns else [row["actual"]]
    apart = row["config"].get("layout") == "message_per_call_with_results"
    return [
        _call(call, turn if is_in_turns else None, index if apart else 0)
        for turn, calls in enumerate(turns)
        for index, call in enumerate(calls)
    ]


def _call(call: Mapping[str, Any], turn: int | None, message: int) -> ToolCall:
    arguments = {} if call.get("args") is None else call["args"]
    return ToolCall(name=call["name"], arguments=arguments, turn=turn, message=message)
