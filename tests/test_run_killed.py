"""Runs that are killed, interrupted and gone on with: nothing is lost, and nothing recorded is made again."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Ran, run_apart
from support.running import attempts, numbers, run_directory

AGENT = '''
import asyncio
import os

async def answer(turn):
    """Say on a pipe that a conversation has begun, and wait for ever where `STUCK` says so."""
    told = f"{turn.test} {turn.attempt}\\n".encode()
    log = os.open("log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, told)
    os.close(log)
    if "PIPE" in os.environ:
        os.write(int(os.environ["PIPE"]), b".")
    if turn.test == os.environ.get("STUCK"):
        await asyncio.Event().wait()
    await asyncio.sleep(0)
    return {"output": "ok", "tool_calls": [{"name": "a", "arguments": {}}]}
'''
TESTS, REPEAT = 20, 3


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Path:
    tests = [{"id": f"t{n}", "prompt": "x", "repeat": REPEAT, "required_tools": ["a"]} for n in range(TESTS)]
    whole = {"version": 1, "endpoint": {"python": "agent.py:answer"}, "tests": tests}
    tmp_path.joinpath("agent.py").write_text(AGENT)
    tmp_path.joinpath("t.rightcall.json").write_text(json.dumps(whole))
    return tmp_path


class Child:
    """A run in a process of its own, which tells on a pipe of each conversation that it begins."""

    def __init__(self, place: Path, *arguments: str, **environment: str) -> None:
        self.reading, writing = os.pipe()
        program = [sys.executable, "-c", "from rightcall.faces.cli import main; main()", *arguments]
        variables = {**os.environ, "PIPE": str(writing), **environment}
        self.process = subprocess.Popen(
            program, cwd=place, env=variables, pass_fds=[writing], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        os.close(writing)

    def await_conversations(self, count: int) -> int:
        """Wait until so many have begun, or it has ended; return how many did."""
        begun = 0
        while begun < count and (told := os.read(self.reading, count - begun)):
            begun += len(told)
        return begun

    def ended(self) -> Ran:
        """What it came to."""
        out, err = self.process.communicate()
        os.close(self.reading)
        return Ran(self.process.returncode, out.decode(), err.decode())


def kept(place: Path) -> list[tuple[str, int]]:
    """What is in the journal, whole lines alone."""
    path = run_directory(place) / "attempts.jsonl"
    text = path.read_bytes()
    lines = text[: text.rfind(b"\n") + 1].splitlines()
    told = map(json.loads, lines)
    return [(one["test_id"], one["metadata"]["rightcall"]["attempt"]) for one in told]


def begun(place: Path) -> list[str]:
    """The attempts that the agent saw, in order."""
    log = place / "log"
    return log.read_text().splitlines() if log.exists() else []


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_moment_nothing_is_lost_and_nothing_recorded_is_made_again(place: Path, seed: int) -> None:
    """Each attempt ends up in the journal once, and the agent sees none that was recorded before."""
    chance = random.Random(seed)
    arguments: list[str] = ["run", "t.rightcall.json", "-j", "4"]
    for _ in range(4):
        child = Child(place, *arguments)
        child.await_conversations(chance.randrange(1, 25))
        child.process.send_signal(signal.SIGKILL)
        child.ended()
        before, seen = kept(place), begun(place)
        assert len(set(before)) == len(before)
        arguments = ["run", "--resume", str(run_directory(place)), "--json"]
    last = run_apart(*arguments, cwd=place)
    assert last.code == 0, last.err
    everything = [(f"t{n}", number) for n in range(TESTS) for number in range(1, REPEAT + 1)]
    assert sorted(numbers(run_directory(place))) == sorted(everything)
    assert numbers(run_directory(place))[: len(before)] == before
    again = Counter(line.split()[0] for line in begun(place)[len(seen) :])
    left = Counter(test for test, _ in set(everything) - set(before))
    assert again == left
    results = json.loads(last.out)["results"]
    assert [(one["outcome"], len(one["attempts"])) for one in results] == [("pass", REPEAT)] * TESTS


def test_run_gone_on_with_says_what_an_unbroken_one_says(place: Path) -> None:
    """The same results, attempt by attempt."""
    child = Child(place, "run", "t.rightcall.json", "-j", "4", "--out-dir", "broken")
    child.await_conversations(10)
    child.process.send_signal(signal.SIGKILL)
    child.ended()
    (broken,) = place.joinpath("broken").glob("2*")
    whole = run_apart("run", "t.rightcall.json", "--out-dir", "whole", "--json", cwd=place)
    resumed = run_apart("run", "--resume", str(broken), "--json", cwd=place)

    def without_run(ran: Ran) -> Any:
        results = json.loads(ran.out)["results"]
        return [[(a["trajectory"], a["outcome"], a["calls"]) for a in one["attempts"]] for one in results]

    assert without_run(resumed) == without_run(whole)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_ends_within_a_moment_and_goes_on_later(place: Path, number: signal.Signals) -> None:
    """What has ended is kept, what hangs is given up, all is reported, and the exit code is 130 (G39)."""
    child = Child(place, "run", "t.rightcall.json", "-j", "2", "-o", "r.json", STUCK="t1")
    child.await_conversations(5)
    child.process.send_signal(number)
    ran = child.ended()
    assert (ran.code, "go on with: rightcall run --resume" in ran.err) == (130, True), ran.err
    report = json.loads(place.joinpath("r.json").read_text())
    outcomes = {one["id"]: (one["outcome"], one["reason"]) for one in report["results"]}
    assert outcomes["t0"] == ("pass", "")
    assert outcomes["t19"] == ("error", "no attempt was made")
    assert report["decision"]["passed"] is False
    assert any("stopped after" in warning for warning in report["warnings"])
    resumed = run_apart("run", "--resume", str(run_directory(place)), cwd=place)
    assert resumed.code == 0, resumed.err
    assert len(set(numbers(run_directory(place)))) == len(attempts(run_directory(place))) == TESTS * REPEAT


JUDGE = """
def judge(prompt):
    raise AssertionError("nobody is asked once the run is stopped")
