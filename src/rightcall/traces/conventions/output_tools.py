"""Pydantic AI asks for structured output through tools that do nothing; a call to one of them is the answer."""

from __future__ import annotations

from typing import Any

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.traces.conventions.model import Asked
from rightcall.traces.spans import Span, child, decoded


def told(span: Span, made: Asked) -> Asked:
    """The same model span with the kind `output` on calls to output tools."""
    parameters = decoded(child(span.attributes, "model_request_parameters"))
    if isinstance(parameters, dict):
        listed = parameters.get("output_tools")
        names = {tool.get("name") for tool in listed if isinstance(tool, dict)} if isinstance(listed, list) else set()
        return _marked(made, [call.name in names for call in made.calls])
    if span.scope == "pydantic-ai" or "logfire.json_schema" in span.attributes:
        return _marked(made, [_has_its_name(call) for call in made.calls])
    return made


def _has_its_name(call: ToolCall) -> bool:
    return call.name == "final_result" or call.name.startswith("final_result_")


def _marked(made: Asked, marks: list[Any]) -> Asked:
    calls = [
        msgspec.structs.replace(call, kind="output") if mark else call
        for call, mark in zip(made.calls, marks, strict=True)
    ]
    return msgspec.structs.replace(made, calls=tuple(calls))
