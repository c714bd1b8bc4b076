"""Test set files that are right: what each key means, in YAML, JSON and JSON Lines."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from rightcall import testsets
from rightcall.assertions import KINDS
from rightcall.assertions.arguments import ToolCallArgs
from rightcall.assertions.selection import ToolSelect
from rightcall.assertions.sequence import Step, ToolSequence
from rightcall.assertions.tools import AllowedTools, ForbiddenTool, ForbiddenTools, RequiredTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion
from rightcall.core.counting import Count
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.core.summary import Gate
from rightcall.errors import Where
from rightcall.testsets import Test, TestSet

WHOLE = """\
# refund.rightcall.yaml
version: 1
name: Refund flow
match: superset
arguments: exact
only_successful: true
parallel: unordered
gate: {min_pass_rate: 0.8, min_graded: 2, allow_errors: 1, thresholds: {tool_sequence: 80%}}
endpoint: {http: {url: "http://127.0.0.1:8000/chat"}}
metadata: {team: refunds}
x-owner: me
ignore_arguments: [trace_id]
tool_aliases: {lookupOrder: lookup_order}
count: {requestor: any}
tool_schemas: {lookup_order: {type: object}, issue_refund: {}, log_event: true}
assertions:
  - {kind: allowed_tools, tools: [lookup_order, issue_refund, log_event], severity: warn, name: policy}
tests:
  - id: late-order
    name: Late
    requirement: Follows the refund process
    category: Refunds
    topic: Late orders
    prompt: My order 42 arrived late.
    tags: [smoke]
    metadata: {ticket: 7}
    x-note: kept
    match: exact
    arguments: deep
    only_successful: false
    parallel: ordered
    expected_tool_calls:
      - {name: lookup_order, arguments: {order_id: 42}, ignore_arguments: ["ts_*"], defaults: {page: 1}}
      - issue_refund
    required_tools: [lookup_order, issue_refund]
    tool_call_args:
      - {tool: issue_refund, match: {mode: regex, pattern: "4+2", flags: i}, call_index: 2, negate: true}
      - {tool: lookup_order, match: {mode: subset, args: {order_id: 42}}}
    expected_tool_sequence: [{tool: lookup_order}, {tool: issue_refund, match: {mode: exact, args: {}}}]
    allowed_tools: []
    forbidden_tools: [log_event, {tool: issue_refund, match: {mode: partial, args: {amount: 0}}}]
    expected_tools: [lookup_order, lookup_order]
    threshold: 66.5
    assertions: [{kind: required_tool, tool: log_event}]
    ignore_arguments: [nonce]
    count: {kinds: [client], agents: [main]}
    repeat: 3
    min_pass_rate: 2/3
    min_assertion_rate: 0.9
  - {}
