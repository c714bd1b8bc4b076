"""Stories with models: the page about tool selection without expected tools, and users that a model plays.

The models are a server of the test's own, which the real client asks over the real protocol.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from rightcall.core import jsontext
from rightcall.core.models import ModelConfig
from rightcall.metrics import SelectionResult, ToolSelect
from support.command_line import Ran, run_here
from support.judging import choosing
from support.model_server import MODEL, Request, Trouble, model_server
from support.selecting import EXPECTED, SPAN, calling
from support.stories import write


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command in a folder of its own, and gives what it came to."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Ran:
        return run_here(capfdbinary, *arguments)

    return command


def part(request: Request, title: str) -> Any:
    """One part of what a model was told."""
    found = re.search(rf"^{title}\nBEGIN DATA (\w+)\n(.*)\nEND DATA \1$", request.told["user"], re.MULTILINE)
    assert found, request.told["user"]
    return jsontext.decode(found[2])


def chosen(span: Any, *answers: Any) -> tuple[SelectionResult, list[Request]]:
    """What the metric says of a span, with a judge that answers so, and what the judge was asked."""
    texts = [answer if isinstance(answer, str | Trouble) else json.dumps(answer) for answer in answers]
    with model_server(texts) as server:
        model = ModelConfig(model="openai:judge", base_url=server.openai)
        return ToolSelect(model=model).evaluate(span), server.requests


def test_the_span_of_the_page_without_expected_tools() -> None:
    """The judge sees the task, the tools and the calls; it finds both right: 100 (G33)."""
    result, (request,) = chosen(SPAN, choosing("correct", "correct"))
    assert (result.score, result.is_success, result.is_gte_threshold, result.eval_metadata) == (100, True, True, None)
    assert part(request, "Calls") == [
        {"number": 1, "name": "get_weather", "arguments": {}},
        {"number": 2, "name": "send_email", "arguments": {}},
    ]
    assert [tool["name"] for tool in part(request, "Available tools")] == EXPECTED
    assert "weather in Paris" in part(request, "Messages")["messages"][1]["content"]
    assert result.judge == {
        "models": [MODEL],
        "answers": 1,
        "cached": 0,
        "input_tokens": 100,
        "output_tokens": 7,
        "cost": None,
    }


JUDGED: Final[dict[str, tuple[Any, ...]]] = {
    "missing": (["get_weather"], choosing("correct", missing=["send_email"]), 50, [("send_email", "missing")]),
    "redundant": (
        ["get_weather", *EXPECTED],
        choosing("correct", "redundant", "correct"),
        66.67,
        [("get_weather", "redundant")],
    ),
    "incorrect": (["send_email"], choosing("incorrect"), 0, [("send_email", "incorrect")]),
    "not available": (
        [*EXPECTED, "delete_mail"],
        choosing("correct", "correct"),
        66.67,
        [("delete_mail", "incorrect")],
    ),
    "none called, none needed": ([], choosing(), 100, None),
    "none called": (
        [],
        choosing(missing=EXPECTED),
        0,
        [("get_weather", "missing"), ("send_email", "missing")],
    ),
}


@pytest.mark.parametrize(("called", "answer", "score", "wrong"), JUDGED.values(), ids=JUDGED)
def test_the_score_is_that_of_the_judge(called: list[str], answer: Any, score: float, wrong: Any) -> None:
    """`100 · correct ÷ (called + missing)`, each misaligned call or tool with verdict and reason (G33)."""
    result, requests = chosen(calling(called), answer)
    assert (result.score, result.is_gte_threshold, len(requests)) == (score, score == 100, 1)
    tools = (result.eval_metadata or {"incorrect_tools": []})["incorrect_tools"]
    assert [(tool["name"], tool["verdict"]) for tool in tools] == (wrong or [])
    assert all(tool["reason"] for tool in tools)


WITHOUT_TOOLS: Final = {
    "attributes": {key: value for key, value in SPAN["attributes"].items() if not key.startswith("llm.tools")}
}
FAILED: Final[dict[str, tuple[Any, tuple[Any, ...], str, int]]] = {
    "two invalid answers": (SPAN, ("I think it is fine",), "could not be used, twice", 2),
    "too few verdicts, twice": (SPAN, (choosing("correct"),), "exactly one verdict for each numbered call: 1 and 2", 2),
    "no answer": (SPAN, (Trouble(401),), "gave no answer", 1),
    "no tools": (WITHOUT_TOOLS, (choosing("correct", "correct"),), "llm.tools", 0),
    "no input": ({"attributes": {"openinference.span.kind": "LLM"}}, ("x",), "no input messages", 0),
}


@pytest.mark.parametrize(("span", "answers", "why", "asked"), FAILED.values(), ids=FAILED)
def test_what_cannot_be_judged_has_no_score(span: Any, answers: tuple[Any, ...], why: str, asked: int) -> None:
    """The evaluation fails with the reason; a score is never made up (G33, G34)."""
    result, requests = chosen(span, *answers)
    assert (result.score, result.is_success, result.is_gte_threshold, result.eval_metadata) == (None, False, None, None)
    assert (why in result.explanation, len(requests)) == (True, asked)


def test_one_invalid_answer_is_forgiven() -> None:
    """The judge is told what was wrong (G33)."""
    result, requests = chosen(SPAN, choosing("correct"), choosing("correct", "correct"))
    assert (result.score, len(requests)) == (100, 2)
    assert "exactly one verdict for each numbered call" in requests[1].told["user"]


@pytest.mark.parametrize(
    ("answer", "code"), [(choosing("correct", "correct"), 0), (choosing("correct", "incorrect"), 1), ("?", 3)]
)
def test_from_the_custom_run_to_the_exit_code(run: Any, tmp_path: Path, answer: Any, code: int) -> None:
    """The page's payload without expected tools, converted, and its span graded by a judge (G33, G39)."""
    payload = {"evaluations": [{"metrics": [{"metric": "tool_select"}], "threshold": 100, "data": [{"span": SPAN}]}]}
    write(tmp_path, {"run.json": payload, "span.json": SPAN})
    converted = run("convert", "run.json", "--from", "aegis")
    (tmp_path / "tests.yaml").write_text(converted.out)
    with model_server([answer if isinstance(answer, str) else json.dumps(answer)]) as server:
        ran = run("grade", "span.json", "-t", "tests.yaml", "--judge", "openai:x", "--judge-base-url", server.openai)
    assert ran.code == code, ran.out + ran.err


