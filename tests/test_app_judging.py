"""Who judges: the command line before the environment, both before the test set; nothing is asked without need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import rightcall
from rightcall.app import judging
from rightcall.app.judging import JudgeOptions, SimulatorOptions, judge_for
from rightcall.core.asking import no_judge
from rightcall.core.models import ModelConfig
from rightcall.errors import MissingExtraError, UsageError
from rightcall.testsets import TestSet
from support.command_line import Ran, Run
from support.judging import TALK, saying
from support.model_server import Trouble, model_server

PASS: Final = '{"reason": "fine", "verdict": "pass"}'
RECORD: Final = json.dumps({"id": "a", "tool_calls": [{"name": "x"}], "messages": TALK})


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of whoever runs the tests says anything."""
    for role in ("JUDGE", "SIMULATOR"):
        for name in ("", "_BASE_URL", "_API_KEY_ENV", "_CACHE", "_TIMEOUT"):
            monkeypatch.delenv(f"RIGHTCALL_{role}{name}", raising=False)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a record, a test set that needs a judge, and functions that judge."""
    (tmp_path / "records.jsonl").write_text(f"{RECORD}\n")
    (tmp_path / "t.yaml").write_text("version: 1\ntests: [{id: a, rubric: The agent says sorry.}]\n")
    (tmp_path / "judge.py").write_text(
        "def yes(prompt):\n    return {'reason': 'yes', 'verdict': 'pass'}\n"
        "def no(prompt):\n    return {'reason': 'no', 'verdict': 'fail'}\n"
        "def broken(prompt):\n    raise KeyError('x')\n"
        "def leaving(prompt):\n    raise SystemExit(0)\n"
        "def closing(prompt):\n    raise GeneratorExit\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def graded(run: Run, *options: str) -> int:
    done: Ran = run("grade", "records.jsonl", "-t", "t.yaml", *options)
    return done.code


def written(place: Path, judge: str) -> None:
    (place / "t.yaml").write_text(f"version: 1\njudge: {judge}\ntests: [{{id: a, rubric: The agent says sorry.}}]\n")


def test_without_a_judge_the_run_is_incomplete(place: Path, run: Run) -> None:
    """The exit code is 3, and the reason says what to do (G39)."""
    done = run("grade", "records.jsonl", "-t", "t.yaml")
    assert (done.code, "No judge is configured" in done.out) == (3, True)


def test_the_option_goes_before_the_environment_and_both_before_the_test_set(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is nearer to the command decides."""
    written(place, "python:judge.py:yes")
    assert graded(run) == 0
    monkeypatch.setenv("RIGHTCALL_JUDGE", "python:judge.py:no")
    assert graded(run) == 1
    assert graded(run, "--judge", "python:judge.py:yes") == 0


def test_who_names_the_model_says_how_it_is_reached(place: Path, run: Run) -> None:
    """What the test set says of another model is not taken for this one; its cache is."""
    written(place, "{model: 'openai:x', base_url: 'http://127.0.0.1:1/v1', api_key_env: X, timeout: 1, cache: kept}")
    assert graded(run, "--judge", "python:judge.py:yes") == 0
    assert len(list((place / "kept").glob("*/*.json"))) == 1


def test_paths_in_a_test_set_are_relative_to_it(place: Path, run: Run, tmp_path: Path) -> None:
    """Those of options to where the command is given."""
    inner = place / "inner"
    inner.mkdir()
    for name in ("t.yaml", "judge.py"):
        (place / name).rename(inner / name)
    written(inner, "{model: 'python:judge.py:yes', cache: kept}")
    assert run("grade", "records.jsonl", "-t", "inner/t.yaml").code == 0
    assert len(list((inner / "kept").glob("*/*.json"))) == 1
    assert run("grade", "records.jsonl", "-t", "inner/t.yaml", "--judge", "python:inner/judge.py:no").code == 1