"""


def read(text: str | bytes, file: str = "t.yaml", **options: Any) -> TestSet:
    data = text if isinstance(text, bytes) else text.encode()
    return testsets.read(data, KINDS, file=file, **options)


def assertions(keys: str) -> tuple[Assertion, ...]:
    """The assertions of one test with these keys, written as a flow mapping."""
    return read(f"tests: [{{{keys}}}]").tests[0].assertions


def without_places(test_set: TestSet) -> TestSet:
    tests = tuple(replace(test, where=Where(), places=()) for test in test_set.tests)
    return replace(test_set, tests=tests, source=testsets.TestSet().source)


def test_every_key_of_a_test_set_is_read() -> None:
    """The keys that stand around the tests come out by name, rates as exact fractions (G35)."""
    test_set = read(WHOLE)
    assert test_set.name == "Refund flow"
    assert test_set.gate == Gate(
        min_pass_rate=Fraction(4, 5),
        min_graded=2,
        allow_errors=1,
        thresholds={"tool_sequence": Fraction(4, 5)},
    )
    assert test_set.endpoint == {"http": {"url": "http://127.0.0.1:8000/chat"}}
    assert test_set.metadata == {"team": "refunds"}
    assert test_set.extra == {"x-owner": "me"}
    assert test_set.warnings == ()


def test_every_key_that_describes_a_test_is_read() -> None:
    """A test keeps its own words, and adds its own settings to those of the test set."""
    test = read(WHOLE, "refund.rightcall.yaml").tests[0]
    expected = Test(
        id="late-order",
        name="Late",
        requirement="Follows the refund process",
        category="Refunds",
        topic="Late orders",
        prompt="My order 42 arrived late.",
        tags=("smoke",),
        metadata={"ticket": 7},
        extra={"x-note": "kept"},
        tool_schemas={"lookup_order": {"type": "object"}, "issue_refund": {}, "log_event": True},
        tool_aliases={"lookupOrder": "lookup_order"},
        ignore_arguments=("trace_id", "nonce"),
        count=Count(kinds=("client",), agents=("main",)),
        parallel="ordered",
        repeat=3,
        min_pass_rate=Fraction(2, 3),
        min_assertion_rate=Fraction(9, 10),
        where=Where(file="refund.rightcall.yaml", line=19, column=5, path="tests[0]"),
    )
    assert replace(test, assertions=(), places=()) == expected


def test_expectation_keys_are_assertions_in_the_order_of_their_verdicts() -> None:
    """Trajectory, presence, arguments, sequence, allowed, forbidden, selection, then `assertions`, then the set's."""
    assert read(WHOLE).tests[0].assertions == (
        ToolCallTrajectory(
            expected_tool_calls=(
                ExpectedCall(
                    name="lookup_order",
                    arguments={"order_id": 42},
                    ignore_arguments=("ts_*",),
                    defaults={"page": 1},
                ),
                ExpectedCall(name="issue_refund"),
            ),
            match="exact",
            arguments="deep",
            only_successful=False,
            parallel="ordered",
        ),
        RequiredTool(tool="lookup_order"),
        RequiredTool(tool="issue_refund"),
        ToolCallArgs(
            tool="issue_refund",
            match=Match(mode="regex", pattern="4+2", flags="i"),
            call_index=2,
            negate=True,
        ),
        ToolCallArgs(tool="lookup_order", match=Match(mode="subset", args={"order_id": 42})),
        ToolSequence(steps=(Step(tool="lookup_order"), Step(tool="issue_refund", match=Match(mode="exact", args={})))),
        AllowedTools(tools=()),
        ForbiddenTools(
            tools=(
                "log_event",
                ForbiddenTool(tool="issue_refund", match=Match(mode="partial", args={"amount": 0})),
            )
        ),
        ToolSelect(expected_tools=("lookup_order", "lookup_order"), threshold=66.5),
        RequiredTool(tool="log_event"),
        AllowedTools(tools=("lookup_order", "issue_refund", "log_event"), severity="warn", name="policy"),
    )


def test_a_test_without_keys_of_its_own_has_those_of_its_test_set() -> None:
    """An empty test has the position as its id, the set's settings and the set's assertions."""
    test = read(WHOLE).tests[1]
    assert (test.id, test.positional) == ("2", True)
    assert (test.count, test.parallel) == (Count(requestor="any"), "unordered")
    assert [str(assertion.name) for assertion in test.assertions] == ["policy"]


