"""The JSON Schema of a native test set file, made from the classes that files are decoded into."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import msgspec

from rightcall.assertions.sequence import SHAPES
from rightcall.core.assertion import Assertion
from rightcall.core.constraints import TEMPLATES
from rightcall.testsets.keys import BESIDE, FileKeys
from rightcall.testsets.preparing import RECORD_FIELDS

SCHEMA_ID: Final = "urn:rightcall:test-set:1"
"""The schema's `$id`; the number is that of `version` in the file."""

_DIGITS: Final = "[0-9]{1,30}"
_RATE: Final = {
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": 1},
        {
            "type": "string",
            "pattern": r"^\s*(([0-9]{1,30}(\.[0-9]{1,30})?|\.[0-9]{1,30})%?|[0-9]{1,30}/[0-9]{1,30})\s*$",
        },
    ],
    "description": "A rate from 0 to 1, exact: `0.8`, `4/5` and `80%` are the same.",
}
_ARGUMENTS: Final = {"$ref": "#/$defs/Data", "not": {"type": "null"}}
_EXTRA: Final[dict[str, Any]] = {"^x-": {}}


def schema(kinds: Mapping[str, type[Assertion]]) -> dict[str, Any]:
    """A JSON Schema (2020-12) of a test set in which these kinds may be named.

    It accepts every valid native file, and refuses what a schema can see to be wrong.
    """
    from rightcall.testsets import valueschema

    names = list(kinds)
    (root, *refs), components = msgspec.json.schema_components(
        [FileKeys, *kinds.values()], schema_hook=_hook, ref_template="#/$defs/{name}"
    )
    definitions: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(components))
    _refine_calls(definitions)
    _refine_choices(definitions)
    for name, ref in zip(names, refs, strict=True):
        _refine_kind(definitions, _target(ref), kinds[name])
    head = definitions.pop(_target(root))
    _refine_tests(head, definitions, refs)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **head,
        "title": "rightcall test set",
        "$defs": {**definitions, **valueschema.definitions()},
    }


def _hook(kind: type) -> dict[str, Any]:
    if kind is Fraction:
        return dict(_RATE)
    raise NotImplementedError


def _target(ref: Mapping[str, Any]) -> str:
    return str(ref["$ref"]).rpartition("/")[2]


def _refine_calls(definitions: dict[str, Any]) -> None:
    """Arguments are data but not null; what else a recorded call holds may stand there and is ignored."""
    call, match = definitions["ExpectedCall"]["properties"], definitions["Match"]["properties"]
    call["arguments"] = match["args"] = _ARGUMENTS
    call["defaults"]["additionalProperties"] = {"$ref": "#/$defs/PlainData"}
    for name in sorted(RECORD_FIELDS):
        call[name] = {"description": "Ignored: part of a recorded call, not of an expectation."}


def _refine_kind(definitions: dict[str, Any], name: str, kind: type[Assertion]) -> None:
    """No key of an assertion is null, and expected calls may be bare names."""
    properties = definitions[name]["properties"]
    properties["kind"] = {"const": str(kind.__struct_config__.tag)}
    for key, value in properties.items():
        choices = [choice for choice in value.get("anyOf", ()) if choice != {"type": "null"}]
        if value.get("default", ...) is None and len(choices) == 1:
            properties[key] = choices[0]
    if "expected_tool_calls" in properties:
        items = properties["expected_tool_calls"]["items"]
        properties["expected_tool_calls"]["items"] = {"anyOf": [{"type": "string"}, items]}


def _refine_tests(head: dict[str, Any], definitions: dict[str, Any], kinds: list[dict[str, Any]]) -> None:
    """`x-…` keys are free, assertions are of the kinds given, and keys stand beside those they belong to."""
    test = definitions["TestKeys"]
    test["title"] = "Test"
    dialect = head["properties"]["dialect"]
    head["properties"]["dialect"] = {"const": "native", "description": dialect["description"]}
    turn = definitions["TurnKeys"]
    turn["title"] = "Turn"
    for keys in (head, test):
        keys["patternProperties"] = _EXTRA
    for keys in (head, test, turn):
        keys["properties"]["assertions"]["items"] = {"anyOf": kinds}
    entries = _Entries(definitions, frozenset(map(_target, kinds)))
    for keys, places in ((test, ("test_configuration", "turns")), (turn, ())):
        own = {key: shape for key, shape in keys["properties"].items() if key not in ("assertions", "turns")}
        keys["properties"] |= entries.of(own)
        keys["dependentSchemas"] = {
            key: {"anyOf": [{"required": [other]} for other in _places(others, places)]}
            for key, others in BESIDE.items()
            if key in keys["properties"]
        }


class _Entries:
    """Assertions as they stand under a key that says their kind: the same without `kind`."""

    def __init__(self, definitions: dict[str, Any], kinds: frozenset[str]) -> None:
        self.definitions = definitions
        self.kinds = kinds

    def of(self, shape: Any) -> Any:
        """The same shape, of assertions that do not say their kind."""
        if isinstance(shape, list):
            return [self.of(item) for item in shape]
        if not isinstance(shape, dict):
            return shape
        if "$ref" in shape and (name := _target(shape)) in self.kinds:
            self.definitions[f"{name}Entry"] = _without_kind(self.definitions[name])
            return {**shape, "$ref": f"{shape['$ref']}Entry"}
        return {key: self.of(value) for key, value in shape.items()}


def _without_kind(kind: dict[str, Any]) -> dict[str, Any]:
    properties = {key: value for key, value in kind["properties"].items() if key != "kind"}
    return {**kind, "properties": properties, "required": [key for key in kind["required"] if key != "kind"]}


def _refine_choices(definitions: dict[str, Any]) -> None:
    """A step has one shape and a rule one template."""
    for name, keys in (("Step", SHAPES), ("Rule", TEMPLATES)):
        definitions[name]["oneOf"] = [{"required": [key]} for key in keys]
    definitions["Step"]["dependentRequired"] = {"match": ["tool"]}


def _places(keys: tuple[str, ...], also: tuple[str, ...]) -> list[str]:
    return [*keys, *(also if "expected_tool_calls" in keys else ())]
