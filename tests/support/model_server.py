"""A server on the loopback that speaks as providers of models do, and answers what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import msgspec

MODEL: Final = "stub-2026-11-30"
"""What the server calls its model, whatever it is asked for."""


class Trouble(msgspec.Struct, frozen=True):
    """An answer that is none: a status and a body, or with status 0 a connection that breaks."""

    status: int
    body: str = '{"error": {"message": "no", "type": "stub"}}'
    headers: dict[str, str] = {}


class Request(msgspec.Struct, frozen=True):
    """What was sent: the path, the headers in lower case, and the body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def told(self) -> dict[str, str]:
        """The text of each role, whatever the protocol."""
        if self.path.endswith("/chat/completions"):
            return {message["role"]: message["content"] for message in self.body["messages"]}
        if self.path.endswith("/messages"):
            return {"system": _joined(self.body["system"]), "user": _joined(self.body["messages"][0]["content"])}
        if self.path.endswith("/responses"):
            return {"system": self.body["instructions"], "user": _joined(self.body["input"][0]["content"])}
        system, user = self.body["systemInstruction"], self.body["contents"][0]
        return {"system": _joined(system["parts"]), "user": _joined(user["parts"])}


def _joined(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


Answering = Callable[[Request], str | Trouble]


class ModelServer:
    """What it was asked, and where it is."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Request] = []

    @property
    def openai(self) -> str:
        """The base URL for what speaks like OpenAI."""
        return f"{self.url}/v1"


@contextmanager
def model_server(answering: Answering | Sequence[str | Trouble]) -> Iterator[ModelServer]:
    """A running server that answers each request as it is told, or in order; the last answer again and again."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.path, headers, json.loads(self.rfile.read(length)))
            with lock:
                served.requests.append(request)
                number = len(served.requests) - 1
            answer = answering(request) if callable(answering) else answering[min(number, len(answering) - 1)]
            self.reply(request, answer)

        def reply(self, request: Request, answer: str | Trouble) -> None:
            if isinstance(answer, Trouble) and answer.status == 0:
                self.close_connection = True
                return
            status, headers = (answer.status, answer.headers) if isinstance(answer, Trouble) else (200, {})
            body = answer.body if isinstance(answer, Trouble) else _spoken(request, answer)
            kind = "text/event-stream" if body.startswith("event:") else "application/json"
            self.send_response(status)
            for name, value in {"content-type": kind, **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = ModelServer(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _spoken(request: Request, text: str) -> str:
    if request.path.endswith("/chat/completions"):
        return json.dumps(_chat(text))
    if request.path.endswith("/messages"):
        message = _anthropic(text)
        return _streamed(message, text) if request.body.get("stream") else json.dumps(message)
    if request.path.endswith("/responses"):
        return json.dumps(_responses(text))
    return json.dumps(_gemini(text))


def _chat(text: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_796_000_000,
        "model": MODEL,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }


def _anthropic(text: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 7},
    }


def _streamed(message: dict[str, Any], text: str) -> str:
    """The events in which Anthropic streams a message."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def _responses(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_796_000_000,
        "model": MODEL,
        "status": "completed",
        "output": [{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "output_tokens": 7,
            "total_tokens": 107,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _gemini(text: str) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 7, "totalTokenCount": 107},
        "modelVersion": MODEL,
        "responseId": "r1",
    }