def test_a_trajectory_has_the_defaults_of_its_test_set_in_either_form() -> None:
    """`match` on the test set holds for `expected_tool_calls` and for `kind: trajectory`, unless overridden."""
    text = """
        match: exact
        arguments: ignore
        tests:
          - expected_tool_calls: [a]
          - {expected_tool_calls: [a], match: subset}
          - assertions: [{kind: trajectory, expected_tool_calls: [a]}]
          - assertions: [{kind: trajectory, expected_tool_calls: [a], arguments: deep}]
    """
    call = (ExpectedCall(name="a"),)
    assert [test.assertions for test in read(text).tests] == [
        (ToolCallTrajectory(expected_tool_calls=call, match="exact", arguments="ignore"),),
        (ToolCallTrajectory(expected_tool_calls=call, match="subset", arguments="ignore"),),
        (ToolCallTrajectory(expected_tool_calls=call, match="exact", arguments="ignore"),),
        (ToolCallTrajectory(expected_tool_calls=call, match="exact", arguments="deep"),),
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", ()),
        ("expected_tool_calls: []", (ToolCallTrajectory(expected_tool_calls=()),)),
        ("test_configuration: {expected_tool_calls: []}", (ToolCallTrajectory(expected_tool_calls=()),)),
        ("test_configuration: {}", ()),
        ("allowed_tools: []", (AllowedTools(tools=()),)),
        ("tool_call_args: []", ()),
        ("expected_tool_sequence: []", ()),
        ("required_tools: []", ()),
        ("forbidden_tools: []", ()),
        ("assertions: []", ()),
    ],
)
def test_absent_and_empty_are_told_apart(keys: str, expected: tuple[Assertion, ...]) -> None:
    """`[]` is a statement where it can be one, and nothing where it cannot (G3, section 7)."""
    assert assertions(keys) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("{a: 1}", {"a": 1}),
        ("{}", {}),
        ('"{\\"a\\": [1, null]}"', {"a": [1, None]}),
        ('"[1]"', [1]),
        ("{$literal: {$gt: 1}}", {"$gt": 1}),
        ("{a: [{$literal: {$any: true}}, 2]}", {"a": [{"$any": True}, 2]}),
        ("{$literal: {$literal: 1}}", {"$literal": 1}),
        ("{$literal: text}", "text"),
        ("{$literal: null}", None),
        ("{a: null}", {"a": None}),
        ('{a: "{}"}', {"a": "{}"}),
    ],
)
def test_expected_arguments_are_decoded_once_and_literals_unwrapped(arguments: str, expected: object) -> None:
    """A string is JSON text (G9), `{$literal: v}` any data, and strings inside stay strings."""
    (assertion,) = assertions(f"expected_tool_calls: [{{name: t, arguments: {arguments}}}]")
    assert assertion == ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="t", arguments=expected),))


def test_literals_are_unwrapped_wherever_arguments_stand() -> None:
    """In matches, steps, bans, defaults and the general form as well."""
    match = "match: {mode: exact, args: {a: {$literal: {$x: 1}}}}"
    kept = Match(mode="exact", args={"a": {"$x": 1}})
    assert assertions(
        f"""
        expected_tool_calls: [{{name: t, {match}, defaults: {{d: {{$literal: {{$y: 2}}}}, e: text, f: null}}}}],
        tool_call_args: [{{tool: t, {match}}}],
        expected_tool_sequence: [{{tool: t, {match}}}],
        forbidden_tools: [{{tool: t, {match}}}],
        assertions: [{{kind: arguments, tool: t, {match}}}]
        """
    ) == (
        ToolCallTrajectory(
            expected_tool_calls=(ExpectedCall(name="t", match=kept, defaults={"d": {"$y": 2}, "e": "text", "f": None}),)
        ),
        ToolCallArgs(tool="t", match=kept),
        ToolSequence(steps=(Step(tool="t", match=kept),)),
        ForbiddenTools(tools=(ForbiddenTool(tool="t", match=kept),)),
        ToolCallArgs(tool="t", match=kept),
    )


def test_fields_of_a_recorded_call_are_ignored_with_a_warning() -> None:
    """A pasted call record says what is expected by name and arguments alone (G27)."""
    text = "tests:\n- expected_tool_calls: [{name: t, id: c1, type: function, status: ok}, {name: u, id: c2}]\n"
    test_set = read(text)
    assert test_set.tests[0].assertions == (
        ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="t"), ExpectedCall(name="u"))),
    )
    ignored = "of an expected call is ignored; only name and arguments count"
    assert test_set.warnings == (
        f"t.yaml:2:35: tests[0].expected_tool_calls[0].id and 1 more: `id` {ignored}",
        f"t.yaml:2:43: tests[0].expected_tool_calls[0].type: `type` {ignored}",
        f"t.yaml:2:59: tests[0].expected_tool_calls[0].status: `status` {ignored}",
    )


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ("{a: {type: object}}", {"a": {"type": "object"}}),
        ("[{type: function, function: {name: a, parameters: {type: object}}}]", {"a": {"type": "object"}}),
        ("[{type: function, name: a, parameters: {type: object}}]", {"a": {"type": "object"}}),
        ("[{name: a, input_schema: {type: object}}]", {"a": {"type": "object"}}),
        ("[{name: a}]", {"a": {}}),
    ],
)
def test_tools_are_a_mapping_or_a_list_of_definitions(tools: str, expected: object) -> None:
    """`tool_schemas` takes the definitions that are sent to a model as they are."""
    assert read(f"{{tool_schemas: {tools}, tests: [{{}}]}}").tests[0].tool_schemas == expected


