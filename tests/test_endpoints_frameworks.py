"""Agents of real frameworks, driven as functions of Python: each turn has the calls that its script asked for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import rightcall
from rightcall.agents.exchange import Reply, Turn
from rightcall.agents.python import PythonEndpoint
from support.driven_agents import AGENTS, PLAIN, SAID, TRACED, TURNS
from support.tracing import fresh

pytestmark = [
    pytest.mark.usefixtures(fresh.__name__),
    pytest.mark.filterwarnings("ignore::UserWarning:google.adk", "ignore::DeprecationWarning:google.adk"),
]
SAYS = ("Where is order 42?", "Then I want my money back.")


def talked(agent: Any) -> list[Reply]:
    """The replies of an agent in one conversation of two turns."""

    async def main() -> list[Reply]:
        async with PythonEndpoint(agent).conversation() as conversation:
            return [
                await conversation.send(Turn(input=said, number=number, attempt="one"))
                for number, said in enumerate(SAYS, 1)
            ]

    return asyncio.run(main())


def calls(reply: Reply) -> list[tuple[str, Any]]:
    """Names and arguments of the calls of a turn, of which none may be missing."""
    assert reply.trajectory is not None
    assert (reply.error, reply.trajectory.gaps) == (None, ())
    return [(call.name, call.arguments) for call in reply.trajectory.tool_calls or ()]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_result_of_a_framework_tells_the_calls_of_its_turn(agent: Any) -> None:
    """Also where the result of the second turn tells the first again, with an equal call in both."""
    replies = talked(_made(agent, PLAIN))
    assert [calls(reply) for reply in replies] == [list(turn) for turn in TURNS]
    assert [reply.output for reply in replies] == list(SAID)


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_returned_and_what_is_captured_agree(agent: Any) -> None:
    """Functions that are traced beside results that tell the calls: each call once, and nothing to be said."""
    replies = talked(_made(agent, TRACED))
    assert [calls(reply) for reply in replies] == [list(turn) for turn in TURNS]
    assert [note for reply in replies for note in reply.warnings if "captured" in note] == []


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_returns_text_is_captured_by_its_tools(agent: Any) -> None:
    """What was run is what counts where nothing is returned of calls."""

    class Silent:
        def __init__(self) -> None:
            self._inner = agent(TRACED)

        async def __call__(self, text: str) -> str:
            found = self._inner(text)
            found = await found if hasattr(found, "__await__") else found
            if hasattr(found, "__aiter__"):
                found = [event async for event in found]
            return str(rightcall.read(found).output)

    replies = talked(Silent)
    assert [sorted(calls(reply), key=str) for reply in replies] == [sorted(turn, key=str) for turn in TURNS]


def _made(agent: Any, tools: Any) -> Any:
    """The class of an agent with these tools."""

    class Made(agent):  # type: ignore[misc] # whichever it is
        def __init__(self) -> None:
            super().__init__(tools)

    return Made
