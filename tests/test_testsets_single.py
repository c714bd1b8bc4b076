"""Expectations outside a test set file: in a record, in Python, in other tools' words; and compiling them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from msgspec import UNSET

from rightcall import testsets
from rightcall.assertions import KINDS
from rightcall.assertions.arguments import ToolCallArgs
from rightcall.assertions.sequence import Step, ToolSequence
from rightcall.assertions.tools import AllowedTools, RequiredTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Matcher
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.errors import TestSetError, UsageError, Where
from rightcall.testsets.writing import data_written, native_test


def literal_regex(pattern: str, flags: str) -> Matcher:
    """A regex engine that knows only plain text, and refuses an open bracket."""
    if "(" in pattern:
        raise ValueError("missing )")
    return lambda text: pattern in text


def test_keys_in_python_are_a_test() -> None:
    """`rightcall.grade(trajectory, {...})` reads native keys."""
    test = testsets.from_keys({"allowed_tools": ["a"], "parallel": "unordered", "assertions": []}, KINDS)
    assert test.assertions == (AllowedTools(tools=("a",)),)
    assert test.parallel == "unordered"


def test_expected_values_in_python_may_be_any_object() -> None:
    """An object whose `__eq__` decides is kept as it is (G14)."""

    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

    wanted = Anything()
    keys = {"expected_tool_calls": ({"name": "t", "arguments": {"x": wanted}},)}
    (assertion,) = testsets.from_keys(keys, KINDS).assertions
    assert isinstance(assertion, ToolCallTrajectory)
    assert assertion.expected_tool_calls[0].arguments["x"] is wanted


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            {},
            "nothing is expected: give `expected_tool_calls`, `required_tools`, `tool_call_args`, "
            "`expected_tool_sequence`, `allowed_tools`, `forbidden_tools`, `expected_tools`, `rules`, `budget`, "
            "`check_schemas`, `grounding`, `text`, `code`, `rubric` or `turns`, or `assertions`",
        ),
        ({"allowed_tool": []}, "allowed_tool: unknown key `allowed_tool` (did you mean `allowed_tools`?)"),
        ({"allowed_tools": None}, "allowed_tools: expected a list, found null; leave the key out or write []"),
        ({"allowed_tools": "a"}, "allowed_tools: expected a list, found the string `a`; write [a]"),
        (
            {"expected_tool_calls": [{"name": "t", "arguments": {"a": {"$gtt": 1}}}]},
            "expected_tool_calls[0].arguments.a.$gtt: `$gtt` is no operator (did you mean `$gt`?); "
            "write {$literal: …} around data that has such keys",
        ),
        (
            {"expected_tool_calls": [{"name": "t", "arguments": None}]},
            "expected_tool_calls[0].arguments: expected arguments, found null; leave the key out to accept any",
        ),
    ],
)
def test_bad_keys_in_python_are_refused_with_their_path(keys: dict[str, Any], expected: str) -> None:
    """No key, a misspelt key or a bad value is an error, not an empty grade (G27)."""
    with pytest.raises(TestSetError) as caught:
        testsets.from_keys(keys, KINDS)
    assert str(caught.value) == expected


@pytest.mark.parametrize(("given", "shown"), [(["a"], "a list"), ("a", "the string `a`"), (None, "null")])
def test_expectations_that_are_no_mapping_are_refused(given: Any, shown: str) -> None:
    """A list of calls is a likely slip; what is written instead is told (G27)."""
    with pytest.raises(TestSetError) as caught:
        testsets.from_keys(given, KINDS)
    assert str(caught.value) == f"expected a mapping such as {{'allowed_tools': […]}}, found {shown}"


def test_arguments_nested_too_deeply_in_python_are_refused() -> None:
    """Python values have no text whose depth could have been limited before (G8)."""
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(TestSetError) as caught:
        testsets.from_keys({"expected_tool_calls": [{"name": "t", "arguments": {"x": deep}}]}, KINDS)
    assert str(caught.value) == "expected_tool_calls[0].arguments: nested deeper than the limit of 200"


def test_an_unknown_dialect_is_a_usage_error() -> None:
    """The near one is named."""
    with pytest.raises(UsageError, match="did you mean `rhesis`"):
        testsets.from_keys({}, KINDS, dialect="rhesus")


def test_a_record_carries_its_own_test() -> None:
    """Its id is the record's, and in a record `arguments: null` accepts any arguments."""
    keys = {"expected_tool_calls": [{"name": "t", "arguments": None, "id": "c1"}], "x-run": 5}
    test = testsets.embedded(keys, KINDS, identity="r7", where=Where(file="runs.jsonl", line=7))
    assert (test.id, test.positional, test.extra) == ("r7", False, {"x-run": 5})
    assert test.assertions == (ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="t"),)),)
    assert test.where == Where(file="runs.jsonl", line=7)
    assert test.places[0].where == Where(file="runs.jsonl", line=7, path="expected_tool_calls")
    assert test.warnings == (
        "expected_tool_calls[0].id: `id` of an expected call is ignored; only name and arguments count",
    )


