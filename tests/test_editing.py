"""Changing values of a test set file in place: nothing else of its text moves."""

from __future__ import annotations

from difflib import ndiff
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rightcall.core.values import equal
from rightcall.errors import TestSetError
from rightcall.testsets.dumping import to_block, to_flow
from rightcall.testsets.editing import GONE, Added, Change, Edit, Editable
from rightcall.testsets.source import load
from support.json_values import json_values
from support.pages import PROJECT

FIRST = ("tests", 0)
CALL = {"name": "f", "arguments": {"a": 1}}
OTHER = {"name": "f", "arguments": {"a": 2}}
LONG = {"name": "search_the_archive", "arguments": {"query": "all orders of one customer", "page": 1}}


def calls(*expected: Any) -> Change:
    """The calls that the first test is to expect."""
    return Change(FIRST, {"expected_tool_calls": list(expected)})


def change(text: str, *edits: Edit, file: str = "t.rightcall.yaml") -> str:
    """The text with the edits made."""
    return Editable(text.encode("utf-8", "surrogatepass"), file).edited(edits).decode("utf-8", "surrogatepass")


ODD = [
    pytest.param(
        "tests:\n- id: a   # the first\n  expected_tool_calls: [ {name: f,arguments: {a: 1}} ] # one\n",
        calls(OTHER),
        "tests:\n- id: a   # the first\n  expected_tool_calls: [ {name: f,arguments: {a: 2}} ] # one\n",
        id="one number in brackets, blanks as they were",
    ),
    pytest.param(
        "tests:\n    -   id: a\n        expected_tool_calls:   # in order\n\n"
        "        -   name: f\n            arguments:\n                a: 1   # why\n\n# end\n",
        calls(OTHER),
        "tests:\n    -   id: a\n        expected_tool_calls:   # in order\n\n"
        "        -   name: f\n            arguments:\n                a: 2   # why\n\n# end\n",
        id="one number in a block with an indent of its own",
    ),
    pytest.param(
        "tests:\n  - id: a\n    expected_tool_calls: [f]  # why\n    tags: [x]\n",
        calls(CALL, LONG),
        "tests:\n  - id: a\n    expected_tool_calls:  # why\n      - {name: f, arguments: {a: 1}}\n"
        "      - name: search_the_archive\n        arguments: {query: all orders of one customer, page: 1}\n"
        "    tags: [x]\n",
        id="a short list becomes a long one below its comment",
    ),
    pytest.param(
        "tests:\n  - id: a\n    expected_tool_calls:  # why\n    - f\n    # g was dropped\n"
        "    - h  # last\n    tags: [x]\n",
        calls(),
        "tests:\n  - id: a\n    expected_tool_calls: []  # why  # last\n    tags: [x]\n",
        id="a list becomes empty",
    ),
    pytest.param(
        "tests:\r\n  - id: a\r\n    expected_tool_calls:\r\n      - f\r\n  - id: b\r\n",
        calls(CALL, "g"),
        "tests:\r\n  - id: a\r\n    expected_tool_calls:\r\n"
        "      - {name: f, arguments: {a: 1}}\r\n      - g\r\n  - id: b\r\n",
        id="line ends of Windows",
    ),
    pytest.param(
        "\ufefftests: [{id: a, expected_tool_calls: [f, g]}]",
        calls("f", "h"),
        "\ufefftests: [{id: a, expected_tool_calls: [f, h]}]",
        id="a byte order mark, and no line end",
    ),
    pytest.param(
        "x-c: &c [f]\ntests:\n  - id: a\n    expected_tool_calls: *c   # as above\n"
        "  - {id: b, expected_tool_calls: *c}\n",
        calls("g"),
        "x-c: &c [f]\ntests:\n  - id: a\n    expected_tool_calls: [g]   # as above\n"
        "  - {id: b, expected_tool_calls: *c}\n",
        id="an alias is written out, the others stay",
    ),
    pytest.param(
        "tests:\n  - id: a\n    expected_tool_calls: &c\n      - f\n    x-note: |+\n      kept\n\n\n# end\n",
        calls("g"),
        "tests:\n  - id: a\n    expected_tool_calls: &c\n      - g\n    x-note: |+\n      kept\n\n\n# end\n",
        id="an anchor stays, and lines that a block keeps",
    ),
    pytest.param(
        "tests:\n  - id: a\n    prompt: >\n      folded\n      text\n\n"
        '    expected_tool_calls: [{name: f, arguments: {a: "x"}}]\n',
        calls({"name": "f", "arguments": {"a": "no"}}),
        "tests:\n  - id: a\n    prompt: >\n      folded\n      text\n\n"
        '    expected_tool_calls: [{name: f, arguments: {a: "no"}}]\n',
        id="text that older readers take for something else is in quotes",
    ),
    pytest.param(
        "tests:\n  - id: a\n    expected_tool_calls: [f]\n    match: exact   # strict\n    tags: []\n",
        Change(FIRST, {"expected_tool_calls": GONE, "match": GONE, "expected_tool_sequence": [{"tool": "f"}]}),
        "tests:\n  - id: a\n    expected_tool_sequence:\n      - {tool: f}\n    tags: []\n",
        id="one key takes the place of another, and a third goes with its line",
    ),
    pytest.param(
        "tests:\n  - {id: a, expected_tool_calls: [f], match: exact}\n",
        Change(FIRST, {"match": GONE, "tags": ["x"], "topic": "t"}),
        "tests:\n  - {id: a, expected_tool_calls: [f], tags: [x], topic: t}\n",
        id="keys in brackets",
    ),
    pytest.param(
        "tests:\n  - id: a\n    allowed_tools: []\n    metadata:\n",
        Change(FIRST, {"metadata": {"k": [1, {"l": None}]}}),
        "tests:\n  - id: a\n    allowed_tools: []\n    metadata:\n      k:\n        - 1\n        - {l: null}\n",
        id="an empty value",
    ),
    pytest.param(
        "tests:\n  - id: a\n    expected_tool_calls: [f]\n    # before b\n  - id: b   # the last\n# end\n",
        Added(("tests",), [({"id": "c", "prompt": "Hello: you"}, ["from x"])]),
        "tests:\n  - id: a\n    expected_tool_calls: [f]\n    # before b\n  - id: b   # the last\n\n"
        "  # from x\n  - id: c\n    prompt: 'Hello: you'\n# end\n",
        id="a new test at the end",
    ),
    pytest.param(
        "version: 1\ntests: []   # none yet\ngate: {min_graded: 1}\n",
        Change((), {"tests": [{"id": "a", "prompt": "x" * 90}]}),
        f"version: 1\ntests:   # none yet\n  - id: a\n    prompt: {'x' * 90}\ngate: {{min_graded: 1}}\n",
        id="the first test",
    ),
    pytest.param(
        "? tests\n: - id: a\n    expected_tool_calls: [f]\n",
        calls("g"),
        "? tests\n: - id: a\n    expected_tool_calls: [g]\n",
        id="a key with a sign of its own",
    ),
    pytest.param(
        "%YAML 1.2\n---\ntests:\n  - id: é😀\n    expected_tool_calls: [f]   # ü\n...\n",
        calls("😀"),
        '%YAML 1.2\n---\ntests:\n  - id: é😀\n    expected_tool_calls: ["😀"]   # ü\n...\n',
        id="a directive, the end of the document, letters of two surrogates",
    ),
]


