"""Agents of real libraries that all do the same: look an order up, then ask for the weather of two cities at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from support.staged.scripts import Call, Script
from support.staged.server import serve

STEPS: Final = (
    (Call(name="lookup_order", text='{"order_id": 7}', id="call_1"),),
    (
        Call(name="get_weather", text='{"city": "Paris"}', id="call_2"),
        Call(name="get_weather", text='{"city": "Oslo"}', id="call_3"),
    ),
)
QUESTION: Final = "Where is order 7, and how is the weather on its way?"


def lookup_order(order_id: int, verbose: bool = False) -> str:
    """Look an order up."""
    return f"order {order_id} was shipped"


def get_weather(city: str) -> str:
    """Tell the weather."""
    return f"18 degrees in {city}"


Tools = dict[str, Callable[..., Any]]

FUNCTIONS: Final[Tools] = {"lookup_order": lookup_order, "get_weather": get_weather}


def openai_loop(tools: Tools) -> None:
    """A loop of one's own around OpenAI's client, which runs parallel calls in a pool of threads."""
    import openai

    with serve(Script(name="watched", turns=(STEPS,))) as model:
        client = openai.OpenAI(base_url=f"{model.url}/v1", api_key="none", max_retries=0)
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        while True:
            answer = client.chat.completions.create(model="gpt-4.1", messages=messages, tools=_offered(tools))
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return
            with ThreadPoolExecutor() as pool:
                for call, result in zip(message.tool_calls, pool.map(_runner(tools), message.tool_calls), strict=True):
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def _runner(tools: Tools) -> Callable[[Any], Any]:
    return lambda call: tools[call.function.name](**json.loads(call.function.arguments))


def _offered(tools: Tools) -> Any:
    schema = {"type": "object", "properties": {}}
    return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in tools]


def openai_streamed(tools: Tools) -> None:
    """The same with streams, asynchronously, with tasks for parallel calls."""
    import openai

    async def main() -> None:
        with serve(Script(name="watched", turns=(STEPS,))) as model:
            client: Any = openai.AsyncOpenAI(base_url=f"{model.url}/v1", api_key="none", max_retries=0)
            messages: list[Any] = [{"role": "user", "content": QUESTION}]
            while True:
                stream = await client.chat.completions.create(
                    model="gpt-4.1", messages=messages, tools=_offered(tools), stream=True
                )
                calls: dict[int, dict[str, Any]] = {}
                async for chunk in stream:
                    for delta in (chunk.choices[0].delta.tool_calls if chunk.choices else None) or ():
                        known = calls.setdefault(delta.index, {"id": delta.id, "name": "", "arguments": ""})
                        known["name"] += delta.function.name or ""
                        known["arguments"] += delta.function.arguments or ""
                if not calls:
                    return
                listed = [
                    {
                        "id": one["id"],
                        "type": "function",
                        "function": {"name": one["name"], "arguments": one["arguments"]},
                    }
                    for one in calls.values()
                ]
                messages.append({"role": "assistant", "tool_calls": listed})
                jobs = [asyncio.to_thread(tools[one["name"]], **json.loads(one["arguments"])) for one in calls.values()]
                for one, result in zip(calls.values(), await asyncio.gather(*jobs), strict=True):
                    messages.append({"role": "tool", "tool_call_id": one["id"], "content": result})

    asyncio.run(main())


def pydantic_ai(tools: Tools) -> None:
    """An agent of Pydantic AI with a scripted model."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    replies = _replies()

    def model(messages: Any, info: Any) -> ModelResponse:
        calls = next(replies)
        if not calls:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(call.name, call.text, tool_call_id=call.id) for call in calls])

    Agent(FunctionModel(model), tools=list(tools.values()), name="support").run_sync(QUESTION)


def _replies() -> Iterator[Any]:
    yield from (*STEPS, ())


def adk(tools: Tools) -> None:
    """An agent of Google ADK with a scripted model."""
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    replies = _replies()

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            calls = next(replies)
            parts = [
                types.Part(function_call=types.FunctionCall(id=call.id, name=call.name, args=json.loads(call.text)))
                for call in calls
            ]
            yield LlmResponse(content=types.Content(role="model", parts=parts or [types.Part(text="done")]))

    async def main() -> None:
        agent = LlmAgent(name="support", model=Scripted(model="scripted"), tools=list(tools.values()))
        await InMemoryRunner(agent).run_debug(QUESTION, quiet=True)

    asyncio.run(main())


def langgraph(tools: Tools) -> None:
    """A graph of LangGraph with a scripted model."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    said = [
        AIMessage(
            "" if calls else "done",
            tool_calls=[{"id": c.id, "name": c.name, "args": json.loads(c.text)} for c in calls],
        )
        for calls in _replies()
    ]
    model = Scripted(messages=iter(said))
    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([tool(function) for function in tools.values()]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    graph.compile().invoke({"messages": [("user", QUESTION)]})


def openai_agents(tools: Tools) -> None:
    """An agent of OpenAI's Agents SDK, over the Responses API."""
    import agents
    import openai

    with serve(Script(name="watched", turns=(STEPS,))) as model:
        agents.set_default_openai_client(
            openai.AsyncOpenAI(base_url=f"{model.url}/v1", api_key="none", max_retries=0), use_for_tracing=False
        )
        agent = agents.Agent(name="support", tools=[agents.function_tool(function) for function in tools.values()])
        agents.Runner.run_sync(agent, QUESTION)


AGENTS: Final[dict[str, Callable[[Tools], None]]] = {
    "openai_loop": openai_loop,
    "openai_streamed": openai_streamed,
    "pydantic_ai": pydantic_ai,
    "adk": adk,
    "langgraph": langgraph,
    "openai_agents": openai_agents,
}