def test_an_alias_of_a_tool_is_a_known_name() -> None:
    """Expectations use the name that an alias leads to (G13)."""
    text = (
        "{tool_schemas: {lookupOrder: {}}, tool_aliases: {lookupOrder: look_up}, tests: [{required_tools: [look_up]}]}"
    )
    assert read(text).tests[0].assertions == (RequiredTool(tool="look_up"),)


def test_a_policy_may_name_other_tools_and_is_warned_about() -> None:
    """An allow-list or ban is often wider than one agent, but a typing error would make it vain."""
    text = "{tool_schemas: {wipe_disk: {}}, tests: [{forbidden_tools: [wipe_dsk]}, {allowed_tools: [other]}]}"
    assert read(text).warnings == (
        "t.yaml:1:42: tests[0].forbidden_tools: `wipe_dsk` is none of the tools in `tool_schemas` "
        "(did you mean `wipe_disk`?)",
        "t.yaml:1:73: tests[1].allowed_tools: `other` is none of the tools in `tool_schemas`",
    )


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("NO", "NO"),
        ("2026-11-30", "2026-11-30"),
        ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("0b11", "0b11"),
        ("12e", "12e"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("NaN", "NaN"),
        ("-a", "-a"),
        ("?a", "?a"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("''", ""),
        ("'~'", "~"),
        ("5", 5),
        ("+5", 5),
        ("-5", -5),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("9007199254740993", 9007199254740993),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("5.0", 5.0),
        ("5.", 5.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("null", None),
        ("Null", None),
        ("~", None),
        ("", None),
        ('"\\ud83d\\ude80"', "🚀"),
        ('"\\N"', "\x85"),
        ('"\\ud800"', "\ud800"),
        ("Zürich 東京", "Zürich 東京"),
    ],
)
def test_yaml_is_read_by_the_core_schema_of_1_2(written: str, value: object) -> None:
    """Only JSON's own words and numbers are not strings: Norway stays `no`, dates stay text."""
    metadata = read(f"tests: []\nmetadata:\n  v: {written}\n").metadata
    assert metadata == {"v": value}
    assert type(metadata["v"]) is type(value)


@pytest.mark.parametrize("key", ["1", "true", "null", "~", "no", "1.5", "2026-11-30", "a.b", "'<<'"])
def test_keys_are_strings_as_they_are_written(key: str) -> None:
    """A key is never a number or a boolean."""
    assert read(f"tests: []\nmetadata: {{{key}: v}}\n").metadata == {key.strip("'"): "v"}


def test_an_alias_stands_for_what_its_anchor_holds() -> None:
    """Anchors work for values, also for scalars and keys."""
    text = """
        metadata: {common: &calls [lookup_order, &last issue_refund], &key k: 1}
        tests:
          - expected_tool_calls: *calls
          - required_tools: [*last]
    """
    first, second = read(text).tests
    calls = (ExpectedCall(name="lookup_order"), ExpectedCall(name="issue_refund"))
    assert first.assertions == (ToolCallTrajectory(expected_tool_calls=calls),)
    assert second.assertions == (RequiredTool(tool="issue_refund"),)


@pytest.mark.parametrize("file", ["t.yaml", "t.yml", "T.YAML", "-", "tests.txt"])
def test_yaml_is_told_by_name_or_content(file: str) -> None:
    """What does not begin with a bracket is YAML."""
    assert read("tests:\n- id: a\n", file).tests[0].id == "a"


@pytest.mark.parametrize("file", ["t.json", "t.yaml", "-", "tests.txt"])
def test_json_is_told_by_name_or_content(file: str) -> None:
    """What begins with a bracket is JSON, and JSON is YAML too, tabs and all."""
    assert read('{\n\t"tests": [\n\t\t{"id": "a"}\n\t]\n}\n', file).tests[0].id == "a"


@pytest.mark.parametrize("file", ["t.jsonl", "t.ndjson", "-", "tests.txt"])
def test_json_lines_are_told_by_name_or_content(file: str) -> None:
    """One test a line, blank lines left out; each test knows its line."""
    test_set = read('{"id": "a"}\n\n{"id": "b", "allowed_tools": []}\n', file)
    assert [(test.id, test.where.line, test.where.path) for test in test_set.tests] == [
        ("a", 1, "tests[0]"),
        ("b", 3, "tests[1]"),
    ]


def test_one_line_of_json_lines_is_told_by_name() -> None:
    """A file with one test cannot be told by content."""
    assert read('{"id": "a"}', "t.jsonl").tests[0].id == "a"


@pytest.mark.parametrize("encode", [lambda text: b"\xef\xbb\xbf" + text, lambda text: text.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("file", ["t.yaml", "t.json", "t.jsonl"])
def test_byte_order_mark_and_windows_lines_are_read(file: str, encode: Any) -> None:
    """UTF-8 with a byte order mark or CRLF gives the same tests at the same lines."""
    texts = {
        "t.yaml": "tests:\n- id: é\n- id: b\n",
        "t.json": '{"tests": [{"id": "é"},\n\n{"id": "b"}]}\n',
        "t.jsonl": '{"id": "é"}\n\n{"id": "b"}\n',
    }
    data = texts[file].encode()
    assert read(encode(data), file).tests == read(data, file).tests


def test_the_same_content_in_another_format_is_the_same_test_set() -> None:
    """YAML and JSON decode to equal values with equal hashes, whatever the order of keys."""
    value = {
        "tests": [
            {"id": "a", "expected_tool_calls": [{"name": "t", "arguments": {"x": [1, 2.5, None, True, "é"]}}]},
            {"id": "b", "min_pass_rate": 0.1},
        ],
        "version": 1,
    }
    in_json = read(json.dumps(value), "t.json")
    in_yaml = read(
        "# a comment\nversion: 1\ntests:\n- id: a\n  expected_tool_calls:\n"
        "  - name: t\n    arguments: {x: [1, 2.5, ~, true, é]}\n- {min_pass_rate: 0.1, id: b}\n"
    )
    assert without_places(in_json) == without_places(in_yaml)
    assert in_json.hash.startswith("sha256:")


def test_the_hash_tells_contents_apart() -> None:
    """One changed value is another hash; so is another dialect."""
    texts = ["tests: []", "tests: []\nname: x", "tests: []\ndialect: orbit"]
    assert len({read(text).hash for text in texts}) == 3


def test_json_lines_get_test_set_wide_keys_from_outside() -> None:
    """`defaults` hold for what the file does not say itself."""
    defaults = {"match": "exact", "name": "from outside", "gate": {"min_graded": 5}}
    lines = read('{"expected_tool_calls": ["a"]}', "t.jsonl", defaults=defaults)
    assert (lines.name, lines.gate.min_graded) == ("from outside", 5)
    assert lines.tests[0].assertions == (
        ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="a"),), match="exact"),
    )
    assert read("{name: own, tests: []}", defaults=defaults).name == "own"


