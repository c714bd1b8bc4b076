"""The JSON Schema of test set files agrees with the reader, and what `init` writes is right by both."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor

from rightcall import testsets
from rightcall.assertions import KINDS
from rightcall.assertions.trajectory import ToolCallTrajectory
from support.conformance import of_every_row

HERE = Path(__file__).parent
EXAMPLES = sorted((HERE.parent / "examples").rglob("*.rightcall.yaml"))
REFUSED = [
    case
    for line in (HERE / "testsets" / "refused.jsonl").read_text("utf-8").strip().split("\n")
    if "in_schema" in (case := json.loads(line))
]
ACCEPTED = [
    "tests: []",
    "{version: 1, tests: [{}], x-any: 1}",
    "{tests: [{id: a, x-note: [1], name: null, requirement: null, prompt: [{role: user, content: hi}]}]}",
    "tests: [{expected_tool_calls: [a, {name: b}], match: subset, arguments: deep, parallel: unordered}]",
    "tests: [{expected_tool_calls: [{name: a, arguments: '{}', id: c1, type: function, result: 5}]}]",
    "tests: [{expected_tool_calls: [{name: a, arguments: {$literal: {$gt: 1}}}]}]",
    "tests: [{expected_tool_calls: [{name: a, arguments: {x: {$gte: 1, $lte: 5}, y: [{$any: true}]}}]}]",
    "tests: [{expected_tool_calls: [{name: a, arguments: {$one_of: [{x: {$optional: 1}, y: {$absent: true}}]}}]}]",
    "tests: [{expected_tool_calls: [{name: a, arguments: {x: {$unordered: []}, y: {$regex: a, $flags: i}}}]}]",
    "tests: [{expected_tool_calls: [{name: a, arguments: {x: {$schema: {$ref: '#'}}, y: {$length: {min: 1}}}}]}]",
    "tests: [{tool_call_args: [{tool: a, match: {mode: deep, args: {x: {$text: {value: a, normalize: true}}}}}]}]",
    "tests: [{forbidden_tools: [{tool: a, match: {mode: partial, args: {x: {$approx: {value: 1, abs: 0.5}}}}}]}]",
    "tests: [{expected_tool_calls: [{name: a, arguments: {x: [{y: null}]}, defaults: {z: {$literal: {$a: 1}}}}]}]",
    "tests: [{expected_tool_calls: [{name: a, match: {mode: regex, pattern: x, flags: i}, fill_defaults: true}]}]",
    "tests: [{test_configuration: {expected_tool_calls: []}, match: exact}]",
    "tests: [{tool_call_args: [{tool: a, match: {mode: exact, args: {}}, call_index: 1, negate: true, name: n}]}]",
    "tests: [{expected_tool_sequence: [{tool: a}], parallel: unordered}]",
    "tests: [{expected_tool_sequence: {steps: [{tool: a}], strict: true, name: n}}]",
    "tests: [{expected_tool_sequence: [{any_order: [{tool: a}, {optional: {one_of: [{in_order: [{tool: b}]}]}}]}]}]",
    "tests: [{expected_tool_sequence: [{repeat: {step: {tool: a, match: {mode: ignore}}, min: 0}}]}]",
    "tests: [{rules: [{response: [a, {tool: b, match: {mode: partial, args: {x: {$gt: 1}}}}]}, {absence: a}]}]",
    "tests: [{rules: [{existence: {tool: a, n: 2}, severity: warn, name: twice}]}]",
    "{tests: [], assertions: [{kind: rule, not_succession: [a, b]}, {kind: sequence, steps: [{tool: a}]}]}",
    "tests: [{forbidden_tools: [a, {tool: b, match: {mode: ignore}}], allowed_tools: []}]",
    "tests: [{expected_tools: [a, a], threshold: 50.5, repeat: 2, min_pass_rate: 2/3, min_assertion_rate: 90%}]",
    "{tests: [], gate: {min_pass_rate: '1', allow_errors: 0, thresholds: {tool_select: 0.5}}}",
    "{tests: [], tool_schemas: {a: {type: object}, b: true}, tool_aliases: {A: a}, count: {agents: null}}",
    "{tests: [], tool_schemas: [{name: a, input_schema: {}}], ignore_arguments: ['*_id']}",
    "{tests: [], assertions: [{kind: trajectory, expected_tool_calls: [a, {name: b}]}]}",
    "tests: [{budget: {max_calls: 1, max_calls_per_tool: {a: 0}, max_repeats: 0, max_errors: 0}, severity: warn}]",
    "{check_schemas: true, severity: shadow, tests: [{check_schemas: false, budget: {max_calls_per_tool: 2}}]}",
    "tests: [{text: {must_include: [a], must_not_include: [b], ignore_case: true, regex: c, flags: i}, code: c.py:f}]",
    "tests: [{code: [c.py:f, d/e.py:g]}]",
    "tests: [{match: exact, turns: [{prompt: hi, expected_tool_calls: [a, {name: b, id: c1}]}]}]",
    "tests: [{turns: [{assertions: [{kind: budget, max_calls: 1, agent: a}], severity: warn, check_schemas: true}]}]",
    "{tests: [], assertions: [{kind: schema, turn: 1}, {kind: code, function: c.py:f}, {kind: text, regex: a}]}",
    "{tests: [], assertions: [{kind: selection, expected_tools: [a], severity: shadow}]}",
]


class DatesAsText(SafeConstructor):
    """What editors make of a YAML text: version 1.2 knows no dates."""


DatesAsText.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


def plain(text: str) -> Any:
    """The value of a YAML text, by the YAML library alone."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = DatesAsText
    return yaml.load(text)


