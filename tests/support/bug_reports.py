"""Cases from public bug reports: how their regular inputs and expectations are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
import pytest

import rightcall
from rightcall.core.verdicts import Verdict
from support.conformance import rows

Case = dict[str, Any]
Test = TypeVar("Test", bound=Callable[..., None])

REPORTS: dict[str, Case] = {row["id"]: row for row in rows("reports")}
TESTED: dict[str, list[str]] = {}
"""The names of the tests of each case, filled while the test files are imported."""

_PLAIN_KEYS = ("allowed_tools", "tool_call_args")
_SETTINGS = {
    "match": "match",
    "arguments": "arguments",
    "only_successful": "only_successful",
    "parallel": "parallel",
    "ignored_args": "ignore_arguments",
}
"""Words of a case's config, and the expectation keys that say the same."""


def json_lines(values: Iterable[Any]) -> str:
    """Values as a file of JSON lines."""
    return "".join(f"{json.dumps(value)}\n" for value in values)


def report(*ids: str) -> Callable[[Test], Test]:
    """Make a test of these cases, each as `case` and under its id."""

    def mark(test: Test) -> Test:
        for identity in ids:
            TESTED.setdefault(identity, []).append(test.__name__)
        made: Test = pytest.mark.parametrize("case", [pytest.param(REPORTS[one], id=one) for one in ids])(test)
        return made

    return mark


def expectations(given: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The expectation keys that a case's input means; `changes` are words of its config."""
    config = {**given.get("config", {}), **changes}
    keys = {key: given[key] for key in _PLAIN_KEYS if key in given}
    if "forbidden" in given:
        keys["forbidden_tools"] = given["forbidden"]
    if "expected" in given:
        keys["expected_tool_calls"] = [_expected(call, config) for call in given["expected"]]
    if config.get("fill_defaults_from_schema"):
        keys["tool_schemas"] = {name: _schema(tool) for name, tool in given["tool_schema"].items()}
    for word, value in config.items():
        if word not in ("ignorable_args", "fill_defaults_from_schema"):
            keys[_SETTINGS[word]] = value
    return keys


def _expected(call: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(call)
    if "ignorable_args" in config:
        made["defaults"] = config["ignorable_args"][call["name"]]
    if "fill_defaults_from_schema" in config:
        made["fill_defaults"] = config["fill_defaults_from_schema"]
    return made


def _schema(tool: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The sketch of a tool's parameters as a JSON Schema."""
    return {
        "type": "object",
        "properties": {
            name: {key: value for key, value in about.items() if key == "default"} for name, about in tool.items()
        },
        "required": [name for name, about in tool.items() if about.get("required")],
    }


def document(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was recorded, as a native record or as OpenAI chat messages."""
    if "messages" in given:
        return chat(given["messages"])
    found = next(given[key] for key in ("actual", "actual_raw", "tool_calls") if key in given)
    tools = [{"name": name} for name in given.get("available_tools", ())]
    return {"tool_calls": found, "available_tools": tools}


def chat(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Sketched messages as an OpenAI chat record."""
    return {"messages": [_message(message) for message in messages]}


def _message(sketch: Mapping[str, Any]) -> dict[str, Any]:
    message = {"content": None, **sketch}
    if sketch.get("tool_calls"):
        message["tool_calls"] = [_chat_call(call) for call in sketch["tool_calls"]]
    return message


def _chat_call(call: Any) -> Any:
    if not isinstance(call, dict) or "name" not in call:
        return call
    arguments = json.dumps(call.get("arguments", {}))
    function = {"name": call["name"], "arguments": arguments}
    return {"id": call.get("id"), "type": "function", "function": function}


def judge(given: Mapping[str, Any], **changes: Any) -> Verdict:
    """The one verdict on a case's input; `changes` are words of its config."""
    (verdict,) = rightcall.grade(document(given), expectations(given, **changes))
    return verdict


def extracted(value: Any, **options: Any) -> list[dict[str, Any]]:
    """The calls that are read from a document, by name and arguments."""
    return [
        {"name": call.name, "arguments": call.arguments} for call in rightcall.read(value, **options).tool_calls or ()
    ]


def names(value: Any, **options: Any) -> list[str]:
    """The names of the calls that are read from a document."""
    return [call["name"] for call in extracted(value, **options)]


def check(case: Case) -> None:
    """Hold every part of a case's expectation against what is decided."""
    given, expect = case["input"], case["expect"]
    for part, want in expect.items():
        assert want == _PARTS[part](given, want), part


def _contained(texts: list[str], whole: str) -> list[str]:
    return [text for text in texts if text in whole]


def _printed(verdict: Verdict) -> str:
    return msgspec.json.encode([verdict.reason, verdict.findings, verdict.details]).decode()


_PARTS: dict[str, Callable[[Mapping[str, Any], Any], Any]] = {
    "verdict": lambda given, _: judge(given).status,
    "score": lambda given, _: judge(given).score,
    "precision": lambda given, _: judge(given).details["precision"],
    "recall": lambda given, _: judge(given).details["recall"],
    "by_mode": lambda given, want: {mode: judge(given, match=mode).status for mode in want},
    "reason_contains": lambda given, want: _contained(want, judge(given).reason),
    "reason_nonempty": lambda given, _: judge(given).reason != "",
    "reason_names_no_difference": lambda given, _: judge(given).reason == "" and judge(given).findings == (),
    "variant_verdicts": lambda given, _: [judge({**given, **one}).status for one in given["variants"]],
    "verdict_with_deep_partial": lambda given, _: judge(given, arguments="deep").status,
    "must_not_print": lambda given, want: [text for text in want if text not in _printed(judge(given))],
}
"""How each part of an expectation is found out."""
