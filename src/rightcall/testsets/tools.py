"""The tools that a test set says there are, and whether its expectations name them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from rightcall.core.constraints import TEMPLATES
from rightcall.core.operators import Operator
from rightcall.core.operators.provenance import From
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.errors import did_you_mean
from rightcall.testsets.arguments import MisplacedError
from rightcall.testsets.explain import found, shorten
from rightcall.testsets.marks import child

NAMES = ("tool", "tools", "expected_tools", "max_calls_per_tool", *TEMPLATES)
"""Fields of assertions that hold tool names."""


def schemas(tools: Any, path: str) -> dict[str, Any]:
    """`tool_schemas` as a mapping of names to JSON Schemas.

    A list holds tool definitions as OpenAI (nested or flat) or Anthropic have them.
    """
    if isinstance(tools, Mapping):
        return dict(tools)
    named: dict[str, Any] = {}
    for index, tool in enumerate(tools):
        name, schema = _definition(tool, child(path, index))
        if name in named:
            raise MisplacedError(child(path, index), f"the tool `{shorten(name)}` is defined twice")
        named[name] = schema
    return named


def schema_paths(tools: Any, path: str) -> dict[str, str]:
    """Where the JSON Schema of each tool stands in `tool_schemas`, which `schemas` has taken."""
    if isinstance(tools, Mapping):
        return {name: child(path, name) for name in tools}
    return dict(_definition_path(tool, child(path, index)) for index, tool in enumerate(tools))


def _definition_path(tool: dict[str, Any], path: str) -> tuple[str, str]:
    is_nested = isinstance(tool.get("function"), dict)
    holder, at = (tool["function"], child(path, "function")) if is_nested else (tool, path)
    return holder["name"], child(at, "parameters" if "parameters" in holder else "input_schema")


def _definition(tool: dict[str, Any], path: str) -> tuple[str, Any]:
    inner = tool.get("function")
    holder = inner if isinstance(inner, dict) else tool
    name = holder.get("name")
    if not isinstance(name, str) or not name:
        message = "expected a tool definition with a `name`, as OpenAI or Anthropic write it"
        raise MisplacedError(path, message)
    schema = holder.get("parameters", holder.get("input_schema", {}))
    if not isinstance(schema, dict | bool):
        raise MisplacedError(path, f"expected the JSON Schema of `{shorten(name)}` as a mapping, found {found(schema)}")
    return name, schema


def named_tools(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All tool names in an assertion, each with its path inside it."""
    if isinstance(value, ExpectedCall):
        yield child(path, "name"), value.name
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from named_tools(item, child(path, index))
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            at, inner = child(path, field), getattr(value, field)
            if field in NAMES:
                yield from _names(inner, at)
            elif isinstance(inner, tuple | msgspec.Struct) and not isinstance(inner, Match):
                yield from named_tools(inner, at)


def source_tools(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The tools whose results an assertion asks for, each with the path of the argument that does."""
    if isinstance(value, From):
        yield child(path, From.name), value.tool
    elif isinstance(value, Operator):
        yield from ((path, tool) for field in value.holds for _, tool in source_tools(getattr(value, field), path))
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from source_tools(getattr(value, field), child(path, field))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from source_tools(item, child(path, str(key)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from source_tools(item, child(path, index))


def _names(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        yield from ((child(path, name), name) for name in value)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _names(item, child(path, index))
    elif isinstance(value, msgspec.Struct):
        yield from named_tools(value, path)


def known_names(tool_schemas: Mapping[str, Any], tool_aliases: Mapping[str, str]) -> frozenset[str]:
    """The names that expectations may use: those of the tools and those that aliases lead to."""
    return frozenset(tool_schemas) | frozenset(
        alias for recorded, alias in tool_aliases.items() if recorded in tool_schemas
    )


def unknown_tool(name: str, known: Collection[str]) -> str:
    """What to say of a name that is none of the tools."""
    return f"`{shorten(name)}` is none of the tools in `tool_schemas`{did_you_mean(name, sorted(known))}"
