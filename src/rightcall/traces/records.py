"""What may stand beside the calls of one record: identity, and the expectations of a test."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rightcall.errors import TraceError, Where, did_you_mean

EXPECTATION_KEYS: Final = (
    "expected_tool_calls",
    "match",
    "arguments",
    "only_successful",
    "tool_call_args",
    "expected_tool_sequence",
    "allowed_tools",
    "required_tools",
    "expected_tools",
    "threshold",
    "forbidden_tools",
    "rules",
    "budget",
    "check_schemas",
    "grounding",
    "text",
    "code",
    "rubric",
    "turns",
    "assertions",
    "tool_schemas",
    "tool_aliases",
    "ignore_arguments",
    "count",
    "parallel",
    "repeat",
    "min_pass_rate",
    "min_assertion_rate",
    "name",
    "requirement",
    "category",
    "topic",
    "prompt",
    "tags",
)
"""Keys of a test that a record may carry beside its calls. They are kept undecoded."""

_COMMON_WORDS: Final = frozenset({"rules", "budget", "grounding", "text", "code", "rubric", "turns"})

DECISIVE_KEYS: Final = (
    frozenset(EXPECTATION_KEYS) - {"name", "prompt", "topic", "category", "tags", "count"} - _COMMON_WORDS
)
"""Expectation keys that no other format uses for something else."""


def is_expectation(key: str) -> bool:
    """Whether a key belongs to the test rather than to the trajectory."""
    return key in EXPECTATION_KEYS or key.startswith("x-")


def expectations(record: Mapping[str, Any]) -> dict[str, Any]:
    """The expectation keys of a record, as they stand."""
    return {key: value for key, value in record.items() if is_expectation(key)}


def beside(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a trajectory that stand in the body of a request or a response: its identity, and expectations.

    Of these only keys that no format uses for something else: a body has settings of its own by some of the names.
    """
    own = {key: part for key, part in body.items() if key in DECISIVE_KEYS or key.startswith("x-")}
    return {"expectations": own, **identity(body)}


def unknown_keys(record: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """A warning for each key that is neither known nor an expectation.

    A near miss of an expectation or of `tool_calls` is an error instead: read past it, a wrong call passes.
    """
    fields = tuple(known)
    unknown = [key for key in record if key not in fields and not is_expectation(key)]
    for key in unknown:
        if _is_near_miss(key):
            raise TraceError(f"unknown key `{key}`{did_you_mean(key, _GRAVE)}", Where(path=key))
    words = (*fields, *EXPECTATION_KEYS)
    return tuple(f"unknown key `{key}` is not read{did_you_mean(key, words)}" for key in unknown)


_GRAVE: Final = (
    "tool_calls",
    *(key for key in EXPECTATION_KEYS if key not in {"name", "topic", "prompt", "tags", *_COMMON_WORDS}),
)


def _is_near_miss(key: str) -> bool:
    return bool(difflib.get_close_matches(key, _GRAVE, n=1, cutoff=0.8))


def identity(record: Mapping[str, Any]) -> dict[str, str]:
    """What a record says of whose trajectory it is: `id`, `conversation_id`, and `test_id` or `case_id`.

    They may also stand in its `metadata`.
    """
    metadata = record.get("metadata")
    places = [record, metadata] if isinstance(metadata, Mapping) else [record]
    found: dict[str, str] = {}
    for field, keys in _IDENTITY.items():
        for place in places:
            values = [place[key] for key in keys if isinstance(place.get(key), str) and place[key]]
            if values and (field != "id" or place is record):
                found.setdefault(field, values[0])
    return found


_IDENTITY: Final = {
    "id": ("id",),
    "conversation_id": ("conversation_id", "session_id", "thread_id"),
    "test_id": ("test_id", "case_id"),
}
