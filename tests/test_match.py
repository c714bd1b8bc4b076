"""`rightcall.match`, and objects that decide by their own equality (G14)."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import dirty_equals
import pytest

from rightcall import match
from rightcall.core.operators import Operator
from rightcall.core.operators.registry import OPERATORS
from rightcall.core.verdicts import Status
from rightcall.errors import TestSetError
from rightcall.metrics import ToolCallTrajectory
from support.operators import accepts, said, verdict

EXAMPLES: list[tuple[Operator, dict[str, Any]]] = [
    (match.any_(), {"$any": True}),
    (match.absent(), {"$absent": True}),
    (match.optional(match.gt(1)), {"$optional": {"$gt": 1}}),
    (match.type_("string"), {"$type": "string"}),
    (match.regex("a"), {"$regex": "a"}),
    (match.regex("a", "i"), {"$regex": "a", "$flags": "i"}),
    (match.one_of([1, {"$x": 2}]), {"$one_of": [1, {"$literal": {"$x": 2}}]}),
    (match.not_(None), {"$not": None}),
    (match.all_([match.gte(1), 5]), {"$all": [{"$gte": 1}, 5]}),
    (match.gt(1), {"$gt": 1}),
    (match.gte(1), {"$gte": 1}),
    (match.lt(1.5), {"$lt": 1.5}),
    (match.lte(1), {"$lte": 1}),
    (match.approx(1, abs=0.5), {"$approx": {"value": 1, "abs": 0.5}}),
    (match.contains([1]), {"$contains": [1]}),
    (match.starts_with("a"), {"$starts_with": "a"}),
    (match.ends_with("a"), {"$ends_with": "a"}),
    (match.length(3), {"$length": 3}),
    (match.length(min=1, max=3), {"$length": {"min": 1, "max": 3}}),
    (match.unordered([1, 2]), {"$unordered": [1, 2]}),
    (match.date(on="2026-11-30"), {"$date": {"on": "2026-11-30"}}),
    (match.text("a", ignore_case=True), {"$text": {"value": "a", "ignore_case": True}}),
    (match.schema({"type": "string"}), {"$schema": {"type": "string"}}),
]
WRONG: Any = ["a"]
CALL = {"name": "f", "arguments": {"x": 5, "s": "Late"}}


@pytest.mark.parametrize(("operator", "form"), EXAMPLES)
def test_each_function_makes_the_operator_of_a_file(operator: Operator, form: dict[str, Any]) -> None:
    """The same class, written the same."""
    assert operator.form() == form
    assert type(operator) is OPERATORS[next(iter(form))]


def test_there_is_a_function_for_every_operator() -> None:
    """Named as the operator is, with an underscore where Python has the word, and described."""
    assert {f"${name.rstrip('_')}" for name in match.__all__} == set(OPERATORS)
    assert [name for name in match.__all__ if not inspect.getdoc(getattr(match, name))] == []


def test_match_objects_work_in_plain_asserts() -> None:
    """Equal to what they accept, on either side, at any depth."""
    assert {"x": match.gte(1), "s": match.regex("late", "i")} == CALL["arguments"]
    assert CALL["arguments"] == {"x": match.one_of([match.regex("a"), 5]), "s": match.not_("late")}
    assert match.unordered([match.contains(2), 1]) == [1, [2]]
    assert match.schema({"type": "integer"}) == 5.0
    assert {"x": match.gt(5)} != {"x": 5}
    assert match.gte(1) != True  # noqa: E712  # booleans are no numbers


def test_match_objects_equal_those_that_are_written_alike() -> None:
    """Two operators are compared as what they are, and may be members of sets."""
    assert match.gte(1) == match.gte(1)
    assert match.gte(1) != match.gte(2)
    assert match.gte(1) != match.gt(1)
    assert match.one_of([1]) == match.one_of([1.0])
    assert match.one_of([1]) != match.one_of([True])
    assert len({match.gte(1), match.gte(1), match.lte(1)}) == 2


def test_the_metric_takes_match_objects_and_everything_else_is_data() -> None:
    """In plain dicts given to the classes shaped like the seeds' `{"$gt": 1}` is a value with a key `$gt` (G14)."""
    expectations = {"tool_calls": [{"name": "f", "arguments": {"x": match.gt(1)}}]}
    assert ToolCallTrajectory().evaluate([CALL], expectations).score == 1
    for x, score in ((5, 0), ({"$gt": 1}, 1)):
        made = [{"name": "f", "arguments": {"x": x}}]
        data = {"tool_calls": [{"name": "f", "arguments": {"x": {"$gt": 1}}}]}
        assert ToolCallTrajectory().evaluate(made, data).score == score


