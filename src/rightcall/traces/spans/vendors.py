"""Exports that are spans by other names: Langfuse's observations, MLflow's traces, LangSmith's runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rightcall.traces.spans.attributes import decoded
from rightcall.traces.spans.model import Span
from rightcall.traces.spans.otlp import event, object_, objects, span
from rightcall.traces.spans.values import attributes, identifier, nanoseconds

_KEPT: Final = ("gen_ai.tool.", "model_request_parameters")
_THREADS: Final = ("session_id", "conversation_id", "thread_id")


def is_langfuse(value: dict[str, Any]) -> bool:
    """Whether a value is a trace with its observations, or one observation."""
    if isinstance(value.get("observations"), list):
        return isinstance(value.get("trace"), dict) or "sessionId" in value
    return _is_observation(value)


def _is_observation(value: dict[str, Any]) -> bool:
    return isinstance(value.get("type"), str) and value.keys() >= {"traceId", "startTime", "parentObservationId"}


def langfuse(value: dict[str, Any]) -> Iterator[Span]:
    """The observations of a trace, each as the span that Langfuse's own SDK would write."""
    trace = value.get("trace") if isinstance(value.get("trace"), dict) else value
    if _is_observation(value):
        yield _observation(value, {})
    else:
        for item in objects(value.get("observations")):
            yield _observation(item, object_(trace))


def _observation(value: dict[str, Any], trace: dict[str, Any]) -> Span:
    metadata = object_(decoded(value.get("metadata")))
    recorded = object_(decoded(metadata.get("attributes")))
    known = {
        "langfuse.observation.type": str(value.get("type")).lower(),
        "langfuse.observation.input": value.get("input"),
        "langfuse.observation.output": value.get("output"),
        "langfuse.observation.level": value.get("level"),
        "langfuse.observation.status_message": value.get("statusMessage"),
        "langfuse.observation.operation": recorded.get("ai.operationId"),
        "langfuse.observation.calls": _copied_calls(value),
        "langfuse.observation.tools": decoded(metadata.get("tools")),
        "langfuse.session.id": trace.get("sessionId") or value.get("sessionId"),
        "langfuse.trace.metadata": trace.get("metadata"),
    }
    scope = object_(decoded(metadata.get("scope")))
    return Span(
        trace_id=str(value.get("traceId") or trace.get("id") or ""),
        span_id=str(value.get("id") or ""),
        parent_id=str(value.get("parentObservationId") or ""),
        name=str(value.get("name") or ""),
        start=nanoseconds(value.get("startTime")),
        end=nanoseconds(value.get("endTime")),
        attributes={**_foreign(recorded), **_present(known)},
        failed=value.get("level") == "ERROR",
        message=str(value.get("statusMessage") or ""),
        scope=str(scope.get("name") or ""),
    )


def _copied_calls(value: dict[str, Any]) -> list[Any] | None:
    """The calls that Langfuse found in an output, which need not be in the export itself."""
    names = value.get("toolCallNames")
    calls = objects([decoded(call) for call in value.get("toolCalls") or () if isinstance(call, str | dict)])
    if not isinstance(names, list) or len(names) != len(calls):
        return None
    return [{**call, "name": name} for name, call in zip(names, calls, strict=True)] or None


def _foreign(recorded: dict[str, Any]) -> dict[str, Any]:
    """The attributes of the span that an observation was made of, save those that would make it another's."""
    return {key: value for key, value in recorded.items() if key.startswith(_KEPT)}


def _present(known: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in known.items() if value is not None}


def is_mlflow(value: dict[str, Any]) -> bool:
    """Whether a value is a trace of MLflow, or a row of a table of them."""
    inner = _trace(value)
    return isinstance(inner.get("info"), dict) and isinstance(object_(inner.get("data")).get("spans"), list)


def _trace(value: dict[str, Any]) -> dict[str, Any]:
    if "trace" in value and "info" not in value:
        return object_(decoded(value["trace"]))
    if isinstance(value.get("spans"), list) and value.keys() & {"request_id", "trace_id"}:
        return {"info": value, "data": {"spans": value["spans"]}}
    return value


