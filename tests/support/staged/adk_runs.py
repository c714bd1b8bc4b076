"""Scripts run by Google's Agent Development Kit: events, sessions, its own spans, and those of OpenInference."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any, Final

from support.staged.exporting import Telemetry
from support.staged.scripts import Script, Stage
from support.staged.server import Files, Model, Run

_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_NEWEST: Final = {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental"}
_SETTINGS: Final = {
    "spans": {**_NEWEST, _CONTENT: "SPAN_ONLY"},
    "details": {**_NEWEST, _CONTENT: "EVENT_ONLY"},
    "hidden": {_CONTENT: "false", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "false"},
    "openinference": {},
}


def runs(watched: str) -> dict[str, Run]:
    """One run; what is `watched` is spans or events of its own with content, spans without, or OpenInference."""
    os.environ |= _SETTINGS[watched]
    from opentelemetry import trace
    from opentelemetry._logs import set_logger_provider

    telemetry = Telemetry()
    trace.set_tracer_provider(telemetry.tracer_provider)
    set_logger_provider(telemetry.logger_provider)
    if watched == "openinference":
        from openinference.instrumentation.google_adk import GoogleADKInstrumentor

        GoogleADKInstrumentor().instrument(tracer_provider=telemetry.tracer_provider)

    def run(script: Script, model: Model) -> Files:
        session = asyncio.run(_converse(script, model))
        events = [event.model_dump(mode="json", exclude_none=True) for event in session.events]
        camel = session.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {
            "events.jsonl": b"".join(json.dumps(event).encode() + b"\n" for event in events),
            "session.json": json.dumps(camel).encode(),
            **telemetry.files("spans"),
        }

    return {f"google-adk-{watched}": run}


async def _converse(script: Script, model: Model) -> Any:
    from google.adk.agents import LlmAgent
    from google.adk.models.google_llm import Gemini
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.agent_tool import AgentTool
    from google.genai import types

    os.environ["GOOGLE_API_KEY"] = "none"
    stage = Stage(script)
    speaking = Gemini(model="gemini-2.5-flash", base_url=model.url)

    def lookup_order(order_id: int) -> dict[str, Any]:
        """What became of an order."""
        try:
            return {"result": stage.lookup_order(order_id)}
        except Exception as error:
            return {"error": str(error)}

    researcher = LlmAgent(name="ask_researcher", description="Researches.", model=speaking, tools=[stage.search])
    tools: list[Any] = [stage.get_weather, lookup_order, stage.ping, stage.save, AgentTool(agent=researcher)]
    assistant = LlmAgent(name="assistant", model=speaking, tools=tools)
    runner = InMemoryRunner(agent=assistant, app_name="scripted")
    session = await runner.session_service.create_session(app_name="scripted", user_id="user", session_id=script.name)
    for number, _ in enumerate(script.turns, 1):
        question = types.Content(role="user", parts=[types.Part(text=f"Question {number}")])
        async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=question):
            pass
    return await runner.session_service.get_session(app_name="scripted", user_id="user", session_id=session.id)
