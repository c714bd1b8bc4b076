"""Alignments against a brute-force reference, and the laws that tie them to verdicts (G18 to G20)."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core import assigning, chaining
from rightcall.core.assertion import Compiled, grade
from rightcall.core.calls import ToolCall
from rightcall.core.lining import MODES as RULES
from rightcall.core.lining import Mode
from rightcall.core.patterns import ExpectedCall
from rightcall.core.rows import Row
from rightcall.core.verdicts import Finding, Status
from support import alignments, oracle
from support.alignments import rows_of
from support.grading import call, compiled, hidden, trajectory

MODES: tuple[Mode, ...] = get_args(Mode)
CALLS = (call("a", {"x": 1, "y": 1}), call("a", {"x": 2, "y": 1}), call("b"))
PATTERNS = (ExpectedCall(name="a", arguments={"x": 1, "y": 1}), ExpectedCall(name="a"), ExpectedCall(name="b"))

arguments = st.fixed_dictionaries({"x": st.integers(1, 2)}, optional={"y": st.integers(1, 3), "z": st.just(1)})
made_calls = st.builds(call, st.sampled_from("ab"), arguments)
expected_calls = st.one_of(
    st.builds(ExpectedCall, name=st.sampled_from("ab"), arguments=arguments),
    st.builds(ExpectedCall, name=st.sampled_from("ab")),
)


def assertion(expected: Iterable[ExpectedCall], mode: Mode, **fields: Any) -> Compiled:
    """One compiled trajectory assertion."""
    (one,) = compiled(ToolCallTrajectory(expected_tool_calls=tuple(expected), match=mode, **fields))
    return one


def marks(rows: Iterable[Row]) -> list[str]:
    """The marks in their order."""
    return [row.mark for row in rows]


def literal(made: ToolCall) -> ExpectedCall:
    """The call, as it would be expected."""
    return ExpectedCall(name=made.name, arguments=made.arguments)


@pytest.mark.parametrize("mode", ["exact", "any_order"])
def test_alignments_are_the_cheapest_of_all(mode: Mode) -> None:
    """On every pair of lists up to length three an alignment is the one a search through all of them finds."""
    lists = [made for size in range(4) for made in itertools.product(CALLS, repeat=size)]
    for length in range(1, 4):
        for expected in itertools.product(PATTERNS, repeat=length):
            one = assertion(expected, mode)
            for made in lists:
                wanted = alignments.cheapest(expected, made, RULES[mode].ordered)
                assert wanted == alignments.shown(rows_of(one, made)), (expected, made)


@given(st.lists(expected_calls, min_size=1, max_size=4), st.lists(made_calls, max_size=4), st.sampled_from(MODES))
def test_alignments_of_many_kinds_of_arguments_are_the_cheapest(
    expected: list[ExpectedCall], made: list[ToolCall], mode: Mode
) -> None:
    """The same where calls differ in one argument or in several."""
    wanted = alignments.cheapest(expected, made, RULES[mode].ordered)
    assert wanted == alignments.shown(rows_of(assertion(expected, mode), made))


@pytest.mark.parametrize("mode", ["in_order", "superset"])
def test_counts_are_those_of_independent_tables(mode: Mode) -> None:
    """G19: of lists up to length four as many match, and in order, as independent tables say."""
    lists = [made for size in range(5) for made in itertools.product(CALLS, repeat=size)]
    for expected in itertools.product(PATTERNS, repeat=4):
        one = assertion(expected, mode)
        compete = PATTERNS[0] in expected and PATTERNS[1] in expected
        for made in lists:
            rows = rows_of(one, made)
            counts = Counter(marks(rows))
            assert counts["match"] + counts["moved"] == oracle.most_pairs(expected, made, alignments.fits)
            if RULES[mode].ordered and not compete:
                assert counts["match"] == alignments.longest_in_order(expected, made)
            assert (len(expected), len(made)) == (len(rows) - counts["unexpected"], len(rows) - counts["missing"])


@pytest.mark.parametrize("mode", MODES)
def test_alignment_never_contradicts_its_verdict(mode: Mode) -> None:
    """G18: a pass shows matches and what the mode allows; a failure has a row that is wrong, at an index it names."""
    lists = [made for size in range(4) for made in itertools.product(CALLS, repeat=size)]
    for length in range(4):
        for expected in itertools.product(PATTERNS, repeat=length):
            one = assertion(expected, mode)
            for made in lists:
                assert_agreement(one, made)


@given(
    st.lists(expected_calls, max_size=5),
    st.lists(made_calls, max_size=5),
    st.sampled_from(MODES),
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
)
def test_alignment_never_contradicts_its_verdict_where_messages_have_several_calls(
    expected: list[ExpectedCall], made: list[ToolCall], mode: Mode, numbers: list[int]
) -> None:
    """G18: nor where the calls of one message are interchangeable."""
    parallel = [
        call(each.name, each.arguments, message=number) for each, number in zip(made, sorted(numbers), strict=False)
    ]
    assert_agreement(assertion(expected, mode, parallel="unordered"), parallel)


def assert_agreement(one: Compiled, made: Sequence[ToolCall]) -> None:
    """The alignment and the verdict say the same."""
    check: Any = one.check
    (verdict,) = grade(trajectory(*made), [one])
    rows = rows_of(one, made)
    allowed = (
        {"match"} | ({"unexpected"} if check.mode.extras else set()) | ({"missing"} if check.mode.absences else set())
    )
    wrong = [row for row in rows if row.mark not in allowed]
    if verdict.status == Status.PASS:
        assert wrong == [], (made, rows)
        return
    assert any(is_about(finding, row, one) for row in wrong for finding in verdict.findings), (made, rows, verdict)


def is_about(finding: Finding, row: Row, one: Compiled) -> bool:
    """Whether the sentence of a finding names the row: a call of it, or how often its tool was called."""
    check: Any = one.check
    named = {finding.expected_index}
    if finding.code == "out_of_order" and finding.expected_index is not None:
        named.add(finding.expected_index - 1)
    if finding.code == "too_few":
        name = check.patterns[finding.expected_index].name
        named |= {index for index, pattern in enumerate(check.patterns) if pattern.name == name}
    return row.expected_index in named - {None} or (row.made_index is not None and row.made_index == finding.made_index)


@given(st.lists(expected_calls, min_size=1, max_size=5), st.lists(made_calls, max_size=5), st.sampled_from(MODES))
def test_numbers_of_an_alignment_are_those_of_its_verdict(
    expected: list[ExpectedCall], made: list[ToolCall], mode: Mode
) -> None:
    """G19: `paired` pairs match; where order counts and no expected calls compete, `paired_in_order` in order."""
    assert_same_numbers(assertion(expected, mode), made, "paired", {"match", "moved"})
    if RULES[mode].ordered:
        literals = [each for each in expected if each.arguments is not UNSET] or [literal(CALLS[2])]
        assert_same_numbers(assertion(literals, mode, arguments="exact"), made, "paired_in_order", {"match"})


def assert_same_numbers(one: Compiled, made: list[ToolCall], detail: str, counted: set[str]) -> None:
    """A number among the details of a failure is that of the rows with these marks."""
    (verdict,) = grade(trajectory(*made), [one])
    if verdict.status == Status.FAIL:
        assert verdict.details[detail] == sum(mark in counted for mark in marks(rows_of(one, made)))


@given(st.lists(made_calls, min_size=1, max_size=6), st.sampled_from(MODES))
def test_calls_beside_themselves_all_match(made: list[ToolCall], mode: Mode) -> None:
    """Aligned with itself a list shows nothing but matches."""
    assert ["match"] * len(made) == marks(rows_of(assertion(map(literal, made), mode, arguments="exact"), made))


@given(
    st.lists(made_calls, min_size=1, max_size=5), st.lists(made_calls, min_size=1, max_size=5), st.sampled_from(MODES)
)
def test_roles_reversed_swap_missing_and_unexpected(one: list[ToolCall], other: list[ToolCall], mode: Mode) -> None:
    """What was expected and what was made changed over: as many rows of each mark, missing being unexpected."""
    forth = Counter(marks(rows_of(assertion(map(literal, one), mode, arguments="exact"), other)))
    back = Counter(marks(rows_of(assertion(map(literal, other), mode, arguments="exact"), one)))
    assert (back["missing"], back["unexpected"]) == (forth["unexpected"], forth["missing"])
    assert [back[mark] for mark in ("match", "moved", "differs")] == [
        forth[mark] for mark in ("match", "moved", "differs")
    ]


@given(
    st.lists(expected_calls, min_size=1, max_size=5),
    st.lists(made_calls, max_size=5),
    st.sampled_from(["any_order", "subset", "superset"]),
    st.data(),
)
def test_order_is_nothing_where_it_does_not_count(
    expected: list[ExpectedCall], made: list[ToolCall], mode: Mode, data: st.DataObject
) -> None:
    """G18: shuffled lists have as many rows of each mark, and none has moved."""
    shuffled = data.draw(st.permutations(expected)), data.draw(st.permutations(made))
    counts = Counter(marks(rows_of(assertion(expected, mode), made)))
    assert counts == Counter(marks(rows_of(assertion(shuffled[0], mode), shuffled[1])))
    assert counts["moved"] == 0


@given(st.lists(expected_calls, max_size=5), st.lists(made_calls, max_size=5), st.sampled_from(MODES))
def test_every_call_has_its_row(expected: list[ExpectedCall], made: list[ToolCall], mode: Mode) -> None:
    """Each call stands in one row, those made in their order; a pair that differs says where."""
    rows = rows_of(assertion(expected, mode), made)
    assert [row.made_index for row in rows if row.made_index is not None] == list(range(len(made)))
    assert sorted(row.expected_index for row in rows if row.expected_index is not None) == list(range(len(expected)))
    assert all(bool(row.differences) == (row.mark == "differs") for row in rows)


def test_missing_calls_stand_where_they_were_due() -> None:
    """A missing call stands before the first call made that was due after it."""
    one = assertion([ExpectedCall(name=name) for name in "abc"], "in_order")
    rows = rows_of(one, [call("a"), call("x"), call("c")])
    assert [(row.mark, row.expected_index) for row in rows] == [
        ("match", 0),
        ("unexpected", None),
        ("missing", 1),
        ("match", 2),
    ]


def test_rows_name_every_place_that_differs() -> None:
    """All differing places are listed with paths and values, whatever their depth."""
    one = assertion([ExpectedCall(name="a", arguments={"x": {"y": [1, 2]}, "z": 1})], "in_order")
    (row,) = rows_of(one, [call("a", {"x": {"y": [1, 3]}})])
    first, second = row.differences
    assert (first.path, first.expected, first.actual) == ("x.y[1]", 2, 3)
    assert (second.path, second.expected, second.actual) == ("z", 1, UNSET)
    assert first.message == "expected with x.y[1] = 2; had x.y[1] = 3"


def test_rows_say_how_many_more_places_differ() -> None:
    """More than twenty differing places are counted."""
    wanted = {f"k{number}": number for number in range(23)}
    (row,) = rows_of(assertion([ExpectedCall(name="a", arguments=wanted)], "exact"), [call("a")])
    assert (len(row.differences), row.note) == (20, "and 3 more differences")


def test_unreadable_arguments_differ_and_say_so() -> None:
    """G11: a failure shows a call of unknown arguments as one that differs, never as a match."""
    one = assertion([ExpectedCall(name="a", arguments={"x": 1}), ExpectedCall(name="b")], "exact")
    first, second = rows_of(one, [hidden("a")])
    assert (first.mark, second.mark) == ("differs", "missing")
    assert [each.message for each in first.differences] == ['expected with arguments {"x":1}; had redacted arguments']


def test_findings_and_rows_choose_the_same_closest_call() -> None:
    """G20: the one call that is missing stands beside the call that the finding names."""
    one = assertion([ExpectedCall(name="a", arguments={"x": 1, "y": 1})], "in_order")
    made = [call("a", {"x": 2, "y": 2}), call("a", {"x": 1, "y": 2}), call("a", {"x": 2, "y": 1})]
    (verdict,) = grade(trajectory(*made), [one])
    (row,) = [row for row in rows_of(one, made) if row.mark == "differs"]
    assert (verdict.findings[0].made_index, row.made_index) == (1, 1)


@pytest.mark.parametrize("mode", ["exact", "superset"])
def test_more_calls_of_a_tool_than_are_assigned_are_said(mode: Mode) -> None:
    """Beyond the limit each expected call is beside the closest one that is left, and the first row says so."""
    number = assigning.MOST_TO_ASSIGN + 1
    expected = [ExpectedCall(name="a", arguments={"x": -at - 1, "y": at}) for at in range(number)]
    first, *others = rows_of(assertion(expected, mode), [call("a", {"x": at, "y": at}) for at in range(number)])
    assert (
        "More than 100 calls of a are left on a side: each expected one stands beside the closest that is left"
        in first.note
    )
    assert all((row.mark, row.expected_index) == ("differs", row.made_index) for row in others)


def test_the_limit_is_no_concern_of_one_call() -> None:
    """One expected call among very many stands beside the closest, and nothing needs to be said."""
    one = assertion([ExpectedCall(name="a", arguments={"x": 1, "y": 900})], "in_order")
    rows = rows_of(one, [call("a", {"x": 0, "y": at}) for at in range(1000)])
    assert Counter(marks(rows)) == {"unexpected": 999, "differs": 1}
    assert rows[900].mark == "differs"


def test_ten_thousand_calls_are_aligned() -> None:
    """G22: ten thousand by ten thousand calls in the wrong order are aligned exactly."""
    size = 10_000
    expected = [ExpectedCall(name="a", arguments={"x": at % 7}) for at in range(size)]
    rows = rows_of(assertion(expected, "exact"), [call("a", {"x": (at + 1) % 7}) for at in range(size)])
    assert Counter(marks(rows)) == {"match": size - 1, "differs": 1}


def test_lists_too_long_for_the_search_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond its limit the search for matches in order gives way to a largest pairing, and the first row says so."""
    monkeypatch.setattr(chaining, "MOST_CELLS", 3)
    one = assertion([ExpectedCall(name=name) for name in "abc"], "exact")
    first, *others = rows_of(one, [call(name) for name in "bca"])
    assert "3 expected calls and 3 calls made are too many to look for the most matches in order" in first.note
    assert marks(others) == ["match", "match", "moved"]


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(st.integers(0, 2), min_size=width, max_size=width))))
def test_assignments_are_the_first_of_the_cheapest(costs: list[list[int]]) -> None:
    """Of all assignments of as many rows as possible it is the least in cost, then in its columns row by row."""
    costs = costs[:4]
    columns = len(costs[0]) if costs else 0
    choices = [
        (sum(costs[row][at] for row, at in enumerate(chosen) if at < columns), [min(at, columns) for at in chosen])
        for chosen in itertools.permutations(range(max(len(costs), columns)), len(costs))
    ]
    assert [columns if at is None else at for at in assigning.assign(costs)] == min(choices)[1]


def test_calls_of_one_message_match_in_any_order_where_they_may() -> None:
    """G18: interchangeable calls are matches and none has moved; those of different messages are not."""
    one = assertion([ExpectedCall(name=name) for name in "abc"], "exact", parallel="unordered")
    assert marks(rows_of(one, [call("b", message=0), call("a", message=0), call("c", message=1)])) == ["match"] * 3
    assert marks(rows_of(one, [call("b", message=0), call("a", message=1), call("c", message=1)])).count("moved") == 1


def test_moved_calls_say_nothing_of_where_others_were_due() -> None:
    """A missing call stands before what was due after it, not before a call that has moved there."""
    one = assertion([ExpectedCall(name=name) for name in "abcd"], "exact")
    rows = rows_of(one, [call("d"), call("b"), call("c")])
    assert [(row.mark, row.expected_index) for row in rows] == [
        ("moved", 3),
        ("missing", 0),
        ("match", 1),
        ("match", 2),
    ]
