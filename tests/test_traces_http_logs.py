"""Logs of HTTP: HAR files, cassettes of VCR, records of LiteLLM and Helicone become exchanges that formats read."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support.spanning import read_bytes

URL = "https://api.provider.example/v1/chat/completions"
USER = {"role": "user", "content": "Go"}
CALL = {"id": "1", "type": "function", "function": {"name": "a", "arguments": '{"x": 1}'}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "A"}
DONE = {"role": "assistant", "content": "Done."}
READ = ([("a", {"x": 1}, "ok")], "Done.", ())
UNANSWERED = ("the last request of the log has no response",)

Side = tuple[dict[str, Any], Any, int]


def request(*messages: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages)}


def response(message: Any, reason: str) -> dict[str, Any]:
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


FIRST: Side = (request(USER), response(ASKED, "tool_calls"), 200)
LAST: Side = (request(USER, ASKED, RESULT), response(DONE, "stop"), 200)
FAILED: Side = (LAST[0], {"error": {"message": "overloaded"}}, 503)


def har(*sides: Side, url: str = URL) -> bytes:
    entries = [
        {
            "request": {"method": "POST", "url": url, "postData": {"text": json.dumps(asked)}},
            "response": {"status": status, "content": {"text": json.dumps(answer)}},
        }
        for asked, answer, status in sides
    ]
    return json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()


def cassette(*sides: Side, key: str = "interactions") -> bytes:
    """As Python writes it; Ruby has another key, the status code under `code` too, and bodies with their encoding."""
    listed = [
        {
            "request": {"method": "POST", "uri": URL, "body": json.dumps(asked)},
            "response": {"status": {"code": status}, "body": {"string": json.dumps(answer)}},
        }
        for asked, answer, status in sides
    ]
    return json.dumps({key: listed, "version": 1}).encode()


def litellm(*sides: Side) -> bytes:
    return b"\n".join(
        json.dumps(
            {
                "id": "i",
                "call_type": "acompletion",
                "status": "failure" if status >= 400 else "success",
                "model_parameters": {"tools": [{"type": "function", "function": {"name": "a"}}]},
                "messages": asked["messages"],
                "response": answer,
            }
        ).encode()
        for asked, answer, status in sides
    )


def helicone(*sides: Side) -> bytes:
    return b"\n".join(
        json.dumps(
            {"request_path": URL, "response_status": status, "request_body": asked, "response_body": answer}
        ).encode()
        for asked, answer, status in sides
    )


def told(data: bytes) -> tuple[Any, ...]:
    """The calls, the output and the gaps of the one trajectory."""
    (read,) = read_bytes(data)
    calls = [(call.name, call.arguments, call.status) for call in read.tool_calls or ()]
    return calls, read.output, read.gaps


@pytest.mark.parametrize("write", [har, cassette, litellm, helicone])
def test_each_log_is_read_as_its_exchanges(write: Any) -> None:
    """A request that failed and was sent again is one call; a log that ends in a failure has a gap (G12, G13)."""
    assert told(write(FIRST, LAST)) == READ
    assert told(write(FIRST, FAILED, LAST)) == READ
    calls, output, gaps = told(write(FIRST, FAILED))
    assert (calls, output, gaps) == (READ[0], None, UNANSWERED)


def test_lines_and_lists_of_records_read_alike() -> None:
    """As a JSON array, as the answer of an API, inside a callback's object, and with bodies as text."""
    records = [json.loads(line) for line in litellm(FIRST, LAST).splitlines()]
    texts = [
        {**one, "messages": json.dumps(one["messages"]), "response": json.dumps(one["response"])} for one in records
    ]
    wrapped = [{"standard_logging_object": one} for one in records]
    forms = [records, {"data": records}, texts, wrapped]
    assert [told(json.dumps(form).encode()) for form in forms] == [READ] * 4
    rows = [json.loads(line) for line in helicone(FIRST, LAST).splitlines()]
    pairs = [{"request": {"body": row["request_body"]}, "response": {"body": row["response_body"]}} for row in rows]
    assert told(json.dumps(pairs).encode()) == told(json.dumps(list(reversed(rows))).encode()) == READ


def test_a_ruby_cassette_is_read() -> None:
    """Its key and its encodings differ."""
    found = json.loads(cassette(FIRST, LAST, key="http_interactions"))
    for one in found["http_interactions"]:
        one["request"]["body"] = {"encoding": "UTF-8", "string": one["request"]["body"]}
        text = one["response"]["body"]["string"].encode()
        one["response"]["body"] = {"encoding": "ASCII-8BIT", "base64_string": base64.b64encode(text).decode()}
    assert told(json.dumps(found).encode()) == READ


BODY = json.dumps(FIRST[1]).encode()
CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **CALL}]}}]}
END = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize(
    "content",
    [
        {"text": base64.b64encode(BODY).decode(), "encoding": "base64"},
        {"text": base64.b64encode(gzip.compress(BODY)).decode(), "encoding": "base64"},
        {"text": f"data: {json.dumps(CHUNK)}\n\ndata: {json.dumps(END)}\n\ndata: [DONE]\n\n"},
    ],
    ids=["base64", "gzip", "events"],
)
def test_bodies_are_read_in_what_they_came_in(content: Any) -> None:
    """As they came over the wire."""
    log = json.loads(har(FIRST, LAST))
    log["log"]["entries"][0]["response"]["content"] = content
    assert told(json.dumps(log).encode()) == READ


