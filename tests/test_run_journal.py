"""The journal of a run: what is in it, what it refuses, and going on with it."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import pytest

from rightcall.app.running import journal
from rightcall.app.running.journal import Journal
from rightcall.app.running.planning import Planned
from rightcall.core.calls import Trajectory
from rightcall.errors import StoreError, TraceError, UsageError
from rightcall.traces import documents
from support.grading import call
from support.running import attempts, numbers, project, run_directory

A = {"id": "a", "prompt": "lookup", "repeat": 3}


pytestmark = pytest.mark.usefixtures("in_tmp")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with an empty journal."""
    tmp_path.joinpath("attempts.jsonl").touch()
    return tmp_path


def attempt(number: int, **fields: Any) -> tuple[Planned, Trajectory]:
    metadata = {"rightcall": {"attempt": number, "tries": 1}}
    made = Trajectory(id=f"t#{number}", test_id="t", tool_calls=(call("a"),), metadata=metadata, **fields)
    return Planned("t", number), made


def test_what_is_added_is_read_again_as_it_was(directory: Path) -> None:
    """Also what no Unicode can say, and what went wrong."""
    made = [attempt(1, output="\ud800 ä"), attempt(2, trouble="reset"), attempt(3, failure="x", messages=[{"a": None}])]
    known = Journal(str(directory))
    for planned, trajectory in made:
        assert known.add(planned, trajectory, 0.0) == trajectory
    known.close()
    again = Journal(str(directory))
    assert list(again.finished()) == made
    again.forget_trouble()
    assert list(again.finished()) == [made[0], made[2]]
    again.close()