def test_mappings_inside_match_objects_are_operators_where_others_are() -> None:
    """In an expectation, that is; what `==` compares is data."""
    assert [accepts(match.not_({"$gt": 5}), x) for x in (5, 6)] == [True, False]
    assert match.not_({"$gt": 5}) == 6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: match.gt(WRONG), "value: expected a number, found [\"a\"]"),
        (lambda: match.lte(float("nan")), "value: expected a finite number, found nan"),
        (lambda: match.approx(1, rel=float("inf")), "rel: expected a finite number, found inf"),
        (lambda: match.one_of([]), "values: `$one_of` needs at least one value"),
        (lambda: match.length(-1), "min: expected a whole number from 0, found -1"),
        (lambda: match.regex(WRONG), 'pattern: expected a string, found ["a"]'),
        (lambda: match.date(), "expected `on`, `after` or `before`"),
        (lambda: match.text("a", normalize=WRONG), 'normalize: expected `NFC`, `NFKC` or true, found ["a"]'),
        (lambda: match.schema(WRONG), 'schema: expected a JSON Schema, found ["a"]'),
        (lambda: match.type_(WRONG), "value: expected one of `string`, "),
    ],
)  # fmt: skip
def test_what_cannot_be_an_operator_is_refused_at_once(make: Any, message: str) -> None:
    """Where it is made, not where it is used."""
    with pytest.raises(TestSetError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_dirty_equals_objects_are_expected_values() -> None:
    """Anywhere, beside operators and inside them; classes of them too."""
    assert accepts(dirty_equals.IsPositive(), 5)
    assert accepts([dirty_equals.IsStr, {"a": dirty_equals.IsInt(gt=4)}], ["", {"a": 5}])
    assert accepts(match.one_of([dirty_equals.IsStr(), dirty_equals.IsFalseLike]), 0)
    assert accepts(match.not_(dirty_equals.IsStr()), 5)
    assert verdict({"x": dirty_equals.AnyThing()}, {}).status == "fail"
    expectations = {"tool_calls": [{"name": "f", "arguments": {"x": dirty_equals.IsInt()}}]}
    assert ToolCallTrajectory("exact", "partial").evaluate([CALL], expectations).score == 1


def test_dirty_equals_objects_are_shown_by_their_representation() -> None:
    """JSON cannot hold them, so findings hold it as text."""
    assert said(dirty_equals.IsInt(gt=5), 5) == "Expected f with x = IsInt(gt=5); call 1 had x = 5."
    either = match.one_of([dirty_equals.IsInt(gt=5), "a"])
    assert said(either, 5) == 'Expected f with x one of IsInt(gt=5) or "a"; call 1 had x = 5.'
    (finding,) = verdict({"x": [dirty_equals.IsStr()]}, {"x": [5]}).findings
    assert (finding.expected, finding.path) == ("IsStr()", "x[0]")


class Answers:
    """An object whose equality gives, or raises, whatever it was told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __eq__(self, other: object) -> bool:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]  # that it may be anything is the point

    __hash__ = None  # type: ignore[assignment]  # as Python has it for a class with an __eq__

    def __repr__(self) -> str:
        return "Answers()"


class Ambiguous:
    """What some array libraries answer: it is neither true nor false."""

    def __bool__(self) -> bool:
        raise ValueError("the truth of an array is ambiguous")


@pytest.mark.parametrize(("answer", "status"), [(1, "pass"), ("yes", "pass"), ([], "fail"), (None, "fail")])
def test_an_equality_that_gives_no_boolean_is_taken_for_its_truth(answer: Any, status: str) -> None:
    """As Python itself does."""
    assert verdict({"x": Answers(answer)}, {"x": 5}).status == status


@pytest.mark.parametrize("answer", [KeyError("no"), Ambiguous()])
def test_an_equality_that_raises_is_an_error_and_no_crash(answer: Any) -> None:
    """Nor a fail: the agent is not to blame. Turned round by `not` it stays an error (G1, G5)."""
    for expected in (Answers(answer), match.not_(Answers(answer)), [Answers(answer)]):
        one = verdict({"x": expected}, {"x": [5] if isinstance(expected, list) else 5})
        assert one.status is Status.ERROR
        assert one.reason.startswith("The expected value Answers() cannot be compared with 5: ")


@pytest.mark.parametrize("make", [match.one_of, match.all_, match.unordered])
@pytest.mark.parametrize(("given", "shown"), [("abc", '"abc"'), ({"a": 1}, '{"a":1}'), (3, "3")])
def test_one_value_is_no_list_of_its_parts(make: Any, given: Any, shown: str) -> None:
    """Text would be taken apart into letters, and a mapping into its keys, without a word."""
    with pytest.raises(TestSetError, match=f"^values: expected a list, found {shown}$"):
        make(given)


def test_a_timeout_inside_an_operator_is_an_error() -> None:
    """Under `$not` too (G28)."""
    slow = match.regex("^(a+)+$")
    for expected in (slow, match.not_(slow)):
        assert verdict({"x": expected}, {"x": "a" * 40 + "b"}).status is Status.ERROR


def test_importing_the_module_needs_no_validator() -> None:
    """Jsonschema is imported when a `$schema` is compiled."""
    code = "import sys; from rightcall import match; assert match.gt(1) == 2; assert 'jsonschema' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