@pytest.mark.parametrize("text", ["", "\x00binary", "<html>", '{"choices": [', None])
def test_a_body_that_is_no_json_is_no_answer(text: Any) -> None:
    """Its calls are not known (G12)."""
    log = json.loads(har(FIRST))
    log["log"]["entries"][0]["response"]["content"] = {"text": text}
    read = read_bytes(json.dumps(log).encode())
    assert [(one.tool_calls, one.gaps) for one in read] == [(None, UNANSWERED)]


def test_a_request_without_its_body_is_a_gap() -> None:
    """To an endpoint of models; requests for pages and embeddings are passed over (G12)."""
    bare = json.loads(har(FIRST, LAST))
    page = {"request": {"method": "GET", "url": "https://app.example/"}, "response": {"content": {"text": "<html>"}}}
    vectors = json.loads(har(({"input": "x", "model": "e"}, {"data": []}, 200), url="https://p.example/v1/embeddings"))
    bare["log"]["entries"] += [page, *vectors["log"]["entries"]]
    assert told(json.dumps(bare).encode()) == READ
    bare["log"]["entries"].append({"request": {"url": URL}, "response": {"status": 200, "content": {}}})
    assert told(json.dumps(bare).encode())[2] == ("1 exchanges of the log are in another format and are not read",)


@pytest.mark.parametrize(
    "answer",
    [
        {"text": "redacted-by-litellm"},
        "redacted-by-litellm",
        response({"role": "assistant", "content": "redacted-by-litellm"}, "stop"),
        None,
    ],
)
def test_an_answer_that_litellm_withheld_is_no_answer(answer: Any) -> None:
    """It is none without calls (G12)."""
    (read,) = read_bytes(litellm((FIRST[0], answer, 200)))
    assert (read.tool_calls, read.gaps) == (None, UNANSWERED)


def test_litellm_records_of_other_endpoints_are_read_by_their_providers() -> None:
    """Of OpenAI Responses, whose input LiteLLM calls messages, and of Anthropic."""
    item = {"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"}
    reply = {"type": "message", "role": "assistant", "stop_reason": "tool_use"}
    block = {"type": "tool_use", "id": "1", "name": "a", "input": {}}
    answers = {
        "aresponses": {"object": "response", "status": "completed", "output": [item]},
        "anthropic_messages": {**reply, "content": [block]},
    }
    records = [
        {"call_type": kind, "messages": [USER], "response": answer, "model_parameters": {}}
        for kind, answer in answers.items()
    ]
    read = [read_bytes(json.dumps(record).encode()) for record in records]
    assert [[call.name for call in one.tool_calls or ()] for (one,) in read] == [["a"], ["a"]]


YAML = """interactions:
- request:
    uri: https://api.provider.example/v1/chat/completions
    parsed_body: {model: m, messages: [{role: user, content: Go}]}
  response:
    status: {code: 200}
    parsed_body:
      choices:
      - index: 0
        finish_reason: tool_calls
        message:
          role: assistant
          tool_calls:
          - {id: 1e3, function: {name: 2026-11-30, arguments: '{"x": 1.0}'}}
"""


def test_a_cassette_in_yaml_is_read_as_its_writers_meant_it() -> None:
    """Text that looks like a number or a date to others is text, as in YAML 1.1."""
    (read,) = read_bytes(YAML.encode())
    assert [(call.id, call.name, call.arguments) for call in read.tool_calls or ()] == [
        ("1e3", "2026-11-30", {"x": 1.0})
    ]


BOMB = "interactions:\n- &a [0, 0, 0, 0, 0, 0, 0, 0]\n" + "".join(
    f"- &{name} [{', '.join([f'*{before}'] * 8)}]\n" for before, name in zip("abcd", "bcde", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("interactions:\n- request: {body: x\n", "f:3:1: not YAML of plain values: "),
        ("interactions:\n- request: !!python/object:a.B {}\n", "f:2:12: not YAML of plain values: "),
        ("interactions:\n- request: {1: x}\n", "f: not YAML of plain values: found dict"),
        (BOMB, "f: the aliases of this YAML make it larger than it can be; record the cassette in JSON"),
        (YAML.replace("chat/completions", "embeddings"), "f: none of the 1 exchanges of this log is a request to a"),
        ('{"log": {"entries": []}}', "f: none of the 0 exchanges of this log is a request to a model with a JSON body"),
        ('{"log": {"entries": [', "f:1:22: "),
    ],
)
def test_a_log_that_cannot_be_read_is_refused_with_its_place(text: str, message: str) -> None:
    """Nothing but plain values is made of YAML, and no more of them than there are bytes."""
    with pytest.raises(TraceError) as caught:
        list(traces.read([text.encode()], file="f"))
    assert str(caught.value).startswith(message)


def test_a_broken_line_among_records_keeps_its_place() -> None:
    """It is a gap of the log (G8, G12)."""
    first, last = litellm(FIRST, LAST).splitlines()
    read = list(traces.read([b"\n".join([first, b"{broken", last])], file="f"))
    assert [one.gaps[0].startswith("line 2 was rejected: ") for one in read if isinstance(one, Trajectory)] == [True]
