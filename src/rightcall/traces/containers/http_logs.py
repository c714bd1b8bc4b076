"""Logs of HTTP as lines of `{"url": …, "request": {…}, "response": {…}}`, which the format of each provider reads.

HAR files (HTTP Archive 1.2), cassettes of VCR in JSON and YAML (Python and Ruby), records of LiteLLM's standard logging
payload, and of Helicone's export. Requests for anything but an answer of a model are passed over.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.errors import TraceError, Where
from rightcall.traces import documents, heads
from rightcall.traces.containers import cassettes, http_bodies

Pair = dict[str, Any] | None

_CASSETTE = re.compile(rb"^(?:http_)?interactions:", re.MULTILINE)
_LITELLM: Final = frozenset({"litellm_call_id", "call_type", "model_parameters", "response_cost"})
_PARAMETERS: Final = ("model", "tools", "functions", "system", "instructions", "previous_response_id", "conversation")
_ENDPOINTS: Final = (("anthropic_messages", "/v1/messages"), ("responses", "/responses"), ("", "/chat/completions"))
"""What the type of a call of LiteLLM ends in, and the endpoint that it is of."""

_REDACTED: Final = "redacted-by-litellm"
_INTERACTIONS: Final = ("interactions", "http_interactions")


def claims(head: bytes) -> bool:
    """Whether bytes begin a log of one of these kinds."""
    value = heads.sketch(head)
    if isinstance(value, list):
        return any(map(_is_record, value))
    if isinstance(value, dict):
        return _listed(value) is not None or _is_record(value)
    return _is_yaml(head)


def _is_yaml(head: bytes) -> bool:
    return head.lstrip()[:1] not in (b"{", b"[") and _CASSETTE.search(head) is not None


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The exchanges, a line each; `TraceError` if none of them asks a model."""
    head, chunks = documents.peek(chunks)
    if _is_yaml(head):
        return _told(cassettes.decoded(documents.whole(chunks)))
    first = heads.sketch(head)
    if documents.is_lines(head) and isinstance(first, dict) and _is_record(first):
        return _records(chunks)
    return _told(_decoded(documents.whole(chunks)))


