"""The span of the page about tool selection, and others like it."""

from __future__ import annotations

import json
from typing import Any

SPAN: dict[str, Any] = {
    "attributes": {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "You are a weather expert.",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": (
            "What's the weather in Paris right now? Then email the forecast to my manager."
        ),
        "llm.tools.0.tool.json_schema": json.dumps(
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "Get the current weather in a city.",
                    "parameters": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                    },
                },
            }
        ),
        "llm.tools.1.tool.json_schema": json.dumps(
            {
                "type": "function",
                "function": {
                    "name": "send_email",
                    "description": "Send an email.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "to": {"type": "string"},
                            "body": {"type": "string"},
                        },
                    },
                },
            }
        ),
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": ("get_weather"),
        "llm.output_messages.0.message.tool_calls.1.tool_call.function.name": ("send_email"),
    }
}
EXPECTED = ["get_weather", "send_email"]


def calling(names: list[str]) -> dict[str, Any]:
    """The span of the page with other calls in its output."""
    kept = {key: value for key, value in SPAN["attributes"].items() if not key.startswith("llm.output_messages")}
    prefix = "llm.output_messages.0.message"
    calls = {f"{prefix}.tool_calls.{index}.tool_call.function.name": name for index, name in enumerate(names)}
    return {"attributes": {**kept, f"{prefix}.role": "assistant", **calls}}
