"""The pytest plugin: test sets whose agent is driven."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.inner_pytest import GOOD, run, run_apart, write

AGENT = """
import pathlib

def answer(text):
    with pathlib.Path("log").open("a") as log:
        print(text, file=log)
    if text == "raise":
        raise ValueError("no stock")
    return {"output": "ok", "tool_calls": [{"name": name, "arguments": {}} for name in text.split()]}
"""
TEST_SET = """
version: 1
endpoint: {python: "agent.py:answer"}
tests:
  - {id: good, prompt: lookup_order, expected_tool_calls: [lookup_order]}
  - {id: bad, prompt: lookup_order, expected_tool_calls: []}
  - {id: broken, prompt: raise, expected_tool_calls: []}
"""
RAN = {"good": "PASSED", "bad": "FAILED", "broken": "FAILED", "[gate]": "FAILED"}


@pytest.fixture(autouse=True)
def _project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RIGHTCALL_LIVE", raising=False)
    write(pytester, agent__py=AGENT, refund__rightcall__yaml=TEST_SET)


def sent(pytester: pytest.Pytester) -> list[str]:
    log = pytester.path / "log"
    return log.read_text().splitlines() if log.exists() else []


def test_agent_is_driven_when_that_is_asked_for(pytester: pytest.Pytester) -> None:
    """Each test once for all its items; what the agent does decides (G38)."""
    result, words = run(pytester, "--rightcall-live")
    assert (words, sorted(sent(pytester))) == (RAN, ["lookup_order", "lookup_order", "raise"])
    assert "agent_failed: The agent failed: ValueError: no stock" in result.stdout.str()
    assert not pytester.path.joinpath(".rightcall").exists()


def test_nothing_is_sent_unless_asked_for(pytester: pytest.Pytester) -> None:
    """The tests are skipped, with what runs them."""
    result, words = run(pytester, "-rs")
    assert (set(words.values()), sent(pytester), result.ret) == ({"SKIPPED"}, [], 0)
    assert "drives an agent: run it with --rightcall-live" in result.stdout.str()


def test_environment_can_ask_for_it(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for marked tests; a word that is none is told, and nothing is sent."""
    monkeypatch.setenv("RIGHTCALL_LIVE", "1")
    assert run(pytester)[1] == RAN
    monkeypatch.setenv("RIGHTCALL_LIVE", "perhaps")
    before = sent(pytester)
    result, words = run(pytester)
    assert (words["good"], sent(pytester)) == ("ERROR", before)
    assert "RIGHTCALL_LIVE" in result.stdout.str()


def test_only_selected_tests_are_sent_where_the_gate_is_not_run(pytester: pytest.Pytester) -> None:
    """A single test costs a single conversation."""
    _, words = run(pytester, "--rightcall-live", "-k", "good")
    assert (words, sent(pytester)) == ({"good": "PASSED"}, ["lookup_order"])


def test_recorded_traces_are_graded_where_live_calls_are_not_wanted(pytester: pytest.Pytester) -> None:
    """Nothing is sent; with live calls, nothing is read."""
    write(pytester, refund__traces__jsonl=GOOD.replace("late-order", "good").replace("opening-hours", "bad"))
    _, words = run(pytester, "-k", "bad")
    assert (words, sent(pytester)) == ({"bad": "PASSED"}, [])
    assert run(pytester, "--rightcall-live", "-k", "bad")[1] == {"bad": "FAILED"}


def test_agent_that_cannot_be_driven_is_told_in_a_sentence(pytester: pytest.Pytester) -> None:
    """It is an error of every test, without a traceback."""
    write(pytester, refund__rightcall__yaml=TEST_SET.replace("answer", "anser"))
    result, words = run(pytester, "--rightcall-live")
    assert {words[name] for name in ("good", "bad", "broken")} == {"ERROR"}
    assert "anser" in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


WAYS = ("load", "loadscope")


@pytest.mark.parametrize("way", WAYS)
def test_several_processes_drive_the_agent_once(tmp_path: Path, way: str) -> None:
    """However xdist deals out tests: those of one file stay together, and others are still spread."""
    pytest.importorskip("xdist")
    tmp_path.joinpath("agent.py").write_text(AGENT)
    tmp_path.joinpath("refund.rightcall.yaml").write_text(TEST_SET.replace("id: good", '"id": "a::b::c"'))
    tmp_path.joinpath("test_others.py").write_text("def test_a(): pass\ndef test_b(): pass\n")
    ran = run_apart(tmp_path, "-n2", "--dist", way, "--rightcall-live")
    assert "3 failed, 3 passed" in ran.stdout, ran.stdout
    log = tmp_path.joinpath("log").read_text().splitlines()
    assert sorted(log) == ["lookup_order", "lookup_order", "raise"]