def mlflow(value: dict[str, Any]) -> Iterator[Span]:
    """The spans of a trace; every attribute is JSON text."""
    inner = _trace(value)
    metadata = object_(inner["info"].get("trace_metadata") or inner["info"].get("request_metadata"))
    session = metadata.get("mlflow.trace.session")
    for item in objects(object_(inner.get("data")).get("spans")):
        item = _second_schema(item) if isinstance(item.get("context"), dict) else item
        known = {key: decoded(cell) for key, cell in attributes(item.get("attributes")).items()}
        yield span({**item, "attributes": {**known, **_present({"mlflow.trace.session": session})}})


def _second_schema(item: dict[str, Any]) -> dict[str, Any]:
    """A span of MLflow's older schema, by the names of the newer one."""
    return {
        **item,
        "trace_id": item["context"].get("trace_id"),
        "span_id": item["context"].get("span_id"),
        "parent_span_id": item.get("parent_id"),
        "start_time_unix_nano": item.get("start_time"),
        "end_time_unix_nano": item.get("end_time"),
        "status": {"code": item.get("status_code"), "message": item.get("status_message")},
    }


def is_logfire(value: dict[str, Any]) -> bool:
    """Whether a value is a row of a query of Logfire."""
    return value.keys() >= {"span_name", "trace_id", "span_id", "attributes"}


def logfire(value: dict[str, Any]) -> Span:
    """One row of a query of Logfire; `attributes` may be JSON text."""
    return Span(
        trace_id=identifier(value.get("trace_id")),
        span_id=identifier(value.get("span_id")),
        parent_id=identifier(value.get("parent_span_id")),
        name=str(value.get("span_name") or ""),
        start=nanoseconds(value.get("start_timestamp")),
        end=nanoseconds(value.get("end_timestamp")),
        attributes=object_(decoded(value.get("attributes"))),
        events=tuple(map(event, objects(decoded(value.get("otel_events"))))),
        failed=value.get("is_exception") is True or value.get("otel_status_code") == "ERROR",
        message=str(value.get("otel_status_message") or value.get("exception_message") or ""),
        scope=str(value.get("otel_scope_name") or ""),
    )


def is_langsmith(value: dict[str, Any]) -> bool:
    """Whether a value is a run, or a batch of runs that were posted and patched."""
    if value.keys() & {"post", "patch"} and value.keys() <= {"post", "patch"}:
        return all(isinstance(runs, list) for runs in value.values())
    return isinstance(value.get("run_type"), str) and "id" in value and bool(value.keys() & {"inputs", "trace_id"})


def langsmith(value: dict[str, Any]) -> Iterator[Span]:
    """The runs in order of their beginning, with those nested in them; a patch completes the run that was posted."""
    waiting = [*objects(value.get("post")), *objects(value.get("patch"))] or [value]
    while waiting:
        run = waiting.pop(0)
        if "id" in run:
            yield _run(run)
        waiting += [{"parent_run_id": run.get("id"), **child} for child in objects(run.get("child_runs"))]


def _run(value: dict[str, Any]) -> Span:
    extra = object_(value.get("extra"))
    metadata = object_(extra.get("metadata"))
    error = value.get("error")
    known = {
        "langsmith.span.kind": value.get("run_type"),
        "langsmith.inputs": value.get("inputs") or None,
        "langsmith.outputs": value.get("outputs") or None,
        "langsmith.tools": object_(extra.get("invocation_params")).get("tools"),
        "langsmith.metadata.session_id": next((metadata[key] for key in _THREADS if metadata.get(key)), None),
        "metadata": metadata or None,
    }
    return Span(
        trace_id=str(value.get("trace_id") or ""),
        span_id=str(value.get("id") or ""),
        parent_id=str(value.get("parent_run_id") or ""),
        name=str(value.get("name") or ""),
        start=nanoseconds(value.get("start_time")),
        end=nanoseconds(value.get("end_time")),
        attributes=_present(known),
        failed=isinstance(error, str) and bool(error),
        message=str(error).partition("\n")[0] if isinstance(error, str) else "",
    )
