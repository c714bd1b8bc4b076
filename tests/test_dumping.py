"""What is written to a file of tests is what is read from it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rightcall.core.jsontext import decode
from rightcall.testsets.dumping import to_json, to_yaml
from rightcall.testsets.yamltext import read_yaml
from support.json_values import json_values

ODD = [
    "012",
    "no",
    "Off",
    "2026-11-30",
    "1_000",
    "~",
    "",
    "a: b",
    "# c",
    "- x",
    "<<",
    "=",
    "?a",
    "a]",
    "\x85",
    "\u2028a",
]
ODD += ["\ufeff", "\x00", "\x7f", " lead", "trail ", "'q'", '"d"', "line\nbreak\n", "tab\tx", "é", "1e3", ".5", "null"]
NUMBERS = [1, -2, 1.5, 1e300, 5e-324, 1e16, 1e22, 10**30, 2.0, 1e-7, True, None]


def told(value: Any) -> str:
    """A value with its types, so that 1 and 1.0 and true differ."""
    return repr(value)


@given(json_values())
@example({"odd": ODD, "numbers": NUMBERS, "nested": [[], {}, [{}], {"$gt": 1}]})
def test_yaml_reads_back(value: Any) -> None:
    """Any JSON value, written as YAML, is read as the same value by our reader."""
    built = read_yaml(to_yaml(value).decode("utf-8", "surrogatepass"))
    assert built is not None
    assert told(value) == told(built.value)


@given(json_values() | st.just("\ud800"))
def test_json_reads_back(value: Any) -> None:
    """Any JSON value, written as JSON, is read as the same value."""
    assert told(value) == told(decode(to_json(value).decode()))


@pytest.mark.parametrize("word", ["no", "1:30", "2026-11-30", "012", "~", "y"])
def test_words_of_older_readers_are_in_quotes(word: str) -> None:
    """Text that a reader of YAML 1.1 would take for something else is written in quotes."""
    assert f'a: "{word}"\n'.encode() == to_yaml({"a": word})
