"""Real traces with the calls in them established by hand: our own copies, and the public ones outside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

OWN = Path(__file__).parent.parent / "traces"

READ_BY = {
    "agent-framework": "agent-framework",
    "anthropic-messages": "anthropic",
    "anthropic-stream": "anthropic",
    "atif": "atif",
    "bedrock-converse": "bedrock-converse",
    "bedrock-stream": "bedrock-converse",
    "claude-code-jsonl": "claude-code",
    "codex-exec-json": "codex",
    "codex-rollout": "codex",
    "cohere": "cohere",
    "cohere-stream": "cohere",
    "cohere-v1": "cohere-v1",
    "gemini": "gemini",
    "gemini-cli": "gemini",
    "gemini-stream": "gemini",
    "google-adk-evalset": "google-adk",
    "google-adk-events": "google-adk",
    "google-adk-otel": "google-adk-spans",
    "google-adk-session": "google-adk",
    "har": "openai-chat",
    "helicone-export": "openai-responses",
    "http-log-anthropic": "anthropic",
    "http-log-bedrock": "bedrock-converse",
    "http-log-cohere": "cohere",
    "http-log-gemini": "gemini",
    "http-log-openai-chat": "openai-chat",
    "http-log-openai-responses": "openai-responses",
    "inspect-log": "inspect-log",
    "jaeger-json": "openllmetry",
    "langchain-messages": "langchain",
    "langfuse-export": "langfuse",
    "langfuse-sdk-otlp": "langfuse",
    "langgraph-stream": "langchain",
    "langsmith-runs": "langsmith",
    "litellm-log": "openai-chat",
    "logfire-otel": "logfire",
    "mcp-jsonrpc": "mcp-jsonrpc",
    "mistral": "openai-chat",
    "mlflow-trace": "mlflow",
    "ollama": "openai-chat",
    "openai-agents-runstate": "openai-agents",
    "openai-agents-trace": "openai-agents",
    "openai-chat": "openai-chat",
    "openai-chat-stream": "openai-chat",
    "openai-responses-items": "openai-responses",
    "openinference-attrs": "openinference",
    "openinference-console": "openinference",
    "openinference-console-jsonl": "openinference",
    "openinference-otlp-json": "openinference",
    "openinference-otlp-jsonl": "openinference",
    "openinference-otlp-pb": "openinference",
    "openllmetry-console": "openllmetry",
    "openllmetry-otlp-json": "openllmetry",
    "otel-genai-attrs": "otel-genai",
    "otel-genai-console": "otel-genai",
    "otel-genai-legacy-console": "otel-genai",
    "otel-genai-legacy-logs": "otel-genai",
    "otel-genai-logs": "otel-genai",
    "otel-genai-messages": "otel-genai-messages",
    "otel-genai-otlp-json": "otel-genai",
    "otel-tempo-export": "openllmetry",
    "otlp-json-base64ids": "openinference",
    "phoenix-dataframe": "openinference",
    "phoenix-otlp-rest": "openinference",
    "phoenix-rest-spans": "openinference",
    "pydantic-ai-messages": "pydantic-ai",
    "pydantic-ai-otel": "logfire",
    "smolagents-memory": "smolagents",
    "strands-otel": "otel-genai",
    "swe-agent-traj": "swe-agent",
    "tau-bench": "tau-bench",
    "tau2-results": "tau-bench",
    "vcr-cassette": "anthropic",
    "vercel-ai-messages": "vercel-ai",
    "vercel-ai-otlp-json": "vercel-ai-spans",
    "vercel-ai-stream": "vercel-ai",
}
"""The reader of each format of the index that can be read."""

READ_BY_FILE = {
    "openllmetry-otlp-json/3.json": "otel-genai",
    "vercel-ai-otlp-json/6.json": "otel-genai",
    "vercel-ai-otlp-json/7.json": "otel-genai",
}
"""Files of frameworks that follow another convention in their newest version than their format did before."""


PACKED = frozenset({"har", "helicone-export", "litellm-log", "vcr-cassette"})
"""Formats of files that are logs of HTTP, which do not come as captured streams."""

EXPECTATIONS = frozenset({"google-adk-evalset/4.json"})
"""Files that hold expected calls, not a trace; the index lists what is expected."""

UNSAID = {
    "cohere/1.json": "the format has no word for failure; the error is text like any other",
    "google-adk-session/1.json": "a session does not say which of its tools are agents",
    "langchain-messages/5.json": "messages do not say which tools are agents",
    "mistral/1.json": "the format has no word for failure; the error is text like any other",
    "mlflow-trace/2.json": "the message of the tool says `success`; only its text begins with `Error`",
    "ollama/1.json": "the format has no word for failure; the error is text like any other",
    "openllmetry-console/3.json": "the message of the tool says `success`; only its text begins with `Error`",
    "openllmetry-console/4.json": "the message of the tool says `success`; only its text begins with `Error`",
}
"""Files that do not say what the index says became of their calls, and why."""


SEVERAL = {
    "claude-code-jsonl/2.jsonl": ["edge_cases", "todowrite_session"],
}
"""Files whose lines name several sessions, although the index does not split them; the ids in order."""


class Entry(msgspec.Struct, frozen=True):
    """One file of the corpus. `calls` are as the index lists them; `sessions` splits them by session id."""

    file: str
    format: str
    path: Path
    calls: list[dict[str, Any]]
    sessions: list[dict[str, Any]]

    @property
    def reader(self) -> str | None:
        """The name of the format that reads this file, if one does."""
        return None if self.is_expectation else READ_BY_FILE.get(self.file, READ_BY.get(self.format))

    @property
    def is_expectation(self) -> bool:
        """Whether the file holds expected calls only, and is to be refused."""
        return self.format == "bfcl-ground-truth" or self.file in EXPECTATIONS


def entries(folder: Path) -> Iterator[Entry]:
    """The entries of the index in a folder."""
    for line in (folder / "INDEX.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Entry(row["file"], row["format"], folder / row["file"], row["tool_calls"], row.get("trajectories", []))


def everything() -> list[Any]:
    """Every entry as a test parameter: our own files, and the public ones if `RIGHTCALL_CORPUS` names them."""
    own = [pytest.param(entry, id=entry.file) for entry in entries(OWN)]
    outside = os.environ.get("RIGHTCALL_CORPUS")
    if outside and (Path(outside) / "INDEX.jsonl").is_file():
        known = {entry.file for entry in entries(OWN)}
        public = [entry for entry in entries(Path(outside)) if entry.file not in known]
        return own + [pytest.param(entry, id=f"public/{entry.file}") for entry in public]
    return [*own, pytest.param(None, id="public")]


def present(entry: Entry | None) -> Entry:
    """The entry; skip if the public corpus is not there, or fail where it must be."""
    if entry is None:
        reason = "RIGHTCALL_CORPUS does not name the folder of public traces"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return entry
