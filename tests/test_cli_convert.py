"""`rightcall convert`: a test set in another tool's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import Run

ADK = {"eval_cases": [{"eval_id": "a", "conversation": [{"intermediate_data": {"tool_uses": [{"name": "f"}]}}]}]}
CONFIG = {"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "ANY_ORDER"}}}
NATIVE = "tests: [{id: a, match: superset, arguments: exact, expected_tool_calls: [{name: f, arguments: {}}]}]\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with an eval set, its criteria and a native test set."""
    (tmp_path / "set.json").write_text(json.dumps(ADK))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "set.yaml").write_text(NATIVE)
    return tmp_path


@pytest.mark.parametrize("ending", ["yaml", "yml", "json"])
def test_the_ending_decides_the_format(files: Path, run: Run, ending: str) -> None:
    """A file that is written is a test set of that format, and grades as what was read."""
    written = files / f"out.{ending}"
    ran = run("convert", files / "set.json", "--from", "adk", "--config", files / "config.json", "-o", written)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert written.read_text().startswith("{") == (ending == "json")
    assert run("validate", written).code == 0


def test_both_ways_give_the_same_file(files: Path, run: Run) -> None:
    """From ADK and back is the eval set again, and the note tells the criteria that `--config` took."""
    run("convert", files / "set.json", "--from", "adk", "--config", files / "config.json", "-o", files / "native.yaml")
    back = run("convert", files / "native.yaml", "--to", "adk")
    cases = json.loads(back.out)["eval_cases"]
    uses = [case["conversation"][0]["intermediate_data"]["tool_uses"] for case in cases]
    assert (back.code, uses) == (0, [[{"name": "f", "args": {}}]])
    assert '"match_type": "ANY_ORDER"' in back.err


def test_what_cannot_be_said_leaves_nothing(files: Path, run: Run) -> None:
    """A refusal has the place, exit code 2, and no file."""
    ran = run("convert", files / "set.yaml", "--to", "ragas", "-o", files / "out.json")
    assert (ran.code, ran.out) == (2, "")
    assert "set.yaml:1:9: tests[0]: `match: superset` cannot be said in the dialect `ragas`" in ran.err
    assert not (files / "out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("set.yaml", "--to", "bfcl"), "the dialect `bfcl` can be read but not written; these can be: native"),
        (("set.yaml", "--to", "langchian"), "unknown dialect `langchian` (did you mean `langchain`?)"),
        (("set.yaml", "-o", "out.txt"), "expected a name that ends in .yaml, .yml or .json"),
        (("set.yaml", "-o", "set.yaml"), "is read as input"),
        (("set.yaml", "--config", "set.yaml"), "expected a mapping of keys for the whole test set, without tests"),
    ],
)
def test_wrong_usage_is_told(
    files: Path, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], expected: str
) -> None:
    """What cannot be used says so, with exit code 2."""
    monkeypatch.chdir(files)
    ran = run("convert", *arguments)
    assert ran.code == 2
    assert expected in ran.err


def test_a_key_in_two_places_is_refused(files: Path, run: Run) -> None:
    """A key that both the file and `--config` have is not decided by us."""
    (files / "both.json").write_text(json.dumps({**ADK, **CONFIG}))
    ran = run("convert", files / "both.json", "--from", "adk", "--config", files / "config.json")
    assert ran.code == 2
    assert "`criteria` stands in the test set too" in ran.err


@pytest.mark.parametrize("value", [{"should_exact_match": True, "test_cases": []}, [{"expected_tools": []}]])
def test_a_file_in_words_that_nobody_named_says_what_to_name(files: Path, run: Run, value: object) -> None:
    """Whose words a file is in is not guessed; that they are none of ours is told with what to do."""
    (files / "other.json").write_text(json.dumps(value))
    ran = run("convert", files / "other.json")
    assert (ran.code, ran.out) == (2, "")
    assert "; if the file is in another tool's words, name its dialect" in ran.err


@pytest.mark.parametrize("dialect", ["deepeval", "strands", "promptfoo"])
def test_a_file_that_expects_nothing_is_told(files: Path, run: Run, dialect: str) -> None:
    """A log is no test set, also where the tool would take its lines for tests that expect nothing."""
    (files / "log.jsonl").write_text('{"messages": [{"role": "user", "content": "hello"}]}\n')
    ran = run("convert", files / "log.jsonl", "--from", dialect)
    assert ran.code == 0
    assert "log.jsonl: no test expects anything; is the file in the words that were named?" in ran.err