@pytest.mark.parametrize(("text", "edit", "expected"), ODD)
def test_only_what_changes_is_written_anew(text: str, edit: Edit, expected: str) -> None:
    """Comments, order, quotes, indents, line ends and anchors stay as they were, whatever the file looks like."""
    assert expected == change(text, edit)


def test_json_is_changed_in_place_too() -> None:
    """A JSON document keeps its layout, and gets new keys and items in the same."""
    text = '{\n  "tests": [\n    {"id": "a", "expected_tool_calls": ["f"]},\n    {"id": "b"}\n  ]\n}\n'
    added = Added(("tests",), [({"id": "c"}, ["comments have no place here"])])
    assert change(text, calls("g", CALL), Change(("tests", 1), {"match": "exact"}), added, file="t.json") == (
        '{\n  "tests": [\n    {"id": "a", "expected_tool_calls": ["g", {"name": "f", "arguments": {"a": 1}}]},\n'
        '    {"id": "b", "match": "exact"},\n    {"id": "c"}\n  ]\n}\n'
    )


REFUSED = [
    (
        "tests:\n  - &t {id: a, expected_tool_calls: [f]}\nx-same: *t\n",
        calls("g"),
        "t.rightcall.yaml:3:9: is repeated by the alias `*t`, which would change with it; write it out there",
    ),
    (
        "tests:\n  - id: a\n    expected_tool_calls: &c [f]\n  - {id: b, expected_tool_calls: *c}\n",
        calls("g"),
        "t.rightcall.yaml:4:34: is repeated by the alias `*c`, which would change with it; write it out there",
    ),
    (
        "tests:\n  - id: a\n    expected_tool_calls: &c [f]\n  - {id: b, expected_tool_calls: *c}\n",
        calls("g", "h"),
        "t.rightcall.yaml:4:34: is repeated by the alias `*c`, which would change with it; write it out there",
    ),
    (
        "x-t: &t {id: a, expected_tool_calls: [f]}\ntests:\n  - *t\n",
        calls("g"),
        "t.rightcall.yaml: `tests[0]` is repeated from elsewhere by an alias; write it out there",
    ),
    (
        "tests:\n  - match: exact\n",
        Change(FIRST, {"match": GONE}),
        "t.rightcall.yaml:2:5: `match` cannot be left out here",
    ),
]


