"""A loopback server that plays a script over the APIs of four providers and keeps what was exchanged."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import msgspec

from support.staged import wire
from support.staged.scripts import Script, Step

Whole = Callable[[Step, int], dict[str, Any]]
Streamed = Callable[[Step, int], Iterable[dict[str, Any]]]

ROUTES: Final[dict[str, tuple[Whole, Streamed]]] = {
    "/chat/completions": (wire.chat, wire.chat_events),
    "/responses": (wire.responses, wire.responses_events),
    "/messages": (wire.anthropic, wire.anthropic_events),
    ":generateContent": (wire.gemini, wire.gemini_events),
    ":streamGenerateContent": (wire.gemini, wire.gemini_events),
}
"""By the end of the path: how the provider answers whole, and streamed."""


_NUMBERS = itertools.count(1)
"""Of answers: no two of a process have one id, because libraries remember ids."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One request and what was sent back: a body, or the events of a stream and their text."""

    path: str
    request: dict[str, Any]
    response: dict[str, Any] | None = None
    events: tuple[dict[str, Any], ...] = ()
    text: str


class Model:
    """The server of one script: each request gets the next reply, whatever it asks."""

    def __init__(self, script: Script, url: str) -> None:
        self.url = url
        self.exchanges: list[Exchange] = []
        self._replies = iter(script.replies)
        self._lock = threading.Lock()

    def answer(self, path: str, request: dict[str, Any]) -> Exchange:
        """The exchange that a request makes, which is kept."""
        whole, streamed = ROUTES[next(end for end in ROUTES if path.split("?")[0].endswith(end))]
        with self._lock:
            number, step = next(_NUMBERS), next(self._replies)
            if request.get("stream") or ":stream" in path:
                made = _streamed(path, request, tuple(streamed(step, number)))
            else:
                made = _whole(path, request, whole(step, number))
            self.exchanges.append(made)
        return made


def _whole(path: str, request: dict[str, Any], response: dict[str, Any]) -> Exchange:
    return Exchange(path=path, request=request, response=response, text=json.dumps(response))


def _streamed(path: str, request: dict[str, Any], events: tuple[dict[str, Any], ...]) -> Exchange:
    text = "".join(_named(event) + f"data: {json.dumps(event)}\n\n" for event in events)
    done = "data: [DONE]\n\n" if path.endswith("/chat/completions") else ""
    return Exchange(path=path, request=request, events=events, text=text + done)


def _named(event: dict[str, Any]) -> str:
    """The line with the name of an event, for the APIs that name them."""
    return f"event: {event['type']}\n" if "type" in event else ""


Files = dict[str, bytes]
"""What is kept of a script that was played, by the name of the file."""

Run = Callable[[Script, Model], Files]
"""Plays a script against a server and keeps what some library records of it."""


class Server(ThreadingHTTPServer):
    """Plays one script after another."""

    daemon_threads = True
    model: Model

    def play(self, script: Script) -> Model:
        """Answer from now on as the model of that script."""
        self.model = Model(script, f"http://127.0.0.1:{self.server_port}")
        return self.model


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a port of its own, until the block ends."""
    server = Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serve(script: Script) -> Iterator[Model]:
    """A server of that script alone, until the block ends."""
    with serving() as server:
        yield server.play(script)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        made = self.server.model.answer(self.path, json.loads(body))
        sent = made.text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if made.events else "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what was exchanged is kept by the model."""
