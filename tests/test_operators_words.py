"""What findings, rows and refusals say of value operators (G4, G20, G27)."""

from __future__ import annotations

from typing import Any

import pytest

import rightcall
from rightcall import match
from rightcall.core.operators.registry import OPERATORS
from rightcall.errors import TestSetError
from support.operators import said, verdict

SENTENCES: list[tuple[Any, Any, str]] = [
    ({"$absent": True}, None, "without x; call 1 had x = null"),
    ({"$optional": {"$gte": 5}}, 4, "with x absent or at least 5; call 1 had x = 4"),
    ({"$type": "string"}, 4, "with x of type string; call 1 had x = 4 (a number)"),
    ({"$regex": "a/b", "$flags": "i"}, "c", 'with x matching /a/b/i; call 1 had x = "c"'),
    ({"$one_of": [1, "a", {"$gt": 5}]}, 2, 'with x one of 1, "a" or greater than 5; call 1 had x = 2'),
    ({"$not": {"$one_of": [1, 2]}}, 1, "with x not one of 1 or 2; call 1 had x = 1"),
    ({"$not": "a"}, "a", 'with x not "a"; call 1 had x = "a"'),
    ({"$gte": 1, "$lte": 5}, "3", 'with x at least 1 and at most 5; call 1 had x = "3" (a string)'),
    ({"$gt": 5}, 5, "with x greater than 5; call 1 had x = 5"),
    ({"$lt": 0.5}, True, "with x less than 0.5; call 1 had x = true (a boolean)"),
    ({"$approx": {"value": 19.5, "abs": 0.1}}, 20, "with x about 19.5 (abs 0.1); call 1 had x = 20"),
    ({"$approx": {"value": 2}}, "2", 'with x about 2 (rel 0.000001); call 1 had x = "2" (a string)'),
    ({"$contains": "a"}, "b", 'with x containing "a"; call 1 had x = "b"'),
    ({"$starts_with": "a"}, None, 'with x starting with "a"; call 1 had x = null'),
    ({"$ends_with": "a"}, "b", 'with x ending with "a"; call 1 had x = "b"'),
    ({"$length": 2}, "abc", 'with x of length 2; call 1 had x = "abc" (length 3)'),
    ({"$length": {"min": 2}}, 5, "with x of length 2 or more; call 1 had x = 5 (no length)"),
    ({"$length": {"min": 1, "max": 2}}, [], "with x of length 1 to 2; call 1 had x = [] (length 0)"),
    ({"$unordered": [1, 2]}, [1, 3], "with x of [1,2] in any order; call 1 had x = [1,3]"),
    ({"$date": {"on": "2026-11-30"}}, "soon",
     'with x a date on 2026-11-30; call 1 had x = "soon" (not an ISO 8601 date)'),
    ({"$date": {"after": "2026-11-30T10:00:00Z", "before": "2027-01-01"}}, "2026-12-01T10:00:00",
     'with x a date after 2026-11-30T10:00:00Z and before 2027-01-01; call 1 had x = "2026-12-01T10:00:00"'
     " (without a time zone)"),
    ({"$text": {"value": "a", "ignore_case": True, "normalize": "NFC"}}, "b",
     'with x equal to "a" (ignore_case, normalize NFC); call 1 had x = "b"'),
    ({"$from": "lookup_order.result.id"}, 5,
     "with x from lookup_order.result.id; call 1 had x = 5 (no earlier call of lookup_order)"),
    ({"$schema": {"properties": {"a": {"maxLength": 1}}}}, {"a": "bc"},
     'with x satisfying the schema {"properties":{"a":{"maxLength":1}}}; call 1 had x = {"a":"bc"}'
     " (a: 'bc' is too long)"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "actual", "sentence"), SENTENCES)
def test_a_finding_says_what_was_expected_and_what_was_found(expected: Any, actual: Any, sentence: str) -> None:
    """In words for the operator, with the JSON path, and why where the value alone does not show it (G20)."""
    assert said(expected, actual) == f"Expected f {sentence}."


def test_every_operator_has_its_sentence() -> None:
    """But `$any`, which only fails where the key is missing, and `$all`, which reads like its parts."""
    names = {name for expected, _, _ in SENTENCES for name in expected}
    assert set(OPERATORS) - names == {"$any", "$all"}


