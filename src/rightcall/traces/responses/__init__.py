"""Items of OpenAI's Responses API, which Codex and the Agents SDK record too.

A call of a function, of a custom tool or of a hosted tool is an item; so is each result. Hosted tools have no
name of their own: theirs is the type without `_call`. A result joins its call by `call_id`.
"""

from __future__ import annotations

from rightcall.traces.responses.around import is_told, key, offered, output, replaced
from rightcall.traces.responses.items import OTHER_ROLES, call, is_compaction, is_item, is_own, kind_of, text
from rightcall.traces.responses.story import events

__all__ = [
    "OTHER_ROLES",
    "call",
    "events",
    "is_compaction",
    "is_item",
    "is_own",
    "is_told",
    "key",
    "kind_of",
    "offered",
    "output",
    "replaced",
    "text",
]
