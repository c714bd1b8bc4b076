"""`@rightcall.tool`: which arguments and which result the span of a run tells."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import uuid
from typing import Any

import pydantic
import pytest

import rightcall
from support.tracing import fresh, only, search

pytestmark = pytest.mark.usefixtures(fresh.__name__)


class Desk:
    """A class with tools of each kind."""

    @rightcall.tool
    def method(self, order: int) -> int:
        """Of an instance."""
        return order

    @classmethod
    @rightcall.tool
    def of_class(cls, order: int) -> int:
        """Of the class."""
        return order

    @rightcall.tool
    @staticmethod
    def static(order: int) -> int:
        """Of neither."""
        return order

    def __call__(self, order: int) -> int:
        return order


def local() -> Any:
    """A function that calls its first argument `self`, and is no method."""

    @rightcall.tool
    def free(self: int) -> int:
        return self

    return free


@pytest.mark.parametrize(
    ("run", "name", "arguments"),
    [
        (lambda: search("a"), "search", {"query": "a"}),
        (lambda: search("a", "b", "c", limit=3), "search", {"query": "a", "more": ["b", "c"], "limit": 3}),
        (lambda: search("a", lang="en", deep={"x": [1, None, 1.5]}), "search", None),
        (lambda: Desk().method(1), "method", {"order": 1}),
        (lambda: Desk.of_class(1), "of_class", {"order": 1}),
        (lambda: Desk.static(order=1), "static", {"order": 1}),
        (lambda: local()(1), "free", {"self": 1}),
        (lambda: rightcall.tool(name="desk")(Desk())(1), "desk", {"order": 1}),
        (lambda: rightcall.tool(abs, name="find")(1), "find", {"x": 1}),
        (lambda: rightcall.tool(name="two")(functools.partial(pow, 2))(3), "two", {"exp": 3}),
        (lambda: rightcall.tool(Desk().__call__)(1), "__call__", {"order": 1}),
    ],
)
def test_arguments_are_told_by_name_as_they_were_given(run: Any, name: str, arguments: Any) -> None:
    """Without defaults, without `self`; free keywords stand beside the others."""
    call = only(run)
    expected = {"query": "a", "lang": "en", "deep": {"x": [1, None, 1.5]}} if arguments is None else arguments
    assert (call.name, call.arguments, call.arguments_state, call.status) == (name, expected, "ok", "ok")


class Colour(enum.Enum):
    """An enumeration."""

    RED = "red"


class Word(str, enum.Enum):  # noqa: UP042 - the older form is the one that `str` writes wrongly
    """An enumeration of texts."""

    YES = "yes"


class Order(pydantic.BaseModel):
    """A model with a default."""

    id: int
    express: bool = False


@dataclasses.dataclass
class Place:
    """A dataclass."""

    city: str


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Colour.RED, "red"),
        (Word.YES, "yes"),
        (Order(id=1), {"id": 1}),
        (Order(id=1, express=False), {"id": 1, "express": False}),
        ([Place("Paris")], [{"city": "Paris"}]),
        (datetime.date(2026, 11, 30), "2026-11-30"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (2**70, 2**70),
        ("\ud800", "\ud800"),
        (True, True),
    ],
)
def test_values_that_frameworks_make_of_json_are_written_as_it_was(value: Any, written: Any) -> None:
    """Typed parameters come as objects; what was given to make them is told."""
    call = only(lambda: search("a", value=value))
    assert call.arguments == {"query": "a", "value": written}


class Odd:
    """An object that cannot be written, shown, or compared."""

    def model_dump(self, **settings: Any) -> Any:
        """Fail."""
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


def circular() -> list[Any]:
    """A list that contains itself."""
    made: list[Any] = []
    made.append(made)
    return made


@pytest.mark.parametrize(
    "value", [object(), Odd(), float("nan"), circular(), {1, 2}, b"x", {(1, 2): 3}, 10**5000], ids=type
)
def test_arguments_that_json_cannot_write_are_not_captured_and_the_tool_runs(value: Any) -> None:
    """Nothing is made up, the function is called as always, and a warning says why."""
    with rightcall.capture() as captured:
        result = search("a", value=value)
    (call,) = captured.tool_calls
    assert (result, call.arguments_state, call.status, call.result) == (["a"], "not_captured", "ok", ["a"])
    assert captured.warnings[-1].startswith("the arguments of `execute_tool search` are not captured: ")
    (verdict,) = rightcall.grade(captured, {"expected_tool_calls": [{"name": "search", "arguments": {"query": "b"}}]})
    assert verdict.status == "error"


def test_what_frameworks_hand_over_beside_the_arguments_is_none_of_them() -> None:
    """Contexts of runs come from the framework, never from the model."""
    from pydantic_ai import RunContext
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage

    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    assert only(lambda: search("a", context=context)).arguments == {"query": "a"}


@pytest.mark.parametrize("result", [{"a": [1]}, ["x"], "text", "5", "\ud800", "", 5, 1.5, True, None])
def test_results_are_told_as_they_are(result: Any) -> None:
    """Of each kind that JSON has."""
    call = only(lambda: rightcall.tool(name="t")(lambda: result)())
    assert (call.result, type(call.result)) == (result, type(result))


def test_a_result_that_json_cannot_write_is_left_out() -> None:
    """The call is told without it, and the caller gets it."""
    made = object()
    assert only(lambda: rightcall.tool(name="t")(lambda: made)()).result is None
    assert rightcall.tool(name="t")(lambda: made)() is made
