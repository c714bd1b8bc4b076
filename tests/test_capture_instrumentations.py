"""Real agents under real instrumentations, captured: the same calls, however many spans show them.

They run in processes of their own (`tests/support/watched`), because instrumentations change libraries for good.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
EXPECTED = [("lookup_order", {"order_id": 7}), ("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Oslo"})]
HIDDEN = [(name, "not_captured") for name, _ in EXPECTED]


def captured(words: str, content: str | None = None) -> list[dict[str, Any]]:
    """What each run of an agent yields, when the words are done in turn."""
    ran = subprocess.run(
        [sys.executable, "-m", "support.watched", *words.split()],
        cwd=Path(__file__).parent,
        env={**os.environ, **({} if content is None else {CONTENT: content})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"calls"')]


def told(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """Names and arguments; the state of arguments that are not known."""
    return [(name, arguments if state == "ok" else state) for name, state, arguments, _ in found["calls"]]


@pytest.mark.parametrize(
    ("words", "content"),
    [
        ("openinference openai_loop tool openai_loop traceloop openai_loop openai_streamed openai_agents", None),
        ("traceloop openai_loop openai_v2 tool openai_loop openinference openai_loop", "true"),
        ("pydantic_ai_native pydantic_ai tool pydantic_ai", None),
        ("tool adk openinference_adk adk", None),
        ("openinference_langchain langgraph tool langgraph traceloop_langchain langgraph", None),
        ("openinference_agents openinference tool openai_agents", None),
        ("traceloop_agents tool openai_agents", None),
        ("genai_openai openai_loop openinference tool openai_loop", "span_only"),
        ("genai_openai openai_loop", "event_only"),
    ],
)
def test_every_instrumentation_gives_the_same_calls(words: str, content: str | None) -> None:
    """Alone, together, and around functions that `@rightcall.tool` traces: each call once, with its arguments (G18)."""
    for found in captured(words, content):
        assert (told(found), found["gaps"]) == (EXPECTED, [])


@pytest.mark.parametrize("words", ["openai_v2 openai_loop tool openai_loop", "adk"])
def test_without_content_names_are_captured_and_arguments_are_not(words: str) -> None:
    """Who switches content off sees which tools were called, and no argument is made up (G10)."""
    for found in captured(words, "false"):
        assert told(found) == HIDDEN


def test_arguments_that_one_instrumentation_hides_another_shows() -> None:
    """By default OpenTelemetry's own capture no content; decorated functions and others do."""
    alone, decorated, together = captured("openai_v2 openai_loop tool openai_loop bare openinference openai_loop")
    assert [told(found) for found in (alone, decorated, together)] == [HIDDEN, EXPECTED, EXPECTED]
    statuses = [{status for *_, status in found["calls"]} for found in (alone, decorated, together)]
    assert statuses == [{"requested"}, {"ok"}, {"requested"}]


def test_an_instrumentation_that_hides_even_names_leaves_a_gap() -> None:
    """The model stopped for calls that no span shows (G12)."""
    (found,) = captured("genai_openai openai_loop", "no_content")
    assert found["calls"] == []
    assert [gap.partition(" finished with ")[2] for gap in found["gaps"]] == ["`tool_calls`, but shows no calls"] * 2


def test_an_agent_that_nothing_watches_is_not_recorded() -> None:
    """And the reason says what to do (G3)."""
    (found,) = captured("openai_loop")
    assert found["calls"] is None
    assert found["warnings"][0].startswith("no model call and no tool call was traced in the block; install")
