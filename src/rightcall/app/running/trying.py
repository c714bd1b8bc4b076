"""One exchange with an agent: what was sent, what came, what was made of it, and what mapping to try."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.agents import endpoints
from rightcall.agents.configuring import EndpointConfig
from rightcall.agents.events import Events
from rightcall.agents.exchange import Reply, Turn
from rightcall.agents.proposing import Proposal, proposal
from rightcall.app import loading
from rightcall.app.running import reaching
from rightcall.core import jsontext
from rightcall.errors import EndpointError, UsageError
from rightcall.testsets import TestSet

HELLO: Final = "Hello"
"""What is said where neither the command nor the test set says anything."""

_BODIES: Final = frozenset({"body", "stdout", "result", "returned", "messages"})


class TryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The agent to try, of a test set or as the command line says, and what to say to it."""

    file: str | None = None
    endpoint: str | None = None
    said: str | None = None
    dialect: str | None = None


class Part(msgspec.Struct, frozen=True):
    """A part of what went over or came back: its name, and what it was."""

    name: str
    value: Any


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What an exchange came to: a reply, or trouble. `proposal` is there where no mapping reads the calls."""

    sent: tuple[Part, ...] = ()
    came: tuple[Part, ...] = ()
    reply: Reply | None = None
    trouble: EndpointError | None = None
    proposal: Proposal | None = None

    @property
    def exit_code(self) -> int:
        """Return 0 for a reply, 1 for an agent that failed, 3 for trouble on the way."""
        if self.reply is None:
            return 3
        return 0 if self.reply.error is None else 1


class _Notes:
    """Keeps what an endpoint shows."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Part]] = {"sent": [], "came": []}

    def sent(self, what: str, value: Any) -> None:
        self.parts["sent"].append(Part(what, value))

    def came(self, what: str, value: Any) -> None:
        self.parts["came"].append(Part(what, value))


def attempt(request: TryRequest, environment: Mapping[str, str]) -> Tried:
    """Say one thing to an agent. `UsageError` and `TestSetError` for what cannot be tried at all."""
    test_set = None if request.file is None else loading.read_tests(request.file, request.dialect)
    config, directory = _agent(request, test_set)
    turn = _turn(request.said, test_set)
    notes = _Notes()
    try:
        reply = asyncio.run(_asked(config, environment, directory, turn, notes))
        trouble = None
    except EndpointError as error:
        reply, trouble = None, error
    is_known = reply is not None and (reply.calls is not None or reply.tool_calls is None)
    messages = [] if is_known else _messages(notes.parts["came"])
    return Tried(
        sent=tuple(notes.parts["sent"]),
        came=tuple(notes.parts["came"]),
        reply=reply,
        trouble=trouble,
        proposal=proposal(messages) if messages else None,
    )


def _agent(request: TryRequest, test_set: TestSet | None) -> tuple[EndpointConfig, str]:
    """The agent, and the folder that its paths are relative to."""
    if request.endpoint is not None:
        return endpoints.read(request.endpoint), ""
    if test_set is None or request.file is None:
        raise UsageError("name a test set with an `endpoint`, or say how the agent is reached: --url or --endpoint")
    return reaching.of_test_set(test_set, request.file)


def _turn(said: str | None, test_set: TestSet | None) -> Turn:
    """What is said: by the command, by the first test, or a greeting."""
    test = next((test for test in (test_set.tests if test_set else ()) if test.prompt is not None or test.turns), None)
    if test is None:
        return Turn(input=HELLO if said is None else said, attempt="try")
    prompt = test.turns[0] if test.prompt is None else test.prompt
    return Turn(input=prompt if said is None else said, attempt="try", test=test.id, metadata=test.metadata)


async def _asked(
    config: EndpointConfig, environment: Mapping[str, str], directory: str, turn: Turn, notes: _Notes
) -> Reply:
    endpoint = endpoints.open(config, environment, directory, notes)
    try:
        async with endpoint.conversation() as conversation:
            return await conversation.send(turn)
    finally:
        await endpoint.close()


def _messages(came: list[Part]) -> list[Any]:
    """What came as JSON: one value, or several that were streamed; nothing where it is none."""
    return [value for part in came if part.name in _BODIES for text in _texts(part.value) for value in _decoded(text)]


def _texts(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if not isinstance(value, str):
        return [value]
    if value.lstrip()[:1] in ("{", "["):
        return [value] if _decoded(value) else value.splitlines()
    events = Events()
    return [event.data for event in (*events.feed(value.encode("utf-8", "surrogatepass")), *events.end())]


def _decoded(value: Any) -> list[Any]:
    if not isinstance(value, str):
        return [value] if isinstance(value, dict) else []
    try:
        return [jsontext.decode(value)]
    except jsontext.JSONError:
        return []


def calls_of(reply: Reply) -> tuple[str, list[tuple[str, Any]]]:
    """What a reply says of calls: in words, and each by name and arguments."""
    made = reply.calls
    if made is None:
        is_silent = reply.trajectory is None and reply.tool_calls is UNSET
        return "nothing is said of calls" if is_silent else "no calls were recorded", []
    return f"{len(made)}" if made else "none was made", [(call.name, call.arguments) for call in made]
