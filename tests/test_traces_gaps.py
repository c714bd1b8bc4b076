"""What no format of messages may do: pass over a call, a result without its call, or the silence of the model."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from rightcall import traces
from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents
from support import telling
from support.telling import ABSENT, TELLINGS

_OTHERWISE: Final = {"native", "mcp-jsonrpc"}
"""Formats without messages: a record of calls, and a log that the model takes no part in."""


def names(read: Trajectory) -> list[str] | None:
    return None if read.tool_calls is None else [call.name for call in read.tool_calls]


def test_every_format_of_messages_is_told() -> None:
    """A new format joins these tests."""
    spans = {name for name, format_ in traces.FORMATS.items() if "spans" in name} | {
        "openinference",
        "langfuse",
        "mlflow",
        "langsmith",
        "openllmetry",
        "logfire",
        "otel-genai",
    }
    assert set(traces.FORMATS) == set(TELLINGS) | spans | _OTHERWISE


@pytest.mark.parametrize("format", TELLINGS)
def test_a_call_with_its_result_is_whole(format: str) -> None:
    """What the other tests leave out is read here without a gap."""
    told = TELLINGS[format]
    read = telling.read(format, told.user, told.asks({"x": 1}), told.answers, told.says("Done."))
    assert (names(read), read.gaps) == (["a"], ())
    assert [call.arguments for call in read.tool_calls or ()] == [{"x": 1}]


_TEXT_ALONE: Final = {"swe-agent"}
"""Formats in which a run without any call wrote its actions as text: nothing is recorded of what it called."""


@pytest.mark.parametrize("format", sorted(TELLINGS.keys() - {"ollama"}))
def test_messages_of_the_user_alone_are_not_recorded(format: str) -> None:
    """They are no conversation of no calls (G3). An exchange with Ollama without a response is refused."""
    read = telling.read(format, TELLINGS[format].user)
    assert (names(read), len(read.warnings)) == (None, 1)


@pytest.mark.parametrize("format", sorted(TELLINGS.keys() - _TEXT_ALONE))
def test_an_answer_without_calls_is_recorded(format: str) -> None:
    """No calls were made (G3)."""
    read = telling.read(format, TELLINGS[format].user, TELLINGS[format].says("Done."))
    assert (names(read), read.gaps) == ([], ())


@pytest.mark.parametrize("format", sorted(TELLINGS.keys() - _TEXT_ALONE - {"smolagents"}))
def test_a_result_without_its_call_is_a_gap(format: str) -> None:
    """Something was called that the record does not show (G12). Results of smolagents stand in the step of the call."""
    told = TELLINGS[format]
    read = telling.read(format, told.user, told.says("So."), told.answers, told.says("Done."))
    assert names(read) == []
    assert len(read.gaps) == 1
    assert read.gaps[0].endswith("answers no call that is recorded")


def moved(value: Any, key: str) -> Any:
    """The value with all calls in it under another key."""
    if isinstance(value, list):
        return [moved(part, key) for part in value]
    if not isinstance(value, dict):
        return value
    known = ("tool_calls", "functionCall", "toolUse", "content", "parts")
    return {(key if name in known and _holds_call(part) else name): moved(part, key) for name, part in value.items()}


def _holds_call(value: Any) -> bool:
    return "'a'" in str(value)


@pytest.mark.parametrize("format", TELLINGS)
def test_calls_under_a_key_that_is_not_read_are_a_gap_or_an_error(format: str) -> None:
    """They are never an empty list (G12)."""
    told = TELLINGS[format]
    odd = moved(told.asks({"x": 1}), "novelty")
    for answers in ([], [told.answers]):
        data = telling.text(format, [told.user, told.says("So."), odd, *answers, told.says("Done.")])
        try:
            read = list(traces.read([data], format=format))
        except TraceError:
            continue
        for item in read:
            assert isinstance(item, TraceError) or item.gaps or names(item) in (None, ["a"])


def of_the_user(value: Any) -> Any:
    """A message of the model, put into the user's mouth."""
    if isinstance(value, dict):
        words = {"assistant": "user", "CHATBOT": "USER", "model": "user", "ai": "human", "agent": "user", "bot": "user"}
        keys = ("role", "type", "source", "author")
        return {key: words.get(part, part) if key in keys else of_the_user(part) for key, part in value.items()}
    return [of_the_user(part) for part in value] if isinstance(value, list) else value


_NOBODYS: Final = {"codex", "openai-agents", "openai-responses", "smolagents"}
"""Formats whose calls stand for themselves, whoever says them."""


@pytest.mark.parametrize("format", sorted(TELLINGS.keys() - _NOBODYS - _TEXT_ALONE - {"pydantic-ai"}))
def test_calls_in_a_message_of_the_user_are_a_gap(format: str) -> None:
    """They are not read, and not passed over (G12)."""
    told = TELLINGS[format]
    read = telling.read(format, told.user, of_the_user(told.asks({"x": 1})), told.says("Done."))
    assert (names(read), len(read.gaps)) == ([], 1)
    assert read.gaps[0].endswith("looks like calls, which are not read")


LARGE: Final = "x" * documents.MAX_RECORD


@pytest.mark.parametrize("format", [name for name, told in TELLINGS.items() if not told.lines])
@pytest.mark.parametrize("indent", [False, True], ids=["lines", "document"])
def test_the_limit_of_a_record_holds_in_every_format(format: str, indent: bool) -> None:
    """The record beyond it is one error, the other is read (G8)."""
    told = TELLINGS[format]
    records = [told.document([told.user, told.says(answer)]) for answer in ("Done.", LARGE)]
    data = json.dumps(records, indent=1).encode() if indent else b"\n".join(map(jsontext.encode, records))
    read = list(traces.read([data], format=format, file="f"))
    if format == "ollama":
        assert [len(item.gaps) for item in read if isinstance(item, Trajectory)] == [1]
        return
    assert [isinstance(item, Trajectory) for item in read] == [True, False]
    assert "the record is larger than the limit of 10 MiB" in str(read[1])


