"""What CI systems run of this repository: the GitHub action and the hooks of pre-commit."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from ruamel.yaml import YAML

from support.runs import lines, record

PROJECT: Final = Path(__file__).parents[1]
BIN: Final = Path(sys.executable).parent
SETS: Final = "tests:\n  - id: p\n    required_tools: [a]\n  - id: q\n    required_tools: [{tool}]\n"


def loaded(name: str) -> Any:
    return YAML(typ="safe").load(PROJECT / name)


def run_action(directory: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step that grades, as the runner runs it: bash with its flags, inputs and files in the environment."""
    action = loaded("action.yml")
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "grade")
    values = {name: str(given.get("default", "")) for name, given in action["inputs"].items()} | inputs
    filled = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: values[m[1]], text) for name, text in step["env"].items()
    }
    files = {name: str(directory / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = {**os.environ, **filled, **files, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    program = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(program, cwd=directory, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The directory of a job, with conversations in files of ordinary and of odd names."""
    lines(tmp_path / "in.jsonl", record("p", "a"))
    lines(tmp_path / "more $(touch injected);'.jsonl", record("q", "b"))
    (tmp_path / "t.rightcall.yaml").write_text(SETS.format(tool="c"), encoding="utf-8")
    (tmp_path / "good.rightcall.yaml").write_text(SETS.format(tool="b"), encoding="utf-8")
    return tmp_path


TRACES: Final = "in.jsonl\nmore $(touch injected);'.jsonl\n"


def test_action_grades_annotates_and_tells_the_exit_code(job: Path) -> None:
    """A failure fails the step, marks the line of its expectation, and leaves summary, report and output."""
    done = run_action(job, traces=TRACES, tests="t.rightcall.yaml")
    assert done.returncode == 1
    assert "::error file=t.rightcall.yaml,line=5," in done.stderr
    assert (job / "GITHUB_OUTPUT").read_text(encoding="utf-8") == "exit-code=1\n"
    assert (job / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8").startswith("## ❌ Blocked")
    assert (job / "rightcall.xml").exists()


def test_action_passes_what_passes(job: Path) -> None:
    """A run that passes is green, and no report is written where none is wanted."""
    done = run_action(job, traces=TRACES, tests="good.rightcall.yaml", junit="")
    assert (done.returncode, done.stderr) == (0, "")
    assert (job / "GITHUB_OUTPUT").read_text(encoding="utf-8") == "exit-code=0\n"
    assert not list(job.glob("*.xml"))


def test_action_takes_more_options(job: Path) -> None:
    """Options are handed on, one a line."""
    done = run_action(job, traces=TRACES, tests="t.rightcall.yaml", args="--min-pass-rate=50%\n--quiet")
    assert done.returncode == 0


@pytest.mark.parametrize("inputs", [{"traces": ""}, {"traces": "gone.jsonl"}, {"traces": "--help"}])
def test_action_fails_where_there_is_nothing_to_grade(job: Path, inputs: dict[str, str]) -> None:
    """G39: files that are not there, or none at all, are never a pass."""
    done = run_action(job, tests="t.rightcall.yaml", **inputs)
    assert done.returncode == 2
    assert (job / "GITHUB_OUTPUT").read_text(encoding="utf-8") == "exit-code=2\n"


def test_inputs_are_no_script(job: Path) -> None:
    """Nothing in an input is executed, and no step has an input in its script."""
    run_action(job, traces=TRACES, tests="$(touch injected)", args="`touch injected`")
    assert not (job / "injected").exists()
    assert [step["name"] for step in loaded("action.yml")["runs"]["steps"] if "${{" in step["run"]] == []


def test_action_describes_what_it_takes_and_gives() -> None:
    """Every input and output has a description, and each input reaches the step."""
    action = loaded("action.yml")
    assert [name for part in ("inputs", "outputs") for name, it in action[part].items() if not it["description"]] == []
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "grade")
    assert {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]} == set(step["env"].values())


@pytest.mark.parametrize("hook", loaded(".pre-commit-hooks.yaml"), ids=lambda hook: str(hook["id"]))
def test_hook_refuses_a_broken_test_set_and_takes_a_good_one(job: Path, hook: dict[str, Any]) -> None:
    """A hook is called with the files that its pattern matches, and fails where one is broken."""
    (job / "bad.rightcall.yaml").write_text("tests: [{id: a, match: inorder}]\n", encoding="utf-8")
    matched = sorted(path.name for path in job.iterdir() if re.search(hook["files"], path.name))
    assert matched == ["bad.rightcall.yaml", "good.rightcall.yaml", "t.rightcall.yaml"]
    program, *arguments = shlex.split(hook["entry"])
    codes = [
        subprocess.run([BIN / program, *arguments, *files], cwd=job, capture_output=True, check=False).returncode
        for files in (matched, matched[1:])
    ]
    assert codes == [2, 0]
