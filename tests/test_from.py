"""`$from`: values that an earlier call gave, and what is said where that is not known (G11)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import rightcall
from rightcall import match
from rightcall.assertions import ForbiddenTools, ToolCallArgs, ToolSequence
from rightcall.assertions.sequence import Step
from rightcall.assertions.tools import ForbiddenTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.errors import TestSetError
from support.grading import call, judge, trajectory

SOURCE = match.from_("look.result.id")
LOOK = call("look", status="ok", result={"id": 1, "items": [{"sku": "a"}, {"sku": "b"}], "odd key": [None]})
PATHS: list[tuple[Any, Any, str]] = [
    ("look.result.id", 1, "pass"),
    ("look.result.id", 1.0, "pass"),
    ("look.result.id", True, "fail"),
    ("look.result.id", "1", "fail"),
    ("look.result.items[0].sku", "a", "pass"),
    ("look.result.items[1].sku", "a", "fail"),
    ("look.result.items[*].sku", "b", "pass"),
    ("look.result.items[*]", {"sku": "b"}, "pass"),
    ("look.result.items[7].sku", "a", "fail"),
    ("look.result.id.deeper", 1, "fail"),
    ('look.result["odd key"][0]', None, "pass"),
    ("look[1].result.id", 1, "pass"),
    ("look[2].result.id", 1, "fail"),
    ({"tool": "look", "path": "items[*].sku", "call": 1}, "b", "pass"),
    ("look.result", {"odd key": [None], "id": 1, "items": [{"sku": "a"}, {"sku": "b"}]}, "pass"),
]


@pytest.mark.parametrize(("source", "value", "status"), PATHS)
def test_a_path_leads_into_the_result(source: Any, value: Any, status: str) -> None:
    """Names, items and every item; compared as JSON, nothing converted (G7)."""
    made = [{"name": "look", "status": "ok", "result": LOOK.result}, {"name": "use", "arguments": {"x": value}}]
    expected = {"expected_tool_calls": [{"name": "use", "arguments": {"x": {"$from": source}}}]}
    (verdict,) = rightcall.grade({"tool_calls": made}, expected)
    assert verdict.status == status


RESULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"result": '{"id": 1}'}, "pass", ""),
    ({"result": '{"id": "1"}'}, "fail", 'call 1 gave "1"'),
    ({"result": '"{\\"id\\": 1}"'}, "fail", "call 1 gave no such value"),
    ({"result": '{"id": 1'}, "error", "The result of call 1 is not recorded"),
    ({"result": "[REDACTED]"}, "error", "The result of call 1 is not recorded"),
    ({"result": {"id": "***"}}, "error", "The result of call 1 is not recorded"),
    ({"result": "id 1"}, "fail", "call 1 gave no such value"),
    ({"status": "ok"}, "error", "The result of call 1 is not recorded; the verdict depends on it."),
    ({"status": "requested"}, "error", "its status is `requested`"),
    ({"status": "pending"}, "error", "its status is `pending`"),
    ({"status": "error", "error": "no"}, "fail", "call 1 gave no such value"),
    ({"status": "refused"}, "fail", "call 1 gave no such value"),
    ({"result": {"id": 2}, "name": ""}, "error", "The result of call 1 is not recorded"),
]


@pytest.mark.parametrize(("fields", "status", "said"), RESULTS)
def test_what_is_not_recorded_is_no_pass_and_no_fail(fields: dict[str, Any], status: str, said: str) -> None:
    """JSON text is decoded once; hidden, cut and pending results are an error, failures gave nothing (G11)."""
    one = call(**{"name": "look", "status": "ok", **fields})
    wanted = (ExpectedCall(name="use", arguments={"x": SOURCE}),)
    verdict = judge(ToolCallTrajectory(expected_tool_calls=wanted), (one, call("use", {"x": 1})))
    assert verdict.status == status
    assert said in verdict.reason


def test_a_call_does_not_know_what_it_is_made_inside() -> None:
    """Nor what was called inside a parallel one; what came before inside the same call it knows."""
    outer = call("look", status="ok", result={"id": 1}, message=0)
    wanted = ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="use", arguments={"x": SOURCE}),))
    inside = call("use", {"x": 1}, parent=0, message=0, agent="b")
    assert judge(wanted, (outer, inside)).status == "fail"
    hand = call("hand", message=0)
    nested = call("look", status="ok", result={"id": 1}, parent=0, message=0, agent="b")
    assert judge(wanted, (hand, nested, call("use", {"x": 1}, message=0))).status == "fail"
    assert judge(wanted, (hand, nested, call("use", {"x": 1}, parent=0, message=1, agent="b"))).status == "pass"
    assert judge(wanted, (hand, nested, call("use", {"x": 1}, message=1))).status == "pass"
    other = call("use", {"x": 1}, parent=1, message=0, agent="c")
    assert judge(wanted, (hand, hand, nested, other)).status == "fail"
    assert judge(wanted, (hand, replace(hand, message=1), nested, other)).status == "pass"


@pytest.mark.parametrize("parent", [0, 1, 5, -1])
def test_a_parent_that_cannot_be_one_is_no_trouble(parent: int) -> None:
    """Recorded data never makes grading fail (G5)."""
    wanted = ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="use", arguments={"x": SOURCE}),))
    assert judge(wanted, (call("use", {"x": 1}, parent=parent), call("use", {"x": 2}, parent=parent))).status == "fail"


SOMEWHERE = {"mode": "partial", "args": {"x": {"$from": "look.result.id"}}}
NOWHERE = {"mode": "partial", "args": {"x": {"$not": {"$from": "look.result.id"}}}}
MATCH = Match(mode="partial", args={"x": SOURCE})
MADE_UP = Match(mode="partial", args={"x": match.not_(SOURCE)})
KINDS = [
    (ToolCallArgs(tool="use", match=MATCH), ("pass", "fail", "error")),
    (ToolCallArgs(tool="use", match=MATCH, negate=True), ("fail", "pass", "error")),
    (ToolCallArgs(tool="use", match=MATCH, call_index=1), ("pass", "fail", "error")),
    (ForbiddenTools(tools=(ForbiddenTool(tool="use", match=MADE_UP),)), ("pass", "fail", "error")),
    (ToolSequence(steps=(Step(tool="look"), Step(tool="use", match=MATCH))), ("pass", "fail", "error")),
]


@pytest.mark.parametrize(("assertion", "statuses"), KINDS)
def test_every_kind_that_matches_arguments_knows_it(assertion: Any, statuses: tuple[str, ...]) -> None:
    """The value given, another one, and one that is not recorded (G11)."""
    results = ({"id": 1}, {"id": 2}, None)
    made = [(call("look", status="ok", result=result), call("use", {"x": 1})) for result in results]
    assert tuple(judge(assertion, one).status for one in made) == statuses


@pytest.mark.parametrize(
    ("said", "statuses"),
    [
        ({"rules": [{"absence": {"tool": "use", "match": NOWHERE}}]},
         ["pass", "fail", "error"]),
        ({"rules": [{"existence": {"tool": "use", "match": SOMEWHERE}}]},
         ["pass", "fail", "error"]),
        ({"expected_tool_sequence": [{"any_order": [{"tool": "use", "match": SOMEWHERE}, {"tool": "look"}]}]},
         ["pass", "fail", "error"]),
    ],
)  # fmt: skip
def test_rules_and_composed_steps_know_it(said: dict[str, Any], statuses: list[str]) -> None:
    """A ban on values that come from nowhere is no pass where their source is not recorded (G11, G42)."""
    found = []
    for result in ({"id": 1}, {"id": 2}, None):
        look = {"name": "look", "status": "ok", "result": result}
        (verdict,) = rightcall.grade({"tool_calls": [look, {"name": "use", "arguments": {"x": 1}}]}, said)
        found.append(str(verdict.status))
    assert found == statuses


def test_a_gap_could_hold_the_source() -> None:
    """A value that was seen stays seen, unless it is the Nth call that is asked for (G12)."""
    made = (call("look", status="ok", result={"id": 1}), call("use", {"x": 1}))
    broken = trajectory(*made, gaps=("line 3",))
    for source, status in (("look", "pass"), ("look[1]", "error"), ("look[2]", "error")):
        wanted = (ExpectedCall(name="use", arguments={"x": match.from_(f"{source}.result.id")}),)
        assert judge(ToolCallTrajectory(expected_tool_calls=wanted), broken).status == status


def test_aliases_name_the_source_too() -> None:
    """A recorded name and the one that expectations use are one tool (G13)."""
    made = (call("LOOK", status="ok", result={"id": 1}), call("use", {"x": 1}))
    wanted = ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="use", arguments={"x": SOURCE}),))
    assert judge(wanted, made).status == "fail"
    assert judge(wanted, made, tool_aliases={"LOOK": "look"}).status == "pass"


def test_what_is_decided_otherwise_stays_decided() -> None:
    """Another argument that differs decides, whatever the hidden result was; so does one that is enough (G11)."""
    made = (call("look", status="ok"), call("use", {"x": 1, "y": 2}))
    differs = ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="use", arguments={"x": SOURCE, "y": 3}),))
    verdict = judge(differs, made)
    assert (verdict.status, "The result of call 1 is not recorded" in verdict.reason) == ("fail", True)
    enough = ExpectedCall(name="use", arguments={"x": match.one_of([SOURCE, 1])})
    assert judge(ToolCallTrajectory(expected_tool_calls=(enough,)), made).status == "pass"


BAD = [
    ("look.id", "$from: expected `TOOL.result.PATH`"),
    ("a.look.result.id", "$from: expected `TOOL.result.PATH`"),
    ("look[0].result.id", "$from: expected `TOOL.result.PATH`"),
    ("look.result.", "$from: expected `TOOL.result.PATH`"),
    ("look.result.a..b", "$from: `..b` is no step of a path"),
    ("look.result.a[x]", "$from: `[x]` is no step of a path"),
    ("look.result.a b", "$from: ` b` is no step of a path"),
    (5, "$from: expected a mapping of `tool`, `path`, `call`"),
    ({"tol": "look"}, "$from.tol: unknown key `tol` (did you mean `tool`?)"),
    ({"tool": "look", "path": "[*"}, "$from.path: `[*` is no step"),
    ({"tool": "look", "call": 0}, "$from.call: expected a whole number of at least 1"),
    ("lok.result.id", "$from: `lok` is none of the tools in `tool_schemas` (did you mean `look`?)"),
]


@pytest.mark.parametrize(("source", "message"), BAD)
def test_a_bad_source_is_refused_with_its_place(source: Any, message: str) -> None:
    """When the test set is read, never as a failed verdict (G27)."""
    expected = {
        "tool_schemas": {"look": {}, "use": {}},
        "expected_tool_calls": [{"name": "use", "arguments": {"a": [{"$not": {"$from": source}}]}}],
    }
    with pytest.raises(TestSetError) as caught:
        rightcall.grade({"tool_calls": []}, expected)
    assert str(caught.value).startswith("expected_tool_calls[0].arguments.a[0]")
    assert message.removeprefix("$from: ") in str(caught.value)


def test_it_is_no_value_to_compare_by_itself() -> None:
    """Outside a trajectory there is nothing that a value could come from."""
    assert match.from_("look.result.id") == match.from_(tool="look", path="id")
    assert repr(match.from_(tool="a.b", path="id")) == '{"$from":{"tool":"a.b","path":"id"}}'
    with pytest.raises(TestSetError, match="asks for earlier calls"):
        assert match.from_("look.result.id") == 1
    with pytest.raises(TestSetError, match="expected `TOOL"):
        match.from_("look")