@pytest.mark.parametrize("torn", [1, 20, -2, -1])
def test_line_that_was_torn_off_is_no_attempt(directory: Path, torn: int) -> None:
    """Wherever it was torn, it is cut off, and what comes next is a line of its own."""
    known = Journal(str(directory))
    for planned, trajectory in (attempt(1), attempt(2)):
        known.add(planned, trajectory, 0.0)
    known.close()
    path = directory / "attempts.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:torn])
    again = Journal(str(directory))
    assert list(again.entries) == [Planned("t", 1)]
    again.add(*attempt(2), 0.0)
    again.close()
    assert path.read_bytes() == first + second


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "not JSON",
        '{"test_id": "t", "metadata": {}}',
        "",
        "[1]",
        '{"test_id": 5, "metadata": {"rightcall": {"attempt": 2}}}',
        '{"test_id": "t", "metadata": {"rightcall": {"attempt": true}}}',
        '{"test_id": "t", "metadata": {"rightcall": {"attempt": 2.9}}}',
        '{"test_id": "t", "metadata": {"rightcall": {"attempt": 0}}}',
    ],
)
def test_line_that_is_no_attempt_is_refused_with_its_place(directory: Path, line: str) -> None:
    """A journal that somebody changed is not guessed at."""
    known = Journal(str(directory))
    known.add(*attempt(1), 0.0)
    known.close()
    with directory.joinpath("attempts.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(TraceError, match=r"attempts\.jsonl:2: is no attempt of a run"):
        Journal(str(directory))


def test_attempt_that_is_made_again_takes_the_place_of_the_first(directory: Path) -> None:
    """The last line counts."""
    known = Journal(str(directory))
    known.add(*attempt(1, trouble="reset"), 0.0)
    known.add(*attempt(2), 0.0)
    known.add(*attempt(1, output="well"), 0.0)
    known.close()
    again = Journal(str(directory))
    assert {planned.number: item.output for planned, item in again.finished() if isinstance(item, Trajectory)} == {
        1: "well",
        2: None,
    }
    again.close()


def test_conversation_beyond_the_limit_is_trouble(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be read again is not recorded as if it could (G8)."""
    monkeypatch.setattr(documents, "MAX_RECORD", 500)
    known = Journal(str(directory))
    planned, trajectory = attempt(1, output="x" * 1000)
    kept = known.add(planned, trajectory, 0.0)
    known.close()
    assert kept.trouble is not None
    assert "which is more than the limit of 500" in kept.trouble
    assert (kept.id, kept.test_id, kept.output, kept.tool_calls) == ("t#1", "t", None, None)
    assert list(journal.read(known.path, journal.entries(known.path))) == [(planned, kept)]


def test_full_disk_is_told_and_leaves_no_half_a_line(directory: Path) -> None:
    """The attempt is not recorded, and the journal is whole."""
    path = directory / "attempts.jsonl"
    known = Journal(str(directory))
    known.add(*attempt(1), 0.0)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        with pytest.raises(StoreError, match="the journal cannot be written: "):
            known.add(*attempt(2), 0.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    known.add(*attempt(2), 0.0)
    known.close()
    assert [planned.number for planned in journal.entries(str(path))] == [1, 2]


def test_journal_has_one_writer(directory: Path) -> None:
    """A second one is refused with what to do, until the first is closed."""
    known = Journal(str(directory))
    with pytest.raises(UsageError, match="another rightcall is at work on this run; wait for its end"):
        Journal(str(directory))
    known.close()
    Journal(str(directory)).close()


def test_head_of_another_version_is_refused(run: Any, tmp_path: Path) -> None:
    """It names both versions."""
    run("run", project(tmp_path, A))
    path = run_directory(tmp_path) / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "rightcall_run": 2}))
    ran = run("run", "--resume", run_directory(tmp_path))
    assert (ran.code, "is of version 2 of the journal; this rightcall knows version 1" in ran.err) == (2, True)
    path.write_text("{")
    assert "is no head of a run" in run("grade", run_directory(tmp_path)).err


def broken_off(run: Any, tmp_path: Path, *tests: dict[str, Any], **keys: Any) -> Path:
    """A run of which only the first attempt was made."""
    run("run", project(tmp_path, *tests, **keys), "-j", "1")
    path = run_directory(tmp_path) / "attempts.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    return run_directory(tmp_path)


@pytest.mark.parametrize(
    ("tests", "told"),
    [
        ([{**A, "prompt": "refund"}, {"id": "b", "prompt": "x"}], "1 test changed (`a`)"),
        ([A], "1 test removed (`b`)"),
        ([A, {"id": "b", "prompt": "x"}, {"id": "c", "prompt": "x"}], "1 test added (`c`)"),
        ([A, {"id": "c", "prompt": "x"}], "1 test added (`c`); 1 test removed (`b`)"),
    ],
)
def test_changed_test_set_is_not_gone_on_with(run: Any, tmp_path: Path, tests: list[dict[str, Any]], told: str) -> None:
    """Half of a run by one test set and half by another is no run; what has changed is told."""
    directory = broken_off(run, tmp_path, A, {"id": "b", "prompt": "x"})
    project(tmp_path, *tests)
    ran = run("run", "--resume", directory)
    assert ran.code == 2
    assert f"has changed since the run began: {told}. Begin a new run" in ran.err
    assert len(attempts(directory)) == 1


def test_change_around_the_tests_is_a_change(run: Any, tmp_path: Path) -> None:
    """Such as another gate."""
    directory = broken_off(run, tmp_path, A)
    project(tmp_path, A, gate={"min_pass_rate": 0.5})
    assert "what it says for all tests" in run("run", "--resume", directory).err


def test_test_set_that_has_moved_or_gone_is_as_it_was(run: Any, tmp_path: Path) -> None:
    """Its bytes were kept; paths in it are relative to where it lay. Lines and comments are no change."""
    directory = broken_off(run, tmp_path, A)
    tests = tmp_path / "t.rightcall.json"
    tests.write_text(json.dumps(json.loads(tests.read_text()), indent=4))
    assert run("run", "--resume", directory).code == 0
    assert numbers(directory) == [("a", 1), ("a", 2), ("a", 3)]
    directory.joinpath("attempts.jsonl").write_text("")
    tests.unlink()
    assert run("run", "--resume", directory).code == 0
    assert sorted(numbers(directory)) == [("a", 1), ("a", 2), ("a", 3)]


def test_changed_programs_are_told(run: Any, tmp_path: Path) -> None:
    """Those of the agent and of checks; attempts that were made before are kept. Others are not looked at."""
    for name in ("check.py", "judge.py"):
        tmp_path.joinpath(name).write_text("def f(given): return True\n")
    keys = {"code": "check.py:f", "required_tools": ["lookup"]}
    directory = broken_off(run, tmp_path, {**A, **keys}, judge="python:judge.py:f")
    assert run("run", "--resume", directory, "--plan").code == 2
    said = {name: f"{name}` has changed since the run began" for name in ("agent.py", "check.py", "judge.py")}
    ran = run("run", "--resume", directory)
    assert (ran.code, "since the run began" in ran.out + ran.err) == (0, False)
    for name in said:
        with tmp_path.joinpath(name).open("a") as file:
            file.write("# another\n")
    ran = run("run", "--resume", directory)
    assert (ran.code, [name for name, words in said.items() if words in ran.out + ran.err]) == (0, list(said))
    tmp_path.joinpath("judge.py").unlink()
    assert "judge.py` can no longer be read" in run("run", "--resume", directory).out


def test_only_the_files_of_the_run_can_be_named_with_it(run: Any, tmp_path: Path) -> None:
    """Or none."""
    directory = broken_off(run, tmp_path, A)
    tmp_path.joinpath("other.json").write_text("{}")
    ran = run("run", "other.json", "--resume", directory)
    assert (ran.code, "was made with other files" in ran.err) == (2, True)
    assert run("run", tmp_path / "t.rightcall.json", "--resume", directory).code == 0


def test_run_goes_on_as_it_began(run: Any, tmp_path: Path) -> None:
    """With the same attempts at the same tests; the pace may be another."""
    tests = project(tmp_path, A, {"id": "b", "forbidden_tools": ["says nothing"]})
    run("run", tests, "--filter", "a", "--repeat", "5", "-j", "1", "--retries", "7")
    directory = run_directory(tmp_path)
    path = directory / "attempts.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    ran = run("run", "--resume", directory, "-j", "3", "--json")
    assert sorted(numbers(directory)) == [("a", number) for number in range(1, 6)]
    assert [result["id"] for result in json.loads(ran.out)["results"]] == ["a"]
    assert json.loads(directory.joinpath("run.json").read_text())["pace"] == {
        "concurrency": 1,
        "rate": None,
        "timeout": None,
        "retries": 7,
    }


def test_attempts_with_trouble_are_made_again_when_asked_for(run: Any, tmp_path: Path) -> None:
    """Without being asked for, what was recorded stands."""
    broken = {"command": ["no-such-program"]}
    tests = project(tmp_path, {"id": "t", "prompt": "x", "expected_tool_calls": []}, endpoint=broken)
    assert run("run", tests).code == 3
    directory = run_directory(tmp_path)
    assert run("run", "--resume", directory).code == 3
    ran = run("run", "--resume", directory, "--retry-errors", "--endpoint", "python:agent.py:answer")
    assert ran.code == 1, ran
    assert [one.get("trouble") is None for one in attempts(directory)] == [False, True]


@pytest.mark.parametrize(
    ("name", "before", "after", "told"),
    [
        ("attempts.jsonl", '"test_id":"a"', '"test_id":"z"', "attempts.jsonl: names the test `z`, which is none of"),
        ("run.json", '"a": 3', '"z": 3', "run.json: names the test `z`, which is none of this run"),
        ("run.json", '"a": 3', '"a": 0', "run.json: is no head of a run"),
        ("run.json", '"retries": 2', '"retries": "x"', "run.json: is no head of a run: "),
        ("tests/*", "lookup", "look up", "json: is not what the run began with"),
    ],
)
def test_run_whose_files_somebody_changed_is_refused(
    run: Any, tmp_path: Path, name: str, before: str, after: str, told: str
) -> None:
    """Neither gone on with nor, where that could change a verdict, graded."""
    run("run", project(tmp_path, A))
    directory = run_directory(tmp_path)
    (path,) = directory.glob(name)
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    ran = run("run", "--resume", directory)
    assert (ran.code, told in ran.err) == (2, True), ran.err
    graded = run("grade", directory)
    assert (graded.code, told in graded.err) == ((2, True) if name != "attempts.jsonl" else (3, False)), graded.err


def test_secrets_are_nowhere_in_a_run(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the journal, its head, the plan, reports or messages; the agent has it."""
    secret = "s3cr3t-0f-a-k1nd"
    monkeypatch.setenv("AGENT_KEY", secret)
    seen = 'printf "%s" "$AGENT_KEY" > seen; echo \'{"output": "ok", "tool_calls": []}\''
    agent = {"command": {"argv": ["sh", "-c", seen], "env": ["AGENT_KEY"]}}
    tests = project(tmp_path, {"id": "t", "prompt": "x", "expected_tool_calls": []}, endpoint=agent)
    told = [run("run", tests, "-o", "r.json", "-v"), run("run", tests, "--plan", "--json")]
    assert [ran.code for ran in told] == [0, 0]
    assert tmp_path.joinpath("seen").read_text() == secret
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "seen"]
    assert len(written) >= 6
    assert [path for path in written if secret in path.read_text("utf-8", "replace")] == []
    assert not any(secret in ran.out + ran.err for ran in told)


def test_run_is_graded_alone(run: Any, tmp_path: Path) -> None:
    """What cannot be asked of a run is refused, not ignored."""
    tests = project(tmp_path, A)
    run("run", tests)
    directory = run_directory(tmp_path)
    for more in (
        ["--apply-all", "-t", tests],
        ["--test-id-key", "x"],
        ["--format", "native"],
        [directory / "run.json"],
    ):
        ran = run("grade", directory, *more)
        assert (ran.code, "is a run" in ran.err) == (2, True), ran.err


def test_directory_of_runs_is_read_as_their_attempts(run: Any, tmp_path: Path) -> None:
    """Not as what else is in it."""
    tests = project(tmp_path, A)
    run("run", tests, "--out-dir", "kept")
    ran = run("show", "kept")
    assert (ran.code, "3 trajectories" in ran.out, "run.json" in ran.out) == (0, True, False)
