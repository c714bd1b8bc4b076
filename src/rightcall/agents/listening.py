"""Listening to the OpenTelemetry of this process: one processor a provider, whatever the number of blocks.

https://opentelemetry-python.readthedocs.io/en/latest/sdk/trace.html
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from typing import Any, Final

from opentelemetry import _logs, trace
from opentelemetry._logs._internal import ProxyLoggerProvider
from opentelemetry.context import Context
from opentelemetry.sdk import _logs as sdk_logs
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider

from rightcall.agents import recording
from rightcall.errors import UsageError

_TRACE_IDS: Final = (1, 2**128 - 1)
"""Samplers that go by the trace id keep the one only if they keep all, or the other does."""


class _Spans(SpanProcessor):
    """Gives each span that begins to the blocks it belongs to; it is read when the block ends."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        recording.add_span(_key(span.get_span_context()), _key(span.parent), span)

    def on_end(self, span: ReadableSpan) -> None:
        """Nothing: the block holds the span itself."""


class _Records(sdk_logs.LogRecordProcessor):
    """Gives each log record of GenAI to the blocks it belongs to: some instrumentations put the messages there."""

    def on_emit(self, log_record: sdk_logs.ReadWriteLogRecord) -> None:
        record = log_record.log_record
        if (record.event_name or str((record.attributes or {}).get("event.name"))).startswith("gen_ai."):
            recording.add_record((record.trace_id or 0, record.span_id or 0), record)

    def shutdown(self) -> None:
        """Nothing is held."""

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Nothing is held back."""
        return True


def _key(found: trace.SpanContext | None) -> recording.Key:
    return (found.trace_id, found.span_id) if found is not None else (0, 0)


_lock: Final = threading.Lock()
_heard: list[weakref.ref[Any]] = []


def listen(provider: trace.TracerProvider | None) -> tuple[str, ...]:
    """Hear the spans of the provider, of the configured one if it is `None`, and the log records.

    Where none is configured, one is. Returns the gaps that are there from the beginning. `UsageError` if the provider
    is not one that spans can be heard from, or keeps none.
    """
    with _lock:
        chosen = provider or _configured()
        if not callable(add := getattr(chosen, "add_span_processor", None)):
            raise UsageError(f"spans cannot be captured: the tracer provider is {_kind(chosen)}, {_NEEDED}")
        if isinstance(chosen.get_tracer("rightcall"), trace.NoOpTracer):
            raise UsageError("spans cannot be captured: OpenTelemetry is switched off; unset `OTEL_SDK_DISABLED`")
        gaps = tuple(_sampling(chosen))
        if _is_new(chosen):
            add(_Spans())
        _hear_records()
    return gaps


_NEEDED: Final = (
    "which takes no span processors; configure `opentelemetry.sdk.trace.TracerProvider`, or name one with"
    " `capture(tracer_provider=…)`"
)


def _kind(value: Any) -> str:
    return f"`{type(value).__module__}.{type(value).__qualname__}`"


def _configured() -> trace.TracerProvider:
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        trace.set_tracer_provider(TracerProvider())
    return trace.get_tracer_provider()


def _is_new(provider: Any) -> bool:
    """Whether the provider is not heard yet; from now on it is."""
    _heard[:] = [known for known in _heard if known() is not None]
    if any(known() is provider for known in _heard):
        return False
    _heard.append(weakref.ref(provider))
    return True


def _hear_records() -> None:
    """Hear log records, unless what is configured cannot be heard: then model spans show that their calls miss."""
    if isinstance(_logs.get_logger_provider(), ProxyLoggerProvider):
        _logs.set_logger_provider(sdk_logs.LoggerProvider())
    provider = _logs.get_logger_provider()
    if isinstance(provider, sdk_logs.LoggerProvider) and _is_new(provider):
        provider.add_log_record_processor(_Records())


def _sampling(provider: Any) -> Iterator[str]:
    """The gap that a sampler leaves which keeps some spans only; `UsageError` if it keeps none."""
    sampler = getattr(provider, "sampler", None) or getattr(getattr(provider, "provider", None), "sampler", None)
    if sampler is None:
        return
    results = [sampler.should_sample(None, trace_id, "rightcall.capture") for trace_id in _TRACE_IDS]
    kept = [result.decision.is_recording() for result in results]
    if not any(kept):
        told = f"its sampler is `{sampler.get_description()}`"
        raise UsageError(f"spans cannot be captured: the tracer provider keeps none here, {told}; {_KEEP}")
    if not all(kept):
        yield f"the tracer provider keeps only some spans: its sampler is `{sampler.get_description()}`"


_KEEP: Final = "let it keep all in tests, such as with `OTEL_TRACES_SAMPLER=always_on`"
