"""The kinds of assertion beyond the trajectory laws: seed O's families, selection, options and overrides."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from rightcall.assertions import AllowedTools, ForbiddenTools, RequiredTool, ToolCallArgs, ToolSelect, ToolSequence
from rightcall.assertions.selection import select_tools
from rightcall.assertions.sequence import Step
from rightcall.assertions.tools import ForbiddenTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion, grade
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.counting import Count
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.core.verdicts import Status
from rightcall.errors import TestSetError
from support.grading import call, compiled, judge, trajectory

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR


def subset(**args: Any) -> Match:
    """A subset match."""
    return Match(mode="subset", args=args)


def regex(pattern: str, flags: str = "") -> Match:
    """A regex match."""
    return Match(mode="regex", pattern=pattern, flags=flags)


REASONS: list[tuple[Assertion, list[ToolCall], str, str]] = [
    (
        ToolCallArgs(tool="issue_refund", match=subset(order_id="ord_42", amount_cents=5000)),
        [call("issue_refund", {"order_id": "ord_42", "amount_cents": 4000})],
        "tool_call_args:issue_refund",
        "no call to `issue_refund` matched the expected arguments. "
        "Expected issue_refund with amount_cents = 5000; call 1 had amount_cents = 4000.",
    ),
    (
        ToolCallArgs(tool="t", match=subset()), [call("u")],
        "tool_call_args:t", "no call to `t`: it was never called.",
    ),
    (
        ToolCallArgs(tool="t", match=subset(), call_index=2), [call("t")],
        "tool_call_args:t#2", "no call 2 to `t`: it was called 1 time.",
    ),
    (
        ToolCallArgs(tool="t", match=subset(a=1), call_index=2), [call("t", {"a": 1}), call("t", {"a": 2})],
        "tool_call_args:t#2",
        "call 2 to `t` did not match the expected arguments. Expected t with a = 1; call 2 had a = 2.",
    ),
    (
        ToolCallArgs(tool="t", match=regex("refund policy", "i")), [call("t", {"q": "shipping"})],
        "tool_call_args:t",
        "no call to `t` matched the expected arguments. "
        'Expected t with arguments matching /refund policy/i; call 1 had {"q":"shipping"}.',
    ),
    (
        ToolCallArgs(tool="t", match=subset(a=1), negate=True), [call("u"), call("t", {"a": 1})],
        "tool_call_args:t", "call 2 to `t` has the arguments that no call may have.",
    ),
    (
        ToolSequence(steps=(Step(tool="identify"), Step(tool="fetch_case_context"), Step(tool="transfer"))),
        [call("identify"), call("transfer")],
        "tool_sequence", "matched 1 of 3 steps; step 2 `fetch_case_context` was never called.",
    ),
    (
        ToolSequence(steps=(Step(tool="a"), Step(tool="b"))), [call("b"), call("a")],
        "tool_sequence", "matched 1 of 2 steps; step 2 `b` was not called after call 2.",
    ),
    (
        ToolSequence(steps=(Step(tool="a"), Step(tool="b", match=subset(n=1)))), [call("a"), call("b", {"n": 2})],
        "tool_sequence", "matched 1 of 2 steps; step 2 `b` was not called after call 1 with n = 1; call 2 had n = 2.",
    ),
    (RequiredTool(tool="a"), [call("b")], "tool_called:a", "`a` was never called."),
    (RequiredTool(tool="a"), [], "tool_called:a", "`a` was never called. No tool calls were made."),
    (
        AllowedTools(tools=("a",)), [call("x"), call("a"), call("y"), call("x")],
        "no_unexpected_tool", "`x` (call 1) and `y` (call 3) were called but are not allowed.",
    ),
    (
        AllowedTools(tools=()), [call("x")],
        "no_unexpected_tool", "`x` (call 1) was called but is not allowed.",
    ),
    (
        ForbiddenTools(tools=("x",)), [call("a"), call("x")],
        "no_forbidden_tool", "`x` was called (call 2), which is forbidden.",
    ),
    (
        ForbiddenTools(tools=(ForbiddenTool(tool="sql", match=regex("drop", "i")),)), [call("sql", {"q": "DROP t"})],
        "no_forbidden_tool", "`sql` was called with the forbidden arguments (call 1), which is forbidden.",
    ),
    (
        ToolSelect(expected_tools=("a", "b")), [call("a"), call("a")],
        "tool_select",
        "The score 50 is below the threshold 100. "
        "Missing: `b` (expected 1, called 0). Duplicated: `a` (expected 1, called 2).",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("assertion", "made", "name", "reason"), REASONS)
def test_failed_verdicts_carry_their_name_and_say_what_differs(
    assertion: Assertion, made: list[ToolCall], name: str, reason: str
) -> None:
    """G20, G23 to G26, G32: names and reasons of the kinds."""
    verdict = judge(assertion, made)
    assert (verdict.status, verdict.name, verdict.reason) == (FAIL, name, reason)


PASSING: list[tuple[Assertion, list[ToolCall]]] = [
    (ToolCallArgs(tool="t", match=subset(a=1)), [call("t"), call("t", {"a": 1, "b": 2})]),
    (ToolCallArgs(tool="t", match=Match(mode="exact", args={"a": 1})), [call("t", {"a": 1.0})]),
    (ToolCallArgs(tool="t", match=subset(a=1), call_index=3, negate=True), [call("t", {"a": 1})]),
    (ToolSequence(steps=(Step(tool="a"), Step(tool="a"))), [call("a"), call("b"), call("a")]),
    (RequiredTool(tool="a"), [call("b"), call("a", status="error")]),
    (AllowedTools(tools=("a",)), []),
    (ForbiddenTools(tools=(ForbiddenTool(tool="sql", match=regex("drop", "i")),)), [call("sql", {"q": "select"})]),
    (ToolSelect(expected_tools=("a", "b"), threshold=66.67), [call("a")]),
]


@pytest.mark.parametrize(("assertion", "made"), PASSING)
def test_a_pass_has_an_empty_reason_and_no_findings(assertion: Assertion, made: list[ToolCall]) -> None:
    """G4: a pass is the absence of findings."""
    verdict = judge(assertion, made)
    assert (verdict.status, verdict.reason, verdict.findings) == (PASS, "", ())


@pytest.mark.parametrize("subset_of", [[1, 2], "text", None])
def test_subset_fails_where_arguments_are_no_object(subset_of: Any) -> None:
    """Section 5: `subset` wants an object, even an empty one; `partial` with `{}` accepts anything."""
    made = [ToolCall(name="t", arguments=subset_of)]
    assert judge(ToolCallArgs(tool="t", match=subset()), made).status == FAIL
    assert judge(ToolCallArgs(tool="t", match=Match(mode="partial", args={})), made).status == PASS


ALL_KINDS: list[Assertion] = [
    ToolCallTrajectory(expected_tool_calls=()),
    ToolCallArgs(tool="t", match=subset(), negate=True),
    ToolSequence(steps=(Step(tool="t"),)),
    RequiredTool(tool="t"),
    AllowedTools(tools=()),
    ForbiddenTools(tools=()),
    ToolSelect(expected_tools=("t",)),
]


@pytest.mark.parametrize("assertion", ALL_KINDS)
def test_nothing_recorded_is_never_a_pass_nor_a_fail(assertion: Assertion) -> None:
    """G3: without a recording every kind errs and says why; score and rates are null (G6)."""
    verdict = judge(assertion, Trajectory(tool_calls=None, warnings=("content capture was off",)))
    assert verdict.status == ERROR
    assert verdict.reason == "No tool calls were recorded: content capture was off"
    assert (verdict.score, verdict.details["precision"], verdict.findings[0].code) == (None, None, "not_recorded")


def test_verdict_ids_are_unique_in_declaration_order() -> None:
    """G6: equal names get a number, and a name given by the user is kept."""
    twice = ToolCallArgs(tool="t", match=subset())
    named = ToolCallArgs(tool="t", match=subset(), name="looks it up")
    verdicts = grade(trajectory(call("t")), compiled(twice, named, twice, twice))
    assert [verdict.id for verdict in verdicts] == [
        "tool_call_args:t", "looks it up", "tool_call_args:t[2]", "tool_call_args:t[3]",
    ]  # fmt: skip


def expect(*calls: ExpectedCall, **fields: Any) -> ToolCallTrajectory:
    """A trajectory assertion with exact arguments."""
    return ToolCallTrajectory(expected_tool_calls=calls, **{"arguments": "exact", "match": "exact", **fields})


OVERRIDES: list[tuple[ExpectedCall, dict[str, Any], Status]] = [
    (ExpectedCall(name="f", arguments={"s": 1}, ignore_arguments=("_auth*",)), {"s": 1, "_auth_token": "x"}, PASS),
    (ExpectedCall(name="f", arguments={"s": 1}, ignore_arguments=("_auth*",)), {"s": 1, "other": "x"}, FAIL),
    (ExpectedCall(name="f", arguments={"s": 1, "_auth": "a"}, ignore_arguments=("_auth*",)), {"s": 1}, PASS),
    (ExpectedCall(name="f", arguments={"s": 1}, defaults={"page": 1}), {"s": 1}, PASS),
    (ExpectedCall(name="f", arguments={"s": 1}, defaults={"page": 1}), {"s": 1, "page": 1}, PASS),
    (ExpectedCall(name="f", arguments={"s": 1}, defaults={"page": 1}), {"s": 1, "page": 2}, FAIL),
    (ExpectedCall(name="f", arguments={"s": 1, "page": 1}, defaults={"page": 1}), {"s": 1}, PASS),
    (ExpectedCall(name="f", arguments={"s": 1}, fill_defaults=True), {"s": 1, "unit": "C"}, PASS),
    (ExpectedCall(name="f", arguments={"s": 1}, fill_defaults=True), {"s": 1, "unit": "F"}, FAIL),
    (ExpectedCall(name="f", match=Match(mode="ignore")), {"anything": 1}, PASS),
    (ExpectedCall(name="f", match=Match(mode="partial", args={"s": 1})), {"s": 1, "more": 1}, PASS),
    (ExpectedCall(name="f", match=Match(mode="deep", args={"o": {"p": 1}})), {"o": {"p": 1, "q": 2}}, PASS),
    (ExpectedCall(name="f", match=regex('^\\{"s":1\\}$')), {"s": 1.0}, PASS),
]


@pytest.mark.parametrize(("expected", "arguments", "want"), OVERRIDES)
def test_one_expected_call_may_say_how_it_is_compared(
    expected: ExpectedCall, arguments: dict[str, Any], want: Status
) -> None:
    """G16: `match`, `ignore_arguments`, `defaults` and `fill_defaults` beside exact arguments."""
    schema = {"f": {"properties": {"s": {}, "unit": {"default": "C"}}}}
    assert judge(expect(expected), [call("f", arguments)], tool_schemas=schema).status == want


REFUSED: list[tuple[Assertion, str, str]] = [
    (
        expect(ExpectedCall(name="f", arguments={}, match=Match(mode="ignore"))),
        "expected_tool_calls[0].match", "write either `arguments` or `match`, not both",
    ),
    (
        expect(ExpectedCall(name="f"), ExpectedCall(name="g", fill_defaults=True, arguments={})),
        "expected_tool_calls[1].fill_defaults",
        "`fill_defaults` needs the JSON Schema of `g` in `tool_schemas`",
    ),
    (ToolCallArgs(tool="f", match=Match(mode="exact")), "match", "mode `exact` needs `args`"),
    (ToolCallArgs(tool="f", match=Match(mode="regex")), "match", "mode `regex` needs `pattern`"),
    (
        ToolCallArgs(tool="f", match=Match(mode="subset", args={}, pattern="x")),
        "match.pattern", "`pattern` has no effect in mode `subset`",
    ),
    (
        ToolCallArgs(tool="f", match=Match(mode="subset", args={}, flags="i")),
        "match.flags", "`flags` have no effect in mode `subset`",
    ),
    (ToolSequence(steps=()), "steps", "a sequence needs at least one step"),
]  # fmt: skip


@pytest.mark.parametrize(("assertion", "path", "message"), REFUSED)
def test_an_expectation_without_sense_is_refused_with_its_path(assertion: Assertion, path: str, message: str) -> None:
    """G27: it is never a failed verdict."""
    with pytest.raises(TestSetError) as caught:
        compiled(assertion)
    assert (caught.value.where.path, caught.value.message) == (path, message)


def test_defaults_are_not_filled_from_a_schema_without_properties() -> None:
    """G16, G27: a JSON Schema whose `properties` are no mapping is refused."""
    filled = expect(ExpectedCall(name="f", arguments={}, fill_defaults=True))
    with pytest.raises(TestSetError, match="the JSON Schema of `f` has no mapping under `properties`"):
        compiled(filled, tool_schemas={"f": {"properties": []}})


@pytest.mark.parametrize(("pattern", "flags"), [("(", ""), ("a", "q"), ("(?i)x", "")])
def test_a_pattern_that_does_not_compile_is_refused(pattern: str, flags: str) -> None:
    """G27, G28: at loading, with the path of the pattern."""
    with pytest.raises(TestSetError) as caught:
        compiled(ToolSequence(steps=(Step(tool="a"), Step(tool="b", match=regex(pattern, flags)))))
    assert caught.value.where.path == "steps[1].match.pattern"


CATASTROPHE = [call("note", {"t": "a" * 40})]


@pytest.mark.parametrize("negate", [False, True])
def test_a_pattern_out_of_time_is_an_error_also_under_negation(negate: bool) -> None:
    """G28: running out of the time limit is never a pass and never a fail."""
    verdict = judge(ToolCallArgs(tool="note", match=regex("(a+)+$"), negate=negate), CATASTROPHE)
    assert (verdict.status, verdict.findings[0].code) == (ERROR, "timeout")


PARALLEL = [call("b", message=0), call("a", message=0), call("c", message=1)]


@pytest.mark.parametrize(
    ("names", "match", "ordered", "unordered"),
    [
        ("abc", "in_order", FAIL, PASS),
        ("abc", "exact", FAIL, PASS),
        ("cab", "in_order", FAIL, FAIL),
        ("bac", "exact", PASS, PASS),
        ("ac", "in_order", PASS, PASS),
        ("ac", "exact", FAIL, FAIL),
    ],
)
def test_calls_of_one_message_may_stand_in_any_order(
    names: str, match: Any, ordered: Status, unordered: Status
) -> None:
    """G18: `parallel: unordered` makes the calls of one message interchangeable for exact and in_order."""
    expected = tuple(ExpectedCall(name=name) for name in names)
    assertion = ToolCallTrajectory(expected_tool_calls=expected, match=match)
    assert judge(assertion, PARALLEL).status == ordered
    assert judge(assertion, PARALLEL, parallel_unordered=True).status == unordered


COUNTED: list[tuple[dict[str, Any], Count, Status]] = [
    ({"kind": "output"}, Count(), FAIL),
    ({"kind": "output"}, Count(kinds=("output",)), PASS),
    ({"requestor": "user"}, Count(), FAIL),
    ({"requestor": "user"}, Count(requestor="any"), PASS),
    ({"agent": "helper"}, Count(), PASS),
    ({"agent": "helper"}, Count(agents=("lead",)), FAIL),
    ({"kind": "handoff", "status": "error"}, Count(), PASS),
]


@pytest.mark.parametrize(("fields", "count", "want"), COUNTED)
def test_count_says_which_calls_take_part(fields: dict[str, Any], count: Count, want: Status) -> None:
    """G13: every kind but output tools, the assistant's, nested agents and failed calls included."""
    made = [call("a", **fields)]
    assert judge(ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="a"),)), made, count=count).status == want


