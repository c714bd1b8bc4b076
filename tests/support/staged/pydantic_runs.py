"""Scripts run by Pydantic AI: its messages, and its spans in each version of their format."""

from __future__ import annotations

import warnings
from typing import Any

from support.staged.exporting import Telemetry
from support.staged.scripts import Script, Stage, ToolError
from support.staged.server import Files, Model, Run


def runs(*versions: str) -> dict[str, Run]:
    """A run of each version of the spans; one without content; `openinference` for its processor of spans."""
    return {f"pydantic-ai-{version}": _run(version) for version in versions}


def _run(version: str) -> Run:
    telemetry = Telemetry()
    if version == "openinference":
        from openinference.instrumentation.pydantic_ai import OpenInferenceSpanProcessor

        telemetry.process(OpenInferenceSpanProcessor())

    def run(script: Script, model: Model) -> Files:
        from pydantic_ai.models.instrumented import InstrumentationSettings

        number: Any = int(version[1:]) if version.startswith("v") else 5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            settings = InstrumentationSettings(
                tracer_provider=telemetry.tracer_provider, version=number, include_content=version != "hidden"
            )
        with telemetry.tracer_provider.get_tracer("application").start_as_current_span("conversation"):
            messages = _converse(script, model, settings)
        return {"messages.json": messages, **telemetry.files("spans")}

    return run


def _converse(script: Script, model: Model, settings: Any) -> bytes:
    from pydantic_ai import Agent, ModelRetry, Tool
    from pydantic_ai.capabilities import Instrumentation
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    stage = Stage(script)
    speaking = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(base_url=f"{model.url}/v1", api_key="none"))
    given: dict[str, Any] = {"retries": 3, "capabilities": [Instrumentation(settings)]}
    researcher = Agent(speaking, name="researcher", tools=[Tool(stage.search)], **given)

    def lookup_order(order_id: int) -> str:
        """What became of an order."""
        try:
            return stage.lookup_order(order_id)
        except ToolError as error:
            raise ModelRetry(str(error)) from error

    async def ask_researcher(input: str) -> str:
        """Ask the researcher."""
        return str((await researcher.run(input)).output)

    functions: list[Any] = [stage.get_weather, lookup_order, stage.ping, stage.save, ask_researcher]
    assistant = Agent(speaking, name="assistant", tools=[Tool(function) for function in functions], **given)
    history: list[Any] = []
    for number, _ in enumerate(script.turns, 1):
        result = assistant.run_sync(f"Question {number}", message_history=history)
        history = result.all_messages()
    return result.all_messages_json()