def test_a_bad_expectation_in_a_record_is_refused_with_the_place_of_the_record() -> None:
    """File, line and path of the record stand before the path in it."""
    where = Where(file="runs.json", line=3, path="[2]")
    with pytest.raises(TestSetError) as caught:
        testsets.embedded({"tool_call_args": [{"tool": "t"}]}, KINDS, where=where)
    expected = "runs.json:3: [2].tool_call_args[0]: expected the key `match`, which is missing"
    assert str(caught.value) == expected


def test_orbit_rows_list_names_that_must_be_called() -> None:
    """Seed O's `expected_tool_calls` is presence, its `min_pass_rate` a rate over assertions, `$gt` a key (G26)."""
    row = {
        "expected_tool_calls": ["a", "b"],
        "tool_call_args": [{"tool": "a", "match": {"mode": "subset", "args": {"n": {"$gt": 1}}}}],
        "expected_tool_sequence": [{"tool": "a"}],
        "allowed_tools": ["a"],
        "min_pass_rate": 0.5,
    }
    test = testsets.from_keys(row, KINDS, dialect="orbit")
    assert test.assertions == (
        RequiredTool(tool="a"),
        RequiredTool(tool="b"),
        ToolCallArgs(tool="a", match=Match(mode="subset", args={"n": {"$gt": 1}})),
        ToolSequence(steps=(Step(tool="a"),)),
        AllowedTools(tools=("a",)),
    )
    assert (test.min_assertion_rate, test.min_pass_rate) == (Fraction(1, 2), Fraction(1))


@pytest.mark.parametrize("holder", ["tests", "rows", "scenarios"])
def test_errors_in_a_dialect_speak_its_words(holder: str) -> None:
    """Paths are those of the file, not of the translation."""
    text = f"dialect: orbit\n{holder}:\n- expected_tool_calls: [a, {{name: b}}]\n"
    with pytest.raises(TestSetError) as caught:
        testsets.read(text.encode(), KINDS, file="o.yaml")
    expected = f"o.yaml:3:28: {holder}[0].expected_tool_calls[1]: expected a string, found a mapping"
    assert str(caught.value) == expected


def test_rhesis_tests_are_read() -> None:
    """Seed R's shape: a prompt with content, null for what is not said, null arguments for any (section 5)."""
    text = """
        dialect: rhesis
        name: Refund flow
        match: any_order
        tests:
          - category: Refunds
            topic: null
            prompt: {content: My order is late.}
            test_configuration:
              expected_tool_calls:
                - {name: lookup_order, arguments: {order_id: {$gt: 42}}}
                - {name: issue_refund, arguments: null}
          - test_configuration: {expected_tool_calls: null}
          - test_configuration: {expected_tool_calls: []}
    """
    first, second, third = testsets.read(text.encode(), KINDS).tests
    assert (first.prompt, first.category, first.topic) == ("My order is late.", "Refunds", None)
    assert first.assertions == (
        ToolCallTrajectory(
            expected_tool_calls=(
                ExpectedCall(name="lookup_order", arguments={"order_id": {"$gt": 42}}),
                ExpectedCall(name="issue_refund"),
            ),
            match="any_order",
        ),
    )
    assert second.assertions == ()
    assert third.assertions == (ToolCallTrajectory(expected_tool_calls=(), match="any_order"),)