def test_count_never_narrows_a_ban() -> None:
    """G13, G25: allow-lists and bans see every call, of any kind, agent and success."""
    made = [call("wipe", kind="output", requestor="user", status="refused", agent="nested")]
    narrow = Count(kinds=("client",), agents=("lead",))
    assert judge(AllowedTools(tools=("a",)), made, count=narrow).status == FAIL
    assert judge(ForbiddenTools(tools=("wipe",)), made, count=narrow).status == FAIL


def test_a_negated_check_of_arguments_is_a_ban() -> None:
    """G13, G25: it sees every call by every name, and no rate over assertions softens it."""
    banned = ToolCallArgs(tool="wipe", match=Match(mode="ignore"), negate=True)
    unseen = [call("wipe", kind="output", requestor="user", agent="nested")]
    aliases = {"wipe": "tidy"}
    assert judge(banned, unseen, count=Count(agents=("lead",)), tool_aliases=aliases).status == FAIL
    verdicts = grade(trajectory(*unseen), compiled(banned, AllowedTools(tools=("wipe",))))
    assert attempt_outcome(verdicts, Fraction(1, 2)) == Outcome.FAIL


@pytest.mark.parametrize("size", [2000])
def test_bans_of_many_tools_are_looked_up_by_name(size: int) -> None:
    """G22: a long list of banned names is no product of names and calls."""
    banned = ForbiddenTools(tools=tuple(f"tool_{number}" for number in range(size)))
    assert judge(banned, [call("other")] * (10 * size)).status == PASS


