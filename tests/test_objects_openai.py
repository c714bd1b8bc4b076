"""Objects of OpenAI's SDK: chat completions, responses, their parsed forms, and streams that were collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pydantic
import pytest

import rightcall
from rightcall.errors import TraceError
from support.objects import ASKED, PARALLEL, RETRY, asked, assert_reads_like, became
from support.staged.server import serve


@pytest.fixture
def client() -> Iterator[openai.OpenAI]:
    """A client whose model plays a script: first two calls at once, then one, one again, and a text."""
    with serve(RETRY) as model, openai.OpenAI(api_key="none", base_url=f"{model.url}/v1", max_retries=0) as client:
        yield client


class get_weather(pydantic.BaseModel):  # noqa: N801  # a tool is named after its class
    """The weather in a city."""

    city: str


CHAT: dict[str, Any] = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Weather?"}]}
INPUT: dict[str, Any] = {"model": "gpt-4.1", "input": "Weather?"}


def test_a_chat_completion_and_each_part_of_it_tell_the_calls(client: openai.OpenAI) -> None:
    """The completion, its choice, the message, and the list of calls are the same two calls (G9)."""
    completion = client.chat.completions.create(**CHAT)
    message = completion.choices[0].message
    for value in (completion, completion.choices, completion.choices[0], message, [message], message.tool_calls):
        assert asked(value) == ASKED
    assert message.tool_calls is not None
    assert asked(message.tool_calls[0]) == ASKED[:1]
    assert_reads_like(completion, completion.model_dump_json(), completion.to_json())
    assert_reads_like(message, message.model_dump_json(exclude_none=True))


def test_messages_may_be_mappings_and_objects_in_one_list(client: openai.OpenAI) -> None:
    """A program appends the message of the SDK to its own mappings; the results belong to its calls (G13)."""
    message = client.chat.completions.create(**CHAT).choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "mild"} for call in PARALLEL]
    history = [*CHAT["messages"], message, *results]
    assert became(history) == [("get_weather", "ok"), ("get_weather", "ok")]
    assert became({"messages": history}) == became(history)
    assert_reads_like(history, [*CHAT["messages"], message.model_dump(), *results])


def test_parsed_arguments_are_no_calls_of_their_own(client: openai.OpenAI) -> None:
    """Parsing adds objects of the program's own classes beside the text, and each call still counts once (G9)."""
    parsed = client.chat.completions.parse(**CHAT, tools=[openai.pydantic_function_tool(get_weather)])
    assert parsed.choices[0].message.tool_calls is not None
    assert isinstance(parsed.choices[0].message.tool_calls[0].function.parsed_arguments, get_weather)
    assert asked(parsed) == ASKED
    assert_reads_like(parsed, parsed.model_dump_json())


def test_chunks_of_a_stream_are_put_together(client: openai.OpenAI) -> None:
    """A list of chunks is one answer (G9)."""
    chunks = list(client.chat.completions.create(**CHAT, stream=True))
    assert asked(chunks) == ASKED
    assert_reads_like(chunks, [chunk.model_dump(mode="json") for chunk in chunks])


def test_events_of_the_stream_helper_tell_what_their_chunks_tell(client: openai.OpenAI) -> None:
    """The events that the helper adds repeat the chunks, and are left out; so does the final completion (G9)."""
    with client.chat.completions.stream(**CHAT) as stream:
        events = list(stream)
        final = stream.get_final_completion()
    assert asked(events) == ASKED == asked(final)


def test_events_that_hold_no_chunk_are_no_answer_without_calls(client: openai.OpenAI) -> None:
    """Where the chunks were filtered out nothing was recorded, which is not that nothing was called."""
    with client.chat.completions.stream(**CHAT) as stream:
        others = [event for event in stream if event.type != "chunk"]
    with pytest.raises(TraceError, match="holds nothing that a model said"):
        rightcall.read(others)


def test_a_response_and_its_output_tell_the_calls(client: openai.OpenAI) -> None:
    """The response, its items, one item, and items among mappings (G9, G13)."""
    response = client.responses.create(**INPUT)
    result = {"type": "function_call_output", "call_id": PARALLEL[0].id, "output": "mild"}
    history = [{"role": "user", "content": "Weather?"}, *response.output, result]
    assert asked(response) == ASKED == asked(response.output)
    assert asked(response.output[1]) == ASKED[1:]
    assert became(history) == [("get_weather", "ok"), ("get_weather", "requested")]
    assert_reads_like(response, response.model_dump_json())
    assert_reads_like(history, [history[0], *(item.model_dump() for item in response.output), result])


def test_events_of_a_response_are_put_together(client: openai.OpenAI) -> None:
    """Events of the API, and those of the helper, whose classes its own dump warns about (G9)."""
    events = list(client.responses.create(**INPUT, stream=True))
    assert asked(events) == ASKED
    assert_reads_like(events, [event.model_dump(mode="json") for event in events])
    with client.responses.stream(**INPUT) as stream:
        helped = list(stream)
        final = stream.get_final_response()
    assert asked(helped) == [("lookup_order", {"order_id": 7})] == asked(final)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda client: client.chat.completions.stream(**CHAT), "`ChatCompletionStreamManager`.*inside `with … as`"),
        (lambda client: client.responses.with_raw_response.create(**INPUT), "an object of type `LegacyAPIResponse`"),
        (lambda client: client, "an object of type `OpenAI`"),
    ],
    ids=["manager", "raw response", "client"],
)
def test_what_is_no_answer_is_refused(client: openai.OpenAI, make: Any, words: str) -> None:
    """The error says what was found and what to give."""
    with pytest.raises(TraceError, match=words):
        rightcall.read(make(client))


def test_a_stream_that_was_not_collected_is_refused_and_not_consumed(client: openai.OpenAI) -> None:
    """Whoever gives the stream itself is told to collect it, and still can."""
    stream = client.chat.completions.create(**CHAT, stream=True)
    with pytest.raises(TraceError, match=r"`Stream`.*give `list\(…\)`"):
        rightcall.read(stream)
    assert asked(list(stream)) == ASKED