def test_every_assertion_knows_its_line() -> None:
    """The place of an assertion is that of the key it is sugar for."""
    places = read(WHOLE, "f.yaml").tests[0].places
    assert [(place.where.line, place.where.path) for place in places] == [
        (32, "tests[0].expected_tool_calls"),
        (35, "tests[0].required_tools[0]"),
        (35, "tests[0].required_tools[1]"),
        (37, "tests[0].tool_call_args[0]"),
        (38, "tests[0].tool_call_args[1]"),
        (39, "tests[0].expected_tool_sequence"),
        (40, "tests[0].allowed_tools"),
        (41, "tests[0].forbidden_tools"),
        (42, "tests[0].expected_tools"),
        (44, "tests[0].assertions[0]"),
        (17, "assertions[0]"),
    ]


def test_numbers_in_expected_arguments_stay_exact() -> None:
    """Integers of any size and the difference of `1` and `true` survive (G7)."""
    (assertion,) = assertions("expected_tool_calls: [{name: t, arguments: {a: 9007199254740993, b: 1, c: true}}]")
    assert isinstance(assertion, ToolCallTrajectory)
    (call,) = assertion.expected_tool_calls
    assert json.dumps(call.arguments) == '{"a": 9007199254740993, "b": 1, "c": true}'
    assert call.match is UNSET
