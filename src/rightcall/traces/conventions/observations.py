"""Conventions that put whole inputs and outputs on a span and say in one attribute what it is.

Langfuse (`langfuse.observation.*`), MLflow (`mlflow.span*`), LangSmith (`langsmith.*`): the inputs of a model are a
request or its messages, the outputs a response or its messages, those of a tool its arguments and its result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallStatus, ToolSpec
from rightcall.traces import toolspecs
from rightcall.traces.conventions import foreign, genai, output_tools
from rightcall.traces.conventions.carriers import bare, carried, literal, outcome, unboxed
from rightcall.traces.conventions.model import Around, Asked, Part, asked
from rightcall.traces.conversation import structured
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Span, child, decoded, text

_MODELS: Final = frozenset({"generation", "llm", "chat_model"})


class Keys(msgspec.Struct, frozen=True):
    """Where a convention writes the kind of a span, its inputs and its outputs."""

    kind: str
    given: tuple[str, ...]
    result: tuple[str, ...]


LANGFUSE: Final = Keys("langfuse.observation.type", ("langfuse.observation.input",), ("langfuse.observation.output",))
MLFLOW: Final = Keys("mlflow.spanType", ("mlflow.spanInputs",), ("mlflow.spanOutputs",))
LANGSMITH: Final = Keys(
    "langsmith.span.kind", ("langsmith.inputs", "gen_ai.prompt"), ("langsmith.outputs", "gen_ai.completion")
)


def reader(keys: Keys) -> Callable[[Span], Part | None]:
    """What says what a span is, if it has the kind of this convention."""
    return lambda span: _read(span, keys)


def _read(span: Span, keys: Keys) -> Part | None:
    kind = decoded(child(span.attributes, keys.kind))
    if not isinstance(kind, str) or not kind:
        return None
    kind = kind.lower()
    given, result = _found(span, keys.given), _found(span, keys.result)
    if kind in _MODELS and not _is_whole_run(span):
        return _asked(span, given, result)
    given = _older(given) if keys is LANGSMITH else given
    run = _execution(span, given, unboxed(result) if keys is LANGSMITH else result)
    if kind == "tool":
        return run
    return Around(agent=span.name if kind == "agent" else None, perhaps=run)


def _older(given: Any) -> Any:
    """Inputs of a tool of LangSmith; older ones hold them as Python's text of an object."""
    if isinstance(given, dict) and given.keys() == {"input"}:
        inner = literal(given["input"])
        return inner if isinstance(inner, dict) else given
    return given


def _found(span: Span, keys: tuple[str, ...]) -> Any:
    found = (decoded(child(span.attributes, key)) for key in keys)
    return next((value for value in found if value is not UNSET and value is not None), None)


def _is_whole_run(span: Span) -> bool:
    """The Vercel AI SDK puts one span around all model calls of a run, which repeats the last of them."""
    operation = text(span.attributes, "langfuse.observation.operation")
    return operation is not None and not operation.endswith((".doGenerate", ".doStream"))


def _asked(span: Span, given: Any, result: Any) -> Asked:
    said = foreign.output(result, "not_captured" if span.dropped else "ok")
    copies = child(span.attributes, "langfuse.observation.calls")
    if copies is not UNSET and not any(message.calls for message in said.output):
        said = foreign.output({"role": "assistant", "tool_calls": copies})
    said = msgspec.structs.replace(said, history=foreign.messages(given, "user"), reasons=_reasons(result))
    return output_tools.told(span, asked(said, _tools(span, given)))


def _reasons(result: Any) -> tuple[str, ...]:
    choices = result.get("choices") if isinstance(result, dict) else result
    first = choices[0] if isinstance(choices, list) and choices else None
    reason = text(first, "finish_reason")
    return (reason,) if reason else ()


def _tools(span: Span, given: Any) -> tuple[ToolSpec, ...]:
    places = (
        decoded(child(span.attributes, "mlflow.chat.tools")),
        child(given, "tools"),
        child(given, "config.tools"),
        child(span.attributes, "langsmith.tools"),
        child(span.attributes, "langfuse.observation.tools"),
    )
    return next((found for place in places if (found := toolspecs.tools(place))), ())


def _execution(span: Span, given: Any, result: Any) -> Execution:
    came = outcome(result)
    level = text(span.attributes, "langfuse.observation.level")
    failed = span.failed or came.failed or level == "ERROR"
    status: CallStatus = "error" if failed else "ok"
    said = text(span.attributes, "langfuse.observation.status_message")
    return Execution(
        name=text(span.attributes, "gen_ai.tool.name") or bare(span.name),
        arguments=carried(given),
        id=text(span.attributes, "gen_ai.tool.call.id") or came.id,
        result=structured(came.value),
        status=status,
        error=(said or genai.error(span, came.value)) if failed else None,
    )