BAD: dict[str, tuple[list[str], dict[str, str], str]] = {
    "no provider": (["--judge", "gpt"], {}, "--judge: expected `provider:model`"),
    "no model": (["--judge", "openai:"], {}, "--judge: expected `provider:model`"),
    "in the environment": ([], {"RIGHTCALL_JUDGE": "gpt"}, "RIGHTCALL_JUDGE: expected `provider:model`"),
    "no URL": (["--judge", "openai:x", "--judge-base-url", "localhost"], {}, "--judge-base-url: expected a URL"),
    "no number": ([], {"RIGHTCALL_JUDGE_TIMEOUT": "soon"}, "RIGHTCALL_JUDGE_TIMEOUT: expected a number"),
    "no time": (
        ["--judge", "openai:x"],
        {"RIGHTCALL_JUDGE_TIMEOUT": "0"},
        "RIGHTCALL_JUDGE_TIMEOUT: expected a number of seconds, found 0.0",
    ),
    "alone": (["--judge-cache", "c"], {}, "--judge-cache has no effect without a model"),
    "no file": (["--judge", "python:none.py:yes"], {}, "there is no file `none.py`"),
    "no function": (["--judge", "python:judge.py:yess"], {}, "did you mean `yes`?"),
    "a function with a key": (
        ["--judge", "python:judge.py:yes", "--judge-api-key-env", "X"],
        {},
        "--judge-api-key-env: a function has neither",
    ),
    "no such provider": (["--judge", "nobody:x"], {}, "the model `nobody:x` cannot be used"),
    "no key": (["--judge", "openai:x", "--judge-api-key-env", "NO_SUCH_KEY"], {}, "`NO_SUCH_KEY` is not set"),
    "no place": (["--judge", "python:judge.py:yes", "--judge-cache", "t.yaml"], {}, "t.yaml: no answers of a judge"),
}


