"""`rightcall run`: an agent of a file, from the test set to the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Ran
from support.running import attempts, numbers, project, run_directory

A = {"id": "a", "prompt": "lookup refund"}
B = {"id": "b", "prompt": "lookup", "tags": ["smoke"], "requirement": "Looks up"}


pytestmark = pytest.mark.usefixtures("in_tmp")


def outcomes(ran: Ran) -> dict[str, str]:
    return {result["id"]: result["outcome"] for result in json.loads(ran.out)["results"]}


@pytest.mark.parametrize(
    ("test", "outcome", "code"),
    [
        ({"prompt": "lookup"}, "pass", 0),
        ({"prompt": "lookup", "expected_tool_calls": []}, "fail", 1),
        ({"prompt": "fail", "forbidden_tools": ["lookup"]}, "fail", 1),
        ({"prompt": "fail", "expected_tool_calls": []}, "fail", 1),
        ({"prompt": 5, "forbidden_tools": ["lookup"]}, "fail", 1),
    ],
)
def test_what_the_agent_does_decides(run: Any, tmp_path: Path, test: dict[str, Any], outcome: str, code: int) -> None:
    """Calls as expected pass, others fail, and so does an agent that raises (G38, G39)."""
    ran = run("run", project(tmp_path, {"id": "t", **test}), "--json")
    assert (outcomes(ran), ran.code) == ({"t": outcome}, code)


def test_run_and_grading_it_again_say_the_same(run: Any, tmp_path: Path) -> None:
    """Byte for byte, with the tests that were kept, though the file has gone."""
    tests = project(tmp_path, A, {"id": "f", "prompt": "fail"}, {"id": "r", "prompt": "x", "repeat": 3})
    live = run("run", tests, "--json")
    tests.unlink()
    again = run("grade", run_directory(tmp_path), "--json")
    assert again.code == live.code == 1
    assert json.loads(again.out)["results"] == [
        {
            **result,
            "attempts": [{**one, "place": f"{run_directory(tmp_path)}/attempts.jsonl"} for one in result["attempts"]],
        }
        for result in json.loads(live.out)["results"]
    ]


def test_run_is_graded_again_by_other_tests(run: Any, tmp_path: Path) -> None:
    """A test that the run did not know could not be judged; attempts that no test is for are told."""
    run("run", project(tmp_path, A, B))
    other = tmp_path / "other.rightcall.json"
    tests = [{"id": "a", "forbidden_tools": ["refund"]}, {"id": "new", "required_tools": ["x"]}]
    other.write_text(json.dumps({"version": 1, "tests": tests}))
    ran = run("grade", run_directory(tmp_path), "-t", other, "--json")
    report = json.loads(ran.out)
    assert (outcomes(ran), report["unused"], ran.code) == ({"a": "fail", "new": "error"}, ["b"], 1)


def test_journal_holds_each_attempt(run: Any, tmp_path: Path) -> None:
    """Every attempt once, as native records that `show` reads."""
    run("run", project(tmp_path, A, {**B, "repeat": 3}), "-j", "1")
    assert numbers(run_directory(tmp_path)) == [("a", 1), ("b", 1), ("b", 2), ("b", 3)]
    shown = run("show", run_directory(tmp_path))
    assert (shown.code, "4 trajectories" in shown.out) == (0, True)


def test_plan_sends_nothing(run: Any, tmp_path: Path) -> None:
    """It says what would be sent, and looks nothing up that is secret."""
    agent = {"command": {"argv": ["agent"], "env": ["SECRET_THAT_IS_NOT_SET"]}}
    tests = project(tmp_path, {**A, "repeat": 2}, endpoint=agent)
    ran = run("run", tests, "--plan", "--json")
    plan = json.loads(ran.out)
    assert ran.code == 0
    assert [(one["id"], one["attempts"], one["turns"]) for one in plan["tests"]] == [("a", 2, ["lookup refund"])]
    assert "SECRET_THAT_IS_NOT_SET" in ran.out
    assert not tmp_path.joinpath(".rightcall").exists()
    assert run("run", tests).code == 2


def test_dry_run_keeps_and_gates_nothing(run: Any, tmp_path: Path) -> None:
    """A failure gives 0, what could not be judged 3."""
    failing = project(tmp_path, {**A, "expected_tool_calls": []})
    ran = run("run", failing, "--dry-run", "--json")
    assert (outcomes(ran), ran.code) == ({"a": "fail"}, 0)
    assert not tmp_path.joinpath(".rightcall").exists()
    broken = project(tmp_path, A, endpoint={"command": ["there-is-no-such-program"]})
    assert run("run", broken, "--dry-run").code == 3
    assert run("run", failing, "--dry-run", "-o", "r.json").code == 2


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        (["a"], ["a"]),
        (["*"], ["a", "b", "c:d"]),
        (["a", "b"], ["a", "b"]),
        (["tag:smoke"], ["b"]),
        (["requirement:Looks*"], ["b"]),
        (["id:c:*"], ["c:d"]),
        (["tag:smoke", "id:?"], ["b"]),
    ],
)
def test_filters_choose_tests(run: Any, tmp_path: Path, filters: list[str], ids: list[str]) -> None:
    """Those of one field are alternatives, those of different fields must all hold."""
    tests = project(tmp_path, A, B, {"id": "c:d", "prompt": "x"})
    options = [word for text in filters for word in ("--filter", text)]
    assert list(outcomes(run("run", tests, "--json", *options))) == ids


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--filter", "x*"], "--filter x*: no test matches; the tests are a"),
        (["--filter", "tags:x"], "there is no field `tags` (did you mean `tag`?)"),
        (["--failed"], "--failed: no run of these tests has ended yet"),
        (["--retry-errors"], "--retry-errors needs a run to go on with"),
        (["--resume", "nowhere"], "is no run"),
        (["--resume", ".", "--repeat", "2"], "--repeat cannot be had with --resume: the run goes on as it began"),
        (["--rate", "fast"], "--rate: expected turns in a second"),
        (["--timeout", "nan"], "Invalid value for '--timeout': nan is no number of seconds"),
        (["--timeout", "inf"], "Invalid value for '--timeout': inf is no number of seconds"),
        (["--endpoint", "command:'agent"], "`command:'agent` is no command: no closing quotation"),
        (["--endpoint", "carrier-pigeon"], "expected a URL or one of"),
        (["-o", "t.rightcall.json"], "is read as input"),
        (["--fail-on", "regression"], "--baseline"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_sent(run: Any, tmp_path: Path, options: list[str], told: str) -> None:
    """Exit code 2, one sentence, and no run is begun."""
    ran = run("run", project(tmp_path, A), *options)
    assert (ran.code, told in ran.err, "Traceback" in ran.err) == (2, True, False), ran.err
    assert not tmp_path.joinpath(".rightcall").exists()


@pytest.mark.parametrize(
    ("test", "keys", "told"),
    [
        ({"expected_tool_calls": []}, {}, "the test `t` has no `prompt` and no `turns`"),
        ({"turns": [{"prompt": "x"}, {"required_tools": ["x"]}]}, {}, "turn 2 of the test `t` has no `prompt`"),
        ({"prompt": "x", "turns": [{"prompt": "y"}]}, {}, "has a `prompt`, and its first turn has one too"),
        ({"prompt": "x"}, {"endpoint": None}, "has no `endpoint`"),
        ({"prompt": "x"}, {"endpoint": {"python": "agent.py:anser"}}, "anser"),
        ({"prompt": "x"}, {"endpoint": {"pyton": "agent.py:answer"}}, "did you mean `python`"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    run: Any, tmp_path: Path, test: dict[str, Any], keys: dict[str, Any], told: str
) -> None:
    """A test that says nothing to the agent, or a test set whose agent is nowhere (G27)."""
    ran = run("run", project(tmp_path, {"id": "t", "forbidden_tools": ["z"], **test}, **keys))
    assert (ran.code, told in ran.err) == (2, True), ran.err
    assert not tmp_path.joinpath(".rightcall").exists()


def test_prompt_of_the_test_is_that_of_its_first_turn(run: Any, tmp_path: Path) -> None:
    """Where the first turn has none of its own."""
    turns = [{"required_tools": ["one"]}, {"prompt": "two", "expected_tool_calls": ["two"]}]
    ran = run("run", project(tmp_path, {"id": "t", "prompt": "one", "turns": turns}), "--json")
    assert outcomes(ran) == {"t": "pass"}


def test_endpoint_on_the_command_line_comes_first(run: Any, tmp_path: Path) -> None:
    """Its paths are relative to where the command is run."""
    tests = project(tmp_path, A, endpoint={"command": ["there-is-no-such-program"]})
    assert run("run", tests, "--endpoint", "python:agent.py:answer").code == 0


def test_trouble_is_an_error_never_a_failure(run: Any, tmp_path: Path) -> None:
    """A program that cannot be started says nothing of the agent (G38, G39)."""
    tests = project(tmp_path, {"id": "t", "prompt": "x", "forbidden_tools": ["y"]}, endpoint={"command": ["no-such"]})
    ran = run("run", tests, "--json")
    assert (outcomes(ran), ran.code) == ({"t": "error"}, 3)
    assert "no-such" in json.loads(ran.out)["results"][0]["attempts"][0]["reason"]
    assert run("run", tests, "--allow-errors", "1", "--exit-zero").code == 3


def test_last_failures_are_run_first_or_alone(run: Any, tmp_path: Path) -> None:
    """What counts is how each test ended when it was last run."""
    tests = project(tmp_path, A, {"id": "bad", "prompt": "fail"}, B)
    run("run", tests)
    assert list(outcomes(run("run", tests, "--failed-first", "--json"))) == ["bad", "a", "b"]
    assert list(outcomes(run("run", tests, "--filter", "a", "--json"))) == ["a"]
    assert list(outcomes(run("run", tests, "--failed", "--json"))) == ["bad"]
    project(tmp_path, A, {"id": "bad", "prompt": "x"}, B)
    run("run", tests, "--failed")
    assert "every test passed" in run("run", tests, "--failed").err


def test_attempts_are_as_many_as_asked_for(run: Any, tmp_path: Path) -> None:
    """By the test, or by the command line; the rate of those that pass decides (G37)."""
    tests = project(
        tmp_path,
        {"id": "f", "prompt": "flaky", "repeat": 4, "min_pass_rate": "1/2", "expected_tool_calls": ["flaky"]},
    )
    ran = run("run", tests, "--json", "-j", "1")
    (result,) = json.loads(ran.out)["results"]
    assert [one["outcome"] for one in result["attempts"]] == ["pass", "fail", "pass", "fail"]
    assert (result["outcome"], result["statistics"]["flaky"]) == ("pass", True)
    ran = run("run", tests, "--json", "-j", "1", "--repeat", "3")
    assert len(json.loads(ran.out)["results"][0]["attempts"]) == 3


def test_early_stop_makes_no_attempt_at_a_settled_test(run: Any, tmp_path: Path) -> None:
    """The second failure of four settles a test of which three must pass, and the result says so (G37)."""
    bad = {"id": "bad", "prompt": "fail", "repeat": 4, "min_pass_rate": "3/4", "expected_tool_calls": []}
    tests = project(tmp_path, bad, {**A, "repeat": 2})
    ran = run("run", tests, "--json", "-j", "1", "--early-stop")
    results = {result["id"]: result for result in json.loads(ran.out)["results"]}
    assert len(results["bad"]["attempts"]) == 2
    assert (results["bad"]["outcome"], results["bad"]["reason"]) == ("fail", "settled after 2 of 4 attempts")
    assert (results["a"]["outcome"], len(results["a"]["attempts"])) == ("pass", 2)
    again = run("grade", run_directory(tmp_path), "--json")
    assert outcomes(again) == {"bad": "fail", "a": "pass"}


def test_reports_are_written_as_for_grade(run: Any, tmp_path: Path) -> None:
    """All of them from the same results."""
    run("run", project(tmp_path, A), "-o", "r.xml", "-o", "r.jsonl")
    assert 'tests="1"' in tmp_path.joinpath("r.xml").read_text()
    assert json.loads(tmp_path.joinpath("r.jsonl").read_text())["outcome"] == "pass"
    assert json.loads(run_directory(tmp_path).joinpath("results.jsonl").read_text())["outcome"] == "pass"


def test_runs_are_kept_out_of_version_control(run: Any, tmp_path: Path) -> None:
    """By a file in their directory; not where another directory is named."""
    run("run", project(tmp_path, A))
    assert tmp_path.joinpath(".rightcall", "runs", ".gitignore").read_text().endswith("*\n")
    run("run", project(tmp_path, A), "--out-dir", "kept")
    assert [path.name.startswith("2") for path in tmp_path.joinpath("kept").iterdir()] == [True]


def test_agent_is_told_which_test_and_attempt_it_is(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attempt under an id of its own, in this run and in others."""
    log = tmp_path / "log"
    monkeypatch.setenv("LOG", str(log))
    tests = project(tmp_path, {**A, "repeat": 3})
    run("run", tests)
    run("run", tests)
    told = [line.split() for line in log.read_text().splitlines()]
    assert [test for test, _ in told] == ["a"] * 6
    assert len({attempt for _, attempt in told}) == 6