BAD_PATTERN = "{mode: regex, pattern: '('}"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            f"expected_tool_calls: [a, {{name: b, match: {BAD_PATTERN}}}]",
            "t.yaml:2:69: tests[0].expected_tool_calls[1].match.pattern: not a regular expression: missing )",
        ),
        (
            f"test_configuration: {{expected_tool_calls: [{{name: b, match: {BAD_PATTERN}}}]}}",
            "t.yaml:2:87: tests[0].test_configuration.expected_tool_calls[0].match.pattern: "
            "not a regular expression: missing )",
        ),
        (
            f"tool_call_args: [{{tool: a, match: {BAD_PATTERN}}}]",
            "t.yaml:2:61: tests[0].tool_call_args[0].match.pattern: not a regular expression: missing )",
        ),
        (
            f"expected_tool_sequence: [{{tool: a}}, {{tool: b, match: {BAD_PATTERN}}}]",
            "t.yaml:2:80: tests[0].expected_tool_sequence[1].match.pattern: not a regular expression: missing )",
        ),
        (
            f"expected_tool_sequence: [{{any_order: [{{optional: {{tool: b, match: {BAD_PATTERN}}}}}]}}]",
            "t.yaml:2:93: tests[0].expected_tool_sequence[0].any_order[0].optional.match.pattern: "
            "not a regular expression: missing )",
        ),
        (
            "expected_tool_sequence: [{tool: a}, {}]",
            "t.yaml:2:40: tests[0].expected_tool_sequence[1]: a step has one of the keys `tool`, `any_order`, "
            "`in_order`, `one_of`, `optional` and `repeat`; found none of them",
        ),
        (
            "expected_tool_sequence: {steps: [], strict: true}",
            "t.yaml:2:36: tests[0].expected_tool_sequence.steps: a sequence needs at least one step",
        ),
        (
            "rules: [{absence: a}, {init: a, end: b}]",
            "t.yaml:2:26: tests[0].rules[1]: a rule has one template as its key, such as `response` or `absence`; "
            "found `init` and `end`",
        ),
        (
            "rules: [{response: [a, a]}]",
            "t.yaml:2:27: tests[0].rules[0].response[1]: both operands of `response` are the same; such a rule holds "
            "always or never",
        ),
        (
            f"rules: [{{response: [a, {{tool: b, match: {BAD_PATTERN}}}]}}]",
            "t.yaml:2:67: tests[0].rules[0].response[1].match.pattern: not a regular expression: missing )",
        ),
        (
            f"forbidden_tools: [a, {{tool: b, match: {BAD_PATTERN}}}]",
            "t.yaml:2:65: tests[0].forbidden_tools[1].match.pattern: not a regular expression: missing )",
        ),
        (
            f"assertions: [{{kind: arguments, tool: a, match: {BAD_PATTERN}}}]",
            "t.yaml:2:74: tests[0].assertions[0].match.pattern: not a regular expression: missing )",
        ),
        (
            "expected_tool_calls: [{name: a, fill_defaults: true, arguments: {}}]",
            "t.yaml:2:51: tests[0].expected_tool_calls[0].fill_defaults: "
            "`fill_defaults` needs the JSON Schema of `a` in `tool_schemas`",
        ),
    ],
)
def test_an_assertion_that_cannot_be_compiled_is_refused_with_its_place(keys: str, expected: str) -> None:
    """Compiling knows the path inside the assertion; the test set knows where that stands (G27)."""
    text = f"tests:\n- {{{keys}}}\n- {{allowed_tools: []}}\n"
    test_set = testsets.read(text.encode(), KINDS, file="t.yaml")
    with pytest.raises(TestSetError) as caught:
        testsets.compile_tests(test_set, literal_regex)
    assert str(caught.value) == expected


