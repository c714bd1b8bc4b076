"""JSON Schema validation within limits (G5, G7, G28)."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rightcall.app.schema_formats import FORMATS
from rightcall.app.schemas import compile_schema
from rightcall.core.assertion import CannotJudge
from rightcall.errors import TestSetError


def violations(schema: Any, value: Any) -> list[tuple[str, str]]:
    """Path and words of each violation."""
    return [(each.path, each.message) for each in compile_schema(schema)(value)]


REFUSED: list[tuple[Any, str]] = [
    ({"type": "txt"}, "type: not a JSON Schema: 'txt' is not valid"),
    ({"anyOf": [{"type": "string"}, {"minimum": "1"}]}, "anyOf[1].minimum: not a JSON Schema: "),
    ({"pattern": "("}, "pattern: not a regular expression: "),
    ({"properties": {"a": {"patternProperties": {"[": {}}}}}, "properties.a.patternProperties: not a regular"),
    ({"items": {"format": "date-tim"}}, 'items.format: the format "date-tim" cannot be checked (did you mean'),
    ({"$ref": "https://a.example"}, '$ref: "https://a.example" leads to nothing in the schema; nothing is fetched'),
    ({"$ref": "file:///etc/hosts"}, '$ref: "file:///etc/hosts" leads to nothing'),
    ({"allOf": [{"$ref": "#/$defs/x"}]}, 'allOf[0].$ref: "#/$defs/x" leads to nothing'),
    ({"$schema": "https://example.com/draft"}, '$schema: "https://example.com/draft" is no draft of JSON Schema'),
    ({"$schema": 5}, "$schema: 5 is no draft"),
    ({"not": {"$schema": "https://json-schema.org/draft/2020-12/schema"}}, "not.$schema: a part of a schema cannot"),
    ({"patternProperties": {"a": {}}, "unevaluatedProperties": False}, "unevaluatedProperties: `unevaluated"),
    ({"minimum": float("nan")}, "expected a JSON Schema made of JSON values"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "message"), REFUSED)
def test_what_is_no_schema_that_can_be_checked_is_refused_with_its_place(schema: Any, message: str) -> None:
    """Bad keywords, patterns, formats and references, when they are loaded (G27)."""
    with pytest.raises(TestSetError) as caught:
        compile_schema(schema)
    assert str(caught.value).startswith(message)


VIOLATED: list[tuple[Any, Any, list[tuple[str, str]]]] = [
    ({"type": "integer"}, 5.0, []),
    ({"type": "integer"}, True, [("", "True is not of type 'integer'")]),
    ({"properties": {"a b": {"items": {"maximum": 1}}}}, {"a b": [1, 2]},
     [('["a b"][1]', "2 is greater than the maximum of 1")]),
    ({"multipleOf": 0.1}, 0.3, []),
    ({"multipleOf": 0.1}, 0.35, [("", "0.35 is not a multiple of 0.1")]),
    ({"multipleOf": 3}, 10**30, [("", "1000000000000000000000000000000 is not a multiple of 3")]),
    ({"maximum": 9007199254740992}, 9007199254740993,
     [("", "9007199254740993 is greater than the maximum of 9007199254740992")]),
    ({"uniqueItems": True}, [1, True, "1", {"a": 1}], []),
    ({"uniqueItems": True}, [{"a": 1}, {"a": 1.0}], [("", "the items are not unique")]),
    ({"enum": [1, None]}, True, [("", "true is none of [1,null]")]),
    ({"const": {"$ref": "nowhere"}}, {"$ref": "nowhere"}, []),
    ({"const": 0}, False, [("", "false is not 0")]),
    ({"pattern": "^(?<y>[0-9]+)$"}, "x", [("", '"x" does not match /^(?<y>[0-9]+)$/')]),
    ({"patternProperties": {"^a": {"type": "null"}}, "additionalProperties": False}, {"ab": None, "b": 1},
     [("", 'the property "b" is not allowed')]),
    ({"properties": {"pattern": {"type": "string"}}}, {"pattern": "("}, []),
    ({"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}, "additionalProperties": False}}, "$ref": "#/$defs/n"},
     {"n": {"n": {"m": 1}}}, [("n.n", 'the property "m" is not allowed')]),
    ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": 5},
     [("type", "5 is not valid under any of the given schemas")]),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a",
      "definitions": {"a": {"const": 1}}}, 2, [("", "2 is not 1")]),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}, 1,
     [("", "1 is less than or equal to the minimum of 1")]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "expected"), VIOLATED)
def test_violations_are_those_of_json_values(schema: Any, value: Any, expected: list[tuple[str, str]]) -> None:
    """Exact numbers, booleans that are none, JavaScript's patterns, paths inside the value (G7)."""
    assert violations(schema, value) == expected


