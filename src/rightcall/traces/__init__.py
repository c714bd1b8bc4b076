"""The formats of traces, one module each: bytes in, trajectories out.

A record that cannot be read among others that can is yielded as a `TraceError`; a document that cannot be read
at all is raised.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, UsageError, did_you_mean
from rightcall.traces import (
    anthropic,
    atif,
    bedrock,
    claude_code,
    codex,
    cohere,
    conventions,
    documents,
    gemini,
    google_adk,
    heads,
    inspect_log,
    langchain,
    mcp_jsonrpc,
    native,
    objects,
    ollama,
    openai_agents,
    openai_chat,
    openai_responses,
    pydantic_ai,
    smolagents,
    swe_agent,
    tau_bench,
    vercel_ai,
)

Reader = Callable[[Iterable[bytes], str], Iterator[Trajectory | TraceError]]


class Format(msgspec.Struct, frozen=True):
    """A format of traces. `claims` tells it by the first 64 KiB; `read` takes chunks and the file's name."""

    name: str
    claims: Callable[[bytes], bool]
    read: Reader


FORMATS: Final[dict[str, Format]] = {
    "native": Format("native", native.claims, native.read),
    "gemini": Format("gemini", gemini.claims, gemini.read),
    "google-adk": Format("google-adk", google_adk.claims, google_adk.read),
    "bedrock-converse": Format("bedrock-converse", bedrock.claims, bedrock.read),
    "langchain": Format("langchain", langchain.claims, langchain.read),
    "anthropic": Format("anthropic", anthropic.claims, anthropic.read),
    "claude-code": Format("claude-code", claude_code.claims, claude_code.read),
    "codex": Format("codex", codex.claims, codex.read),
    "mcp-jsonrpc": Format("mcp-jsonrpc", mcp_jsonrpc.claims, mcp_jsonrpc.read),
    "openai-agents": Format("openai-agents", openai_agents.claims, openai_agents.read),
    "openai-responses": Format("openai-responses", openai_responses.claims, openai_responses.read),
    "vercel-ai": Format("vercel-ai", vercel_ai.claims, vercel_ai.read),
    "pydantic-ai": Format("pydantic-ai", pydantic_ai.claims, pydantic_ai.read),
    "cohere": Format("cohere", cohere.claims, cohere.read),
    "ollama": Format("ollama", ollama.claims, ollama.read),
    "smolagents": Format("smolagents", smolagents.claims, smolagents.read),
    "swe-agent": Format("swe-agent", swe_agent.claims, swe_agent.read),
    "tau-bench": Format("tau-bench", tau_bench.claims, tau_bench.read),
    "atif": Format("atif", atif.claims, atif.read),
    "inspect-log": Format("inspect-log", inspect_log.claims, inspect_log.read),
    "openai-chat": Format("openai-chat", openai_chat.claims, openai_chat.read),
    **{name: Format(name, functools.partial(conventions.claims, name), conventions.read) for name in conventions.NAMES},
}
"""Every format by name. Where two claim the same file, the one that stands first has it."""


def detect(head: bytes) -> str:
    """The name of the format that the first bytes of a file are in; `TraceError` if no format knows them."""
    head = head[: documents.HEAD].removeprefix(b"\xef\xbb\xbf")
    if expectations := heads.expectations(head):
        raise TraceError(f"this file holds {expectations}, which say what should be called; give a recorded trace")
    for name, format_ in FORMATS.items():
        if format_.claims(head):
            return name
    if container := heads.binary(head):
        raise TraceError(f"this is {container}, which is not read as it is; give {_textual(container)}")
    known = ", ".join(f"`{name}`" for name in FORMATS)
    raise TraceError(f"the format is not known: this looks like {heads.describe(head)}; known formats: {known}")


def _textual(container: str) -> str:
    return "UTF-8" if container.startswith("text") else "JSON or JSON lines"


def read(chunks: Iterable[bytes], *, format: str | None = None, file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every trajectory of a file, in order, from chunks of bytes (64 to 256 KiB are best).

    The format is detected unless it is named; `UsageError` if the name is not known. Errors carry `file`.
    """
    chosen = None if format is None else find(format)
    return _read(chunks, chosen, file)


def _read(chunks: Iterable[bytes], format_: Format | None, file: str) -> Iterator[Trajectory | TraceError]:
    try:
        head, chunks = documents.peek(chunks)
        if head.strip():
            chosen = format_ or FORMATS[detect(head)]
            yield from chosen.read(chunks, file)
    except TraceError as error:
        raise error.within(file=file) from None


def identities(chunks: Iterable[bytes], *, format: str | None = None) -> Iterator[str] | None:
    """The ids of the trajectories of a file, without reading them: `None` where that is not possible.

    Only native records, one a line, tell their id at once.
    """
    head, chunks = documents.peek(chunks)
    if not head.strip():
        return iter(())
    return native.identities(chunks) if (format or detect(head)) == "native" else None


def find(name: str) -> Format:
    """The format of that name; `UsageError` with the nearest name if there is none."""
    if name not in FORMATS:
        known = ", ".join(f"`{known}`" for known in FORMATS)
        raise UsageError(f"no format `{name}`{did_you_mean(name, FORMATS)}; known formats: {known}")
    return FORMATS[name]


def read_object(value: Any, *, format: str | None = None) -> Trajectory:
    """The one trajectory that a Python value holds.

    Takes a `Trajectory`, a native record, a list of calls in any known shape, messages, requests, responses,
    spans, JSON text of these, and objects with `model_dump` or `to_dict`. `TraceError` with the path if the
    value is not JSON, or if it holds none or several trajectories.
    """
    if isinstance(value, Trajectory):
        return value
    return objects.only(read([objects.document(value)], format=format))
