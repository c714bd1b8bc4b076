"""Several questions are on their way at once, and nothing else is different for it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final

import pytest

from rightcall.app import ahead
from rightcall.assertions import Rubric, ToolSelect
from rightcall.core.asking import Question
from rightcall.testsets import CompiledTest, Test
from support.command_line import Ran, run_here
from support.grading import call, compiled
from support.judging import Scripted, saying, talk, tools
from support.model_server import Request, Trouble, model_server
from support.stories import write

TOGETHER: Final = 4
TALKS: Final = [
    {
        "id": f"t{number}",
        "tool_calls": [],
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": f"answer {number}"}],
    }
    for number in range(2 * TOGETHER)
]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command in a folder of its own, and gives what it came to."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Ran:
        return run_here(capfdbinary, *arguments)

    return command


def together() -> Any:
    """A judge that answers only when several ask at the same time: even answers pass, odd ones fail."""
    barrier = threading.Barrier(TOGETHER)

    def answer(request: Request) -> str | Trouble:
        try:
            barrier.wait(10)
        except threading.BrokenBarrierError:
            return Trouble(400)
        odd = any(f"answer {number}" in request.told["user"] for number in range(1, 2 * TOGETHER, 2))
        return json.dumps({"reason": "so it is", "verdict": "fail" if odd else "pass"})

    return answer


def statuses(ran: Ran) -> list[tuple[str, str]]:
    return [(result["id"], result["outcome"]) for result in json.loads(ran.out)["results"]]


def test_recordings_are_judged_several_at_once(run: Any, tmp_path: Path) -> None:
    """Each verdict is that of its own trajectory, in order."""
    tests = {"tests": [{"id": record["id"], "rubric": "Fine."} for record in TALKS]}
    write(tmp_path, {"t.json": tests, "r.jsonl": TALKS})
    with model_server(together()) as server:
        ran = run(
            "grade", "r.jsonl", "-t", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai, "--json"
        )
    wanted = [(record["id"], "fail" if number % 2 else "pass") for number, record in enumerate(TALKS)]
    assert (statuses(ran), len(server.requests)) == (wanted, len(TALKS))


def test_policies_are_judged_several_at_once(run: Any, tmp_path: Path) -> None:
    """With --apply-all each trajectory is judged for each test."""
    write(tmp_path, {"t.json": {"tests": [{"id": "p", "rubric": "Fine."}]}, "r.jsonl": TALKS})
    with model_server(together()) as server:
        options = ("--judge", "openai:x", "--judge-base-url", server.openai, "--json")
        ran = run("grade", "r.jsonl", "-t", "t.json", "--apply-all", *options)
    assert [outcome for _, outcome in statuses(ran)] == ["pass", "fail"] * TOGETHER


def test_attempts_are_judged_while_others_are_made(run: Any, tmp_path: Path) -> None:
    """Those of an agent that is run, as soon as each has ended."""
    agent = "def answer(text):\n    return {'output': text, 'tool_calls': []}\n"
    tests = [{"id": record["id"], "prompt": f"answer {n}", "rubric": "Fine."} for n, record in enumerate(TALKS)]
    write(tmp_path, {"t.json": {"endpoint": {"python": "agent.py:answer"}, "tests": tests}, "agent.py": agent})
    with model_server(together()) as server:
        options = ("--judge", "openai:x", "--judge-base-url", server.openai, "--json")
        ran = run("run", "t.json", *options)
    wanted = [(record["id"], "fail" if number % 2 else "pass") for number, record in enumerate(TALKS)]
    assert (statuses(ran), len(server.requests)) == (wanted, len(TALKS))


def test_a_run_that_is_graded_again_is_judged_several_at_once(run: Any, tmp_path: Path) -> None:
    """Without the agent, from what was kept."""
    agent = "def answer(text):\n    return {'output': text, 'tool_calls': []}\n"
    tests = [{"id": record["id"], "prompt": f"answer {n}", "rubric": "Fine."} for n, record in enumerate(TALKS)]
    write(tmp_path, {"t.json": {"endpoint": {"python": "agent.py:answer"}, "tests": tests}, "agent.py": agent})
    assert run("run", "t.json").code == 3
    (directory,) = (tmp_path / ".rightcall" / "runs").glob("2*")
    with model_server(together()) as server:
        options = ("--judge", "openai:x", "--judge-base-url", server.openai, "--json")
        ran = run("grade", str(directory), *options)
    assert [outcome for _, outcome in statuses(ran)] == ["pass", "fail"] * TOGETHER


def test_samples_are_asked_at_once(run: Any, tmp_path: Path) -> None:
    """As often as they will be asked, and not once more."""
    rubric = {"criteria": "Fine.", "samples": TOGETHER + 1}
    write(tmp_path, {"t.json": {"tests": [{"id": "t0", "rubric": rubric}]}, "r.jsonl": TALKS[:1]})
    barrier = threading.Barrier(TOGETHER + 1)

    def answer(_: Request) -> str:
        barrier.wait(10)
        return json.dumps(saying("pass"))

    with model_server(answer) as server:
        ran = run(
            "grade", "r.jsonl", "-t", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai, "--json"
        )
    assert (statuses(ran), len(server.requests)) == ([("t0", "pass")], TOGETHER + 1)


def test_what_fails_ahead_fails_in_its_time(run: Any, tmp_path: Path) -> None:
    """Each verdict is an error of its own."""
    tests = {"tests": [{"id": record["id"], "rubric": "Fine."} for record in TALKS]}
    write(tmp_path, {"t.json": tests, "r.jsonl": TALKS})
    with model_server([Trouble(401)]) as server:
        ran = run(
            "grade", "r.jsonl", "-t", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai, "--json"
        )
    assert (ran.code, {outcome for _, outcome in statuses(ran)}, len(server.requests)) == (3, {"error"}, len(TALKS))


class Begun(Scripted):
    """An asker that is asked ahead, and keeps what."""

    def __init__(self) -> None:
        super().__init__(saying("pass"))
        self.begun: list[Question] = []

    def begin(self, question: Question) -> None:
        self.begun.append(question)


RUBRIC: Final = Rubric(criteria="x")
NOT_ASKED: Final[dict[str, tuple[Any, Any]]] = {
    "trouble": (RUBRIC, talk(trouble="no connection")),
    "a failure": (RUBRIC, talk(failure="it broke")),
    "a gap": (RUBRIC, talk(gaps=("cut",))),
    "no words": (RUBRIC, talk(messages=None)),
    "no calls recorded": (ToolSelect(), talk(tool_calls=None, available_tools=tools("a"))),
    "a kind that asks nobody": (ToolSelect(expected_tools=("a",)), talk(call("a"))),
}


@pytest.mark.parametrize(("assertion", "made"), NOT_ASKED.values(), ids=NOT_ASKED)
def test_nothing_is_paid_for_that_is_not_judged(assertion: Any, made: Any) -> None:
    """What grading would not ask is not asked ahead of it (G3, G12, G38)."""
    ask = Begun()
    ahead.begin(made, CompiledTest(Test(id="t"), compiled(assertion, judge=ask)))
    assert ask.begun == []


def test_what_is_asked_ahead_is_what_will_be_asked() -> None:
    """The same question, word for word."""
    ask = Begun()
    (ready,) = compiled(RUBRIC, judge=ask)
    ahead.begin(talk(call("a")), CompiledTest(Test(id="t"), (ready,)))
    ready.check(talk(call("a")))
    assert ask.begun == ask.asked


def test_items_stay_in_order() -> None:
    """A few are begun before the first is worked on, and none of those after them."""
    begun: list[int] = []
    items = ahead.looking(range(100), begun.append)
    assert (next(items), len(begun)) == (0, ahead.AT_ONCE + 1)
    assert (list(items), begun) == (list(range(1, 100)), list(range(100)))


def test_whoever_interrupts_does_not_wait_for_a_model(tmp_path: Path) -> None:
    """The command ends with 130 though an answer is on its way (G39)."""
    write(tmp_path, {"t.json": {"tests": [{"id": "t0", "rubric": "Fine."}]}, "r.jsonl": TALKS[:1]})
    asked, release = threading.Event(), threading.Event()

    def hanging(_: Request) -> str:
        asked.set()
        release.wait(90)
        return json.dumps(saying("pass"))

    with model_server(hanging) as server:
        options = ("r.jsonl", "-t", "t.json", "--judge", "openai:x", "--judge-base-url", server.openai)
        command = [sys.executable, "-m", "rightcall", "grade", *options]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        release.set()
    assert process.returncode == 130