AGENT: Final = '''
import json, pathlib

PLAN = json.loads(pathlib.Path(__file__).with_name("plan.json").read_text())


def answer(turn):
    """Does what the plan says for this turn, whatever the user says."""
    output, calls = PLAN[min(turn.number, len(PLAN)) - 1]
    return {"output": output, "tool_calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}
'''

REFUND: Final = ("issue_refund", {"order_id": "ord_42", "amount_cents": 5000, "reason": "late"})
ROWS: Final[dict[str, dict[str, Any]]] = {
    "refund": {
        "tool_call_args": [
            {
                "tool": "issue_refund",
                "match": {"mode": "subset", "args": {"order_id": "ord_42", "amount_cents": 5000}},
            }
        ]
    },
    "support": {"allowed_tools": ["lookup_account", "run_diagnostics", "create_ticket", "kb_query"]},
    "handoff": {
        "expected_tool_sequence": [
            {"tool": "identify_customer"},
            {"tool": "fetch_case_context"},
            {"tool": "transfer_to_agent"},
        ]
    },
}
Plan = list[tuple[str, list[tuple[str, dict[str, Any]]]]]

LIVED: Final[dict[str, tuple[str, Plan, str, str]]] = {
    "refund, right": ("refund", [("Which order?", [("lookup_order", {})]), ("Refunded.", [REFUND])], "pass", ""),
    "refund, another amount": (
        "refund",
        [("Which order?", []), ("Refunded.", [("issue_refund", {"order_id": "ord_42", "amount_cents": 500})])],
        "fail",
        "no call to `issue_refund` matched the expected arguments.",
    ),
    "refund, only said": ("refund", [("Which order?", []), ("Refunded.", [])], "fail", "it was never called"),
    "support, right": (
        "support",
        [
            ("Let me see.", [("lookup_account", {}), ("run_diagnostics", {})]),
            ("A ticket is open.", [("create_ticket", {})]),
        ],
        "pass",
        "",
    ),
    "support, escalated": (
        "support",
        [("Let me see.", [("transfer_to_human", {})]), ("Goodbye.", [("run_diagnostics", {})])],
        "fail",
        "`transfer_to_human`",
    ),
    "handoff, right": (
        "handoff",
        [
            ("Who are you?", [("identify_customer", {})]),
            ("One moment.", [("fetch_case_context", {}), ("transfer_to_agent", {})]),
        ],
        "pass",
        "",
    ),
    "handoff, before the context": (
        "handoff",
        [
            ("Who are you?", [("identify_customer", {}), ("transfer_to_agent", {})]),
            ("One moment.", [("fetch_case_context", {})]),
        ],
        "fail",
        "matched 2 of 3 steps",
    ),
}


