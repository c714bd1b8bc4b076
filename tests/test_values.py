"""JSON equality, differences and text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from rightcall.core.jsontext import JSONError, decode, encode
from rightcall.core.stringify import stringify
from rightcall.core.values import comparer, differences, display, equal, freeze, text_note, visible
from support.json_values import json_values

DIFFERENT = [
    (1, True),
    (0, False),
    (1.0, True),
    ([1], [True]),
    ({"a": {"b": [0]}}, {"a": {"b": [False]}}),
    ("5", 5),
    (None, {}),
    ({}, ""),
    ("", None),
    ({"a": None}, {}),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ("a", "a "),
    ("a", "A"),
    ("caf\u00e9", "cafe\u0301"),
    (9007199254740993, 9007199254740992),
    (9007199254740993, 9007199254740992.0),
    (10**40, 10**40 + 1),
]

EQUAL = [
    (5, 5.0),
    (5e0, 5),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (10**40, 10**40),
    ("\ud83d", "\ud83d"),
    (-0.0, 0),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_values_that_differ_as_json_are_not_equal(left: Any, right: Any) -> None:
    """G7: nothing is coerced, whatever Python's `==` says, in either direction and at any depth."""
    assert not equal(left, right)
    assert not equal(right, left)
    assert not comparer(left)(right)
    assert freeze(left) != freeze(right)


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_values_that_json_does_not_tell_apart_are_equal(left: Any, right: Any) -> None:
    """G7: numbers are compared by value and key order is irrelevant."""
    assert equal(left, right)
    assert comparer(left)(right)
    assert freeze(left) == freeze(right)


@given(json_values(), json_values())
def test_equality_is_symmetric_and_agrees_with_frozen_keys(left: Any, right: Any) -> None:
    """G7: equality is one total function; the index of matching uses keys that agree with it."""
    assert equal(left, left)
    assert equal(left, right) == equal(right, left) == (freeze(left) == freeze(right))
    assert equal(left, right) == comparer(left)(right)


@given(json_values(), json_values())
def test_there_is_a_difference_exactly_where_values_are_not_equal(left: Any, right: Any) -> None:
    """A finding can always name a path when two values differ, and never when they do not."""
    assert bool(list(differences(left, right))) == (not equal(left, right))


@given(json_values())
def test_text_that_was_written_reads_back_equal(value: Any) -> None:
    """What is encoded and decoded again is the same JSON value."""
    assert equal(decode(encode(value)), value)


@given(json_values())
def test_stringified_text_is_json_of_the_same_value(value: Any) -> None:
    """G28: `JSON.stringify` loses nothing that JSON equality sees."""
    assert equal(json.loads(stringify(value)), value)


def test_differences_name_the_path_of_each_leaf() -> None:
    """A path leads to the first place where the values part, through objects and arrays."""
    expected = {"filter": {"page": 1, "tags": ["a", "b"]}, "odd key": True}
    actual = {"filter": {"page": "1", "tags": ["a"], "size": 5}, "odd key": 1}
    paths = [difference.path for difference in differences(expected, actual)]
    assert paths == ["filter.page", "filter.tags[1]", "filter.size", '["odd key"]']


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"a": 1, "a": 2}', "the key `a` is repeated in one object"),
        (b'{"a\\u003a": {"x": 1, "x": 1}}', "the key `x` is repeated in one object"),
        (b"NaN", "`NaN` is not JSON"),
        (b"[Infinity]", "`Infinity` is not JSON"),
        (b"1e400", "the number `1e400` is out of range"),
        (b"[" * 201 + b"]" * 201, "nested deeper than the limit of 200"),
        (b"[" * 100_000, "nested deeper than the limit of 200"),
        (b"9" * 5000, "an integer of 5000 digits is out of range"),
        (b'{"a": "\xff"}', "not UTF-8: byte 0xff"),
        (b"", "not JSON: expecting value"),
        (b"{} x", "not JSON: extra data"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(text: bytes, reason: str) -> None:
    """G8: repeated keys, NaN and too deep nesting are not JSON."""
    with pytest.raises(JSONError) as caught:
        decode(text)
    assert caught.value.message == reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'"\\ud83d"', "\ud83d"),
        (b"[" * 200 + b"]" * 200, None),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'{"a:b": "c:\\"d"}', {"a:b": 'c:"d'}),
    ],
)
def test_unusual_but_legal_json_is_read(text: bytes, value: Any) -> None:
    """G7: byte order marks, lone surrogates and integers of any size are read."""
    found = decode(text)
    assert value is None or equal(found, value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": [1.0, "x"]}, '{"a":[1,"x"]}'),
        ("\x1b[31m", '"\\u001b[31m"'),
        ("a\u202eb", '"a\\u202eb"'),
        ("x" * 100, '"' + "x" * 79 + "… (22 more characters)"),
    ],
)
def test_display_is_one_safe_line(value: Any, shown: str) -> None:
    """Control characters and bidirectional overrides are visible, long values say how much was cut."""
    assert display(value) == shown


def test_visible_leaves_plain_text_alone() -> None:
    """Letters of any script pass, what a terminal would obey does not."""
    assert visible("東京 Grüße ✓") == "東京 Grüße ✓"
    assert visible("a\x07\x9b\n") == "a\\x07\\x9b\\n"


@pytest.mark.parametrize(
    ("expected", "actual", "note"),
    [
        ("caf\u00e9", "cafe\u0301", "equal after Unicode normalisation; U+00E9 against U+0065 U+0301"),
        ("Paris", "paris", "different only in letter case"),
        ("a b", "a  b ", "different only in white space"),
        ("a", "b", ""),
    ],
)
def test_invisible_differences_of_strings_are_said(expected: str, actual: str, note: str) -> None:
    """G7: when two strings differ only in form, case or white space, the finding says so."""
    assert text_note(expected, actual) == note