def test_a_missing_key_is_said() -> None:
    """The key that an operator is the value of must be there."""
    one = verdict({"a": {"b": {"$any": True}}}, {"a": {}})
    assert one.reason == "Expected f with a.b of any value; call 1 had no a.b."


def test_a_finding_holds_the_operator_as_a_file_writes_it() -> None:
    """`expected` is the operator's form, `actual` the value, `path` where they are (G4)."""
    (finding,) = verdict({"a": [{"b": match.gte(5)}]}, {"a": [{"b": 4}]}).findings
    assert (finding.path, finding.expected, finding.actual) == ("a[0].b", {"$gte": 5}, 4)


def test_the_first_difference_counts_among_several() -> None:
    """Literals and operators are compared side by side, in the order in which they are written."""
    one = verdict({"id": 42, "n": {"$lt": 3}, "s": {"$regex": "x"}}, {"id": 42, "n": 3, "s": "y"})
    assert one.reason == 'Expected f with n less than 3 and s matching /x/; call 1 had n = 3 and s = "y".'


def test_arguments_that_are_one_operator_are_said_whole() -> None:
    """An operator may stand for all the arguments."""
    one = verdict({"$one_of": [{"id": 42}, {"number": "42"}]}, {"id": 41})
    assert one.reason == 'Expected f with arguments one of {"id":42} or {"number":"42"}; call 1 had {"id":41}.'


def test_the_closest_call_is_found_by_operators_too() -> None:
    """A call whose nested optional key is absent counts as alike there (G20)."""
    calls = [
        {"name": "f", "arguments": {"a": {}, "b": 0, "c": 0}},
        {"name": "f", "arguments": {"a": {}, "b": 9, "c": 0}},
    ]
    arguments = {"a": {"k": match.optional(1)}, "b": match.gt(5), "c": 1}
    (one,) = rightcall.grade({"tool_calls": calls}, {"expected_tool_calls": [{"name": "f", "arguments": arguments}]})
    assert one.reason == "Expected f with c = 1; call 2 had c = 0."


def test_expected_stands_beside_made() -> None:
    """`check` shows operators as a file writes them, and the difference in words."""
    with pytest.raises(AssertionError) as caught:
        rightcall.check(
            {"tool_calls": [{"name": "f", "arguments": {"x": 1}}]},
            expected_tool_calls=[{"name": "f", "arguments": {"x": {"$gt": 5}, "q": {"$literal": {"$gt": 1}}}}],
        )
    text = str(caught.value)
    assert 'x={"$gt":5}' in text
    assert 'q={"$literal":{"$gt":1}}' in text
    assert "x greater than 5" in text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"$regex": "("}, "a.$regex: not a regular expression: expecting ')'"),
        ([{"$one_of": [1, {"$regex": "["}]}], "a[0].$one_of[1].$regex: not a regular expression"),
        ({"$gte": 1, "$regex": "x", "$flags": "q"}, "a.$regex: not a regular expression: invalid"),
        ({"$not": {"$absent": True}}, "a.$not.$absent: `$absent` says that a key may be absent"),
        ([{"$optional": 1}], "a[0].$optional: `$optional` says that a key may be absent"),
        ({"$optional": {"$optional": 1}}, "a.$optional.$optional: `$optional` says"),
        ({"$schema": {"type": "txt"}}, "a.$schema.type: not a JSON Schema"),
        ({"$schema": {"properties": {"x": {"$ref": "http://x.example/y"}}}}, "a.$schema.properties.x.$ref: "),
    ],
)  # fmt: skip
def test_what_cannot_be_compiled_is_refused_with_its_path(value: Any, message: str) -> None:
    """When the test is loaded, and never as a failed verdict (G27)."""
    with pytest.raises(TestSetError) as caught:
        verdict({"a": value}, {})
    assert str(caught.value).startswith(f"expected_tool_calls[0].arguments.{message}")


def test_the_whole_arguments_are_no_key_that_could_be_absent() -> None:
    """`$absent` for all arguments is refused; `{}` in mode `exact` is how no arguments are expected."""
    with pytest.raises(TestSetError, match=r"arguments.\$absent: `\$absent` says that a key may be absent"):
        verdict({"$absent": True}, {})
