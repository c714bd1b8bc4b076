"""Laws of reading test sets: any bytes give a test set or an error with a place, and formats do not matter."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from rightcall import testsets
from rightcall.assertions import KINDS
from rightcall.errors import TestSetError

FILES = st.sampled_from(["t.yaml", "t.json", "t.jsonl", "-"])
SEEDS = [
    testsets.template(),
    "tests: &t\n- {id: a, expected_tool_calls: [{name: b, arguments: {x: [1, -2.5e3, ~]}}]}\nx-t: *t\n",
    json.dumps({"version": 1, "tests": [{"id": "a", "tool_call_args": [{"tool": "t", "match": {"mode": "ignore"}}]}]}),
    '{"id": "a", "allowed_tools": []}\n{"id": "b", "expected_tools": ["x"], "threshold": 50}\n',
    "dialect: orbit\nrows: [{expected_tool_calls: [a], min_pass_rate: 4/5}]\n",
    "? |\n  tests\n: >-\n  folded\n  text\n# comment\n%TAG ! !\n--- !!map\n",
]
WORDS = [
    "tests",
    "null",
    "1e999",
    ".nan",
    "$gt",
    "match",
    "x-",
    "<<",
    "\\ud800",
    "0x",
    "- ",
    "---\n",
    "&a ",
    "*a",
    "!x ",
]
TOKENS = st.sampled_from([*"{}[]:-?'\"\\%,#é|>\n\t \x85\u2028", *WORDS])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abxyz", max_size=3), inner, max_size=3),
)


def outcome(data: bytes, file: str) -> str:
    """`read` or `refused`; anything else that is raised fails the test."""
    try:
        testsets.read(data, KINDS, file=file)
    except TestSetError as error:
        return "refused" if error.where.file == file else f"refused without its file: {error}"
    return "read"


@given(st.binary(max_size=200), FILES)
@example(b"\xff\xfe", "t.yaml")
@example(b'{"a":1]', "t.json")
def test_any_bytes_are_read_or_refused(data: bytes, file: str) -> None:
    """No bytes crash the reader."""
    assert outcome(data, file) in ("read", "refused")


@given(st.sampled_from(SEEDS), st.data(), FILES)
def test_a_damaged_file_is_read_or_refused(text: str, data: st.DataObject, file: str) -> None:
    """Parts cut out of a file and others put in may change what it says, but never crash the reader."""
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 8)))
        text = text[:start] + data.draw(TOKENS) + text[end:]
    assert outcome(text.encode("utf-8", "surrogatepass"), file) in ("read", "refused")


@given(st.dictionaries(st.sampled_from([*testsets.EXPECTATION_KEYS, "id", "match", "count", "repeat"]), VALUES))
def test_any_json_under_the_keys_of_a_test_is_read_or_refused(test: dict[str, Any]) -> None:
    """Whatever stands under a key, it has its meaning or an error that names the test."""
    assert outcome(json.dumps({"tests": [test]}).encode(), "t.json") in ("read", "refused")


@given(VALUES)
def test_any_arguments_come_back_as_they_were_written(value: Any) -> None:
    """JSON, the same as YAML, and the same written by a YAML library all decode to equal tests and equal hashes."""
    document = {"tests": [{"expected_tool_calls": [{"name": "t", "arguments": {"value": value}}]}]}
    texts = [(json.dumps(document), "t.json"), (json.dumps(document), "t.yaml"), (_in_yaml(document), "t.yaml")]
    read = [testsets.read(text.encode(), KINDS, file=file) for text, file in texts]
    assert len({test_set.hash for test_set in read}) == 1
    written = {
        json.dumps(assertion.expected_tool_calls[0].arguments, sort_keys=True)  # type: ignore[attr-defined]  # a trajectory
        for test_set in read
        for assertion in test_set.tests[0].assertions
    }
    assert written == {json.dumps({"value": value}, sort_keys=True)}


def _in_yaml(value: Any) -> str:
    import io

    stream = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.width = 1_000_000  # the library folds lines at the wrong places
    yaml.default_flow_style = False  # in brackets it leaves text such as `?0` without the quotes it needs
    yaml.dump(value, stream)
    return stream.getvalue()


@given(VALUES)
def test_a_json_string_of_arguments_says_the_same_as_the_arguments(value: Any) -> None:
    """Expected arguments given as JSON text are decoded once (G9)."""
    as_text, as_value = (
        testsets.from_keys({"expected_tool_calls": [{"name": "t", "arguments": arguments}]}, KINDS).assertions
        for arguments in (json.dumps({"value": value}), {"value": value})
    )
    assert as_text == as_value