def test_numbers_in_reasons_count_all_calls_of_the_trajectory() -> None:
    """A call that does not count still has its number, so that it can be found in the trace."""
    made = [call("final", kind="output"), call("a", {"x": 2})]
    expected = (ExpectedCall(name="a", arguments={"x": 1}),)
    verdict = judge(ToolCallTrajectory(expected_tool_calls=expected), made)
    assert verdict.reason == "Expected a with x = 1; call 2 had x = 2."
    assert verdict.findings[0].made_index == 1


def test_aliases_give_recorded_names_the_names_of_expectations() -> None:
    """G13: names compare exactly unless aliases are declared; a ban knows a tool by both names."""
    aliases = {"mcp__shop__lookup": "lookup"}
    made = [call("mcp__shop__lookup")]
    expected = ToolCallTrajectory(expected_tool_calls=(ExpectedCall(name="lookup"),))
    assert (judge(expected, made).status, judge(expected, made, tool_aliases=aliases).status) == (FAIL, PASS)
    assert judge(AllowedTools(tools=("lookup",)), made, tool_aliases=aliases).status == PASS
    for name in ("lookup", "mcp__shop__lookup"):
        assert judge(ForbiddenTools(tools=(name,)), made, tool_aliases=aliases).status == FAIL


def test_a_failed_call_counts_unless_only_successful_ones_do() -> None:
    """G13: the reason then says that the call was made but failed."""
    made = [call("search", status="error")]
    expected = (ExpectedCall(name="search"),)
    assert judge(ToolCallTrajectory(expected_tool_calls=expected), made).status == PASS
    verdict = judge(ToolCallTrajectory(expected_tool_calls=expected, only_successful=True), made)
    assert verdict.reason == "Expected search to succeed; call 1 of it has status `error`."


