"""The bare SDKs, watched by an instrumentation. The application puts a span around each conversation."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from typing import Any, Final

from support.staged.catalogue import WATCHED
from support.staged.exporting import Telemetry
from support.staged.plain import CONVERSATIONS
from support.staged.scripts import Script
from support.staged.server import Files, Model, Run


def openinference(telemetry: Telemetry) -> None:
    """OpenInference for OpenAI and Anthropic."""
    from openinference.instrumentation.anthropic import AnthropicInstrumentor
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=telemetry.tracer_provider)
    AnthropicInstrumentor().instrument(tracer_provider=telemetry.tracer_provider)


def traceloop(telemetry: Telemetry) -> None:
    """OpenLLMetry for OpenAI and Anthropic."""
    from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=telemetry.tracer_provider)
    AnthropicInstrumentor().instrument(tracer_provider=telemetry.tracer_provider)


def _genai_events(content: str) -> Callable[[Telemetry], None]:
    def instrument(telemetry: Telemetry) -> None:
        openai_v2: Any = importlib.import_module("opentelemetry.instrumentation.openai_v2")
        # It names the arguments of this function as they were called until wrapt 2.
        wrap = openai_v2.wrap_function_wrapper
        openai_v2.wrap_function_wrapper = lambda module, name, wrapper: wrap(module, name, wrapper)
        os.environ[_CONTENT] = content
        openai_v2.OpenAIInstrumentor().instrument(
            tracer_provider=telemetry.tracer_provider, logger_provider=telemetry.logger_provider
        )

    return instrument


def _genai(content: str) -> Callable[[Telemetry], None]:
    def instrument(telemetry: Telemetry) -> None:
        from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

        os.environ[_CONTENT] = content
        OpenAIInstrumentor().instrument(
            tracer_provider=telemetry.tracer_provider, logger_provider=telemetry.logger_provider
        )

    return instrument


_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

INSTRUMENTATIONS: Final[dict[str, Callable[[Telemetry], None]]] = {
    "openinference": openinference,
    "traceloop": traceloop,
    "genai-events": _genai_events("true"),
    "genai-events-hidden": _genai_events("false"),
    "genai-spans": _genai("span_only"),
    "genai-details": _genai("event_only"),
    "genai-hidden": _genai("no_content"),
}
"""How each is switched on. `genai-events` are the older conventions of OpenTelemetry, with log records."""


def runs(instrumentation: str) -> dict[str, Run]:
    """The conversations that an instrumentation watches, as `instrumentation-conversation`."""
    telemetry = Telemetry()
    INSTRUMENTATIONS[instrumentation](telemetry)
    names = WATCHED[instrumentation]
    return {f"{instrumentation}-{name}": _run(telemetry, CONVERSATIONS[name]) for name in names}


def _run(telemetry: Telemetry, converse: Callable[[Script, Model], Iterable[Any]]) -> Run:
    def run(script: Script, model: Model) -> Files:
        with telemetry.tracer_provider.get_tracer("application").start_as_current_span("conversation"):
            converse(script, model)
        return telemetry.files("spans")

    return run
