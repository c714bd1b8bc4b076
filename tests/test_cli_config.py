"""`--config`: keys for the whole test set, for one that cannot have them itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import Run

TEST = {"id": "a", "expected_tool_calls": ["g", "f"]}
RECORD = {"id": "a", "tool_calls": [{"name": "f"}, {"name": "g"}]}
ANY_ORDER = "name: Both\nmatch: any_order\n"
KEY_TWICE = "config.yaml:2:1: match: `match` stands in the test set too; leave it out of one of them"
COMMANDS = {
    "grade": ("grade", "records.jsonl", "--tests"),
    "validate": ("validate",),
    "lint": ("lint",),
    "convert": ("convert",),
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a test a line, a record and keys for the whole test set."""
    (tmp_path / "tests.jsonl").write_text(f"{json.dumps(TEST)}\n")
    (tmp_path / "records.jsonl").write_text(f"{json.dumps(RECORD)}\n")
    (tmp_path / "config.yaml").write_text(ANY_ORDER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("config", "code"), [((), 1), (("--config", "config.yaml"), 0)])
def test_the_keys_count_for_every_test(run: Run, config: tuple[str, ...], code: int) -> None:
    """Calls in the other order fail by themselves, and pass where the config says that order does not matter."""
    ran = run("grade", "records.jsonl", "--tests", "tests.jsonl", *config)
    assert ran.code == code


@pytest.mark.usefixtures("files")
def test_the_name_is_that_of_the_config(run: Run) -> None:
    """Reports call the test set what the config calls it."""
    ran = run("grade", "records.jsonl", "--tests", "tests.jsonl", "--config", "config.yaml", "--json")
    assert json.loads(ran.out)["test_set"]["name"] == "Both"


def test_the_gate_of_the_config_counts(files: Path, run: Run) -> None:
    """A gate for more tests than there are is not passed."""
    (files / "config.yaml").write_text(ANY_ORDER + "gate: {min_graded: 2}\n")
    ran = run("grade", "records.jsonl", "--tests", "tests.jsonl", "--config", "config.yaml")
    assert (ran.code, ran.out.splitlines()[-1]) == (3, "Incomplete: graded 1 of 1, at least 2 needed")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("name: x\nmatch: inorder\n", "config.yaml:2:8: match: expected `any_order`, `exact`, `in_order`, "),
        ("name: x\nmach: exact\n", "config.yaml:2:1: mach: unknown key `mach` (did you mean `match`?)"),
        ("name: x\ndialect: obrit\n", "config.yaml:2:10: dialect: unknown dialect `obrit` (did you mean `orbit`?)"),
        ("gate:\n  min_graded: 0\n", "config.yaml:2:15: gate.min_graded: expected a whole number of at least 1, "),
        (
            "assertions:\n- {kind: text, regex: '('}\n",
            "config.yaml:2:23: assertions[0].regex: ",
        ),
        (
            "name: x\ntool_schemas: {g: {}, f: {type: 1}}\ncheck_schemas: true\n",
            "config.yaml:2:33: tool_schemas.f.type: ",
        ),
        ("name: [\n", "config.yaml:2:1: "),
        (
            "name: x\ntests: []\n",
            "config.yaml:2:1: tests: expected a mapping of keys for the whole test set, without tests, found `tests`",
        ),
        ("- name: x\n", "config.yaml:1:1: expected a mapping of keys for the whole test set, without tests, found a l"),
    ],
)
def test_a_mistake_in_the_config_is_placed_there(
    files: Path, run: Run, command: str, config: str, expected: str
) -> None:
    """Every mistake has file, line, column and path of the config, not of the tests."""
    (files / "config.yaml").write_text(config)
    ran = run(*COMMANDS[command], "tests.jsonl", "--config", "config.yaml")
    assert (ran.code, ran.err[: len(expected) + 7]) == (2, f"error: {expected}")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_in_a_test_is_placed_there(files: Path, run: Run, command: str) -> None:
    """A config does not move the places of the tests."""
    (files / "tests.jsonl").write_text('{"id": "a", "match": "inorder", "expected_tool_calls": []}\n')
    ran = run(*COMMANDS[command], "tests.jsonl", "--config", "config.yaml")
    assert (ran.code, ran.err.partition(": expected")[0]) == (2, "error: tests.jsonl:1:22: tests[0].match")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["set.yaml", "set.json"])
def test_a_key_that_the_test_set_has_itself_is_refused(files: Path, run: Run, command: str, name: str) -> None:
    """Which of two values counts is not decided by us."""
    (files / name).write_text(json.dumps({"match": "exact", "tests": [TEST]}))
    ran = run(*COMMANDS[command], name, "--config", "config.yaml")
    assert (ran.code, ran.err) == (2, f"error: {KEY_TWICE}\n")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("grade", "records.jsonl", "--config", "config.yaml"), "--config needs a test set: name it with --tests"),
        (("grade", "-", "--tests", "tests.jsonl", "--config", "-"), "standard input"),
        (("validate", "-", "--config", "-"), "standard input"),
        (("lint", "-", "--config", "-"), "standard input"),
        (("convert", "-", "--config", "-"), "standard input"),
        (
            ("grade", "records.jsonl", "--tests", "tests.jsonl", "--config", "config.json", "-o", "config.json"),
            "is read as input",
        ),
    ],
)
def test_wrong_usage_is_told(files: Path, run: Run, arguments: tuple[str, ...], expected: str) -> None:
    """What cannot be meant is refused, with exit code 2 and nothing written."""
    (files / "config.json").write_text("{}")
    ran = run(*arguments)
    assert (ran.code, expected in ran.err) == (2, True)
    assert (files / "config.json").read_text() == "{}"