def playing(verdict: str = "pass") -> Any:
    """A model that plays the user for two turns, and judges rubrics so."""

    def answer(request: Request) -> str:
        if "You decide whether" in request.told["system"]:
            return json.dumps({"reason": "The last answer decided.", "verdict": verdict})
        turns = len(part(request, "Conversation")) // 2
        return json.dumps({"message": "" if turns == 2 else f"Line {turns + 1}.", "done": turns == 2})

    return answer


def staged(folder: Path, row: dict[str, Any], plan: Plan) -> None:
    """A test set whose user a model plays, and an agent that follows a plan."""
    persona = {"goal": "Get it done.", "traits": ["brief"], "facts": {"order_id": "ord_42"}, "max_turns": 5}
    tests = {"endpoint": {"python": "agent.py:answer"}, "tests": [{"id": "t", "persona": persona, **row}]}
    write(folder, {"t.json": tests, "agent.py": AGENT, "plan.json": json.dumps(plan)})


@pytest.mark.parametrize(("kind", "plan", "outcome", "reason"), LIVED.values(), ids=LIVED)
def test_worked_evals_by_simulation(run: Any, tmp_path: Path, kind: str, plan: Plan, outcome: str, reason: str) -> None:
    """Refund, support and handoff, with a user whom a model plays, to the exit code (G23 to G25)."""
    staged(tmp_path, ROWS[kind], plan)
    with model_server(playing()) as server:
        ran = run("run", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai, "--json")
    report = json.loads(ran.out)
    ((attempt,),) = (result["attempts"] for result in report["results"])
    (verdict,) = attempt["verdicts"]
    assert (ran.code, attempt["outcome"], reason in verdict["reason"]) == (int(outcome == "fail"), outcome, True)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("plan", "word", "statuses", "code"),
    [
        ("refund, right", "pass", ["pass", "pass"], 0),
        ("refund, right", "fail", ["pass", "fail"], 1),
        ("refund, only said", "pass", ["fail", "pass"], 1),
        ("refund, right", "cannot_tell", ["pass", "error"], 3),
    ],
)
def test_rules_and_a_rubric_gate_together(
    run: Any, tmp_path: Path, plan: str, word: str, statuses: list[str], code: int
) -> None:
    """One run checks behaviour and tools; either can block, and neither speaks for the other (G2, G39)."""
    staged(tmp_path, {**ROWS["refund"], "rubric": "The agent stays polite."}, LIVED[plan][1])
    with model_server(playing(word)) as server:
        ran = run("run", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai, "--json")
    report = json.loads(ran.out)
    ((attempt,),) = (result["attempts"] for result in report["results"])
    assert (ran.code, [verdict["status"] for verdict in attempt["verdicts"]]) == (code, statuses)
    assert report["judge"]["answers"] == 1


def test_a_batch_of_simulations_is_one_run(run: Any, tmp_path: Path) -> None:
    """Each test has a user and a result of its own; one that fails blocks, and hides no other (G36)."""
    persona = {"goal": "Get it done.", "max_turns": 5}
    tests = [{"id": kind, "persona": persona, **row} for kind, row in ROWS.items()]
    staged(tmp_path, {}, LIVED["refund, right"][1])
    write(tmp_path, {"t.json": {"endpoint": {"python": "agent.py:answer"}, "tests": tests}})
    with model_server(playing()) as server:
        ran = run("run", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai, "--json")
    outcomes = {result["id"]: result["outcome"] for result in json.loads(ran.out)["results"]}
    assert (ran.code, outcomes) == (1, {"refund": "pass", "support": "fail", "handoff": "fail"})


def test_a_user_that_cannot_be_played_is_no_failure_of_the_agent(run: Any, tmp_path: Path) -> None:
    """The attempt is an error, and the run incomplete (G38, G39)."""
    staged(tmp_path, ROWS["refund"], LIVED["refund, right"][1])
    with model_server([Trouble(401)]) as server:
        ran = run("run", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai, "--json")
    (result,) = json.loads(ran.out)["results"]
    assert (ran.code, result["outcome"]) == (3, "error")
    assert "the simulated user could not go on" in result["attempts"][0]["reason"]


