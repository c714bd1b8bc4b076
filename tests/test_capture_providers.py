"""The provider of OpenTelemetry that a block listens to: none, another, one that drops spans."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ConcurrentMultiSpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased

import rightcall
from rightcall.errors import UsageError
from support.tracing import fresh, lookup_order, names, statuses

pytestmark = pytest.mark.usefixtures(fresh.__name__)


def test_a_configured_provider_is_used_and_not_filled() -> None:
    """Its own exporter goes on, and a thousand blocks leave one processor."""
    provider, exported = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exported))
    trace.set_tracer_provider(provider)
    for number in range(1000):
        with rightcall.capture() as trajectory:
            lookup_order(number)
        assert [call.arguments for call in trajectory.tool_calls] == [{"order_id": number}]
    assert trace.get_tracer_provider() is provider
    assert len(exported.get_finished_spans()) == 1000
    assert len(provider._active_span_processor._span_processors) == 2


def test_a_provider_that_calls_its_processors_in_threads_is_heard() -> None:
    """The processors run elsewhere than the span begins; the block is taken along."""
    provider = TracerProvider(active_span_processor=ConcurrentMultiSpanProcessor(num_threads=1))
    trace.set_tracer_provider(provider)
    with rightcall.capture() as trajectory:
        lookup_order(1)
    provider.shutdown()
    assert (names(trajectory), trajectory.gaps) == (["lookup_order"], ())


def test_another_provider_may_be_named() -> None:
    """Spans of that provider count, and those of tools are written to it inside the block."""
    provider = TracerProvider()
    with rightcall.capture(tracer_provider=provider) as trajectory:
        lookup_order(1)
        provider.get_tracer("tests").start_span(
            "chat", attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "a"}
        ).end()
    assert names(trajectory) == ["lookup_order", "a"]


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        (trace.NoOpTracerProvider(), "`opentelemetry.trace.NoOpTracerProvider`, which takes no span processors"),
        (TracerProvider(sampler=ALWAYS_OFF), "its sampler is `AlwaysOffSampler`"),
        (TracerProvider(sampler=ParentBased(TraceIdRatioBased(0))), "ParentBased{root:TraceIdRatioBased{0"),
    ],
    ids=["foreign", "off", "none"],
)
def test_a_provider_that_keeps_nothing_is_refused(provider: trace.TracerProvider, words: str) -> None:
    """Before the agent runs: such a block could only end without a call (G3)."""
    trace.set_tracer_provider(provider)
    with pytest.raises(UsageError) as raised, rightcall.capture():
        raise AssertionError("the block does not begin")
    assert words in str(raised.value)


def test_a_provider_that_keeps_some_spans_leaves_a_gap() -> None:
    """Which calls it dropped is not known (G12)."""
    trace.set_tracer_provider(TracerProvider(sampler=TraceIdRatioBased(0.5)))
    with rightcall.capture() as trajectory:
        for number in range(64):
            lookup_order(number)
    assert trajectory.gaps == ("the tracer provider keeps only some spans: its sampler is `TraceIdRatioBased{0.5}`",)
    with rightcall.capture() as empty:
        pass
    assert "keeps only some spans" in statuses(empty, expected_tool_calls=[])[0][1]


@pytest.mark.parametrize(("variable", "value"), [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_SAMPLER", "always_off")])
def test_a_switched_off_opentelemetry_is_refused(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    """The environment decides over the provider that a block configures, too (G3)."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match="spans cannot be captured"), rightcall.capture():
        raise AssertionError("the block does not begin")
