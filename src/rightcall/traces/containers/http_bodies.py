"""Bodies of requests and responses as logs of HTTP keep them, into JSON: text, base64, compressed, streams."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.errors import TraceError
from rightcall.traces.containers import compression, sse

_ASKING: Final = frozenset({"messages", "input", "contents", "prompt", "message"})
"""Keys of a request for an answer of a model, one of which each provider has."""

_ENDPOINTS = re.compile(
    r"/chat/completions|/responses\b|/messages\b|:(?:stream)?generateContent|/converse|/invoke|/v[12]/chat\b|/api/chat"
)
_OTHERS = re.compile(
    r"/(?:embeddings?|moderations?|count_tokens|tokenize|rerank|images|audio|files|batches)\b|/embed\b"
)


def exchange(url: Any, request: Any, response: Any, status: Any = None) -> dict[str, Any] | None:
    """A request to a model with its response, `None` if it is a request for something else.

    The request is empty if its body was not kept, the response null if it failed, or if its body was not kept.
    """
    body, address = value(request), url if isinstance(url, str) else ""
    asks = isinstance(body, dict) and bool(_ASKING & body.keys())
    if _OTHERS.search(address) or not (asks or _ENDPOINTS.search(address)):
        return None
    failed = isinstance(status, int) and status >= 400
    told = {"request": body if asks else {}, "response": None if failed else value(response)}
    return {"url": address, **told} if address else told


def value(body: Any) -> Any:
    """A body as JSON: a stream of events is the list of them; `None` if it is no JSON."""
    if isinstance(body, dict | list):
        return body
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogatepass")
    if not isinstance(body, bytes):
        return None
    try:
        text = b"".join(compression.unpacked([body])).strip()
    except TraceError:
        return None
    return _decoded(text) if text[:1] in (b"{", b"[") else _events(text)


def _decoded(text: bytes) -> Any:
    try:
        return jsontext.decode(text)
    except jsontext.JSONError:
        return _values(text.split(b"\n"))


def _values(lines: Iterable[bytes]) -> list[Any] | None:
    """The values of lines, `None` if one of them is no JSON."""
    try:
        return [jsontext.decode(line) for line in lines if line.strip()]
    except jsontext.JSONError:
        return None


def _events(text: bytes) -> Any:
    return _values(b"".join(sse.lines([text])).split(b"\n")) if sse.claims(text) else None


def from_base64(text: Any) -> bytes | None:
    """The bytes that a log wrote in base64."""
    try:
        return base64.b64decode(text, validate=False) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        return None