"""


def test_interrupted_run_waits_for_no_judge(place: Path) -> None:
    """What was recorded and not judged is told as such, and judged when the run is gone on with."""
    path = place / "t.rightcall.json"
    whole = json.loads(path.read_text())
    tests = [{"id": f"t{n}", "prompt": "x", "rubric": "It is polite."} for n in range(3)]
    path.write_text(json.dumps({**whole, "judge": "python:judge.py:judge", "tests": tests}))
    place.joinpath("judge.py").write_text(JUDGE)
    waiting = 'while not os.path.exists("go"):\n        await asyncio.sleep(0)'
    place.joinpath("agent.py").write_text(AGENT.replace("await asyncio.sleep(0)", waiting))
    child = Child(place, "run", "t.rightcall.json", "-j", "1", "--json")
    child.await_conversations(1)
    child.process.send_signal(signal.SIGINT)
    assert child.process.stderr is not None
    child.process.stderr.readline()
    place.joinpath("go").touch()
    ran = child.ended()
    first, *others = json.loads(ran.out)["results"]
    assert ran.code == 130
    assert [one["reason"] for one in first["attempts"]] == [
        "it was recorded, and not judged before the run was stopped"
    ]
    assert {one["reason"] for one in others} == {"no attempt was made"}


def test_second_interruption_ends_at_once(place: Path) -> None:
    """Without waiting for anything; the journal is whole all the same."""
    child = Child(place, "run", "t.rightcall.json", "-j", "1", STUCK="t1")
    child.await_conversations(4)
    child.process.send_signal(signal.SIGINT)
    assert child.process.stderr is not None
    child.process.stderr.readline()
    child.process.send_signal(signal.SIGINT)
    assert child.ended().code == 130
    assert numbers(run_directory(place)) == [("t0", 1), ("t0", 2), ("t0", 3)]


def test_two_cannot_go_on_with_one_run(place: Path) -> None:
    """While one is at work, the other is refused with what to do."""
    child = Child(place, "run", "t.rightcall.json", "-j", "1", STUCK="t0")
    child.await_conversations(1)
    other = run_apart("run", "--resume", str(run_directory(place)), cwd=place)
    assert (other.code, "another rightcall is at work on this run" in other.err) == (2, True)
    child.process.send_signal(signal.SIGKILL)
    child.ended()
    assert run_apart("run", "--resume", str(run_directory(place)), cwd=place).code == 0


def test_run_that_was_killed_is_not_graded_as_if_it_were_whole(place: Path) -> None:
    """Attempts that were not made are unknown: what they could change could not be judged (G37)."""
    child = Child(place, "run", "t.rightcall.json", "-j", "1", STUCK="t1")
    child.await_conversations(4)
    child.process.send_signal(signal.SIGKILL)
    child.ended()
    graded = run_apart("grade", str(run_directory(place)), "--json", cwd=place)
    outcomes = [(one["outcome"], one["reason"]) for one in json.loads(graded.out)["results"]]
    assert outcomes == [("pass", ""), *[("error", "no attempt was made")] * (TESTS - 1)]
    assert graded.code == 3


def test_no_program_goes_on_where_a_run_is_ended_at_once(place: Path) -> None:
    """An agent that is a program is ended too, with what it started: nobody holds its end of the pipe any more."""
    held = place / "held"
    os.mkfifo(held)
    path = place / "t.rightcall.json"
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({**whole, "endpoint": {"command": ["sh", "-c", "exec 9>held; echo >&9; sleep 1000"]}}))
    child = Child(place, "run", "t.rightcall.json", "-j", "1")
    # Opened so that it does not wait for who writes: nobody would, if the run did not get so far.
    with open(os.open(held, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as reading:
        ready, _, _ = select.select([reading], [], [], 60)
        assert (bool(ready), reading.read(1)) == (True, b"\n")
        child.process.send_signal(signal.SIGINT)
        assert child.process.stderr is not None
        child.process.stderr.readline()
        child.process.send_signal(signal.SIGINT)
        assert child.ended().code == 130
        ready, _, _ = select.select([reading], [], [], 60)
        assert (bool(ready), reading.read(1)) == (True, b"")
