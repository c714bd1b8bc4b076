"""Who asked for a call is read alike from every recording that tells it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.staged.reading import trajectories

NAMES = ("ask_researcher", "search", "search", "get_weather")
SEARCHER = {"google-adk-spans": "ask_researcher", "google-adk-hidden": "ask_researcher"}
"""The agent inside the call, where it is not called `researcher`: Google ADK calls a tool like its agent."""


@pytest.mark.parametrize(
    ("run", "file"),
    [
        ("openai-agents-chat", "trace.json"),
        ("openai-agents-responses", "trace.json"),
        ("openinference-openai-agents-responses", "spans.otlp.json"),
        ("traceloop-openai-agents-responses", "spans.otlp.json"),
        ("pydantic-ai-v2", "spans.otlp.json"),
        ("pydantic-ai-v5", "spans.otlp.json"),
        ("pydantic-ai-hidden", "spans.otlp.json"),
        ("pydantic-ai-openinference", "spans.otlp.json"),
        ("google-adk-spans", "spans.otlp.jsonl"),
        ("google-adk-hidden", "spans.otlp.jsonl"),
    ],
)
def test_calls_name_the_agent_that_asked(recorded: Callable[[str], Path], run: str, file: str) -> None:
    """The outer agent for its own calls, the inner one for those inside the call that runs it (G13)."""
    (found,) = trajectories(recorded(run) / "nested" / file)
    inner = SEARCHER.get(run, "researcher")
    agents = ("assistant", inner, inner, "assistant")
    assert [(call.name, call.agent) for call in found.tool_calls or ()] == list(zip(NAMES, agents, strict=True))
    assert [call.parent for call in found.tool_calls or ()] == [None, 0, 0, None]
