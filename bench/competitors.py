"""Who is measured against whom in the evaluation benchmark, all behind one shape."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import rightcall
from bench import loop
from bench.cases import SETTINGS, Case
from bench.measure import timed
from rightcall.app.regex import JavaScriptRegex
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Compiled, Setting, compile_all, grade
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.patterns import ExpectedCall
from rightcall.core.verdicts import Status, Verdict

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / "bench" / ".envs"
INSTALL_SECONDS = 900
OURS = "rightcall"
PEERS = ("google-adk", "strands-agents-evals", "agentevals", "deepeval")


class Round(NamedTuple):
    """Processor seconds of all evaluations, and how many passed."""

    seconds: float
    passed: int


class Competitor(NamedTuple):
    """A way to evaluate. `answers` says what an evaluation returns, `run` measures one round of a setting."""

    name: str
    version: str
    answers: str
    settings: tuple[str, ...]
    run: Callable[[str], Round]


def ours(cases: list[Case]) -> list[Competitor]:
    """The compiled trajectory assertion: compiled once a test, then `grade` for every trajectory.

    It puts nothing into words before somebody asks; the second competitor asks for every verdict.
    """
    trajectories = [[_trajectory(made) for made in case.attempts] for case in cases]
    compiled = {
        setting: [
            (_compiled(case, *setting.split("/")), trajectory)
            for case, made in zip(cases, trajectories, strict=True)
            for trajectory in made
        ]
        for setting in SETTINGS
    }

    def evaluate(setting: str) -> int:
        return sum([_is_pass(grade(trajectory, assertions)[0]) for assertions, trajectory in compiled[setting]])

    def read(setting: str) -> int:
        return sum([_is_read_pass(grade(trajectory, assertions)[0]) for assertions, trajectory in compiled[setting]])

    version = rightcall.__version__
    return [
        Competitor(OURS, version, "verdict: status, precision, recall", SETTINGS, lambda name: _timed(evaluate, name)),
        Competitor(
            f"{OURS}, read",
            version,
            "the same verdict, its reason, findings and details asked for",
            SETTINGS,
            lambda name: _timed(read, name),
        ),
    ]


def _is_pass(verdict: Verdict) -> bool:
    return verdict.status is Status.PASS and verdict.recall is not None and verdict.precision is not None


def _is_read_pass(verdict: Verdict) -> bool:
    told = (verdict.reason, verdict.findings, verdict.details)
    return _is_pass(verdict) and told[0] == ""


def _trajectory(made: list[dict[str, object]]) -> Trajectory:
    return Trajectory(tool_calls=tuple(ToolCall(name=str(call["name"]), arguments=call["arguments"]) for call in made))


def _compiled(case: Case, match: str, arguments: str) -> tuple[Compiled, ...]:
    expected = tuple(ExpectedCall(name=call["name"], arguments=call["arguments"]) for call in case.expected)
    assertion = ToolCallTrajectory(expected_tool_calls=expected, match=match, arguments=arguments)  # type: ignore[arg-type]  # a setting's words
    return compile_all([assertion], Setting(regex=JavaScriptRegex()))


def by_hand(cases: list[Case]) -> Competitor:
    """The loop that an engineer writes."""

    def evaluate(setting: str) -> int:
        match, arguments = setting.split("/")
        same = loop.SAME[arguments]
        return sum(
            loop.evaluate(case.expected, made, match, same)["status"] == "pass"
            for case in cases
            for made in case.attempts
        )

    version = sys.version.split()[0]
    answers = "status, precision, recall; no reason; True equals 1"
    return Competitor("Python loop", version, answers, SETTINGS, lambda setting: _timed(evaluate, setting))


def _timed(evaluate: Callable[[str], int], setting: str) -> Round:
    return Round(*timed(lambda: evaluate(setting)))


@contextmanager
def peer(package: str, cases_file: Path) -> Iterator[Competitor]:
    """Another tool, running in its own environment until the block ends. `OSError` with the reason if it cannot."""
    python = _install(package)
    module = f"bench.peers.{package.replace('-', '_')}"
    quiet = {**os.environ, "DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "LANGSMITH_TRACING": "false"}
    with subprocess.Popen(
        [python, "-m", module, str(cases_file)],
        cwd=ROOT,
        env=quiet,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            said = json.loads(_answer(process))
            yield Competitor(
                package,
                said["version"],
                said["answers"],
                tuple(said["settings"]),
                lambda setting: _ask(process, setting),
            )
        finally:
            process.terminate()


def _ask(process: subprocess.Popen[str], setting: str) -> Round:
    assert process.stdin is not None
    process.stdin.write(f"{setting}\n")
    process.stdin.flush()
    return Round(**json.loads(_answer(process)))


def _answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    if not line:
        raise OSError(_last_line(process.stderr.read()))
    return line


def _install(package: str) -> Path:
    """An environment with the newest version of the package that pip finds, made once."""
    directory = ENVIRONMENTS / package
    python = directory / "bin" / "python"
    done = directory / "installed"
    if not done.exists():
        print(f"installing {package} into {directory.relative_to(ROOT)} …", flush=True)
        venv.create(directory, with_pip=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        try:
            made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
        except subprocess.TimeoutExpired:
            raise OSError(f"the installation took more than {INSTALL_SECONDS} seconds") from None
        if made.returncode:
            raise OSError(_last_line(made.stderr))
        done.touch()
    return python


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it ended without a word"
