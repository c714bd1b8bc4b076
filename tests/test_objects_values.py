"""Objects of Python itself and of its data libraries: what is read as JSON, and what is refused with its place."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import re
import subprocess
import sys
import types
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple, TypedDict
from unittest import mock

import attrs
import msgspec
import pydantic
import pytest

import rightcall
from rightcall.errors import TraceError
from rightcall.traces.objects import walking
from support.objects import asked

ASKED = [("add", {"to": 1})]
CALL = {"name": "add", "arguments": {"to": 1}}


class Word(str, enum.Enum):  # noqa: UP042  # the older way, whose members print by their own names
    """A text that prints as something else."""

    ADD = "add"
    ASSISTANT = "assistant"


class Number(enum.IntEnum):
    """A number that prints as something else."""

    ONE = 1


@dataclasses.dataclass
class DataCall:
    """A call as a dataclass."""

    name: str
    arguments: Any


@dataclasses.dataclass(slots=True, frozen=True)
class SlotCall:
    """The same without a dictionary of its own."""

    name: str
    arguments: Any


@attrs.frozen
class AttrsCall:
    """A call of the library attrs."""

    name: str
    arguments: Any


class StructCall(msgspec.Struct):
    """A call of the library msgspec."""

    name: str
    arguments: Any


class ModelCall(pydantic.BaseModel):
    """A call of the library Pydantic."""

    name: str
    arguments: Any


class TupleCall(NamedTuple):
    """A call as a named tuple."""

    name: str
    arguments: Any


class DictCall(TypedDict):
    """A call as a typed mapping."""

    name: str
    arguments: Any


MADE: list[Any] = [DataCall, SlotCall, AttrsCall, StructCall, ModelCall, TupleCall, DictCall]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
def test_a_call_of_any_data_library_is_a_call(made: Any) -> None:
    """Alone, in a list, in a record, and in one of another library (G9)."""
    call = made(name="add", arguments={"to": 1})
    for value in (call, [call], (call,), {"tool_calls": [call]}, collections.deque([call])):
        assert asked(value) == ASKED
    own_words = {(TupleCall, ModelCall), (TupleCall, StructCall)}  # these write a named tuple as a list
    for outer in (outer for outer in MADE if (made, outer) not in own_words):
        assert asked(outer(name="add", arguments={"call": call})) == [("add", {"call": CALL})]


@pytest.mark.parametrize(
    "value",
    [
        {"name": Word.ADD, "arguments": {"to": Number.ONE}},
        {"name": "add", "arguments": types.MappingProxyType({"to": 1})},
        {"name": "add", "arguments": collections.ChainMap({"to": 1})},
        {"messages": [{"role": Word.ASSISTANT, "tool_calls": ({"function": CALL},)}]},
    ],
    ids=["enumerations of texts and numbers", "read-only mapping", "chained mappings", "tuple"],
)
def test_what_is_json_under_another_class_is_read_as_that(value: Any) -> None:
    """Members of enumerations that are texts or numbers are these, and mappings are mappings (G9)."""
    assert asked(value) == ASKED


def test_libraries_write_what_they_have_words_for() -> None:
    """Times, ids, decimals, bytes and enumerations are what Pydantic and msgspec write of them (G9)."""
    when, unique = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), uuid.UUID(int=1)
    arguments = {"when": when, "id": unique, "sum": decimal.Decimal("1.50"), "word": Word.ADD}
    written = {"when": "2026-01-02T00:00:00Z", "id": str(unique), "sum": "1.50", "word": "add"}
    for made in (ModelCall, StructCall):
        assert asked(made(name="add", arguments=arguments)) == [("add", written)]
    assert asked(StructCall(name="add", arguments={"data": b"\xff"})) == [("add", {"data": "/w=="})]


class Message(pydantic.BaseModel):
    """A message of a program."""

    role: str


class Answer(Message):
    """An answer of a model, which says more than messages in general."""

    tool_calls: list[dict[str, Any]]


class State(pydantic.BaseModel):
    """A state whose field is declared to hold messages in general."""

    messages: list[Message]


def test_values_are_written_by_their_own_class() -> None:
    """A field that is declared with less than it holds hides no call: that would be a wrong pass (G9)."""
    answer = Answer(role="assistant", tool_calls=[{"function": CALL}])
    state = State(messages=[Message(role="user"), answer])
    assert "tool_calls" not in state.model_dump()["messages"][1]
    assert asked(state) == ASKED


def test_what_was_never_validated_is_read_without_a_word() -> None:
    """A model that was made without its checks holds other types than it declares; no warning is given."""
    assert asked(Answer.model_construct(role="assistant", tool_calls=({"function": CALL},))) == ASKED


class Colour(enum.Enum):
    """A member that is no text."""

    RED = 1


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (datetime.datetime(2026, 1, 2), "an object of type `datetime`"),
        (uuid.UUID(int=1), "an object of type `UUID`"),
        (decimal.Decimal(1), "an object of type `Decimal`"),
        (Colour.RED, "an object of type `Colour`"),
        (b"data", "an object of type `bytes`"),
        (1j, "an object of type `complex`"),
        (float("nan"), "nan"),
        ({1}, "a set (`set`); give a list, which has an order"),
        (Colour, "a class (`EnumType`); give an instance"),
        (re, "a module (`module`)"),
        (len, "an object of type `builtin_function_or_method`"),
        (test_libraries_write_what_they_have_words_for, "a function (`function`); give what it returns"),
        (mock.Mock(), "an object of type `Mock`"),
        (mock.MagicMock(spec=ModelCall), "an object of type `MagicMock`"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_nobody_wrote_as_json_is_refused_with_its_place(value: Any, found: str) -> None:
    """Nothing is turned into text that nobody chose: the error has the path, the type, and what to do."""
    for made in (dict, DataCall, TupleCall, AttrsCall):
        with pytest.raises(TraceError) as raised:
            rightcall.read([made(name="add", arguments={"to": [value]})])
        assert raised.value.where.path == "[0].arguments.to[0]"
        assert raised.value.message.startswith(f"expected a JSON value; found {found}")


def stream() -> Iterator[Any]:
    """A stream that somebody has still to collect."""
    yield CALL


async def result() -> Any:
    """A result that somebody has still to await."""
    return CALL


async def parts() -> Any:
    """A stream that somebody has still to collect, and to await."""
    yield CALL


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (stream, r"found a stream that was not collected \(`generator`\); give `list\(…\)`"),
        (lambda: map(str, []), r"found a stream that was not collected \(`map`\)"),
        (parts, r"found an asynchronous stream that was not collected \(`async_generator`\); give `\[part async for"),
        (result, r"found a result that was not awaited \(`coroutine`\); give `await …`"),
        (lambda: None, "expected what holds a conversation; found `None`"),
        (lambda: 7, "expected what holds a conversation; found `7`"),
        (object, r"found an object of type `object`; give the messages it holds, or what its library writes as JSON"),
    ],
)
def test_what_holds_no_conversation_yet_says_what_to_give(make: Any, words: str) -> None:
    """A stream, a result and anything unknown are told apart."""
    value = make()
    with pytest.raises(TraceError, match=words):
        rightcall.read(value)
    if asyncio.iscoroutine(value):
        value.close()


def test_a_stream_that_is_refused_is_still_whole() -> None:
    """Reading takes nothing out of it."""
    value = stream()
    with pytest.raises(TraceError):
        rightcall.read(value)
    assert asked(list(value)) == ASKED


class Failing:
    """An object of a library that cannot write itself."""

    def to_dict(self) -> Any:
        """Fail."""
        raise RuntimeError("no connection")


class Endless:
    """An object that writes itself as another one, for ever."""

    def to_dict(self) -> Any:
        """Another one."""
        return Endless()


class Linked(pydantic.BaseModel):
    """A model that may contain itself."""

    next: Any = None


def circle(kind: str) -> Any:
    """An object that contains itself."""
    if kind == "model":
        linked = Linked()
        linked.next = linked
        return linked
    made: Any = {"list": [], "mapping": {}, "dataclass": DataCall("add", None)}[kind]
    if kind == "list":
        made += [made, made]
    elif kind == "mapping":
        made |= {"one": made, "other": [made, made]}
    else:
        made.arguments = [made, made]
    return made


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("list", r"\[1\]: an object of type `list` contains itself"),
        ("mapping", r"other\[1\]: an object of type `dict` contains itself"),
        ("dataclass", r"arguments\[1\]: an object of type `DataCall` contains itself"),
        ("model", "`Linked` cannot be written as JSON: Circular reference"),
    ],
)
def test_what_contains_itself_is_refused(kind: str, words: str) -> None:
    """A circle is an error at once, not an endless walk."""
    with pytest.raises(TraceError, match=words):
        rightcall.read(circle(kind))


def test_what_stands_twice_in_a_value_is_no_circle() -> None:
    """The same object may be named in two places: both count (G9)."""
    assert asked([CALL, CALL]) == [*ASKED, *ASKED]


def test_what_unfolds_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists that name one another twice hold more values than any trace; objects may write objects for ever."""
    monkeypatch.setattr(walking, "MAX_VALUES", 10_000)
    value: Any = [1]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(TraceError, match="more than 10,000 values"):
        rightcall.read(value)
    with pytest.raises(TraceError, match="nested deeper than the limit of 200"):
        rightcall.read(Endless())


