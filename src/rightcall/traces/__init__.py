"""The formats of traces, one module each: bytes in, trajectories out.

A record that cannot be read among others that can is yielded as a `TraceError`; a document that cannot be read
at all is raised.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.errors import MissingExtraError, RightcallError, TraceError, UsageError, Where, did_you_mean
from rightcall.traces import containers, cutting, documents, heads, native, objects, regrouping, wrappers
from rightcall.traces.cutting import Cutting

Reader = Callable[[Iterable[bytes], str], Iterator[Trajectory | TraceError]]

NO_FILE: Final = "-"
"""The name of what was not read from a file."""

CuttingReader = Callable[[Iterable[bytes], str, Cutting], Iterator[Trajectory | TraceError]]


class Format(msgspec.Struct, frozen=True):
    """A format of traces. `claims` tells it by the first 64 KiB; `read` takes chunks and the file's name.

    `cut` also takes how the file is to be cut into trajectories, where the format holds parts of these. What a
    format without it reads is whole trajectories, which can only be put together.
    """

    name: str
    claims: Callable[[bytes], bool]
    read: Reader
    cut: CuttingReader | None = None


def _of(name: str, module: str) -> Format:
    """The format of a module of this room, which is imported when the format is first asked for."""

    def claims(head: bytes) -> bool:
        return bool(_module(module).claims(head))

    def read(chunks: Iterable[bytes], file: str) -> Iterator[Trajectory | TraceError]:
        return iter(_module(module).read(chunks, file))

    return Format(name, claims, read)


def _module(name: str) -> Any:
    return importlib.import_module(f"rightcall.traces.{name}")


def _convention(name: str) -> Format:
    """A convention of spans: all are read alike, and each claims its own."""

    def cut(chunks: Iterable[bytes], file: str, how: Cutting) -> Iterator[Trajectory | TraceError]:
        return iter(_module("conventions").read(chunks, file, how))

    claims = functools.partial(_claims_convention, name)
    return Format(name, claims, _of(name, "conventions").read, cut)


def _claims_convention(name: str, head: bytes) -> bool:
    return bool(_module("conventions").claims(name, head))


FORMATS: Final[dict[str, Format]] = {
    "native": Format("native", native.claims, native.read),
    "gemini": _of("gemini", "gemini"),
    "google-adk": _of("google-adk", "google_adk"),
    "bedrock-converse": _of("bedrock-converse", "bedrock"),
    "langchain": _of("langchain", "langchain"),
    "anthropic": _of("anthropic", "anthropic"),
    "agent-framework": _of("agent-framework", "agent_framework"),
    "claude-code": _of("claude-code", "claude_code"),
    "codex": _of("codex", "codex"),
    "mcp-jsonrpc": _of("mcp-jsonrpc", "mcp_jsonrpc"),
    "openai-agents": _of("openai-agents", "openai_agents"),
    "openai-responses": _of("openai-responses", "openai_responses"),
    "vercel-ai": _of("vercel-ai", "vercel_ai"),
    "pydantic-ai": _of("pydantic-ai", "pydantic_ai"),
    "otel-genai-messages": _of("otel-genai-messages", "otel_genai_messages"),
    "cohere": _of("cohere", "cohere"),
    "cohere-v1": _of("cohere-v1", "cohere_v1"),
    "ollama": _of("ollama", "ollama"),
    "smolagents": _of("smolagents", "smolagents"),
    "swe-agent": _of("swe-agent", "swe_agent"),
    "tau-bench": _of("tau-bench", "tau_bench"),
    "atif": _of("atif", "atif"),
    "inspect-log": _of("inspect-log", "inspect_log"),
    "openai-chat": _of("openai-chat", "openai_chat"),
    "openinference": _convention("openinference"),
    "vercel-ai-spans": _convention("vercel-ai-spans"),
    "langfuse": _convention("langfuse"),
    "mlflow": _convention("mlflow"),
    "langsmith": _convention("langsmith"),
    "openllmetry": _convention("openllmetry"),
    "google-adk-spans": _convention("google-adk-spans"),
    "logfire": _convention("logfire"),
    "otel-genai": _convention("otel-genai"),
}
"""Every format by name. Where two claim the same file, the one that stands first has it."""


def detect(head: bytes) -> str:
    """The name of the format that the first bytes of a file are in; `TraceError` if no format knows them.

    Compression, captured streams, protobuf and tables are seen through.
    """
    return _detected(containers.head_of(head[: documents.HEAD]))


def _detected(head: bytes) -> str:
    if expectations := heads.expectations(head):
        raise TraceError(f"this file holds {expectations}, which say what should be called; give a recorded trace")
    for name, format_ in FORMATS.items():
        if format_.claims(head):
            return name
    if container := heads.binary(head):
        raise TraceError(f"this is {container}, which is not read as it is; give {_textual(container)}")
    raise _unknown(head)


def _unknown(head: bytes) -> TraceError:
    """Why no format knows the file: it is broken, it is something else of ours, or it is of another format."""
    value = heads.sketch(head)
    keys = value.keys() if isinstance(value, dict) else set()
    if heads.is_report(keys):
        return TraceError(f"this is a report of rightcall, not a trace; {_LEFT_OUT}")
    if "tests" in keys or _TESTS.search(head):
        return TraceError("this looks like a test set, not a trace; name it with --tests")
    if _NODE_CONSOLE.match(head):
        return TraceError("this is what Node's console exporter prints: no JSON, and without deep values; export OTLP")
    if len(head) < documents.HEAD and (broken := _broken(head)):
        return broken
    known = ", ".join(f"`{name}`" for name in FORMATS)
    return TraceError(f"the format is not known: this looks like {heads.describe(head)}; known formats: {known}")


_LEFT_OUT: Final = "of a directory, files with `rightcall.` in their name, such as `rightcall.json`, are left out"
_TESTS: Final = re.compile(rb"^tests:", re.MULTILINE)
_NODE_CONSOLE: Final = re.compile(rb"\s*\{\s+(?:resource|traceId): ")


def _broken(text: bytes) -> TraceError | None:
    """What is wrong with a file that was meant to be JSON, if it is not a good first line that is the matter."""
    if text.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        jsontext.decode(text.lstrip().split(b"\n", 1)[0])
    except jsontext.JSONError:
        try:
            jsontext.decode(text)
        except jsontext.JSONError as error:
            return TraceError(error.message, Where(line=error.line, column=error.column))
    return None


def _textual(container: str) -> str:
    return "UTF-8" if container.startswith("text") else "JSON or JSON lines"


def read(
    chunks: Iterable[bytes],
    *,
    format: str | None = None,
    file: str = NO_FILE,
    group_by: str | None = None,
    tool_name_at: str | None = None,
    tool_arguments_at: str | None = None,
) -> Iterator[Trajectory | TraceError]:
    """Every trajectory of a file, in order, from chunks of bytes (64 to 256 KiB are best).

    The format is detected unless it is named. `group_by` is `conversation`, `trace`, `file` or `attribute:KEY`; without
    it spans are grouped by conversation, and records stand as they are. `tool_name_at` and `tool_arguments_at` are
    paths into what spans of wrappers were given, such as `inputs.call.tool_name`. `UsageError` if one of all these is
    not known. Errors carry `file`.
    """
    chosen = None if format is None else find(format)
    return read_as(chosen, chunks, file, cutting_of(group_by, tool_name_at, tool_arguments_at))


def cutting_of(group_by: str | None, tool_name_at: str | None = None, tool_arguments_at: str | None = None) -> Cutting:
    """How files are read, by what `read` is told; `UsageError` for what it cannot be told."""
    by = None if group_by is None else cutting.group_by(group_by)
    return Cutting(by=by, tool_at=wrappers.tool_at(tool_name_at, tool_arguments_at))


def read_as(
    format_: Format | None, chunks: Iterable[bytes], file: str, cut: Cutting
) -> Iterator[Trajectory | TraceError]:
    """Every trajectory of a file, cut as `cut` says, in a format, also of another package; `None` has it detected.

    If the chunks are a `containers.Source`, it knows how far the reading has come.
    """
    source = chunks if isinstance(chunks, containers.Source) else containers.Source(chunks)
    given, failure = False, None
    try:
        for item in _items(source, format_, file, cut):
            given = True
            yield item if source.damage is None else source.marked(item)
    except MissingExtraError as error:
        raise error.within(file=file) from None
    except TraceError as error:
        failure = error
    if source.damage is None and failure is not None:
        raise failure.within(file=file)
    if source.damage is not None:
        # What was read stays; that it is not all is an error of its own, and the only one if nothing was.
        damage = source.damage.within(file=file)
        if not given:
            raise damage
        yield damage


def _items(
    source: containers.Source, format_: Format | None, file: str, cut: Cutting
) -> Iterator[Trajectory | TraceError]:
    head, chunks = documents.peek(source)
    if head.strip():
        chosen = format_ or FORMATS[_detected(head)]
        source.format = chosen.name
        yield from _cut(chosen, chunks, file, cut)


def _cut(format_: Format, chunks: Iterable[bytes], file: str, cut: Cutting) -> Iterator[Trajectory | TraceError]:
    if format_.cut is not None:
        items, wholes = format_.cut(chunks, file, cut), cutting.wholes_of_spans
    elif cut.tool_at is not None:
        raise TraceError(
            f"only in spans can the name of a tool be at a path such as `{cut.tool_at.path}`, and this is read as "
            f"`{format_.name}`; read it without one"
        )
    else:
        items, wholes = regrouping.regrouped(format_.read(chunks, file), cut.by, cut.keep), cutting.wholes_of_records
    for item in items:
        if cut.met is None or isinstance(item, TraceError):
            yield item
        else:
            yield cut.met.checked(item, wholes(item, cut.by), file)


def identities(chunks: Iterable[bytes], *, format: str | None = None) -> Iterator[str] | None:
    """The ids of the trajectories of a file, without reading them: `None` where that is not possible.

    Only native records, one a line, tell their id at once.
    """
    head, chunks = documents.peek(containers.Source(chunks))
    if not head.strip():
        return iter(())
    return native.identities(chunks) if (format or _detected(head)) == "native" else None


def find(name: str) -> Format:
    """The format of that name; `UsageError` with the nearest name if there is none."""
    if name not in FORMATS:
        known = ", ".join(f"`{known}`" for known in FORMATS)
        raise UsageError(f"no format `{name}`{did_you_mean(name, FORMATS)}; known formats: {known}")
    return FORMATS[name]


def read_object(
    value: Any,
    *,
    format: str | None = None,
    group_by: str | None = None,
    tool_name_at: str | None = None,
    tool_arguments_at: str | None = None,
) -> Trajectory:
    """The one trajectory that a Python value holds. `group_by` and what follows it are those of `read`.

    Takes a `Trajectory`, a native record, a list of calls in any known shape, messages, requests, responses,
    spans, JSON text of these, and the objects in which SDKs hold them: see `docs/objects.md`. `TraceError` with the
    path if the value is not JSON, or if it holds none or several trajectories.
    """
    if isinstance(value, Trajectory):
        return value
    cut = cutting_of(group_by, tool_name_at, tool_arguments_at)
    if format is None and (found := objects.readable_spans(value)):
        return objects.only(_of_spans(found, cut))
    chosen = None if format is None else find(format)
    try:
        return objects.only(read_as(chosen, [objects.document(value)], NO_FILE, cut))
    except RightcallError as error:
        raise error.out_of(NO_FILE) from error.__cause__


def _of_spans(found: list[Any], cut: Cutting) -> Iterator[Trajectory | TraceError]:
    from rightcall.traces import conventions
    from rightcall.traces.spans import readable

    return conventions.trajectories(map(readable.span, found), cut=cut)