@pytest.mark.parametrize("sequence", ["[{optional: {tool: a}}]", "{steps: [{tool: a}], strict: true}"])
def test_rows_of_orbit_know_only_lists_of_single_calls(sequence: str) -> None:
    """What that tool would not understand is refused where its words are spoken (G24)."""
    text = f"{{dialect: orbit, rows: [{{expected_tool_sequence: {sequence}}}]}}"
    with pytest.raises(TestSetError) as caught:
        testsets.read(text.encode(), KINDS, file="t.yaml")
    assert caught.value.message == "expected a list of steps `{tool, match}`: the dialect `orbit` knows no others"
    assert caught.value.where.path == "rows[0].expected_tool_sequence"


def test_a_strict_sequence_is_written_as_one() -> None:
    """Written as a plain list it would pass what it fails (G41)."""
    text = b"tests: [{expected_tool_sequence: {steps: [{tool: a}], strict: true}}]"
    (test,) = testsets.read(text, KINDS).tests
    written = native_test(test, data_written)
    assert written == {"assertions": [{"kind": "sequence", "steps": [{"tool": "a"}], "strict": True}]}


@pytest.mark.parametrize("file", ["t.json", "t.jsonl"])
def test_the_place_is_found_in_json_too(file: str) -> None:
    """Lines of JSON Lines and of a document are scanned when somebody asks."""
    row = '{"tool_call_args": [{"tool": "a", "match": {"mode": "regex", "pattern": "("}}]}'
    text = {"t.json": '{"tests": [{},\n' + row + "]}", "t.jsonl": "{}\n" + row}[file]
    test_set = testsets.read(text.encode(), KINDS, file=file)
    with pytest.raises(TestSetError) as caught:
        testsets.compile_tests(test_set, literal_regex)
    expected = f"{file}:2:73: tests[1].tool_call_args[0].match.pattern: not a regular expression: missing )"
    assert str(caught.value) == expected


def test_a_record_that_cannot_be_compiled_is_refused_with_its_place() -> None:
    """Without a file to look into, the record's line is the place."""
    keys = {"tool_call_args": [{"tool": "a", "match": {"mode": "regex", "pattern": "("}}]}
    test = testsets.embedded(keys, KINDS, where=Where(file="runs.jsonl", line=7))
    with pytest.raises(TestSetError) as caught:
        testsets.compile_test(test, literal_regex)
    expected = "runs.jsonl:7: tool_call_args[0].match.pattern: not a regular expression: missing )"
    assert str(caught.value) == expected


def test_compiled_tests_stand_beside_their_verdict_names() -> None:
    """Every assertion is compiled in its order, under the setting of its test."""
    text = "tests: [{id: a, required_tools: [x], parallel: unordered, expected_tool_calls: []}, {id: b}]"
    first, second = testsets.compile_tests(testsets.read(text.encode(), KINDS), literal_regex)
    assert [assertion.id for assertion in first.assertions] == ["tool_call_trajectory", "tool_called:x"]
    assert testsets.setting_of(first.test, literal_regex).parallel_unordered
    assert (second.test.id, second.assertions) == ("b", ())


def test_a_match_that_is_left_out_stays_left_out() -> None:
    """Nothing is filled in that the writer did not say."""
    test = testsets.from_keys({"expected_tool_calls": ["t"]}, KINDS)
    assert isinstance(test.assertions[0], ToolCallTrajectory)
    assert test.assertions[0].expected_tool_calls[0].match is UNSET
