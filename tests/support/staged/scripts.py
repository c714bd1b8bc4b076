"""The conversations that every recording tells: what the model asks for, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call. `text` is the arguments as the model writes them; `inside` is what an agent that it runs says."""

    name: str
    text: str = "{}"
    id: str
    result: str = ""
    fails: bool = False
    inside: tuple[Step, ...] = ()

    @property
    def is_malformed(self) -> bool:
        """Whether the arguments are not JSON."""
        try:
            json.loads(self.text)
        except ValueError:
            return True
        return False


Step = tuple[Call, ...]
"""The calls of one message of a model: they are parallel."""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation: in each turn the user asks, the model calls in some messages, and closes with a text."""

    name: str
    turns: tuple[tuple[Step, ...], ...]

    @property
    def replies(self) -> list[Step]:
        """Every message of a model in the order in which it is asked for; the empty ones are closing texts."""
        return [reply for steps in self.turns for reply in _spoken(steps)]

    @property
    def calls(self) -> list[Call]:
        """Every call in order, those inside another one after it."""
        return list(_flat(step for steps in self.turns for step in steps))

    @property
    def is_nested(self) -> bool:
        """Whether an agent calls tools inside a call."""
        return any(call.inside for call in self.calls)

    @property
    def is_malformed(self) -> bool:
        """Whether the arguments of a call are not JSON."""
        return any(call.is_malformed for call in self.calls)


def _spoken(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        for call in step:
            if call.inside:
                yield from _spoken(call.inside)
    yield ()


def _flat(steps: Iterator[Step]) -> Iterator[Call]:
    for step in steps:
        for call in step:
            yield call
            yield from _flat(iter(call.inside))


def _call(id: str, name: str, result: str, **arguments: Any) -> Call:
    return Call(name=name, text=json.dumps(arguments), id=id, result=result)


RECORD: Final = {
    "título": "Crème brûlée – 東京 🗼",
    "quote": 'a "b" \\ c\nd',
    "dotted.key": {"deep": [{"deeper": [1, [2, []]]}, {}]},
    "big": 2**53 + 1,
    "negative": -42,
    "small": 1.5e-7,
    "price": 19.99,
    "nothing": None,
    "empty": "",
    "yes": True,
    "zero": 0,
    "digits": "007",
    "json": '{"a": 1}',
}
"""Arguments of every kind that JSON has, and some that careless readers change."""

BROKEN: Final = "the arguments are not JSON"
"""What a tool answers to arguments that cannot be read, where a script has to answer itself."""

_PARIS: Final = _call("call_a1", "get_weather", "18 degrees", city="Paris")
_OSLO: Final = _call("call_a2", "get_weather", "3 degrees", city="Oslo")
_ORDER: Final = _call("call_b2", "lookup_order", "Order 7 was shipped", order_id=7)

TURNS: Final = Script(name="turns", turns=(((_PARIS,),), ((_OSLO,),)))
RETRY: Final = Script(
    name="retry",
    turns=(
        (
            (_PARIS, _OSLO),
            (msgspec.structs.replace(_ORDER, id="call_b1", result="the backend is unreachable", fails=True),),
            (_ORDER,),
        ),
    ),
)
TWINS: Final = Script(name="twins", turns=(((_PARIS, msgspec.structs.replace(_PARIS, id="call_a2")),),))
VALUES: Final = Script(
    name="values",
    turns=(((_call("call_c1", "ping", "pong"),), (_call("call_c2", "save", "saved", record=RECORD),)),),
)
MALFORMED: Final = Script(
    name="malformed",
    turns=(
        ((msgspec.structs.replace(_PARIS, id="call_d1", text='{"city": "Par', result=BROKEN, fails=True),), (_PARIS,)),
    ),
)
HUGE: Final = Script(
    name="huge",
    turns=(((_call("call_f1", "lookup_order", "unknown", order_id=123456789012345678901234567890),),),),
)
NESTED: Final = Script(
    name="nested",
    turns=(
        (
            (
                Call(
                    name="ask_researcher",
                    text='{"input": "Where is it warm?"}',
                    id="call_e1",
                    result="Done.",
                    inside=(
                        (_call("call_e2", "search", "Lisbon", query="warm cities"),),
                        (_call("call_e3", "search", "21 degrees", query="Lisbon today"),),
                    ),
                ),
            ),
            (_PARIS,),
        ),
    ),
)
SILENT: Final = Script(name="silent", turns=((),))
REUSED: Final = Script(
    name="reused",
    turns=tuple(
        tuple((msgspec.structs.replace(call, id="call_0"),) for call in calls)
        for calls in ((_PARIS, _ORDER), (_OSLO, _PARIS))
    ),
)

SCRIPTS: Final = {
    script.name: script for script in (TURNS, RETRY, TWINS, VALUES, HUGE, MALFORMED, NESTED, SILENT, REUSED)
}
CLOSING: Final = "Done."
"""What the model says when it calls nothing."""


class ToolError(Exception):
    """A tool of a script that fails."""


class Stage:
    """The tools of one run of a script: each call gets the result that the script gives it."""

    def __init__(self, script: Script) -> None:
        self._waiting = [call for call in script.calls if not call.is_malformed]

    def play(self, name: str, **arguments: Any) -> str:
        """What the next call of that tool with those arguments returns; `ToolError` if it fails."""
        call = next(one for one in self._waiting if one.name == name and json.loads(one.text) == arguments)
        self._waiting.remove(call)
        if call.fails:
            raise ToolError(call.result)
        return call.result

    def get_weather(self, city: str) -> str:
        """The weather in a city."""
        return self.play("get_weather", city=city)

    def lookup_order(self, order_id: int) -> str:
        """What became of an order."""
        return self.play("lookup_order", order_id=order_id)

    def ping(self) -> str:
        """Whether anybody is there."""
        return self.play("ping")

    def save(self, record: dict[str, Any]) -> str:
        """Save a record."""
        return self.play("save", record=record)

    def search(self, query: str) -> str:
        """Search the web."""
        return self.play("search", query=query)
