"""Tool definitions in the shapes of the providers: OpenAI nested and flat, Anthropic, Gemini, Bedrock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.core.calls import ToolSpec

_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_LISTS: Final = ("function_declarations", "functionDeclarations")


def tools(entries: Any) -> tuple[ToolSpec, ...]:
    """The tools that a list of definitions offers, each name once; what is no definition is passed over."""
    found: dict[str, ToolSpec] = {}
    for entry in entries if isinstance(entries, list | tuple) else ():
        for spec in tool(entry):
            found.setdefault(spec.name, spec)
    return tuple(found.values())


def tool(entry: Any) -> tuple[ToolSpec, ...]:
    """The tools that one definition offers: none, one, or several for Gemini's lists of declarations."""
    if isinstance(entry, str):
        entry = _decoded(entry)
    if not isinstance(entry, dict):
        return ()
    for key in _LISTS:
        if isinstance(entry.get(key), list):
            return tuple(spec for item in entry[key] for spec in _one(item))
    return tuple(_one(entry))


def _decoded(text: str) -> Any:
    try:
        return jsontext.decode(text)
    except jsontext.JSONError:
        return None


def _one(entry: Any) -> Iterable[ToolSpec]:
    if not isinstance(entry, dict):
        return
    inner = next((entry[key] for key in ("function", "toolSpec", "custom") if isinstance(entry.get(key), dict)), entry)
    name = inner.get("name") or _hosted(inner)
    if isinstance(name, str):
        about = inner.get("description")
        yield ToolSpec(name=name, description=about if isinstance(about, str) else None, parameters=_schema(inner))


def _hosted(inner: dict[str, Any]) -> Any:
    """The name of a tool that the provider runs, which has only a type: `{"type": "web_search"}`."""
    kind = inner.get("type")
    return kind if kind not in ("function", "custom", "object") else None


def _schema(inner: dict[str, Any]) -> Any:
    schema = next((inner[key] for key in _SCHEMAS if inner.get(key) is not None), None)
    if isinstance(schema, dict) and set(schema) == {"json"}:
        return schema["json"]
    return schema
