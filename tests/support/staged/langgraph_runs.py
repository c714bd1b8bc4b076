"""Scripts run by LangGraph: messages in every dumped form, states, streams, and spans of instrumentations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from support.staged.exporting import Telemetry
from support.staged.scripts import BROKEN, Script, Stage, Step
from support.staged.server import Files, Model, Run


def runs(watched: str) -> dict[str, Run]:
    """One run; what is `watched` is `own` or the name of an instrumentation."""
    telemetry = Telemetry()
    if watched == "openinference":
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument(tracer_provider=telemetry.tracer_provider)
    if watched == "traceloop":
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor as Traceloop

        Traceloop().instrument(tracer_provider=telemetry.tracer_provider)

    def run(script: Script, model: Model) -> Files:
        with telemetry.tracer_provider.get_tracer("application").start_as_current_span("conversation"):
            kept = _converse(script)
        return _dumped(*kept) if watched == "own" else telemetry.files("spans")

    return {"langgraph" if watched == "own" else f"{watched}-langgraph": run}


def _converse(script: Script) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """The messages of the last state; every state, every update and every chunk that was streamed."""
    from langchain_core.messages import HumanMessage

    graph = _graph(Stage(script), iter(script.replies))
    values: list[Any] = []
    updates: list[Any] = []
    chunks: list[Any] = []
    messages: list[Any] = []
    for number, _ in enumerate(script.turns, 1):
        question = HumanMessage(f"Question {number}", id=f"question-{number}")
        updates.append({"user": {"messages": [question]}})
        chunks.append((question, {}))
        modes: Any = ["values", "updates", "messages"]
        for mode, item in graph.stream({"messages": [*messages, question]}, stream_mode=modes):
            {"values": values, "updates": updates, "messages": chunks}[mode].append(item)
        messages = values[-1]["messages"]
    return messages, values, updates, chunks


def _graph(stage: Stage, replies: Iterator[Step]) -> Any:
    from langchain_core.tools import StructuredTool
    from langgraph.graph import MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    def ask_researcher(input: str) -> str:
        """Ask the researcher."""
        answer = researcher.invoke({"messages": [("user", input)]})
        return str(answer["messages"][-1].content)

    def built(name: str, functions: list[Any]) -> Any:
        tools = [StructuredTool.from_function(function) for function in functions]
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [_speak(model, state["messages"])]})
        graph.add_node("tools", ToolNode(tools, handle_tool_errors=str))
        graph.add_node("refuse", _refused)
        graph.add_edge("__start__", "model")
        graph.add_conditional_edges("model", _next)
        graph.add_edge("tools", "model")
        graph.add_edge("refuse", "model")
        return graph.compile(name=name)

    model = _scripted(replies)
    researcher = built("researcher", [stage.search])
    return built("assistant", [stage.get_weather, stage.lookup_order, stage.ping, stage.save, ask_researcher])


def _next(state: Any) -> str:
    """Tools run what can be read; what cannot is refused."""
    last = state["messages"][-1]
    return "tools" if last.tool_calls else "refuse" if last.invalid_tool_calls else "__end__"


def _refused(state: Any) -> Any:
    from langchain_core.messages import ToolMessage

    calls = state["messages"][-1].invalid_tool_calls
    answers = [ToolMessage(BROKEN, tool_call_id=call["id"], name=call["name"], status="error") for call in calls]
    return {"messages": answers}


def _speak(model: Any, messages: list[Any]) -> Any:
    return model.invoke(messages)


def _scripted(replies: Iterator[Step]) -> Any:
    """A chat model of LangChain that answers with the next reply."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any) -> Any:
            step = next(replies)
            raw = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.text}}
                for call in step
            ]
            valid: list[Any] = []
            invalid: list[Any] = []
            for one in raw:
                try:
                    valid.append(parse_tool_call(one, return_id=True))
                except Exception as error:
                    invalid.append(make_invalid_tool_call(one, str(error)))
            message = AIMessage(
                "" if step else "Done.",
                tool_calls=valid,
                invalid_tool_calls=invalid,
                additional_kwargs={"tool_calls": raw} if raw else {},
                response_metadata={"finish_reason": "tool_calls" if step else "stop"},
            )
            return ChatResult(generations=[ChatGeneration(message=message)])

    return Scripted()


def _dumped(messages: list[Any], values: list[Any], updates: list[Any], chunks: list[Any]) -> Files:
    from langchain_core.load import dumpd
    from langchain_core.messages import messages_to_dict

    def plain(item: Any) -> Any:
        return json.loads(json.dumps(item, default=lambda value: value.model_dump(mode="json")))

    def lines(items: list[Any]) -> bytes:
        return b"".join(json.dumps(plain(item)).encode() + b"\n" for item in items)

    return {
        "messages-to-dict.json": json.dumps(messages_to_dict(messages)).encode(),
        "dumpd.json": json.dumps(dumpd(messages)).encode(),
        "model-dump.json": json.dumps([message.model_dump(mode="json") for message in messages]).encode(),
        "state.json": json.dumps(plain(values[-1])).encode(),
        "states.jsonl": lines(values),
        "updates.jsonl": lines(updates),
        "chunks.jsonl": lines([[chunk.model_dump(mode="json"), {}] for chunk, _ in chunks]),
    }