def _records(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of records, each in its place. What is none stays as it is, for the reader to refuse."""
    for block in documents.blocks(chunks, documents.MAX_DOCUMENT):
        yield b"\n".join(map(_line, block.data.split(b"\n")))


def _line(text: bytes) -> bytes:
    if not text.strip():
        return text
    try:
        value = jsontext.decode(text)
    except jsontext.JSONError:
        return text
    pair = _record(value)
    return text if pair is None else jsontext.encode(pair)


def _told(value: Any) -> Iterator[bytes]:
    known = _listed(value) if isinstance(value, dict) else None
    entries, read = known or (value if isinstance(value, list) else [value], _record)
    if not isinstance(value, list) and known is None and not _is_record(value):
        raise TraceError("this is no log of exchanges with a model; expected `log.entries` or `interactions`")
    pairs = [pair for pair in map(read, entries) if pair is not None]
    if not pairs:
        raise TraceError(f"none of the {len(entries)} exchanges of this log is a request to a model with a JSON body")
    yield from (jsontext.encode(pair) + b"\n" for pair in pairs)


def _decoded(data: bytes) -> Any:
    try:
        return jsontext.decode(data, max_depth=900)
    except jsontext.JSONError as error:
        raise TraceError(error.message, Where(line=error.line, column=error.column)) from None


def _listed(value: dict[str, Any]) -> tuple[list[Any], Callable[[Any], Pair]] | None:
    """The exchanges that a document lists, and how each is read."""
    log = value.get("log")
    if isinstance(log, dict) and isinstance(log.get("entries"), list):
        return log["entries"], _entry
    for key in _INTERACTIONS:
        if isinstance(value.get(key), list):
            return value[key], _interaction
    rows = value.get("data")
    return (rows, _record) if isinstance(rows, list) and any(map(_is_record, rows)) else None


def _entry(entry: Any) -> Pair:
    """An entry of an HTTP Archive."""
    request, response = _part(entry, "request"), _part(entry, "response")
    content = _part(response, "content")
    text = content.get("text")
    body = http_bodies.from_base64(text) if content.get("encoding") == "base64" else text
    return http_bodies.exchange(
        request.get("url"), _part(request, "postData").get("text"), body, response.get("status")
    )


def _interaction(interaction: Any) -> Pair:
    """An interaction of a cassette."""
    request, response = _part(interaction, "request"), _part(interaction, "response")
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else status
    return http_bodies.exchange(request.get("uri"), _body(request), _body(response), code)


def _body(message: dict[str, Any]) -> Any:
    """The body of one side of an interaction; recorders that decode JSON keep it beside."""
    body = message.get("parsed_body", message.get("body"))
    if not isinstance(body, dict) or "parsed_body" in message:
        return body
    if isinstance(body.get("base64_string"), str):
        return http_bodies.from_base64(body["base64_string"])
    return body.get("string", body)


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and (_is_litellm(_payload(value)) or _is_helicone(value))


def _record(value: Any) -> Pair:
    """A record of LiteLLM or of Helicone; a value that is none as it stands."""
    if not isinstance(value, dict) or not _is_record(value):
        return value if isinstance(value, dict) else None
    return _helicone(value) if _is_helicone(value) else _litellm(_payload(value))


def _is_helicone(value: dict[str, Any]) -> bool:
    flat = {"request_body", "response_body"} <= value.keys() or {"request.body", "response.body"} <= value.keys()
    return flat or ("body" in _part(value, "request") and "body" in _part(value, "response"))


def _helicone(record: dict[str, Any]) -> Pair:
    request, response = _part(record, "request"), _part(record, "response")
    given = record.get("request_body", record.get("request.body", request.get("body")))
    answer = record.get("response_body", record.get("response.body", response.get("body")))
    url = record.get("request_path") or record.get("target_url") or request.get("url") or request.get("path")
    status = record.get("response_status", response.get("status"))
    return http_bodies.exchange(url, given, answer, status)


def _payload(value: dict[str, Any]) -> dict[str, Any]:
    inner = value.get("standard_logging_object")
    return inner if isinstance(inner, dict) else value


def _is_litellm(value: dict[str, Any]) -> bool:
    return {"messages", "response"} <= value.keys() and bool(_LITELLM & value.keys())


def _litellm(payload: dict[str, Any]) -> Pair:
    """A standard logging payload. What was withheld is no response, so that no answer looks like one without calls."""
    given, response = (_plain(payload[key]) for key in ("messages", "response"))
    settings = {**_part(payload, "model_parameters"), **payload}
    request = {key: settings[key] for key in _PARAMETERS if settings.get(key) is not None}
    key = "input" if isinstance(response, dict) and "output" in response else "messages"
    failed = payload.get("status") == "failure" or _is_withheld(response)
    kind = str(payload.get("call_type", ""))
    url = next(url for end, url in _ENDPOINTS if kind.endswith(end))
    return {"url": url, "request": {**request, key: given}, "response": None if failed else response}


def _plain(given: Any) -> Any:
    """A field that databases keep as text; text that is no JSON stays as it is."""
    known = http_bodies.value(given)
    return given if known is None else known


def _is_withheld(response: Any) -> bool:
    """Whether LiteLLM put a mark in the place of what the model said."""
    if not isinstance(response, dict):
        return True
    choices = [_part(choice, "message") for choice in response.get("choices") or () if isinstance(choice, dict)]
    marked = any(one.get("content") == _REDACTED and not one.get("tool_calls") for one in choices)
    return response.get("text") == _REDACTED or marked or (_REDACTED in _texts(response.get("output")))


def _texts(output: Any) -> set[Any]:
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    blocks = itertools.chain.from_iterable(item["content"] for item in items if isinstance(item.get("content"), list))
    return {block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)}


def _part(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