@pytest.mark.parametrize("format", [name for name, told in TELLINGS.items() if told.lines])
def test_a_line_beyond_the_limit_is_a_gap_of_its_session(format: str) -> None:
    """What stands on the other lines is read (G8, G12)."""
    told = TELLINGS[format]
    read = telling.read(format, told.user, told.asks({}), told.says(LARGE), told.says("Done."))
    assert (names(read), len(read.gaps)) == (["a"], 1)


@pytest.mark.parametrize(
    ("format", "container"),
    [
        ("inspect-log", lambda records: {"version": 2, "eval": {}, "samples": records}),
        (
            "tau-bench",
            lambda records: {
                "info": {},
                "simulations": [
                    {"task_id": "1", "termination_reason": "", "messages": record["messages"]} for record in records
                ],
            },
        ),
    ],
)
def test_limits_hold_for_each_record_of_a_container(format: str, container: Any) -> None:
    """One that is beyond a limit, or broken, is an error of its own (G8)."""
    deep: Any = "x"
    for _ in range(jsontext.MAX_DEPTH):
        deep = [deep]
    told = TELLINGS["inspect-log"]
    bad = [told.document([{**told.says("Done."), "extra": extra}]) for extra in (LARGE, deep)]
    broken = told.document(["?"])
    data = json.dumps(container([*bad, broken, told.document([told.says("Done.")])]), indent=1).encode()
    read = list(traces.read([data], format=format, file="f"))
    assert [isinstance(item, Trajectory) for item in read] == [False, False, False, True]


NONE, UNKNOWN, BROKEN = "ok", "not_captured", "malformed"
STATES: Final = {
    "openai-chat": (NONE, NONE, NONE, NONE),
    "gemini": (NONE, NONE, NONE, NONE),
    "google-adk": (NONE, NONE, NONE, NONE),
    "bedrock-converse": (UNKNOWN, UNKNOWN, NONE, UNKNOWN),
    "langchain": (UNKNOWN, NONE, NONE, NONE),
    "anthropic": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "claude-code": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "codex": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "openai-agents": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "openai-responses": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "vercel-ai": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "pydantic-ai": (NONE, NONE, NONE, NONE),
    "otel-genai-messages": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "agent-framework": (NONE, NONE, NONE, NONE),
    "cohere": (NONE, NONE, NONE, NONE),
    "cohere-v1": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "ollama": (NONE, NONE, NONE, NONE),
    "smolagents": (NONE, NONE, NONE, NONE),
    "swe-agent": (NONE, NONE, NONE, NONE),
    "tau-bench": (NONE, NONE, NONE, NONE),
    "atif": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "inspect-log": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
}
"""What arguments that are absent, null, empty, and the text `null` mean in each format."""


@pytest.mark.parametrize("format", TELLINGS)
def test_a_call_without_arguments_has_none_only_where_the_format_says_so(format: str) -> None:
    """Elsewhere they are unknown, and never `{}` (G10)."""
    read = [telling.read(format, TELLINGS[format].asks(source)) for source in (ABSENT, None, "", "null")]
    calls = [item.tool_calls[0] for item in read if item.tool_calls]
    assert tuple(call.arguments_state for call in calls) == STATES[format]
    assert [call.arguments == {} for call in calls] == [state == NONE for state in STATES[format]]


NOVEL: Final = {
    "gemini": {"role": "model", "parts": [{"novelty": {"x": 1}}]},
    "bedrock-converse": {"role": "assistant", "content": [{"novelty": {"x": 1}}]},
    "anthropic": {"role": "assistant", "content": [{"type": "novelty"}]},
    "otel-genai-messages": {"role": "assistant", "parts": [{"type": "novelty"}]},
    "agent-framework": {"role": "assistant", "contents": [{"type": "novelty"}]},
    "pydantic-ai": {"kind": "response", "parts": [{"part_kind": "novelty", "content": "x"}]},
    "openai-responses": {"type": "novelty", "content": "x"},
}
"""A message of the model with a part of a kind that does not exist, and that is no call."""


@pytest.mark.parametrize("format", NOVEL)
def test_a_part_of_an_unknown_kind_that_is_no_call_is_a_warning(format: str) -> None:
    """Formats grow; what cannot be a call hides none (G12)."""
    told = TELLINGS[format]
    data = jsontext.encode([told.user, told.asks({}), told.answers, NOVEL[format], told.says("Done.")])
    (read,) = traces.read([data], format=format)
    assert isinstance(read, Trajectory)
    assert (names(read), read.gaps) == (["a"], ())
    assert ["unknown" in warning for warning in read.warnings] == [True]


@pytest.mark.parametrize("state", [{"state": "novelty"}, {}], ids=["unknown", "none"])
def test_a_part_for_a_tool_in_no_known_state_is_a_call(state: dict[str, str]) -> None:
    """User interfaces name the tool in the type of the part."""
    part = {"type": "tool-a", "toolCallId": "1", "input": {"x": 1}, **state}
    read = telling.read("vercel-ai", TELLINGS["vercel-ai"].user, {"role": "assistant", "parts": [part]})
    assert [(call.name, call.arguments, call.status) for call in read.tool_calls or ()] == [
        ("a", {"x": 1}, "requested")
    ]
