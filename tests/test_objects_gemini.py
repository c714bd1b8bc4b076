"""Objects of Google's Gen AI SDK: responses, contents, chats, and streams that were collected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from google import genai
from google.genai import types

import rightcall
from rightcall.errors import TraceError
from support.objects import ASKED, PARALLEL, RETRY, asked, assert_reads_like, became
from support.staged.server import serve

MODEL = "gemini-2.5-flash"


@pytest.fixture
def client() -> Iterator[genai.Client]:
    """A client whose model plays a script: first two calls at once, then one, one again, and a text."""
    with serve(RETRY) as model:
        made = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=model.url))
        yield made
        made.close()


def response(client: genai.Client) -> types.GenerateContentResponse:
    """The first answer, whose first call carries a signature that is no text."""
    made = client.models.generate_content(model=MODEL, contents="Weather?")
    assert made.candidates is not None
    assert made.candidates[0].content is not None
    assert made.candidates[0].content.parts is not None
    made.candidates[0].content.parts[0].thought_signature = b"\xff\x00"
    return made


def test_a_response_and_each_part_of_it_tell_the_calls(client: genai.Client) -> None:
    """The response, a candidate, its content and the list of calls; bytes and enumerations are in the way of none."""
    made = response(client)
    assert made.candidates is not None
    candidate = made.candidates[0]
    for value in (made, candidate, made.candidates, candidate.content, made.function_calls):
        assert asked(value) == ASKED
    assert_reads_like(made, made.model_dump_json(), made.model_dump_json(by_alias=True, exclude_none=True))


def test_contents_may_be_mappings_and_objects_in_one_list(client: genai.Client) -> None:
    """Contents of a program and of the SDK; the results belong to the calls by their order (G13)."""
    made = response(client)
    assert made.candidates is not None
    question = {"role": "user", "parts": [{"text": "Weather?"}]}
    results = types.Content(
        role="user",
        parts=[types.Part.from_function_response(name=call.name, response={"result": "mild"}) for call in PARALLEL],
    )
    history = [question, made.candidates[0].content, results]
    assert became(history) == [("get_weather", "ok"), ("get_weather", "ok")]


def test_a_chat_gives_its_history(client: genai.Client) -> None:
    """The chat itself, and the history that it gives."""
    chat = client.chats.create(model=MODEL)
    chat.send_message("Weather?")
    assert asked(chat) == ASKED == asked(chat.get_history())
    assert_reads_like(chat, [content.model_dump(mode="json") for content in chat.get_history()])


def test_a_chat_in_which_nothing_was_said_is_no_conversation_without_calls(client: genai.Client) -> None:
    """Nothing was recorded, which is not that nothing was called."""
    with pytest.raises(TraceError, match="`Chat` holds nothing that a model said"):
        rightcall.read(client.chats.create(model=MODEL))


def test_chunks_of_a_stream_are_put_together(client: genai.Client) -> None:
    """A list of chunks is one answer; the generator itself is refused."""
    stream = client.models.generate_content_stream(model=MODEL, contents="Weather?")
    with pytest.raises(TraceError, match=r"`generator`.*give `list\(…\)`"):
        rightcall.read(stream)
    chunks = list(stream)
    assert len(chunks) == len(ASKED)
    assert asked(chunks) == ASKED
    assert_reads_like(chunks, [chunk.model_dump(mode="json") for chunk in chunks])
