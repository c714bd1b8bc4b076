"""`rightcall.run` and `rightcall.run_async`: agents of a Python program."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall.agents.exchange import Reply, Turn
from rightcall.core.models import ModelConfig
from rightcall.core.results import Outcome
from rightcall.errors import EndpointError, TestSetError, UsageError
from support.command_line import run_apart
from support.driving import FakeEndpoint
from support.grading import call
from support.running import numbers, project

TESTS = [
    {"id": "good", "prompt": "a b", "expected_tool_calls": ["a", "b"], "repeat": 2},
    {"id": "bad", "prompt": "a", "expected_tool_calls": []},
    {"id": "broken", "prompt": "raise", "expected_tool_calls": []},
]
OUTCOMES = {"good": Outcome.PASS, "bad": Outcome.FAIL, "broken": Outcome.FAIL}


def agent(text: str) -> dict[str, Any]:
    """Call what is named."""
    if text == "raise":
        raise ValueError("no stock")
    return {"output": "ok", "tool_calls": [{"name": name, "arguments": {}} for name in text.split()]}


async def async_agent(text: str) -> dict[str, Any]:
    await asyncio.sleep(0)
    return agent(text)


def outcomes(run: Any) -> dict[str, Outcome]:
    return {test: result.outcome for test, result in run.results.items()}


def without_ids(run: Any) -> Any:
    """The results without what differs from run to run: the id of each conversation is in the hash of its record."""
    return {
        test: [(one.outcome, one.made, one.output, one.verdicts) for one in result.attempts]
        for test, result in run.results.items()
    }


@pytest.mark.parametrize("tried", [agent, async_agent])
def test_run_drives_functions_of_both_kinds(tried: Any) -> None:
    """What they do, and what they raise, decides (G38)."""
    run = rightcall.run(TESTS, tried)
    assert (outcomes(run), run.passed, run.directory) == (OUTCOMES, False, None)
    assert [attempt.outcome for attempt in run.results["good"].attempts] == [Outcome.PASS] * 2


def test_run_works_inside_an_event_loop() -> None:
    """As in a notebook: the agent has a loop of its own, in another thread."""
    threads = []

    async def elsewhere(text: str) -> dict[str, Any]:
        threads.append(threading.get_ident())
        return agent(text)

    async def main() -> Any:
        return rightcall.run(TESTS[:1], elsewhere)

    assert outcomes(asyncio.run(main())) == {"good": Outcome.PASS}
    assert threading.get_ident() not in threads


def test_run_async_stays_in_the_event_loop_that_runs() -> None:
    """The agent may use what belongs to that loop."""

    async def main() -> Any:
        loop = asyncio.get_running_loop()

        async def here(text: str) -> dict[str, Any]:
            assert asyncio.get_running_loop() is loop
            return agent(text)

        return await rightcall.run_async(TESTS, here)

    assert outcomes(asyncio.run(main())) == OUTCOMES


def test_both_ways_come_to_the_same_as_the_command_line(tmp_path: Path) -> None:
    """Reports of all three are one."""
    path = project(tmp_path, {"id": "a", "prompt": "lookup"}, {"id": "f", "prompt": "fail"})
    here, there = rightcall.run(path), asyncio.run(rightcall.run_async(str(path)))
    assert here.end == there.end
    assert without_ids(here) == without_ids(there)
    assert outcomes(here) == {"a": Outcome.PASS, "f": Outcome.FAIL}


def test_endpoint_of_ones_own_is_driven() -> None:
    """Anything with conversations is an agent."""
    endpoint = FakeEndpoint(lambda turn: Reply(output="x", tool_calls=tuple(map(call, turn.input.split()))))
    assert outcomes(rightcall.run(TESTS[:2], endpoint)) == {"good": Outcome.PASS, "bad": Outcome.FAIL}
    assert endpoint.is_closed


def test_class_is_made_anew_for_each_conversation() -> None:
    """What it keeps is that of one attempt."""

    class Counting:
        def __init__(self) -> None:
            self.turns = 0

        def __call__(self, text: str) -> dict[str, Any]:
            self.turns += 1
            return {"output": self.turns, "tool_calls": [{"name": f"turn_{self.turns}", "arguments": {}}]}

    turns = [{"prompt": "x", "expected_tool_calls": ["turn_1"]}, {"prompt": "y", "expected_tool_calls": ["turn_2"]}]
    run = rightcall.run([{"id": "t", "turns": turns, "repeat": 3}], Counting)
    assert outcomes(run) == {"t": Outcome.PASS}


def test_what_is_asked_for_is_as_on_the_command_line(tmp_path: Path) -> None:
    """Filters, attempts, and where runs are kept."""
    run = rightcall.run(TESTS, agent, filters=["g*"], repeat=3, concurrency=1, directory=str(tmp_path))
    assert outcomes(run) == {"good": Outcome.PASS}
    assert run.directory is not None
    assert numbers(Path(run.directory)) == [("good", 1), ("good", 2), ("good", 3)]
    assert json.loads(Path(run.directory, "results.jsonl").read_text())["outcome"] == "pass"


def test_test_set_as_data_says_all_that_a_file_says() -> None:
    """Such as a gate."""
    run = rightcall.run({"version": 1, "gate": {"min_pass_rate": "1/3"}, "tests": TESTS}, agent)
    assert run.passed


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ((5, agent), UsageError, "expected tests: a path, a mapping with `tests`, or a list of tests; found int"),
        (([{"id": "t", "prompt": object()}], agent), UsageError, "JSON data"),
        (([{"id": "t", "prmpt": "x"}], agent), TestSetError, "did you mean `prompt`"),
        ((TESTS, 5), UsageError, "expected an agent: a function"),
        ((TESTS,), UsageError, "has no `endpoint`"),
        ((TESTS, "python:nowhere.py:f"), EndpointError, "nowhere.py"),
    ],
)
def test_what_cannot_be_run_is_raised(arguments: Any, error: type[Exception], told: str) -> None:
    """With what was expected."""
    with pytest.raises(error) as raised:
        rightcall.run(*arguments)
    assert told in str(raised.value)


@pytest.mark.parametrize("name", ["repeat", "concurrency", "rate", "timeout", "retries"])
def test_numbers_that_cannot_be_are_refused(name: str) -> None:
    """None of them is negative."""
    with pytest.raises(UsageError, match=f"{name}: expected"):
        rightcall.run(TESTS, agent, **{name: -1})  # type: ignore[arg-type]  # each of them is a number


def test_trouble_is_an_error_of_the_test() -> None:
    """What cannot be reached says nothing of the agent (G38)."""

    def gone(turn: Turn) -> Reply:
        raise EndpointError("nobody is there")

    run = rightcall.run(TESTS[:1], FakeEndpoint(gone))
    assert [attempt.reason for attempt in run.results["good"].attempts] == ["nobody is there"] * 2
    assert (outcomes(run), run.end.decision.exit_code) == ({"good": Outcome.ERROR}, 3)


@pytest.mark.parametrize("repeat", [1, 3])
def test_no_allowance_for_errors_covers_a_mistake_of_ours(tmp_path: Path, repeat: int) -> None:
    """Neither in the run, nor where it is graded again, nor where other attempts settle the test (G36, G39)."""

    def crash(turn: Turn) -> Reply:
        if turn.test == "bad" and (repeat == 1 or not crashed):
            crashed.append(turn)
            raise ZeroDivisionError("of all things")
        return Reply(output="ok", tool_calls=())

    crashed: list[Turn] = []
    test = {"prompt": "x", "expected_tool_calls": [], "repeat": repeat, "min_pass_rate": "1/3"}
    lenient = {"gate": {"allow_errors": 5}, "tests": [{"id": name, **test} for name in ("good", "bad")]}
    run = rightcall.run(lenient, FakeEndpoint(crash), directory=str(tmp_path), concurrency=1)
    again = run_apart("grade", str(run.directory), "--quiet", cwd=tmp_path)
    assert (run.end.decision.exit_code, again.code, len(crashed)) == (3, 3, 1)
    assert "rightcall itself failed on 1 verdict" in run.end.decision.reasons
    first = run.results["bad"].attempts[0]
    (verdict,) = first.verdicts
    assert (verdict.name, verdict.findings[0].code) == ("conversation", "internal_error")
    assert "ZeroDivisionError: of all things" in verdict.reason
    assert "in crash" in verdict.details["traceback"]


JUDGE = """
def judge(prompt):
    return {"reason": "As asked.", "verdict": "fail"}
