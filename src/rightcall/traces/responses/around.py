"""What stands around the calls of a list of items: the tools on offer, the last answer, what repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolSpec
from rightcall.traces import toolspecs
from rightcall.traces.responses.items import ASIDE, MODEL_ROLES, OTHER_ROLES, SILENT, call, is_compaction, kind_of, text


def output(items: list[Any]) -> Any:
    """The text of the last message of the model, if no call and no result follow it."""
    for item in reversed(items):
        if kind_of(item) == "message":
            return text(item.get("content")) or None if str(item.get("role")) in MODEL_ROLES else None
        if kind_of(item) not in SILENT | ASIDE:
            return None
    return None


def key(item: Any) -> Any:
    """What makes two items of a history the same: all but identifiers, status, and what providers add."""
    kind = kind_of(item)
    if kind == "message":
        return kind, item.get("role"), text(item.get("content")) or None
    if kind.endswith("_output"):
        return kind, text(item.get("output"))
    if kind.endswith("_call") or kind == "mcp_approval_request":
        made, _ = call(item, "")
        return kind, made.name, made.arguments if made.arguments_state == "ok" else made.arguments_text
    return kind, item


def is_told(item: Any) -> bool:
    """Whether an item is part of every telling: clients leave out reasoning, references and catalogues."""
    return kind_of(item) not in SILENT | ASIDE


def replaced(items: Iterable[Any], path: str) -> Iterator[str]:
    """The gap of a summary that stands in the place of what the model said, if that is not among the items (G12)."""
    for index, item in enumerate(items):
        if is_compaction(item):
            yield f"{path}[{index}] sums up items that are not recorded"
            return
        if kind_of(item) not in ASIDE and str(isinstance(item, dict) and item.get("role")) not in OTHER_ROLES:
            return


_HOSTED_NAMES: Final[dict[str, str | None]] = {
    "computer_use": "computer",
    "mcp": None,
    "programmatic_tool_calling": None,
}


def offered(definitions: Any, items: Iterable[Any] = ()) -> tuple[ToolSpec, ...]:
    """The tools on offer: those of a body, by the names that calls have, and those that items bring."""
    found: dict[str, ToolSpec] = {}
    for entry in definitions if isinstance(definitions, list) else ():
        for spec in toolspecs.tool(entry):
            if (name := _called(entry, spec.name)) is not None:
                found.setdefault(name, msgspec.structs.replace(spec, name=name))
    for item in items:
        if kind_of(item) in ("mcp_list_tools", "tool_search_output", "additional_tools"):
            for spec in toolspecs.tools(item.get("tools")):
                found.setdefault(spec.name, spec)
    return tuple(found.values())


def _called(entry: Any, name: str) -> str | None:
    """The name under which a tool is called: a hosted tool has a type, perhaps of a preview."""
    if not isinstance(entry, dict) or isinstance(entry.get("name"), str) or "function" in entry:
        return name
    bare = name.partition("_preview")[0]
    return _HOSTED_NAMES.get(bare, bare)
