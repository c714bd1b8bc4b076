"""One item of the Responses API: what it is, the call that it writes, or the result that it gives."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallKind, CallStatus, ToolCall
from rightcall.traces import shapes
from rightcall.traces.conversation import Answered, structured

MODEL_ROLES: Final = frozenset({"assistant"})
OTHER_ROLES: Final = frozenset({"user", "system", "developer", "critic", "discriminator", "tool"})

SILENT: Final = frozenset({"reasoning", "program"})
"""Items of the model that are no calls."""

ASIDE: Final = frozenset(
    {
        "mcp_list_tools",
        "item_reference",
        "compaction",
        "compaction_trigger",
        "context_compaction",
        "ghost_snapshot",
        "program_output",
        "tool_search_output",
        "additional_tools",
    }
)
"""Items that are neither calls nor results of calls that the model asked for by name."""

_CLIENT_ARGUMENTS: Final = {
    "computer_call": ("action", "actions"),
    "local_shell_call": ("action",),
    "shell_call": ("action",),
    "apply_patch_call": ("operation",),
    "tool_search_call": ("arguments",),
}
"""Tools that the client runs, and where their arguments stand whole."""

_SERVER_ARGUMENTS: Final = {
    "web_search_call": ("action",),
    "file_search_call": ("queries",),
    "code_interpreter_call": ("code",),
    "image_generation_call": ("revised_prompt",),
}
"""Tools that the provider runs, and where their arguments stand."""

_RESULTS: Final = ("results", "outputs", "result", "output")
_DONE: Final[dict[str, CallStatus]] = {"completed": "ok", "failed": "error"}


def kind_of(item: Any) -> str:
    """The type of an item; a message may have no type. The empty string if it is no item."""
    if not isinstance(item, dict):
        return ""
    if isinstance(item.get("type"), str):
        return str(item["type"])
    return "message" if isinstance(item.get("role"), str) else ""


def is_compaction(item: Any) -> bool:
    """Whether an item stands in the place of the items before it."""
    return kind_of(item) in ("compaction", "context_compaction")


def is_own(item: Any) -> bool:
    """Whether a value is an item that no other format has: any but a message."""
    kind = kind_of(item)
    if kind in ("function_call", "custom_tool_call"):
        return isinstance(item.get("call_id") or item.get("name"), str) and "function" not in item
    if kind.endswith(("_call", "_call_output")):
        return kind != "tool_call"
    return kind in SILENT | ASIDE | {"mcp_approval_request", "mcp_approval_response"}


def is_item(item: Any) -> bool:
    """Whether a value is an item or a message in the words of this format."""
    if kind_of(item) != "message" or not isinstance(item.get("role"), str):
        return is_own(item)
    if item.keys() & {"tool_calls", "function_call", "parts", "stop_reason", "tool_call_id"}:
        return False
    blocks = item.get("content")
    return (
        blocks is None
        or isinstance(blocks, str)
        or (isinstance(blocks, list) and all(isinstance(block, dict) and _is_content(block) for block in blocks))
    )


def _is_content(block: dict[str, Any]) -> bool:
    kind = str(block.get("type"))
    return kind.startswith(("input_", "output_", "summary_")) or kind in ("text", "refusal", "reasoning_text")


def call(item: dict[str, Any], at: str) -> tuple[ToolCall, tuple[str, ...]]:
    """The call that an item writes, and what there is to warn about."""
    kind = kind_of(item)
    identity = item.get("call_id") or item.get("id")
    if kind == "function_call":
        return shapes.named(item.get("name"), item.get("arguments", UNSET), id=identity, absent="not_captured", at=at)
    if kind == "custom_tool_call":
        free = shapes.free_text(item["input"]).value if "input" in item else UNSET
        made, notes = shapes.named(item.get("name"), free, id=identity, absent="not_captured", at=at)
        return msgspec.structs.replace(made, kind="custom"), notes
    if kind in ("mcp_call", "mcp_approval_request"):
        return _mcp(item, identity, at)
    return _hosted(item, kind.removesuffix("_call"), identity, at)


def _mcp(item: dict[str, Any], identity: Any, at: str) -> tuple[ToolCall, tuple[str, ...]]:
    source = item.get("arguments", UNSET)
    made, notes = shapes.named(item.get("name"), source, id=identity, absent="not_captured", at=at)
    made = msgspec.structs.replace(made, kind="mcp", server=shapes.label(item.get("server_label")))
    if kind_of(item) == "mcp_approval_request":
        return msgspec.structs.replace(made, status="pending"), notes
    error = item.get("error")
    status: CallStatus = "ok" if item.get("output") is not None else _DONE.get(str(item.get("status")), "requested")
    known: dict[str, Any] = {"status": status if error is None else "error", "result": structured(item.get("output"))}
    return msgspec.structs.replace(made, error=_error(error), **known), notes


def _error(error: Any) -> str | None:
    if isinstance(error, dict):
        error = error.get("message") or str(error)
    return error if error is None or isinstance(error, str) else str(error)


def _hosted(item: dict[str, Any], name: str, identity: Any, at: str) -> tuple[ToolCall, tuple[str, ...]]:
    """A call of a tool that has only a type. One of an unknown type is a call too, with a warning."""
    kind = kind_of(item)
    source, notes = _hosted_arguments(item, kind, at)
    known: dict[str, Any] = {}
    by: CallKind = "client" if kind in _CLIENT_ARGUMENTS else "server"
    if item.get("execution") == "server" or by == "server":
        found = {key: item[key] for key in _RESULTS if item.get(key)}
        action = item.get("action")
        found |= {"sources": action["sources"]} if isinstance(action, dict) and action.get("sources") else {}
        known = {"status": _DONE.get(str(item.get("status")), "requested")}
        known["result"] = next(iter(found.values())) if len(found) == 1 and "sources" not in found else found or None
        by = "server"
    own = item.get("name")
    made, _ = shapes.named(own if isinstance(own, str) else name, source, id=identity, absent="not_captured", at=at)
    return msgspec.structs.replace(made, kind=by, **known), notes


def _hosted_arguments(item: dict[str, Any], kind: str, at: str) -> tuple[Any, tuple[str, ...]]:
    if kind in _CLIENT_ARGUMENTS:
        return next((item[key] for key in _CLIENT_ARGUMENTS[kind] if item.get(key) is not None), UNSET), ()
    if kind == "web_search_call":
        action = item.get("action")
        if not isinstance(action, dict):
            return UNSET, ()
        return {key: part for key, part in action.items() if key != "sources"}, ()
    if kind in _SERVER_ARGUMENTS:
        (key,) = _SERVER_ARGUMENTS[kind]
        return {key: item[key]} if item.get(key) is not None else UNSET, ()
    source = next((item[key] for key in ("arguments", "action", "input") if item.get(key) is not None), UNSET)
    return source, (f"{at} is a call of the unknown type `{kind[:60]}`",)


def answered(item: dict[str, Any], at: str) -> Answered:
    """The result that an item gives to a call."""
    result = structured(text(item.get("output", item.get("tools"))))
    failed = item.get("status") == "failed" or _failed(result)
    return Answered(
        id=text_or_none(item.get("call_id")) or text_or_none(item.get("id")),
        name=text_or_none(item.get("name")),
        result=result,
        status="error" if failed else "ok",
        error=result if failed and isinstance(result, str) else None,
        place=at,
    )


def _failed(result: Any) -> bool:
    """Whether the result of a command says that it failed: by its exit code, or by a flag of its own."""
    if isinstance(result, list):
        outcomes = [part.get("outcome") for part in result if isinstance(part, dict)]
        return any(isinstance(one, dict) and _code(one.get("exit_code")) for one in outcomes)
    if not isinstance(result, dict):
        return False
    if result.keys() == {"content", "success"}:
        return result["success"] is False
    metadata = result.get("metadata")
    if result.keys() != {"output", "metadata"} or not isinstance(metadata, dict):
        return False
    return _code(metadata.get("exit_code"))


def _code(code: Any) -> bool:
    return isinstance(code, int) and code != 0


def text(content: Any) -> Any:
    """The text of a content: its string, or its text parts joined; other content as it stands."""
    if not isinstance(content, list) or not content:
        return content
    parts = [part.get("text", part.get("refusal")) if isinstance(part, dict) else None for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(parts) else content


def text_or_none(value: Any) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None
