"""One call that several spans show: by a wrapper, by the function that a framework runs, by two instrumentations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rightcall.core.calls import Trajectory
from support.spanning import asked, one, ran, span, told


def scoped(**spans: list[dict[str, Any]]) -> dict[str, Any]:
    """A request of OTLP with the spans of each instrumentation."""
    groups = [{"scope": {"name": name.strip("_")}, "spans": found} for name, found in spans.items()]
    return {"resourceSpans": [{"scopeSpans": groups}]}


def lasting(number: int, attributes: Mapping[str, Any], until: int, parent: int = 0) -> dict[str, Any]:
    """The span of that number, which ends when the span `until` would begin."""
    return span(number, attributes, parent, endTimeUnixNano=str(until * 1_000_000))


def read(**spans: list[dict[str, Any]]) -> Trajectory:
    """The conversation of a request."""
    return one(scoped(**spans))


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ({"id": "7"}, {"id": 7}, {"id": "7"}),
        ({"id": 7}, {"id": 7, "verbose": False}, {"id": 7}),
        (None, {"id": 7}, {"id": 7}),
    ],
    ids=["coerced", "with defaults", "not captured"],
)
def test_the_function_that_a_tool_of_a_framework_runs_is_the_same_call(outer: Any, inner: Any, expected: Any) -> None:
    """What the framework was given counts; what it does not show, the function does."""
    trajectory = read(framework=[lasting(1, ran("a", outer), 9)], rightcall=[lasting(2, ran("a", inner), 8, 1)])
    assert told(trajectory) == [("a", expected)]


def test_a_function_that_calls_itself_is_two_calls() -> None:
    """Within one instrumentation, other arguments are another call."""
    spans = [lasting(1, ran("a", {"n": 2}), 9), lasting(2, ran("a", {"n": 1}), 8, 1)]
    assert told(read(rightcall=spans)) == told(read(framework=spans)) == [("a", {"n": 2}), ("a", {"n": 1})]


@pytest.mark.parametrize("scope", ["rightcall", "second"])
def test_a_run_that_two_instrumentations_show_beside_one_another_is_one_call(scope: str) -> None:
    """They need not know one another's spans; two runs at the same time stay two."""
    first = [lasting(1, ran("a", {"n": 1}), 8), lasting(2, ran("a", {"n": 2}), 9)]
    again = [lasting(3, ran("a", {"n": 2}), 7), lasting(4, ran("a", {"n": 1}), 6)]
    assert told(read(first=first, **{scope: again})) == [("a", {"n": 1}), ("a", {"n": 2})]
    twins = [lasting(1, ran("a", {"n": 1}), 8), lasting(2, ran("a", {"n": 1}), 9)]
    assert told(read(first=twins, **{scope: again[1:]})) == [("a", {"n": 1}), ("a", {"n": 1})]


def test_each_run_has_one_twin_of_an_instrumentation() -> None:
    """A third run of the function, at the same time, is a call of its own."""
    runs = [lasting(number, ran("a", {"n": 1}), 9) for number in (2, 3)]
    assert told(read(first=[lasting(1, ran("a", {"n": 1}), 9)], rightcall=runs)) == [("a", {"n": 1})] * 2


@pytest.mark.parametrize(
    ("first", "second"),
    [("one", "one_"), ("", "other"), ("_", "__")],
    ids=["one instrumentation", "none told", "neither told"],
)
def test_beside_one_another_only_other_instrumentations_repeat(first: str, second: str) -> None:
    """Two equal runs at the same time are two calls, unless their spans are of different instrumentations."""
    spans = {first: [lasting(1, ran("a", {"n": 1}), 9)], second: [lasting(2, ran("a", {"n": 1}), 8)]}
    assert told(read(**spans)) == [("a", {"n": 1})] * 2


def test_one_after_another_is_no_repetition() -> None:
    """Also where another instrumentation shows the second run."""
    spans = {"one": [lasting(1, ran("a", {"n": 1}), 2)], "other": [lasting(3, ran("a", {"n": 1}), 4)]}
    assert told(read(**spans)) == [("a", {"n": 1})] * 2


def test_other_arguments_are_another_run_for_instrumentations() -> None:
    """Only of the function itself is it known that a framework may hand it more."""
    spans = {"one": [lasting(1, ran("a", {"n": 1}), 9)], "other": [lasting(2, ran("a", {"n": 2}), 8)]}
    assert told(read(**spans)) == [("a", {"n": 1}), ("a", {"n": 2})]


def test_what_runs_inside_the_function_is_inside_the_call() -> None:
    """The call that is kept encloses it."""
    trajectory = read(
        framework=[lasting(1, ran("agent", {"q": "?"}), 9)],
        rightcall=[lasting(2, ran("agent", {"q": "?"}), 8), span(3, ran("search", {"n": 1}), 2)],
    )
    assert [(call.name, call.parent, call.kind) for call in trajectory.tool_calls or ()] == [
        ("agent", None, "agent"),
        ("search", 0, "client"),
    ]


@pytest.mark.parametrize("content", ["first", "second"])
def test_a_model_call_around_another_with_hidden_arguments_is_one(content: str) -> None:
    """One instrumentation captures content, the other does not: the arguments are known."""
    shown = asked(("a", {"n": 1}, "c1"), ("a", {"n": 2}, "c2"))
    hidden = asked(("a", None, "c1"), ("a", None, "c2"))
    outer, inner = (shown, hidden) if content == "first" else (hidden, shown)
    trajectory = read(one=[lasting(1, outer, 9)], other=[lasting(2, inner, 8, 1)])
    assert told(trajectory) == [("a", {"n": 1}), ("a", {"n": 2})]


@pytest.mark.parametrize(("id", "count"), [("c1", 1), (None, 2)])
def test_model_calls_beside_one_another_need_ids_to_be_one(id: str | None, count: int) -> None:
    """Two agents may ask for the same at the same time (G9)."""
    calls = asked(("a", {"n": 1}, id))
    spans = {
        "one": [span(1, {}), lasting(3, calls, 9, 1)],
        "other": [span(2, {}), lasting(4, calls, 8, 2)],
    }
    assert told(read(**spans)) == [("a", {"n": 1})] * count