@cache
def validator() -> Draft202012Validator:
    """What an editor makes of the schema."""
    return Draft202012Validator(testsets.schema(KINDS))


def errors(text: str) -> list[str]:
    return [error.message for error in validator().iter_errors(plain(text))]


def test_the_schema_is_itself_valid() -> None:
    """It is a JSON Schema of draft 2020-12 with an id of its own, and plain JSON."""
    schema = testsets.schema(KINDS)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "urn:rightcall:test-set:1"
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_the_reader_takes_the_schema_accepts(text: str) -> None:
    """An editor marks nothing in a file that is right."""
    testsets.read(text.encode(), KINDS, file="t.yaml")
    assert errors(text) == []


@of_every_row({"id": case["message"][:80], **case} for case in REFUSED)
def test_what_a_schema_can_see_the_schema_refuses(case: dict[str, Any]) -> None:
    """Of the files that the reader refuses, the schema refuses those marked `in_schema` and no others."""
    assert bool(errors(case["text"])) == case["in_schema"]


def test_keys_and_kinds_are_described_for_editors() -> None:
    """Every key of a test and of the file has a description, each kind its docstring."""
    schema = testsets.schema(KINDS)
    definitions = schema["$defs"]
    assert definitions["ToolCallTrajectory"]["description"].startswith("The calls made line up")
    undescribed = [
        name
        for name, key in {**schema["properties"], **definitions["TestKeys"]["properties"]}.items()
        if "description" not in json.dumps(key) and "$ref" not in json.dumps(key)
    ]
    assert undescribed == []


class Haste(ToolCallTrajectory, frozen=True, kw_only=True, tag="haste"):
    """A kind of somebody else's."""

    seconds: float


def test_kinds_of_other_packages_are_in_the_schema() -> None:
    """A kind that is installed may be named, with its own keys."""
    schema = testsets.schema({**KINDS, "haste": Haste})
    validator = Draft202012Validator(schema)
    good = "{tests: [], assertions: [{kind: haste, seconds: 1.5, expected_tool_calls: []}]}"
    assert validator.is_valid(plain(good))
    assert not validator.is_valid(plain(good.replace("1.5", "soon")))
    assert testsets.read(good.encode(), {**KINDS, "haste": Haste}, file="t.yaml").tests == ()


def test_the_template_is_a_valid_test_set() -> None:
    """It reads without a warning, and its first line leads editors to the schema beside it."""
    text = testsets.template()
    test_set = testsets.read(text.encode(), KINDS, file="refund.rightcall.yaml")
    assert [test.id for test in test_set.tests] == ["late-order", "small-talk"]
    assert test_set.warnings == ()
    assert errors(text) == []
    assert text.splitlines()[0] == f"# yaml-language-server: $schema={testsets.SCHEMA_FILE}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.name))
def test_every_example_is_valid(path: Path) -> None:
    """The examples read without a warning and satisfy the schema."""
    assert testsets.read(path.read_bytes(), KINDS, file=path.name).warnings == ()
    assert errors(path.read_text("utf-8")) == []


def test_every_key_and_kind_is_documented() -> None:
    """A key of a file, a test, an expected call or the gate that the page does not name is a defect."""
    page = (HERE.parent / "docs" / "test-sets.md").read_text("utf-8")
    schema = testsets.schema(KINDS)
    shapes = [schema, *(schema["$defs"][name] for name in ("TestKeys", "GateKeys", "Count"))]
    words = {key for shape in shapes for key in shape["properties"]} | set(KINDS) | set(testsets.DIALECTS)
    assert {word for word in words if f"`{word}`" not in page} == set()


def test_the_test_set_on_the_page_is_valid() -> None:
    """The first block of the page is a whole file."""
    page = (HERE.parent / "docs" / "test-sets.md").read_text("utf-8")
    block = page.partition("```yaml\n")[2].partition("```")[0]
    assert [test.id for test in testsets.read(block.encode(), KINDS, file="page.yaml").tests] == ["late-order"]
    assert errors(block) == []
