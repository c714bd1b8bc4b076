"""Values in arguments that come from somewhere: the user, an earlier result, a constant (G7, G11, G12)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import rightcall
from rightcall.assertions import Grounding
from rightcall.core.calls import ToolCall, ToolSpec
from rightcall.errors import TestSetError
from support.grading import call, hidden, judge, trajectory

TEXTS: list[tuple[Any, str, bool]] = [
    (42, "My order 42 is late", True),
    (42, "My order #42, is late", True),
    (42, "(42)", True),
    (42, "It costs $42.", True),
    (42, "It costs 42.0", True),
    (42.0, "It costs 42", True),
    (42.5, "It costs €42.5", True),
    (1200, "It costs $1,200", True),
    (1200, "It costs 12,00", False),
    (1200, "It costs 1.200", False),
    (-3, "It is -3 degrees", True),
    (3, "It is -3 degrees", False),
    (20, "I want 20% off", True),
    (0.2, "I want 20% off", False),
    (42, "My order ord-42 is late", False),
    (42, "My order 421 is late", False),
    (42, "It costs 42.7", False),
    (42, "It was on 2026-42-01", False),
    (9007199254740993, "Order 9007199254740992", False),
    (42, "\u8ba2\u5355 42 \u9000\u6b3e", True),
    (42, "\u8ba2\u535542\u9000\u6b3e", True),
    ("42", "My order 42 is late", True),
    ("42", "My order ord-42 is late", False),
    ("42", "It costs 42.7", False),
    ("Kim Lee", "I am Kim  Lee.", True),
    ("Kim Lee", "I am Kim\nLee", True),
    ("Kim", "I am Kimberly", False),
    ("im", "I am Kim", False),
    ("Kim", "I am 'Kim'!", True),
    ("Kim", "I am kim", False),
    ("kim@example.com", "Write to kim@example.com, please", True),
    ("example.com", "Write to kim@example.com, please", False),
    ("\u5317\u4eac", "\u6211\u60f3\u53bb\u5317\u4eac\u73a9", True),
    ("caf\u00e9", "the cafe\u0301", False),
]


@pytest.mark.parametrize(("value", "text", "grounded"), TEXTS)
def test_a_value_stands_in_the_words_of_the_user(value: Any, text: str, grounded: bool) -> None:
    """A string as whole words, a number by its value, nothing by likeness; the same in the text of a result."""
    said = trajectory(call("use", {"x": value}, turn=0), messages=[{"role": "user", "content": text}])
    assert judge(Grounding(), said).status == ("pass" if grounded else "fail")
    told = trajectory(
        call("look", {}, result=text, status="ok", message=0),
        call("use", {"x": value}, message=1),
        messages=[{"role": "user", "content": "hello"}],
    )
    assert judge(Grounding(), told).status == ("pass" if grounded else "fail")


RESULT = {"id": "ord_7", "total": 19.5, "lines": [{"sku": "a-1", "count": 2}], "paid": True, "note": "for Kim, gift"}
VALUES: list[tuple[Any, str]] = [
    ("ord_7", "pass"),
    (19.5, "pass"),
    ("19.5", "pass"),
    (2, "pass"),
    ("2", "pass"),
    ("Kim", "pass"),
    ("ord_8", "fail"),
    ("ord", "fail"),
    (19, "fail"),
    (True, "pass"),
    (None, "pass"),
    ("", "pass"),
    ({}, "pass"),
    ([], "pass"),
    ([{"deep": ["ord_7", 2]}], "pass"),
    ([{"deep": ["ord_7", 3]}], "fail"),
]


@pytest.mark.parametrize(("value", "status"), VALUES)
def test_a_value_comes_from_an_earlier_result(value: Any, status: str) -> None:
    """Each value in it is a source, strings and numbers as text too; what can be traced to nothing needs none (G7)."""
    made = (call("look", result=RESULT, status="ok", message=0), call("use", {"x": value}, message=1))
    assert judge(Grounding(sources=("results",)), made).status == status


def test_a_finding_names_the_value_and_what_was_nearest() -> None:
    """The call, the path, the value, and what an earlier call gave under the same name (G4)."""
    made = (call("look", result=RESULT, status="ok"), call("use", {"order": [{"id": "ord_8"}], "total": 1}))
    verdict = judge(Grounding(sources=("results",)), made)
    assert [(one.code, one.made_index, one.path, one.actual) for one in verdict.findings] == [
        ("ungrounded", 1, "order[0].id", "ord_8"),
        ("ungrounded", 1, "total", 1),
    ]
    assert verdict.reason == 'Call 2, use: order[0].id = "ord_8" is in no earlier result; call 1 gave id = "ord_7".'
    assert verdict.name == "grounded_arguments"


def test_details_say_where_each_value_comes_from() -> None:
    """A message or a call, by its number."""
    made = trajectory(
        call("look", {"n": 42}, result=RESULT, status="ok", turn=0, message=0),
        call("use", {"id": "ord_7"}, turn=0, message=1),
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Order 42."}],
    )
    assert judge(Grounding(), made).details == {
        "values": 2,
        "traced": [
            {"made_index": 0, "path": "n", "source": "user", "message": 2},
            {"made_index": 1, "path": "id", "source": "results", "call": 1},
        ],
    }


SCHEMA = {
    "properties": {
        "currency": {"enum": ["EUR", "USD"]},
        "mode": {"$ref": "#/$defs/mode"},
        "page": {"default": 1, "type": "integer"},
        "tags": {"items": {"anyOf": [{"const": "late"}, {"type": "string"}]}},
    },
    "$defs": {"mode": {"oneOf": [{"const": "fast"}, {"const": "slow"}]}},
}
OFFERED = [
    ({"currency": "EUR", "mode": "fast", "page": 1, "tags": ["late"]}, "pass"),
    ({"currency": "GBP"}, "fail"),
    ({"mode": "EUR"}, "fail"),
    ({"page": 2}, "fail"),
    ({"tags": ["early"]}, "fail"),
    ({"other": "EUR"}, "fail"),
]


@pytest.mark.parametrize(("arguments", "status"), OFFERED)
def test_what_the_schema_offers_needs_no_source(arguments: dict[str, Any], status: str) -> None:
    """`enum`, `const` and `default` of that very place, from the test set or from the trace."""
    own = Grounding(sources=("results",))
    assert judge(own, (call("use", arguments),), tool_schemas={"use": SCHEMA}).status == status
    available = (ToolSpec(name="use", parameters=SCHEMA),)
    assert judge(own, trajectory(call("use", arguments), available_tools=available)).status == status


SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({}, "fail"),
    ({"constants": ("x", 5)}, "pass"),
    ({"constants": ("x",)}, "fail"),
    ({"constants": ("x", "5")}, "fail"),
    ({"ignore_arguments": ("a", "b")}, "pass"),
    ({"ignore_arguments": ("a", "b.*")}, "pass"),
    ({"ignore_arguments": ("*",)}, "pass"),
    ({"ignore_arguments": ("c",)}, "fail"),
    ({"tools": ("other",)}, "pass"),
    ({"tools": ("use",)}, "fail"),
]


@pytest.mark.parametrize(("fields", "status"), SETTINGS)
def test_what_is_declared_needs_no_source(fields: dict[str, Any], status: str) -> None:
    """Constants, ignored arguments and other tools."""
    assert judge(Grounding(sources=("results",), **fields), (call("use", {"a": "x", "b": {"c": 5}}),)).status == status


def test_letter_case_may_be_ignored() -> None:
    """Only where that is said."""
    said = trajectory(call("use", {"x": "new york"}), messages=[{"role": "user", "content": "To New York!"}])
    assert judge(Grounding(), said).status == "fail"
    assert judge(Grounding(letter_case="ignored"), said).status == "pass"


def test_the_system_is_a_source_only_where_it_is_said() -> None:
    """The system prompt holds examples and limits, so that it is none by default."""
    messages = [{"role": "system", "content": "Today is 2026-11-30."}, {"role": "user", "content": "today"}]
    said = trajectory(call("use", {"day": "2026-11-30"}), messages=messages)
    assert judge(Grounding(), said).status == "fail"
    assert judge(Grounding(sources=("user", "system")), said).status == "pass"


def test_what_is_said_later_is_no_source() -> None:
    """Neither a later turn of the user nor a later or parallel result; an unknown turn is an error (G11)."""
    messages = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Which order?"},
        {"role": "user", "content": "Order 42."},
    ]
    for turn, status in ((0, "fail"), (1, "pass"), (None, "error")):
        assert judge(Grounding(), trajectory(call("use", {"x": 42}, turn=turn), messages=messages)).status == status
    look, use = call("look", result={"id": 1}, status="ok", message=0), call("use", {"x": 1}, message=1)
    own = Grounding(sources=("results",))
    assert judge(own, (look, use)).status == "pass"
    assert judge(own, (use, look)).status == "fail"
    assert judge(own, (look, replace(use, message=0))).status == "fail"


UNKNOWN: list[tuple[dict[str, Any], tuple[ToolCall, ...], str]] = [
    ({"messages": None}, (), "No message of the user is recorded"),
    ({"messages": [{"role": "assistant", "content": "42"}]}, (), "No message of the user is recorded"),
    ({"messages": ["what is this"]}, (), "No message of the user is recorded"),
    ({}, (call("look", status="ok"),), "The result of call 1 is not recorded"),
    ({}, (call("look"),), "its status is `requested`"),
    ({}, (call("look", status="ok", result={"id": "[REDACTED]"}),), "The result of call 1 is not recorded"),
    ({"gaps": ("line 3",)}, (), "Calls may be missing (line 3)"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}, {"role": "user", "content": "a"}]}, (),
     "Message 1 has a part that cannot be read as text"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "before", "reason"), UNKNOWN)
def test_what_is_not_recorded_could_be_the_source(
    fields: dict[str, Any], before: tuple[ToolCall, ...], reason: str
) -> None:
    """An error for a value that is nowhere else, and nothing for one that is found (G11, G12)."""
    around = {"messages": [{"role": "user", "content": "hello"}], **fields}
    verdict = judge(Grounding(), trajectory(*before, call("use", {"x": 42}), **around))
    assert (verdict.status, reason in verdict.reason) == ("error", True)
    if "gaps" not in fields:
        assert judge(Grounding(constants=(42,)), trajectory(*before, call("use", {"x": 42}), **around)).status == "pass"


def test_gaps_forbid_a_pass() -> None:
    """A call that is missing could have made something up (G12)."""
    verdict = judge(Grounding(constants=(42,)), trajectory(call("use", {"x": 42}), gaps=("cut",)))
    assert (verdict.status, verdict.findings[0].code) == ("error", "gap")


def test_arguments_that_cannot_be_read() -> None:
    """Hidden ones are an error, malformed ones a failure, since they can be traced to nothing (G9, G11)."""
    own = Grounding(sources=("results",))
    assert judge(own, (hidden("use"),)).status == "error"
    assert judge(own, (hidden("use", "malformed"),)).findings[0].code == "malformed"
    assert judge(own, (hidden("use", status="ok", result={}), call("use", {"x": 1}))).status == "fail"
    assert judge(replace(own, tools=("use",)), (call("", {"x": 1}),)).status == "error"


def test_texts_of_errors_are_sources() -> None:
    """What a failed call said, the agent was told."""
    made = (call("look", status="error", error="no order 41; did you mean 42?"), call("use", {"x": 42}))
    assert judge(Grounding(sources=("results",)), made).status == "pass"


def test_no_calls_make_nothing_up() -> None:
    """Recorded with zero calls is graded (G3)."""
    assert judge(Grounding(), ()).status == "pass"


def test_the_key_and_the_kind_are_one() -> None:
    """`grounding` on a test, in a turn and in general form; a bad field is refused with its place (G27)."""
    conversation = {
        "messages": [{"role": "user", "content": "Order 42."}],
        "tool_calls": [
            {"name": "use", "arguments": {"x": 42}, "turn": 0, "result": "done"},
            {"name": "use", "arguments": {"x": 43}, "turn": 0},
        ],
    }
    both: list[dict[str, Any]] = [{"grounding": {}}, {"assertions": [{"kind": "grounding"}]}]
    for said in both:
        (verdict,) = rightcall.grade(conversation, said)
        assert (verdict.name, verdict.kind, verdict.findings[0].path) == ("grounded_arguments", "grounding", "x")
    (verdict,) = rightcall.grade(conversation, {"grounding": {"constants": [43], "turn": 1}})
    assert verdict.name == "grounded_arguments@turn:1"
    for bad, message in (
        ({"source": []}, "grounding.source: unknown key `source` (did you mean `sources`?)"),
        ({"sources": []}, "grounding.sources: expected"),
        ({"sources": ["users"]}, "grounding.sources[0]: expected"),
        ({"constants": [True]}, "grounding.constants[0]: expected a string or a number, found true"),
    ):
        with pytest.raises(TestSetError) as caught:
            rightcall.grade(conversation, {"grounding": bad})
        assert str(caught.value).startswith(message)
    with pytest.raises(TestSetError, match=r"grounding.tools\[0\]: `us` is none of the tools"):
        rightcall.grade(conversation, {"grounding": {"tools": ["us"]}, "tool_schemas": {"use": {}}})