"""


@pytest.mark.parametrize("how", ["function", "config", "name"])
def test_judge_that_is_given_goes_before_that_of_the_test_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """As a function, as how it is reached, or by its name; in an event loop too."""
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("judge.py").write_text(JUDGE)
    judge: Any = {
        "function": lambda prompt: {"reason": "As asked.", "verdict": "fail"},
        "config": ModelConfig(model="python:judge.py:judge"),
        "name": "python:judge.py:judge",
    }[how]
    tests = {"judge": "openai:nobody", "tests": [{"id": "r", "prompt": "a", "rubric": "It is kind."}]}
    for run in (
        rightcall.run(tests, agent, judge=judge),
        asyncio.run(rightcall.run_async(tests, agent, judge=judge)),
    ):
        (verdict,) = run.results["r"].attempts[0].verdicts
        assert (verdict.name, verdict.status, "As asked." in verdict.reason) == ("rubric", "fail", True)


def test_judge_that_is_given_plays_the_users_too() -> None:
    """Unless a simulator is named; what is no judge is refused."""

    def both(prompt: Any) -> dict[str, Any]:
        if "Persona" in prompt.data:
            return {"message": "a", "done": len(prompt.data["Conversation"]) > 0}
        return {"reason": "Kind.", "verdict": "pass"}

    test = {"id": "p", "persona": {"goal": "Be called."}, "required_tools": ["a"], "rubric": "It is kind."}
    run = rightcall.run([test], agent, judge=both)
    assert (run.passed, [verdict.name for verdict in run.results["p"].attempts[0].verdicts]) == (
        True,
        ["tool_called:a", "rubric"],
    )
    with pytest.raises(UsageError, match="expected a judge as `provider:model` or a function, found int"):
        rightcall.run([test], agent, judge=3)  # type: ignore[arg-type]  # that is what is refused


def test_agent_can_be_told_of_its_turn() -> None:
    """By the name of its first parameter."""
    seen: list[Turn] = []

    def told(turn: Turn) -> str:
        seen.append(turn)
        return "ok"

    rightcall.run(TESTS[:1], told)
    assert sorted((turn.test, turn.number, turn.input) for turn in seen) == [("good", 1, "a b")] * 2


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), StopIteration(), MemoryError("full")])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_whatever_the_agent_raises_is_its_failure(error: BaseException, kind: str) -> None:
    """It ends neither the run nor the program (G38)."""

    def raising(text: str) -> str:
        if text == "raise":
            raise error
        return "ok"

    async def raising_later(text: str) -> str:
        return raising(text)

    tests = [
        {"id": "r", "prompt": "raise", "required_tools": ["x"]},
        {"id": "o", "prompt": "x", "text": {"regex": "ok"}},
    ]
    run = rightcall.run(tests, raising if kind == "sync" else raising_later)
    assert outcomes(run) == {"r": Outcome.FAIL, "o": Outcome.PASS}
