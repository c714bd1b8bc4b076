"""One thing told in several places: a call is lost in none of them, or the gap is said."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory

TRACE: Final = "0af7651916cd43dd8448eb211c80319c"


def pair(key: str, value: Any) -> dict[str, Any]:
    """An attribute of OTLP; a mapping is an `AnyValue` already."""
    return {"key": key, "value": value if isinstance(value, dict) else {"stringValue": value}}


def span(start: int, *attributes: dict[str, Any], **known: Any) -> dict[str, Any]:
    """A span of one second."""
    return {
        "traceId": TRACE,
        "spanId": f"{start:016x}",
        "name": "span",
        "startTimeUnixNano": f"{start}000000000",
        "endTimeUnixNano": f"{start + 1}000000000",
        "attributes": list(attributes),
        **known,
    }


def messages(*names: str) -> str:
    """What a model puts out that asks for these calls."""
    parts = [{"type": "tool_call", "id": name, "name": name, "arguments": {}} for name in names]
    return json.dumps([{"role": "assistant", "parts": parts, "finish_reason": "tool_call"}])


CHAT: Final = pair("gen_ai.operation.name", "chat")
AGENT: Final = pair("gen_ai.operation.name", "invoke_agent")


def chat(start: int, output: Any, **known: Any) -> dict[str, Any]:
    """A model span."""
    return span(start, CHAT, pair("gen_ai.output.messages", output), **known)


def ran(start: int, name: Any, **known: Any) -> dict[str, Any]:
    """A span of a tool."""
    return span(start, pair("gen_ai.operation.name", "execute_tool"), pair("gen_ai.tool.name", name), **known)


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def read(*values: Any) -> Trajectory:
    (found,) = traces.read(["\n".join(map(json.dumps, values)).encode()])
    assert isinstance(found, Trajectory)
    return found


def names(found: Trajectory) -> list[str]:
    return [call.name for call in found.tool_calls or ()]


@pytest.mark.parametrize("identity", ["ab" * 8, "0" * 16, "AAAAAAAAAAA=", ""])
def test_spans_that_only_share_an_id_are_all_there(identity: str) -> None:
    """Copies begin together; zero is no id at all (G12)."""
    found = read(request(chat(1, messages("a"), spanId=identity), ran(5, "b", spanId=identity)))
    assert (names(found), found.gaps) == (["a", "b"], ())


def test_a_span_that_ends_as_another_is_another() -> None:
    """Two that began at once and have other names are two."""
    known = {"spanId": "ab" * 8, "startTimeUnixNano": "1000000000"}
    found = read(request(chat(1, messages("a"), **known), {**ran(1, "b", **known), "name": "other"}))
    assert names(found) == ["a", "b"]


def test_what_copies_of_a_span_lost_is_lost() -> None:
    """The more complete copy does not hide that the other had attributes dropped (G12)."""
    found = read(request(chat(1, messages("a"), droppedAttributesCount="2"), chat(1, messages("a"))))
    assert found.gaps == ("span 0000000000000001 lost 2 attributes or events to a limit of the exporter",)


@pytest.mark.parametrize("key", ["gen_ai.output.messages", "gen_ai.operation.name"])
def test_an_attribute_with_two_values_is_a_gap(key: str) -> None:
    """Nobody knows which was meant (G8, G12)."""
    item = chat(1, messages("a"))
    found = read(request({**item, "attributes": [*item["attributes"], pair(key, messages("b"))]}))
    assert found.gaps[:1] == (f"span 0000000000000001 has `{key}` twice, with different values",)


def test_an_attribute_that_is_given_again_is_one() -> None:
    """Exporters repeat attributes."""
    item = chat(1, messages("a"))
    found = read(request({**item, "attributes": item["attributes"] * 2}))
    assert (names(found), found.gaps) == (["a"], ())


def test_a_key_with_two_values_inside_an_attribute_is_a_gap() -> None:
    """The same of what is nested (G8, G12)."""
    inner = {"kvlistValue": {"values": [pair("role", "assistant"), pair("parts", "x"), pair("parts", "y")]}}
    found = read(request(chat(1, {"arrayValue": {"values": [inner]}}), chat(3, messages("a"))))
    assert found.gaps[:1] == ("span 0000000000000001 has `parts` twice, with different values",)


def test_bytes_that_are_text_are_text() -> None:
    """A name and messages may come as bytes."""

    def raw(text: str) -> dict[str, Any]:
        return {"bytesValue": base64.b64encode(text.encode()).decode()}

    found = read(request(chat(1, raw(messages("a"))), ran(3, raw("b"))))
    assert (names(found), found.gaps) == (["a", "b"], ())


@pytest.mark.parametrize(
    "output",
    [
        {"arrayValue": {"values": [{"stringValue": json.dumps(json.loads(messages("a"))[0])}]}},
        json.dumps([{"role": "assistant", "parts": json.dumps(json.loads(messages("a"))[0]["parts"])}]),
        json.dumps({"0": json.loads(messages("a"))[0]}),
    ],
    ids=["an array of texts", "parts as text", "an object of indices"],
)
def test_messages_are_found_in_any_wrapping(output: Any) -> None:
    """Attributes hold no arrays of objects, so exporters write JSON where they can."""
    found = read(request(chat(1, output)))
    assert (names(found), found.gaps) == (["a"], ())


@pytest.mark.parametrize(
    "part", [{"type": "future", "name": "b", "arguments": {}}, {"type": "TOOL_CALL", "name": "b", "arguments": {}}]
)
def test_a_part_that_only_looks_like_a_call_is_a_gap(part: dict[str, Any]) -> None:
    """A type that no reader knows may be that of calls (G12)."""
    found = read(request(chat(1, json.dumps([{"role": "assistant", "parts": [part]}]))))
    (gap,) = found.gaps
    assert (names(found), gap.endswith("looks like calls, which are not read")) == ([], True)


@pytest.mark.parametrize("older", ["scope_spans", "instrumentationLibrarySpans"])
def test_spans_under_both_names_are_read(older: str) -> None:
    """While OTLP renamed a field, exporters wrote both."""
    scope = {"scopeSpans": [{"spans": [chat(1, messages("a"))]}], older: [{"spans": [chat(3, messages("b"))]}]}
    found = read({"resourceSpans": [scope], "batches": [{"scopeSpans": [{"spans": [chat(5, messages("c"))]}]}]})
    assert names(found) == ["a", "b", "c"]


BY_OTHERS: Final = {
    "OpenInference": [
        pair("openinference.span.kind", "LLM"),
        pair("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "a"),
    ],
    "OpenInference, without calls": [
        pair("openinference.span.kind", "LLM"),
        pair("llm.output_messages.0.message.content", "Done."),
    ],
    "Vercel AI SDK": [pair("ai.operationId", "ai.generateText.doGenerate"), pair("ai.response.text", "Done.")],
}


@pytest.mark.parametrize("other", BY_OTHERS)
def test_calls_that_one_convention_shows_and_another_does_not_are_a_gap(other: str) -> None:
    """The first convention has the word, but not alone (G12)."""
    item = chat(1, messages("b"))
    found = read(request({**item, "attributes": [*item["attributes"], *BY_OTHERS[other]]}))
    gap = "span 0000000000000001 shows calls in one place that it does not show in another: `b`"
    assert found.gaps == (gap,)


@pytest.mark.parametrize("name", ["gen_ai.choice", "gen_ai.client.inference.operation.details"])
def test_calls_that_only_an_event_shows_are_a_gap(name: str) -> None:
    """Attributes of the span go before its events, which may tell more (G12)."""
    message = pair("message", json.dumps({"role": "assistant", "tool_calls": [{"function": {"name": "b"}}]}))
    event = {"name": name, "attributes": [message, pair("gen_ai.output.messages", messages("b"))]}
    found = read(request(chat(1, messages("a"), events=[event])))
    gap = "span 0000000000000001 shows calls in one place that it does not show in another: `b`"
    assert (names(found), found.gaps) == (["a"], (gap,))


@pytest.mark.parametrize("inside", [chat(2, messages("a")), ran(2, "a")], ids=["a model span", "a tool span"])
@pytest.mark.parametrize("parent", [f"{1:016x}", ""], ids=["inside", "beside"])
def test_calls_that_only_an_agent_sums_up_are_a_gap(inside: dict[str, Any], parent: str) -> None:
    """What the agent says of its run has a call that no span shows (G12)."""
    around = span(1, AGENT, pair("gen_ai.output.messages", messages("a", "b")))
    found = read(request(around, {**inside, "parentSpanId": parent}))
    assert (names(found), found.gaps) == (["a"], ("span 0000000000000001 tells of calls that no span shows: `b`",))


def test_a_chain_that_another_convention_takes_for_a_model_hides_no_calls() -> None:
    """It only stands around others, so its calls are no calls of its own, but a gap (G12)."""
    item = chat(1, messages("b"))
    chain = {**item, "attributes": [*item["attributes"], pair("openinference.span.kind", "CHAIN")]}
    found = read(request(chain, chat(3, messages("a"))))
    assert (names(found), found.gaps) == (["a"], ("span 0000000000000001 tells of calls that no span shows: `b`",))


@pytest.mark.parametrize("kind", ["stringValue", "bytesValue"])
def test_the_body_of_a_record_may_be_json_text(kind: str) -> None:
    """Logging libraries take text only."""
    message = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}
    text = json.dumps({"index": 0, "message": message})
    body = text if kind == "stringValue" else base64.b64encode(text.encode()).decode()
    record = {"eventName": "gen_ai.choice", "traceId": TRACE, "spanId": "ab" * 8, "body": {kind: body}}
    found = read({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]})
    assert (names(found), found.gaps) == (["a"], ())


def test_a_choice_that_says_nothing_is_no_answer() -> None:
    """What the model put out was not captured (G12)."""
    (found,) = traces.read(
        [json.dumps(request(span(1, CHAT, events=[{"name": "gen_ai.choice", "attributes": []}]))).encode()]
    )
    assert isinstance(found, Trajectory)
    assert found.gaps == ("span 0000000000000001 shows nothing of what the model put out: content was not captured",)


def test_thousands_of_spans_of_one_id_are_all_there() -> None:
    """And the search for copies among them has a limit."""
    spans = [ran(number, f"t{number}", spanId="ab" * 8) for number in range(3000)]
    assert len(names(read(request(*spans, spans[-1])))) == 3000