def test_an_object_that_cannot_write_itself_is_refused_with_the_cause() -> None:
    """The place, the class and what went wrong; the cause is kept for whoever debugs it."""
    with pytest.raises(
        TraceError, match=r"^messages\[0\]: `Failing` cannot be written as JSON: no connection$"
    ) as raised:
        rightcall.read({"messages": [Failing()]})
    assert isinstance(raised.value.__cause__, RuntimeError)


@pytest.mark.parametrize("made", [ModelCall, StructCall])
def test_an_object_that_a_library_does_not_know_is_refused(made: Any) -> None:
    """The outer object has its place; what is in it, its type."""
    words = (
        rf"^\[0\]: `{made.__name__}` cannot be written as JSON: .*found an object of type `object`; write it as JSON"
    )
    with pytest.raises(TraceError, match=words):
        rightcall.read([made(name="add", arguments={"index": object()})])


SDKS = ["agents", "anthropic", "attrs", "google", "langchain_core", "langgraph", "openai", "opentelemetry", "pydantic"]


def test_reading_imports_no_library_of_anybody() -> None:
    """What a value is, its class tells: neither importing nor reading brings an SDK in."""
    code = f"""
import dataclasses, sys, rightcall

@dataclasses.dataclass
class Call:
    name: str
    arguments: dict

class ReadableSpan:
    attributes = {{}}

rightcall.read([Call("add", {{}})])
rightcall.read([{{"role": "assistant", "tool_calls": [{{"function": {{"name": "add", "arguments": "{{}}"}}}}]}}])
try:
    rightcall.read(ReadableSpan())
except rightcall.errors.TraceError:
    pass
print(sorted(set({[*SDKS, "pydantic_ai", "pydantic_core"]}) & {{name.partition(".")[0] for name in sys.modules}}))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
