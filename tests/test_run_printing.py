"""What judges and simulated users of Python print, beside agents that begin and end meanwhile."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from rightcall.agents import printing
from support.command_line import run_here

FUNCTIONS = """
def answer(prompt):
    print("judged")
    return {"verdict": "pass", "reason": "It does."}


def speak(prompt):
    print("spoken")
    return {"message": "Thanks!", "done": bool(prompt.data["Conversation"])}


def agent(text):
    print("answered")
    return {"output": "Yes.", "tool_calls": []}
"""
TESTS = """
endpoint: {python: "users.py:agent"}
judge: python:users.py:answer
simulator: python:users.py:speak
tests:
  - {id: a, persona: {goal: Get an answer., first_message: Hi!}, rubric: It answers.}
"""


def test_what_judges_and_simulated_users_print_is_kept_away_from_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The standard output belongs to reports, the standard error to what functions of users print."""
    monkeypatch.chdir(tmp_path)
    Path("users.py").write_text(FUNCTIONS)
    Path("t.rightcall.yaml").write_text(TESTS)
    ran = run_here(capfdbinary, "run", "t.rightcall.yaml", "--dry-run")
    assert (ran.code, [word for word in ("judged", "spoken", "answered") if word not in ran.err]) == (0, [])
    assert [word for word in ("judged", "spoken", "answered") if word in ran.out] == []


def test_what_stands_for_the_standard_output_outlives_the_block() -> None:
    """CPython's `print` borrows the stream: one that another thread frees meanwhile ends the process."""
    before = sys.stdout
    with printing.diverted():
        first = sys.stdout
    with printing.diverted():
        second = sys.stdout
    assert (sys.stdout, second) == (before, first)


def test_the_stream_is_put_back_whichever_block_ends_last() -> None:
    """Blocks of several threads overlap, and none leaves its stream behind."""
    before = sys.stdout
    begun, ended = threading.Event(), threading.Event()

    def other() -> None:
        with printing.diverted():
            begun.set()
            ended.wait(10)

    thread = threading.Thread(target=other)
    with printing.diverted():
        thread.start()
        begun.wait(10)
    assert sys.stdout is not before
    ended.set()
    thread.join(10)
    assert sys.stdout is before
