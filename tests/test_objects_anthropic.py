"""Objects of Anthropic's SDK: messages, blocks, and streams that were collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

import rightcall
from rightcall.errors import TraceError
from support.objects import ASKED, PARALLEL, RETRY, asked, assert_reads_like, became
from support.staged.server import serve

QUESTION: dict[str, Any] = {"role": "user", "content": "Weather?"}
REQUEST: dict[str, Any] = {"model": "claude-scripted", "max_tokens": 100, "messages": [QUESTION]}


@pytest.fixture
def client() -> Iterator[anthropic.Anthropic]:
    """A client whose model plays a script: first two calls at once, then one, one again, and a text."""
    with serve(RETRY) as model, anthropic.Anthropic(api_key="none", base_url=model.url, max_retries=0) as client:
        yield client


@pytest.mark.parametrize("of", ["messages", "beta"])
def test_a_message_and_its_blocks_tell_the_calls(client: anthropic.Anthropic, of: str) -> None:
    """The message, its content, and one block of it (G9)."""
    messages = client.messages if of == "messages" else client.beta.messages
    message = messages.create(**REQUEST)
    assert asked(message) == ASKED == asked(message.content)
    assert asked(message.content[1]) == ASKED[1:]
    assert rightcall.read(message.content[1]).warnings == ()
    assert_reads_like(message, message.model_dump_json(), message.to_json())


def test_blocks_may_stand_in_a_list_of_mappings(client: anthropic.Anthropic) -> None:
    """A program appends the content of the answer to its own mappings; the results belong to its calls (G13)."""
    message = client.messages.create(**REQUEST)
    bad = {"type": "tool_result", "tool_use_id": PARALLEL[0].id, "content": "no", "is_error": True}
    good = {"type": "tool_result", "tool_use_id": PARALLEL[1].id, "content": "mild"}
    history = [QUESTION, {"role": "assistant", "content": message.content}, {"role": "user", "content": [bad, good]}]
    assert became(history) == [("get_weather", "error"), ("get_weather", "ok")]
    dumped = {"role": "assistant", "content": [block.model_dump() for block in message.content]}
    assert_reads_like(history, [history[0], dumped, history[2]])


def test_events_of_a_stream_are_put_together(client: anthropic.Anthropic) -> None:
    """A list of the events of the API is one answer (G9)."""
    events = list(client.messages.create(**REQUEST, stream=True))
    assert asked(events) == ASKED
    assert_reads_like(events, [event.model_dump(mode="json") for event in events])


@pytest.mark.parametrize("of", ["messages", "beta"])
def test_events_of_the_stream_helper_tell_no_call_twice(client: anthropic.Anthropic, of: str) -> None:
    """What the helper adds repeats the events of the API; the final message tells the same (G9)."""
    messages = client.messages if of == "messages" else client.beta.messages
    with messages.stream(**REQUEST) as stream:
        events = list(stream)
        final = stream.get_final_message()
    assert {"input_json", "content_block_delta"} <= {event.type for event in events}
    assert asked(events) == ASKED == asked(final)
    assert_reads_like(final, final.model_dump_json())


@pytest.mark.parametrize("given", ["stream", "manager"])
def test_a_stream_that_was_not_collected_is_refused(client: anthropic.Anthropic, given: str) -> None:
    """The error says what was found and what to give."""
    value: Any = client.messages.stream(**REQUEST)
    if given == "stream":
        with value as stream, pytest.raises(TraceError, match=r"`MessageStream`.*give `list\(…\)`"):
            rightcall.read(stream)
    else:
        with pytest.raises(TraceError, match=r"`MessageStreamManager`.*inside `with … as`"):
            rightcall.read(value)
