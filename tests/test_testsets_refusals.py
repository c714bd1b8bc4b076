"""Test set files that are wrong: each is refused with its place and what to do, never guessed, never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rightcall import testsets
from rightcall.assertions import KINDS
from rightcall.errors import TestSetError, UsageError
from support.conformance import of_every_row

CASES = Path(__file__).parent / "testsets" / "refused.jsonl"
REFUSED = [json.loads(line) for line in CASES.read_text("utf-8").strip().split("\n")]


def message(data: bytes, file: str = "t.yaml") -> str:
    with pytest.raises(TestSetError) as caught:
        testsets.read(data, KINDS, file=file)
    return str(caught.value)


@of_every_row({"id": case["message"][:80], **case} for case in REFUSED)
def test_a_bad_file_is_refused_with_its_place(case: dict[str, Any]) -> None:
    """File, line, column and path stand before what was expected and what was found (G27)."""
    assert message(case["text"].encode(), case["file"]) == case["message"]


@pytest.mark.parametrize(
    ("text", "file", "place"),
    [
        ("tests: " + "[" * 300, "t.yaml", "t.yaml:1:207"),
        ("a: &a " + "[" * 150 + "]" * 150 + "\nb: " + "[" * 60 + "*a" + "]" * 60, "t.yaml", "t.yaml:2:64"),
        ('{"tests":\n' + "[" * 300 + "]" * 300 + "}", "t.json", "t.json:2:200"),
        ('{"id": "a"}\n{"prompt": ' + "[" * 100_000 + "}", "t.jsonl", "t.jsonl:2:211"),
    ],
)
def test_deep_nesting_is_refused_without_recursion(text: str, file: str, place: str) -> None:
    """Containers stand at most 200 deep inside one another, aliases included (G8)."""
    assert message(text.encode(), file) == f"{place}: nested deeper than the limit of 200"


def test_an_integer_too_long_to_read_is_refused() -> None:
    """Integers are exact at any size that the platform converts; beyond that they are refused, not rounded."""
    text = "tests: []\nmetadata: {a: " + "9" * 5000 + "}"
    assert message(text.encode()) == "t.yaml:2:15: an integer of 5000 digits is out of range"


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    """The byte is named with its line, whatever the locale."""
    expected = "t.yaml:2:8: expected UTF-8, found the byte 0xff; save the file as UTF-8"
    assert message(b"tests: []\nname: x\xff") == expected


def test_an_alias_bomb_is_refused() -> None:
    """Aliases may stand for a million values together, which the sixth level of tens exceeds."""
    levels = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    expected = "t.yaml:6:45: the aliases stand for more than 1000000 values, which is the limit"
    assert message("\n".join(levels).encode()) == expected


@pytest.mark.parametrize("file", ["t.yaml", "t.json", "t.jsonl"])
def test_a_file_beyond_the_limit_is_refused_before_it_is_parsed(file: str) -> None:
    """The limit is 10 MiB a document, or a line of JSON Lines (G8)."""
    expected = f"{file}:1: larger than the limit of 10 MiB; split it"
    assert message(b'{"tests": [], "name": "' + b"x" * (10 * 1024 * 1024) + b'"}', file) == expected


def test_a_mistake_in_keys_from_outside_names_no_place_in_the_file() -> None:
    """What the command line says stands in no line of the file."""
    with pytest.raises(TestSetError) as caught:
        testsets.read(b'{"id": "a"}', KINDS, file="t.jsonl", defaults={"gate": {"min_graded": 0}})
    expected = "gate.min_graded: expected a whole number of at least 1, found the number 0"
    assert str(caught.value) == expected


def test_yaml_in_brackets_without_a_name_is_read_as_json() -> None:
    """What cannot be told apart is not guessed: the message says how it was read."""
    expected = (
        "-:1:2: not JSON: expecting property name enclosed in double quotes "
        "(what begins with a bracket is read as JSON, unless its name ends in .yaml)"
    )
    assert message(b"{tests: []}", "-") == expected


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        (
            "tests: []",
            "obrit",
            "unknown dialect `obrit` (did you mean `orbit`?); the dialects are native, rhesis, orbit, aegis, adk, "
            "azure, bedrock-agentcore, bfcl, deepeval, langchain, mlflow, promptfoo, ragas, strands, vertex",
        ),
        (
            "{tests: [], dialect: orbit}",
            "rhesis",
            "t.yaml:1:22: dialect: the dialect `rhesis` was asked for, but the file says `orbit`",
        ),
    ],
)
def test_a_dialect_that_cannot_be_used_is_a_usage_error(text: str, dialect: str, expected: str) -> None:
    """Dialects are named, never guessed, and not contradicted."""
    with pytest.raises(UsageError) as caught:
        testsets.read(text.encode(), KINDS, file="t.yaml", dialect=dialect)
    assert str(caught.value) == expected
