"""Rubrics under pytest: the settings of a project name the judge, and the environment goes before them."""

from __future__ import annotations

import json

import pytest

from support.inner_pytest import run, write
from support.judging import TALK

JUDGE = """
def yes(prompt):
    return {'reason': 'yes', 'verdict': 'pass'}

def no(prompt):
    return {'reason': 'it is not', 'verdict': 'fail'}
"""


@pytest.fixture(autouse=True)
def _project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RIGHTCALL_JUDGE", raising=False)
    tests = {"version": 1, "tests": [{"id": "a", "rubric": "The agent says sorry."}]}
    record = {"id": "a", "tool_calls": [], "messages": TALK}
    write(pytester, a__rightcall__json=json.dumps(tests), a__traces__jsonl=f"{json.dumps(record)}\n", judge__py=JUDGE)


@pytest.mark.parametrize(
    ("settings", "environment", "outcomes"),
    [
        ("", "", {"errors": 1, "failed": 1}),
        ("rightcall_judge = python:judge.py:yes", "", {"passed": 2}),
        ("rightcall_judge = python:judge.py:no", "", {"failed": 2}),
        ("rightcall_judge = python:judge.py:no", "python:judge.py:yes", {"passed": 2}),
        ("", "python:judge.py:yes", {"passed": 2}),
        ("rightcall_judge = gpt", "", {"errors": 1, "failed": 1}),
    ],
    ids=["none", "setting", "fails", "environment first", "environment", "none such"],
)
def test_the_judge_of_a_project(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    environment: str,
    outcomes: dict[str, int],
) -> None:
    """Without one nothing is judged, and that is no pass (G1)."""
    monkeypatch.setenv("RIGHTCALL_JUDGE", environment)
    write(pytester, pytest__ini=f"[pytest]\n{settings}\n")
    result, _ = run(pytester)
    result.assert_outcomes(**outcomes)


def test_what_is_judged_is_kept_where_the_settings_say(pytester: pytest.Pytester) -> None:
    """The second run finds the answer."""
    settings = "rightcall_judge = python:judge.py:yes\nrightcall_judge_cache = kept"
    write(pytester, pytest__ini=f"[pytest]\n{settings}\n")
    run(pytester)
    assert len(list(pytester.path.joinpath("kept").glob("*/*.json"))) == 1
    write(pytester, judge__py="def yes(prompt):\n    raise KeyError\n")
    run(pytester)[0].assert_outcomes(passed=2)


def test_check_takes_a_judge(pytester: pytest.Pytester) -> None:
    """The fixture has the same argument as the function."""
    test = (
        "def test_it(rightcall):\n"
        f"    made = {{'tool_calls': [], 'messages': {TALK!r}}}\n"
        "    rightcall.check(made, rubric='x', judge=lambda prompt: {'reason': 'r', 'verdict': 'pass'})\n"
    )
    write(pytester, test_it__py=test)
    pytester.runpytest("test_it.py").assert_outcomes(passed=1)