def doubling(depth: int) -> dict[str, Any]:
    """A schema whose evaluation doubles with each level."""
    levels = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n - 1}"}] * 2} for n in range(1, depth)}
    return {"$ref": f"#/$defs/a{depth - 1}", "$defs": {"a0": {}, **levels}}


@pytest.mark.parametrize(
    ("schema", "value", "code"),
    [
        ({"$ref": "#"}, 1, "limit"),
        (doubling(40), 1, "limit"),
        ({"pattern": "^(a+)+$"}, "a" * 40 + "b", "timeout"),
        ({"patternProperties": {"^(a+)+$": {}}}, {"a" * 40 + "b": 1}, "timeout"),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {"a" * 40 + "b": 1}, "timeout"),
        ({"$id": "urn:a", "properties": {"x": {"$id": "urn:b", "$ref": "urn:c"}}}, {"x": 1}, "schema"),
    ],
)
def test_a_validation_without_an_end_is_an_error(schema: Any, value: Any, code: str) -> None:
    """Never a hang, a crash or a verdict (G5, G28)."""
    with pytest.raises(CannotJudge) as caught:
        violations(schema, value)
    assert caught.value.code == code


def test_the_limit_counts_each_validation_anew() -> None:
    """A schema may be used for ever, by several threads at a time."""
    validate = compile_schema(doubling(9))
    found: list[int] = []

    def work() -> None:
        found.extend(len(list(validate(1))) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0] * 15


VALUES: list[Any] = [5, None, [], {}]
GOOD = {
    "date": ["2026-11-30", "2024-02-29"],
    "date-time": ["2026-11-30T10:00:00Z", "2026-11-30t10:00:00.123456789+01:30"],
    "time": ["10:00:00Z", "23:59:59.5-05:00"],
    "email": ["a@example.com", "a.b+c@sub.example.com"],
    "hostname": ["example.com", "a-b.example", "localhost"],
    "ipv4": ["127.0.0.1"],
    "ipv6": ["::1", "2001:db8::1"],
    "uri": ["https://example.com/a?b=c#d", "urn:isbn:1", "mailto:a@example.com"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
    "regex": ["^(?<y>a)$"],
}
BAD = {
    "date": ["2026-02-29", "2026-11-30T10:00:00Z", "20261130", ""],
    "date-time": [
        "2026-11-30",
        "2026-11-30T10:00:00",
        "2026-11-30T10:00Z",
        "2026-11-30 10:00:00Z",
        "2026-11-30T25:00:00Z",
    ],
    "time": ["10:00:00", "10:00Z", "24:00:00Z", "noon"],
    "email": ["a", "a@b@c", "a b@example.com", "@example.com", "a@"],
    "hostname": ["-a.example", "a..b", "a_b", "", "a" * 64],
    "ipv4": ["127.0.0.256", "127.1", "::1", "127.0.0.01"],
    "ipv6": ["127.0.0.1", ":::", "fe80::1%eth0"],
    "uri": ["/a", "example.com", "http://a b", "http://a/%zz", ""],
    "uuid": ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"],
    "regex": ["(", "[a"],
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_asserted_for_strings(name: str) -> None:
    """Each format takes what it should and refuses the rest; values of other types have no format."""
    schema = {"format": name}
    assert [text for text in GOOD[name] if violations(schema, text)] == []
    assert [text for text in BAD[name] if not violations(schema, text)] == []
    assert [value for value in VALUES if violations(schema, value)] == []