@pytest.mark.parametrize(
    ("expected", "called", "score", "verdicts"),
    [
        ("ab", "ab", 100, []),
        ("ab", "ba", 100, []),
        ("ab", "", 0, [("a", "missing"), ("b", "missing")]),
        ("a", "b", 0, [("a", "missing"), ("b", "incorrect")]),
        ("a", "aa", 66.67, [("a", "redundant")]),
        ("aab", "ab", 80, [("a", "missing")]),
        ("a" * 20000, "a" * 19999, 99.99, [("a", "missing")]),
        ("a" + "b" * 50000, "a" + "c" * 50000, 0.01, [("b", "missing"), ("c", "incorrect")]),
    ],
)
def test_selection_score(expected: str, called: str, score: float, verdicts: list[tuple[str, str]]) -> None:
    """G31, G32: multiset F1, never rounded to the ends, and one verdict word a name."""
    selection = select_tools(expected, called)
    assert selection.score == score
    assert [(item["name"], item["verdict"]) for item in selection.incorrect_tools] == verdicts


def test_dirty_equals_objects_decide_by_their_own_equality() -> None:
    """G14: in Python an expected value may be any object whose `__eq__` accepts the actual one."""

    class Positive:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, int) and other > 0

        def __hash__(self) -> int:
            return 1

    expected = (ExpectedCall(name="f", arguments={"n": Positive(), "deep": [{"m": Positive()}]}),)
    good, bad = {"n": 3, "deep": [{"m": 1}]}, {"n": 3, "deep": [{"m": -1}]}
    assert judge(ToolCallTrajectory(expected_tool_calls=expected), [call("f", good)]).status == PASS
    assert judge(ToolCallTrajectory(expected_tool_calls=expected), [call("f", bad)]).status == FAIL


def test_names_of_tools_are_shown_with_what_a_terminal_would_obey_made_visible() -> None:
    """A recorded or expected name never reaches a reader raw, whichever sentence it stands in."""
    odd = "\x1b[31mwipe"
    made = [call(odd, {"x": 2}), call("b")]
    wanted = (ExpectedCall(name="b"), ExpectedCall(name=odd, arguments={"x": 1}))
    kinds: list[Assertion] = [
        ToolCallTrajectory(expected_tool_calls=wanted),
        ToolCallTrajectory(expected_tool_calls=wanted[:1], match="exact"),
        ToolCallArgs(tool=odd, match=subset(x=1)),
        ToolCallArgs(tool=odd, match=subset(x=2), negate=True),
        ToolSequence(steps=(Step(tool=odd), Step(tool=odd))),
        RequiredTool(tool=odd + "!"),
        AllowedTools(tools=()),
        ForbiddenTools(tools=(odd,)),
    ]
    for assertion in kinds:
        assert "\x1b" not in judge(assertion, made).reason
