"""Agents of real frameworks with scripted models, as functions that are driven: one object for a conversation.

Each is asked twice. First it looks an order up; then it looks it up again and pays the money back, both at once. Each
returns what its framework gives, and goes on in the second turn from what it was told in the first.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

import agents
from agents import ModelResponse, Runner, Usage, function_tool
from agents.models.interface import Model
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import messages as parts
from pydantic_ai.models.function import FunctionModel

import rightcall

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the package says of its own dependencies
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

agents.set_tracing_disabled(True)

Call = tuple[str, dict[str, Any]]
TURNS: Final[tuple[tuple[Call, ...], ...]] = (
    (("lookup_order", {"order_id": 42}),),
    (("lookup_order", {"order_id": 42}), ("issue_refund", {"order_id": 42, "amount": 19})),
)
"""What is called in each turn."""

SAID: Final = ("It is late.", "Done.")


def lookup_order(order_id: int) -> str:
    """Look an order up."""
    return f"order {order_id} is late"


def issue_refund(order_id: int, amount: int) -> str:
    """Pay money back."""
    return f"{amount} for order {order_id}"


PLAIN: Final = (lookup_order, issue_refund)
TRACED: Final = tuple(rightcall.tool(function) for function in PLAIN)


def script() -> Iterator[tuple[str, Sequence[tuple[str, str, dict[str, Any]]]]]:
    """Each answer of the model: text, and calls with ids of their own."""
    for turn, (calls, said) in enumerate(zip(TURNS, SAID, strict=True)):
        yield "", [(f"c{turn}{at}", name, arguments) for at, (name, arguments) in enumerate(calls)]
        yield said, []


class OpenAIAgents:
    """OpenAI's Agents SDK: the input of the second turn is all that went before."""

    def __init__(self, tools: Sequence[Any] = PLAIN) -> None:
        answers = script()

        class Scripted(Model):
            async def get_response(self, *given: Any, **settings: Any) -> ModelResponse:
                text, calls = next(answers)
                made: list[Any] = [
                    ResponseFunctionToolCall(type="function_call", call_id=id_, name=name, arguments=json.dumps(values))
                    for id_, name, values in calls
                ]
                part = ResponseOutputText(type="output_text", text=text, annotations=[])
                message = ResponseOutputMessage(
                    id="m", type="message", role="assistant", status="completed", content=[part]
                )
                return ModelResponse(output=made or [message], usage=Usage(), response_id=None)

            def stream_response(self, *given: Any, **settings: Any) -> AsyncIterator[Any]:
                raise NotImplementedError

        self._agent = agents.Agent(name="support", model=Scripted(), tools=[function_tool(one) for one in tools])
        self._before: list[Any] = []

    async def __call__(self, text: str) -> Any:
        result = await Runner.run(self._agent, [*self._before, {"role": "user", "content": text}])
        self._before = result.to_input_list()
        return result


class LangGraph:
    """LangGraph: the state of a thread holds the whole conversation."""

    def __init__(self, tools: Sequence[Any] = PLAIN) -> None:
        answers = script()

        def model(state: MessagesState) -> dict[str, Any]:
            text, calls = next(answers)
            made: list[Any] = [{"id": id_, "name": name, "args": values} for id_, name, values in calls]
            return {"messages": [AIMessage(text, tool_calls=made)]}

        graph: Any = StateGraph(MessagesState)
        graph.add_node("model", model)
        graph.add_node("tools", ToolNode([langchain_tool(one) for one in tools]))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        self._graph = graph.compile(checkpointer=InMemorySaver())

    def __call__(self, text: str) -> Any:
        given = {"messages": [HumanMessage(text)]}
        return self._graph.invoke(given, {"configurable": {"thread_id": "one"}})


class PydanticAI:
    """Pydantic AI: the history of the second turn is all messages of the first."""

    def __init__(self, tools: Sequence[Any] = PLAIN) -> None:
        answers = script()

        def model(messages: Any, info: Any) -> parts.ModelResponse:
            text, calls = next(answers)
            made: list[Any] = [parts.ToolCallPart(name, values, id_) for id_, name, values in calls]
            return parts.ModelResponse(parts=made or [parts.TextPart(text)])

        self._agent = PydanticAgent(FunctionModel(model), tools=list(tools))
        self._before: list[Any] = []

    async def __call__(self, text: str) -> Any:
        result = await self._agent.run(text, message_history=self._before)
        self._before = result.all_messages()
        return result


class GoogleADK:
    """Google ADK: the events of the turn, out of a session that goes on."""

    def __init__(self, tools: Sequence[Any] = PLAIN) -> None:
        answers = script()

        class Scripted(BaseLlm):
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                text, calls = next(answers)
                made = [
                    types.Part(function_call=types.FunctionCall(id=id_, name=name, args=values))
                    for id_, name, values in calls
                ]
                yield LlmResponse(content=types.Content(role="model", parts=made or [types.Part(text=text)]))

        agent = LlmAgent(name="support", model=Scripted(model="scripted"), tools=list(tools))
        self._runner = InMemoryRunner(agent, app_name="support")
        self._is_begun = False

    async def __call__(self, text: str) -> AsyncIterator[Any]:
        if not self._is_begun:
            await self._runner.session_service.create_session(app_name="support", user_id="u", session_id="s")
            self._is_begun = True
        given = types.Content(role="user", parts=[types.Part(text=text)])
        return self._runner.run_async(user_id="u", session_id="s", new_message=given)


AGENTS: Final[tuple[type[Any], ...]] = (OpenAIAgents, LangGraph, PydanticAI, GoogleADK)