def test_what_was_recorded_is_hidden_in_reports(run: Any, tmp_path: Path) -> None:
    """By the same rules as for `grade`."""
    ran = run("run", project(tmp_path, {**A, "expected_tool_calls": []}), "--json", "--redact", "output")
    assert ran.code == 1
    assert attempts(run_directory(tmp_path))[0]["output"] == "ok"


def test_several_test_sets_have_agents_of_their_own(run: Any, tmp_path: Path) -> None:
    """One run, with the strictest gate; ids must be unique over all of them (G36)."""
    first = project(tmp_path, A)
    other = tmp_path / "other"
    other.mkdir()
    second = project(other, B, gate={"min_graded": 2})
    other.joinpath("agent.py").write_text("def answer(text): return {'output': 'other', 'tool_calls': []}")
    ran = run("run", first, second, "--json")
    assert (outcomes(ran), ran.code) == ({"a": "pass", "b": "fail"}, 1)
    assert outcomes(run("grade", run_directory(tmp_path), "--json")) == {"a": "pass", "b": "fail"}
    assert run("run", first, first).code == 2


def test_one_test_a_line_is_run_with_keys_of_a_file_beside_it(run: Any, tmp_path: Path) -> None:
    """Where the agent is, for example; both files are kept with the run."""
    project(tmp_path, A)
    tests, config = tmp_path / "t.jsonl", tmp_path / "config.json"
    tests.write_text(json.dumps({"id": "l", "prompt": "x", "expected_tool_calls": ["x"]}) + "\n")
    config.write_text(json.dumps({"endpoint": {"python": "agent.py:answer"}}))
    ran = run("run", tests, "--config", config, "--json")
    assert (outcomes(ran), ran.code) == ({"l": "pass"}, 0)
    tests.unlink()
    config.unlink()
    assert outcomes(run("grade", run_directory(tmp_path), "--json")) == {"l": "pass"}
    assert outcomes(run("run", "--resume", run_directory(tmp_path), "--json")) == {"l": "pass"}