def test_without_a_model_to_play_nothing_is_run(run: Any, tmp_path: Path) -> None:
    """The command is refused before a run is begun, and says what to do (G39)."""
    staged(tmp_path, ROWS["refund"], LIVED["refund, right"][1])
    for more in ((), ("--dry-run",)):
        ran = run("run", "t.json", *more)
        assert (ran.code, "no model plays the user of the test `t`" in ran.err) == (2, True)
    assert not tmp_path.joinpath(".rightcall").exists()


def test_a_plan_shows_the_persona_and_asks_nobody(run: Any, tmp_path: Path) -> None:
    """Neither a model nor a key is needed."""
    staged(tmp_path, {**ROWS["refund"], "rubric": "Fine."}, LIVED["refund, right"][1])
    ran = run("run", "t.json", "--plan", "--judge", "openai:x")
    assert (ran.code, 'a simulated user, 5 turns at most: "Get it done."' in ran.out) == (0, True)
    planned = json.loads(run("run", "t.json", "--plan", "--json").out)
    assert planned["tests"][0]["persona"]["facts"] == {"order_id": "ord_42"}


def test_a_simulated_conversation_is_graded_again_without_a_model(run: Any, tmp_path: Path) -> None:
    """The run keeps the transcript; what a judge answered is asked for again, or found in its cache."""
    staged(tmp_path, {**ROWS["refund"], "rubric": "Fine."}, LIVED["refund, right"][1])
    with model_server(playing()) as server:
        options = ("--judge", "openai:x", "--judge-base-url", server.openai, "--judge-cache", "kept")
        assert run("run", "t.json", *options).code == 0
        asked = len(server.requests)
        (directory,) = (tmp_path / ".rightcall" / "runs").glob("2*")
        again = json.loads(run("grade", str(directory), *options, "--json").out)
        assert (again["judge"]["cached"], len(server.requests)) == (1, asked)
    attempts = (directory / "attempts.jsonl").read_text()
    assert ("Line 2." in attempts, '"simulator"' in attempts) == (True, True)


def test_attempts_have_users_of_their_own(run: Any, tmp_path: Path) -> None:
    """Five attempts are five conversations, whatever is kept of a judge (G37)."""
    staged(tmp_path, {**ROWS["refund"], "rubric": "Fine.", "repeat": 5}, LIVED["refund, right"][1])
    with model_server(playing()) as server:
        options = ("--judge", "openai:x", "--judge-base-url", server.openai, "--judge-cache", "kept")
        ran = run("run", "t.json", *options, "--json")
    told = [request.told["system"] for request in server.requests]
    assert (ran.code, sum("You play the user" in text for text in told), len(told)) == (0, 15, 20)
    assert len(list((tmp_path / "kept").glob("*/*.json"))) == 5


def test_a_voice_conversation_is_graded_by_its_transcript(run: Any, tmp_path: Path) -> None:
    """Turns as they were heard, beside the calls; turn by turn, too."""
    heard = [
        {"role": "user", "transcript": "I want my money back."},
        {"role": "assistant", "transcript": "Which order?"},
        {"role": "user", "transcript": "Forty-two."},
        {"role": "assistant", "transcript": "Done, in three days."},
    ]
    name, arguments = REFUND
    record = {"id": "t", "messages": heard, "tool_calls": [{"name": name, "arguments": arguments, "turn": 1}]}
    test = {"id": "t", **ROWS["refund"], "assertions": [{"kind": "rubric", "criteria": "Fine.", "turn": 2}]}
    write(tmp_path, {"t.json": {"tests": [test]}, "voice.jsonl": [record]})
    with model_server(playing()) as server:
        ran = run("grade", "voice.jsonl", "-t", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai)
    transcript = part(server.requests[0], "Transcript")
    assert (ran.code, transcript["messages"], transcript["messages_before"]) == (0, heard[2:], heard[:2])


def test_users_speak_without_turning_the_standard_output_aside(run: Any, tmp_path: Path) -> None:
    """All threads share it: several that turned it aside and back at once would leave it with the reports' errors."""
    user = (
        "import sys\ndef speak(prompt):\n"
        "    if sys.stdout is sys.stderr: raise RuntimeError('turned aside')\n"
        "    return {'message': 'Hi', 'done': len(prompt.data['Conversation']) > 0}\n"
    )
    staged(tmp_path, {"required_tools": ["issue_refund"], "repeat": 4}, [("Refunded.", [REFUND])])
    write(tmp_path, {"user.py": user})
    ran = run("run", "t.json", "--simulator", "python:user.py:speak", "--json")
    assert (ran.code, json.loads(ran.out)["counts"]["passed"]) == (0, 1)