@pytest.mark.parametrize(("text", "edit", "message"), REFUSED)
def test_what_cannot_be_changed_alone_is_refused_with_its_place(text: str, edit: Edit, message: str) -> None:
    """A value that an alias repeats would change elsewhere too: it is refused, and what to do is told."""
    with pytest.raises(TestSetError) as error:
        change(text, edit)
    assert message == str(error.value)


def test_one_test_a_line_is_refused() -> None:
    """JSON Lines are not changed in place; the message says which files are."""
    with pytest.raises(TestSetError, match="name a YAML or JSON file"):
        change('{"id": "a"}\n', calls("f"), file="t.jsonl")


EXAMPLES = sorted(PROJECT.joinpath("examples").rglob("*.rightcall.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_of_users_take_a_key_on_any_test(path: Path) -> None:
    """Of files as people write them every line stays, but for that of a test that stands in one line."""
    text = path.read_text("utf-8")
    value, _ = load(text.encode(), path.name)
    for index in {0, len(value["tests"]) - 1}:
        result = change(text, Change(("tests", index), {"x-mark": {"deep": [1, {"er": [2]}]}}))
        gone = [line for line in ndiff(text.split("\n"), result.split("\n")) if line.startswith("- ")]
        assert [line for line in gone if "{" not in line] == [], "only a test in brackets is in its line"
        assert len(gone) <= 1


KEYS = st.sampled_from(["match", "tags", "a b", "x-1", "é", "on"])
OBJECTS = st.dictionaries(KEYS, json_values(), min_size=1, max_size=4)
STYLES = st.sampled_from([to_flow, lambda value: "\n".join(to_block(value))])


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]]]:
    """A test set file, each test written in one of two styles, with comments between lines and at their ends."""
    tests = draw(st.lists(OBJECTS, min_size=1, max_size=3))
    lines = ["# head", "tests:"]
    for test in tests:
        first, *others = draw(STYLES)(test).split("\n")
        lines += [f"  - {first}", *(f"    {line}" for line in others)]
        lines += draw(st.sampled_from([[], ["", "  # between"], ["    # below"]]))
    return "\n".join([*lines, "# end", ""]), tests


@settings(max_examples=40)
@given(files(), OBJECTS, st.integers(0, 2))
def test_any_value_of_any_file_becomes_any_other(file: tuple[str, list[dict[str, Any]]], new: Any, index: int) -> None:
    """The new text says what was meant, and every other test stands as it was, to the letter."""
    text, tests = file
    at = index % len(tests)
    result = change(text, Change(("tests", at), new))
    value, _ = load(result.encode("utf-8", "surrogatepass"), "t.yaml")
    assert equal([*tests[:at], {**tests[at], **new}, *tests[at + 1 :]], value["tests"])
    before, after = text.split("  - "), result.split("  - ")
    assume(len(before) == len(tests) + 1)
    assert before[: at + 1] == after[: at + 1]
    assert result.endswith("# end\n")


@settings(max_examples=40)
@given(files())
def test_a_value_that_is_equal_is_not_touched(file: tuple[str, list[dict[str, Any]]]) -> None:
    """Giving a test the keys that it has changes nothing at all."""
    text, tests = file
    assert text == change(text, *(Change(("tests", index), test) for index, test in enumerate(tests)))


@settings(max_examples=40)
@given(files(), OBJECTS)
def test_what_is_added_leaves_everything_before_it(file: tuple[str, list[dict[str, Any]]], new: Any) -> None:
    """A test at the end leaves every line of the file, in its order."""
    text, tests = file
    result = change(text, Added(("tests",), [(new, ["new"])]))
    value, _ = load(result.encode("utf-8", "surrogatepass"), "t.yaml")
    assert equal([*tests, new], value["tests"])
    left = iter(result.split("\n"))
    assert all(line in left for line in text.split("\n"))
