"""Functions of users that judge: nothing that they do ends a run, spoils a report or turns into a pass (G5)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rightcall import match
from rightcall.assertions import Code, ToolCallTrajectory
from rightcall.core import jsontext
from rightcall.core.patterns import ExpectedCall
from rightcall.core.verdicts import Finding
from support.grading import call, judge


class Silent(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError


class Text(str):
    """A string of a class of its own."""


class Number(float):
    """A number of a class of its own, as of NumPy."""


def raising(error: BaseException) -> Callable[[Any], Any]:
    """A function that raises."""

    def judges(_: Any) -> Any:
        raise error

    return judges


def returning(value: Any) -> Callable[[Any], Any]:
    """A function that returns a value."""

    def judges(_: Any) -> Any:
        return value

    return judges


class NoException(BaseException):
    """What is raised to get past every handler."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SystemExit(0), "SystemExit: 0"),
        (GeneratorExit(), "GeneratorExit: "),
        (NoException("x"), "NoException: x"),
        (pytest.fail.Exception("no"), "Failed: no"),
        (Silent(), "Silent, which cannot be shown"),
    ],
)
def test_whatever_is_raised_is_an_error(error: BaseException, words: str) -> None:
    """What is raised by a function, or by the `__eq__` of an expected value, is one verdict that cannot be judged."""
    verdict = judge(Code(function=raising(error)), [call("a")])
    assert (verdict.status, verdict.reason) == ("error", f"`code:judges` raised {words}")

    class Raises:
        __hash__ = None  # type: ignore[assignment]  # it is compared only

        def __eq__(self, other: object) -> bool:
            raise error

    expected = ExpectedCall(name="a", arguments={"x": match.not_(Raises())})
    compared = judge(ToolCallTrajectory(expected_tool_calls=(expected,)), [call("a", {"x": 1})])
    assert compared.status == "error"
    assert compared.reason.endswith(words)


def test_an_interrupt_is_the_users() -> None:
    """Who interrupts a run ends it."""
    with pytest.raises(KeyboardInterrupt):
        judge(Code(function=raising(KeyboardInterrupt())), [call("a")])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Finding(code="x", message="m", expected=object()), "cannot be written"),
        (Finding(code=3, message="m"), "cannot be written"),  # type: ignore[arg-type]  # as a user may
        (Finding(code="x", message="m", made_index="one"), "cannot be written"),  # type: ignore[arg-type]  # the same
        (Finding(code="x", message=""), "without a `code` or a `message`"),
        ([True, Finding(code="x", message="m", actual={1})], ""),
    ],
)
def test_a_finding_that_no_report_can_write_is_an_error(value: Any, reason: str) -> None:
    """A finding is looked at when it is returned, so that the report of all the others is still written (G4)."""
    verdict = judge(Code(function=returning(value)), [call("a")])
    assert reason in verdict.reason
    assert jsontext.encode(verdict.record())


def test_values_of_odd_classes_are_written_as_what_they_are() -> None:
    """A string or number of a class of its own is a string or number."""
    for value in (Text("bad"), {"passed": False, "score": Number(0.5), "reason": Text("bad")}):
        verdict = judge(Code(function=returning(value)), [call("a")])
        assert (verdict.status, verdict.reason) == ("fail", "bad")
        assert jsontext.decode(jsontext.encode(verdict.record()))["reason"] == "bad"


def test_words_do_not_tell_where_objects_lie() -> None:
    """The address of an object differs from run to run, and is left out (G5)."""
    verdict = judge(Code(function=returning(object())), [call("a")])
    assert verdict.reason.startswith("`code:judges` returned <object object>: expected True")
    expected = ExpectedCall(name="a", arguments={"x": object()})
    missed = judge(ToolCallTrajectory(expected_tool_calls=(expected,)), [call("a", {"x": 1})])
    assert missed.reason == "Expected a with x = <object object>; call 1 had x = 1."


def test_prints_do_not_reach_the_report(tmp_path: Path) -> None:
    """The standard output of `--json` is the report, whatever a function or its file prints."""
    (tmp_path / "checks.py").write_text("print('loaded')\ndef talks(trace):\n    print('called')\n    return True\n")
    (tmp_path / "t.yaml").write_text("tests: [{id: a, code: 'checks.py:talks'}]\n")
    (tmp_path / "a.jsonl").write_text('{"id": "a", "tool_calls": []}\n')
    command = [sys.executable, "-m", "rightcall", "grade", "a.jsonl", "--tests", "t.yaml", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["results"][0]["outcome"] == "pass"
    assert done.stderr.split() == ["loaded", "called"]


@pytest.mark.parametrize(("said", "reason"), [
    ("nobody was asked", "nobody was asked. No tool calls were made."),
    ("Nobody was asked.", "Nobody was asked. No tool calls were made."),
    ("was nobody asked?", "was nobody asked? No tool calls were made."),
])  # fmt: skip
def test_a_reason_without_calls_stays_two_sentences(said: str, reason: str) -> None:
    """What is added where no call was made is a sentence of its own (G3)."""
    assert judge(Code(function=returning(said)), []).reason == reason
