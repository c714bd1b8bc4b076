"""Runs agents under instrumentations and captures them: `python -m support.watched WORD…`.

Each word is done in turn: the name of an instrumentation switches it on, `tool` decorates the functions from there on
and `bare` does not, and the name of an agent runs it in a block and prints what was captured, as a line of JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from typing import Any, Final

import rightcall
from support.watched.agents import AGENTS, FUNCTIONS, Tools


def _instrumentor(module: str, name: str) -> Callable[[], None]:
    def instrument() -> None:
        getattr(importlib.import_module(module), name)().instrument()

    return instrument


def _agents(module: str) -> Callable[[], None]:
    def instrument() -> None:
        import agents

        agents.set_trace_processors([])  # the one that is there sends what it hears to OpenAI
        _instrumentor(module, "OpenAIAgentsInstrumentor")()

    return instrument


def _pydantic_ai() -> None:
    from pydantic_ai import Agent

    Agent.instrument_all()


def _openai_v2() -> None:
    # It names the arguments of this function as they were called until wrapt 2.
    module: Any = importlib.import_module("opentelemetry.instrumentation.openai_v2")
    wrap = module.wrap_function_wrapper
    module.wrap_function_wrapper = lambda module, name, wrapper: wrap(module, name, wrapper)
    module.OpenAIInstrumentor().instrument()


INSTRUMENTATIONS: Final[dict[str, Callable[[], None]]] = {
    "openinference": _instrumentor("openinference.instrumentation.openai", "OpenAIInstrumentor"),
    "traceloop": _instrumentor("opentelemetry.instrumentation.openai", "OpenAIInstrumentor"),
    "openai_v2": _openai_v2,
    "genai_openai": _instrumentor("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor"),
    "pydantic_ai_native": _pydantic_ai,
    "openinference_langchain": _instrumentor("openinference.instrumentation.langchain", "LangChainInstrumentor"),
    "traceloop_langchain": _instrumentor("opentelemetry.instrumentation.langchain", "LangchainInstrumentor"),
    "openinference_adk": _instrumentor("openinference.instrumentation.google_adk", "GoogleADKInstrumentor"),
    "openinference_agents": _agents("openinference.instrumentation.openai_agents"),
    "traceloop_agents": _agents("opentelemetry.instrumentation.openai_agents"),
}


def main(words: list[str]) -> None:
    """Do each word in turn."""
    tools: Tools = FUNCTIONS
    for word in words:
        if word in AGENTS:
            sys.stdout.write(json.dumps(_captured(AGENTS[word], tools)) + "\n")
        elif word in ("tool", "bare"):
            decorated = {name: rightcall.tool(function) for name, function in FUNCTIONS.items()}
            tools = decorated if word == "tool" else FUNCTIONS
        else:
            INSTRUMENTATIONS[word]()


def _captured(agent: Callable[[Tools], None], tools: Tools) -> dict[str, Any]:
    with rightcall.capture() as captured:
        agent(tools)
    calls = captured.tool_calls
    told = None if calls is None else [(call.name, call.arguments_state, call.arguments, call.status) for call in calls]
    return {"calls": told, "gaps": captured.gaps, "warnings": captured.warnings}


if __name__ == "__main__":
    main(sys.argv[1:])