@pytest.mark.parametrize(("options", "environment", "message"), BAD.values(), ids=BAD)
def test_a_judge_that_cannot_be_used_is_refused(
    options: list[str],
    environment: dict[str, str],
    message: str,
    place: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything is graded, with exit code 2 and what to do (G39)."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = run("grade", "records.jsonl", "-t", "t.yaml", *options)
    assert (done.code, message in done.err, "Traceback" in done.err) == (2, True, False), done.err


def test_a_judge_that_nobody_asks_is_not_looked_for(place: Path, run: Run) -> None:
    """Tests without rubrics need neither key nor library; nor do `validate` and `lint` need a judge."""
    (place / "t.yaml").write_text("version: 1\njudge: nobody:x\ntests: [{id: a, required_tools: [x]}]\n")
    assert graded(run) == 0
    written(place, "nobody:x")
    assert (run("validate", "t.yaml").code, run("lint", "t.yaml").code) == (0, 0)


def test_mutants_are_not_judged(place: Path, run: Run) -> None:
    """Lint tries what rules decide, and asks nobody about the rest."""
    (place / "t.yaml").write_text("version: 1\ntests: [{id: a, required_tools: [x], rubric: Fine.}]\n")
    done = run("lint", "t.yaml", "--traces", "records.jsonl", "--json")
    found = json.loads(done.out)["mutation"]
    assert (found["not_passing"], found["mutants"] > 0) == (0, True)


def test_a_record_with_a_rubric_is_judged(place: Path, run: Run) -> None:
    """By the judge that the command names; a record cannot name one."""
    (place / "r.jsonl").write_text(json.dumps({**json.loads(RECORD), "rubric": "Fine."}) + "\n")
    assert run("grade", "r.jsonl", "--judge", "python:judge.py:yes").code == 0
    assert run("grade", "r.jsonl").code == 3
    (place / "r.jsonl").write_text(
        json.dumps({**json.loads(RECORD), "rubric": "Fine.", "judge": "python:judge.py:yes"}) + "\n"
    )
    assert run("grade", "r.jsonl").code == 3


@pytest.mark.parametrize(
    ("name", "raised"), [("broken", "KeyError"), ("leaving", "SystemExit: 0"), ("closing", "GeneratorExit")]
)
def test_a_function_that_raises_is_an_error(place: Path, run: Run, name: str, raised: str) -> None:
    """It is told whose it is, and nothing is judged, also where what is raised would end the program (G1)."""
    done = run("grade", "records.jsonl", "-t", "t.yaml", "--judge", f"python:judge.py:{name}")
    assert (done.code, f"`python:judge.py:{name}` raised {raised}" in done.out) == (3, True)


def test_what_judges_cost_is_summed_up(place: Path, run: Run) -> None:
    """In the JSON report, and in a line on the screen; null and none where nobody was asked."""
    with model_server([PASS]) as server:
        options = ("--judge", "openai:x", "--judge-base-url", server.openai)
        report = json.loads(run("grade", "records.jsonl", "-t", "t.yaml", *options, "--json").out)
        shown = run("grade", "records.jsonl", "-t", "t.yaml", *options).out
    assert report["judge"] == {
        "models": ["stub-2026-11-30"],
        "answers": 1,
        "cached": 0,
        "input_tokens": 100,
        "output_tokens": 7,
        "cost": None,
    }
    assert "judge: stub-2026-11-30: 1 answer; 100 tokens in, 7 out" in shown
    (place / "t.yaml").write_text("version: 1\ntests: [{id: a, required_tools: [x]}]\n")
    assert json.loads(run("grade", "records.jsonl", "-t", "t.yaml", "--json").out)["judge"] is None


def test_no_key_gets_into_a_report(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where the provider repeats it: everything that is written is searched."""
    monkeypatch.setenv("STUB_API_KEY", "sk-planted-4711-4711")
    trouble = Trouble(401, body='{"error": {"message": "bad key sk-planted-4711-4711"}}')
    with model_server([trouble]) as server:
        options = ["--judge", "openai:x", "--judge-base-url", server.openai, "--judge-api-key-env", "STUB_API_KEY"]
        done = run(
            "grade", "records.jsonl", "-t", "t.yaml", *options, "--judge-cache", "kept", "-o", "r.json", "-o", "r.xml"
        )
        assert server.requests[0].headers["authorization"] == "Bearer sk-planted-4711-4711"
    kept = [path.read_text() for path in place.rglob("*") if path.is_file()]
    assert (done.code, [text for text in [done.out, done.err, *kept] if "planted" in text]) == (3, [])


def test_python_takes_a_model_a_function_or_how_it_is_reached() -> None:
    """As `judge=`; everything else is refused."""
    trajectory = {"tool_calls": [], "messages": TALK}
    with model_server([PASS]) as server:
        config = ModelConfig(model="openai:x", base_url=server.openai)
        judges: list[Any] = [config, lambda prompt: PASS, lambda prompt: saying("pass")]
        statuses = [rightcall.grade(trajectory, {"rubric": "x"}, judge=one)[0].status for one in judges]
    assert statuses == ["pass", "pass", "pass"]
    rightcall.check(trajectory, rubric="x", judge=lambda prompt: PASS)
    assert rightcall.read(trajectory) == rightcall.expected(rubric="x", judge=lambda prompt: PASS)
    with pytest.raises(UsageError, match="expected a judge as `provider:model` or a function"):
        rightcall.grade(trajectory, {"rubric": "x"}, judge=5)  # type: ignore[arg-type]  # a user's mistake


@pytest.mark.parametrize("returned", [None, 5, True, [1]], ids=repr)
def test_a_function_that_returns_no_answer_is_an_error(returned: Any) -> None:
    """Nothing is read into what it returned."""
    (verdict,) = rightcall.grade({"tool_calls": [], "messages": TALK}, {"rubric": "x"}, judge=lambda _: returned)
    assert (verdict.status, verdict.findings[0].code) == ("error", "judge_failed")


def test_python_takes_the_environment(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is asked, not when it is imported; a variable that cannot be used is an error."""
    monkeypatch.setenv("RIGHTCALL_JUDGE", "python:judge.py:no")
    trajectory = {"tool_calls": [], "messages": TALK}
    assert rightcall.grade(trajectory, {"rubric": "x"})[0].status == "fail"
    monkeypatch.setenv("RIGHTCALL_JUDGE", "gpt")
    (verdict,) = rightcall.grade(trajectory, {"rubric": "x"})
    assert (verdict.status, "RIGHTCALL_JUDGE" in verdict.reason) == ("error", True)


def test_a_simulator_is_the_judge_where_none_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option and a variable of its own go before; what it says is never kept."""
    judge = ModelConfig(model="python:judge.py:yes", cache="kept")
    written_set = TestSet(judge=judge)
    nobody = judging.simulator_for(SimulatorOptions(), JudgeOptions(), TestSet(), "")
    assert nobody is None
    assert judging.simulator_for(SimulatorOptions(), JudgeOptions(), written_set, "") is not None
    monkeypatch.setenv("RIGHTCALL_SIMULATOR", "gpt")
    with pytest.raises(UsageError, match="RIGHTCALL_SIMULATOR: expected"):
        judging.simulator_for(SimulatorOptions(), JudgeOptions(), written_set, "")
    monkeypatch.delenv("RIGHTCALL_SIMULATOR")
    made = judging.simulator_for(SimulatorOptions(model="python:judge.py:no"), JudgeOptions(), written_set, "")
    assert made is not None
    made.open()
    assert not (place / "kept").exists()


def test_nothing_said_is_no_judge() -> None:
    """The asker is then the one that says what to do."""
    assert judge_for(JudgeOptions()) is no_judge


def test_without_the_extra_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the command."""
    monkeypatch.setitem(sys.modules, "pydantic_ai.exceptions", None)
    judge = judge_for(JudgeOptions(model="openai:not-installed"))
    with pytest.raises(MissingExtraError, match=r"pip install 'rightcall\[judge\]'"):
        judge.open()  # type: ignore[attr-defined]  # one that is made when it is needed


def test_grading_without_judged_kinds_imports_nothing_of_this(place: Path) -> None:
    """Neither the library nor our own room, also where a judge is named."""
    (place / "t.yaml").write_text("version: 1\njudge: openai:x\ntests: [{id: a, required_tools: [x]}]\n")
    code = (
        "import sys; from rightcall.faces.cli import execute;"
        "code = execute(['grade', 'records.jsonl', '-t', 't.yaml', '-q']);"
        "heavy = ('pydantic', 'openai', 'rightcall.judges', 'asyncio');"
        "print(code, sorted(name for name in sys.modules if name.startswith(heavy)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=place, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_calls_in_python_are_attempts_of_one_run(place: Path) -> None:
    """Each finds an answer of its own in the cache, though the trajectory is the same (G37)."""
    (place / "n.py").write_text(
        "n = []\ndef count(_):\n    n.append(0)\n    return {'reason': str(len(n)), 'verdict': 'pass'}\n"
    )
    config = ModelConfig(model="python:n.py:count", cache="kept")
    trajectory = {"tool_calls": [], "messages": TALK}
    verdicts = [rightcall.grade(trajectory, {"rubric": "x"}, judge=config)[0] for _ in range(3)]
    assert [verdict.details["reason"] for verdict in verdicts] == ["1", "2", "3"]


def test_a_function_that_was_edited_is_asked_anew(place: Path) -> None:
    """What it answered before stands for nothing, nor does its bytecode: a kept pass could hide a failure."""
    options = ("grade", "records.jsonl", "-t", "t.yaml", "--judge", "python:n.py:answer", "--judge-cache", "kept")
    command = [sys.executable, "-m", "rightcall", *options]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    answers = []
    for verdict in ("pass", "fail", "pass"):
        (place / "n.py").write_text(f"def answer(_):\n    return {{'reason': 'r', 'verdict': '{verdict}'}}\n")
        done = subprocess.run(command, capture_output=True, cwd=place, env=environment, check=False)
        answers.append((done.returncode, b"kept" in done.stdout))
    assert answers == [(0, False), (1, False), (0, True)]
