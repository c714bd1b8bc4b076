"""Scripts run by the OpenAI Agents SDK: its own traces, its items and saved states, and spans of instrumentations."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from support.staged.exporting import Telemetry
from support.staged.scripts import BROKEN, Script, Stage, ToolError
from support.staged.server import Files, Model, Run


def runs(watched: str) -> dict[str, Run]:
    """A run with each of the SDK's two model APIs; what is `watched` is `own` or the name of an instrumentation."""
    import agents

    telemetry = Telemetry()
    exporter: Any = _Exporter()
    agents.set_trace_processors([agents.tracing.processors.BatchTraceProcessor(exporter)])
    if watched == "openinference":
        from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

        OpenAIAgentsInstrumentor().instrument(tracer_provider=telemetry.tracer_provider)
    if watched == "traceloop":
        from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor as Traceloop

        Traceloop().instrument(tracer_provider=telemetry.tracer_provider)
    models = {"chat": agents.OpenAIChatCompletionsModel, "responses": agents.OpenAIResponsesModel}
    prefix = "openai-agents" if watched == "own" else f"{watched}-openai-agents"
    return {f"{prefix}-{api}": _run(kind, telemetry, exporter, watched) for api, kind in models.items()}


class _Exporter:
    """Keeps what the SDK's own exporter would send."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []

    def export(self, items: list[Any]) -> None:
        self.items += [item.export() for item in items]

    def taken(self) -> list[dict[str, Any]]:
        items, self.items = self.items, []
        return items


def _run(kind: Any, telemetry: Telemetry, exporter: Any, watched: str) -> Run:
    def run(script: Script, model: Model) -> Files:
        import agents

        result = asyncio.run(_converse(kind, script, model))
        if watched != "own":
            return telemetry.files("spans")
        agents.tracing.get_trace_provider().force_flush()
        items = exporter.taken()
        return {
            "trace.json": json.dumps(items).encode(),
            "trace.jsonl": b"".join(json.dumps(item).encode() + b"\n" for item in items),
            "items.json": json.dumps(result.to_input_list()).encode(),
            "state.json": json.dumps(result.to_state().to_json()).encode(),
        }

    return run


def _told(context: Any, error: Exception) -> str:
    """What the model is told of a failure."""
    return str(error) if isinstance(error, ToolError) else BROKEN


async def _converse(kind: Any, script: Script, model: Model) -> Any:
    import agents
    import openai

    stage = Stage(script)
    client = openai.AsyncOpenAI(base_url=f"{model.url}/v1", api_key="none", max_retries=0)
    speaking = kind(model="gpt-4.1", openai_client=client)
    search = agents.function_tool(stage.search)
    researcher = agents.Agent(name="researcher", model=speaking, tools=[search])
    tools: list[Any] = [
        agents.function_tool(stage.get_weather, failure_error_function=_told),
        agents.function_tool(stage.lookup_order, failure_error_function=_told),
        agents.function_tool(stage.ping),
        agents.function_tool(stage.save, strict_mode=False),
        researcher.as_tool("ask_researcher", "Ask the researcher."),
    ]
    assistant = agents.Agent(name="assistant", model=speaking, tools=tools)
    given: list[Any] = []
    with agents.trace("conversation", group_id=f"group-{script.name}"):
        for number, _ in enumerate(script.turns, 1):
            given.append({"role": "user", "content": f"Question {number}"})
            result = await agents.Runner.run(assistant, given)
            given = result.to_input_list()
    await client.close()
    return result
