"""What every request passes first and every answer last: host, origin, request id, security headers, the log.

A page in a browser on this machine can send requests to a local server. It is refused by its `Origin`, and one that
comes by a name of its own (DNS rebinding) by `Host`.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from rightcall.faces.http.problems import MEDIA_TYPE, ProblemError, problem
from rightcall.faces.http.settings import MAX_HEAD, Settings

log: Final = logging.getLogger("rightcall.http")

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HOST: Final = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::[0-9]{1,5})?")

HEADERS: Final[Mapping[bytes, bytes]] = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
"""Of every answer that does not say otherwise."""


class Doorway:
    """The application behind the checks that hold for all of it, also for paths that there are not."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._hosts = frozenset(host.strip("[]").lower() for host in settings.allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if str(scope["type"]) == "lifespan":
            await self.app(scope, receive, send)
            return
        names = _headers(scope)
        request_id = _request_id(names)
        scope.setdefault("state", {})["request_id"] = request_id
        leaving = _Leaving(scope, send, request_id)
        refusal = _too_long(scope) or self._refusal(names)
        if refusal is None:
            await self.app(scope, receive, leaving.send)
        elif scope["type"] == ScopeType.WEBSOCKET:
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
        else:
            await _refuse(leaving.send, refusal, request_id)
        leaving.tell()

    def _refusal(self, names: Mapping[str, list[str]]) -> ProblemError | None:
        """Why a request is not let in, if it is not."""
        hosts = names.get("host", [])
        if len(hosts) != 1 or not self._is_allowed(hosts[0]):
            return ProblemError(400, "This server is not known by the name in `Host`; --allow-host lists its names.")
        origins = names.get("origin", [])
        if any(origin.partition("://")[2].lower() != hosts[0].lower() for origin in origins):
            return ProblemError(403, "Requests of pages of other origins are refused.")
        return None

    def _is_allowed(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        return found is not None and found["name"].strip("[]").lower() in self._hosts


class _Leaving:
    """The answer on its way out."""

    def __init__(self, scope: Scope, send: Send, request_id: str) -> None:
        self._scope = scope
        self._send = send
        self._request_id = request_id
        self._started = time.perf_counter()
        self._status = 0

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with the headers that all answers have."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            given = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            given += [(name, value) for name, value in HEADERS.items() if name not in names]
            message["headers"] = [*given, (b"x-request-id", self._request_id.encode())]
        await self._send(message)

    def tell(self) -> None:
        """Write what was asked to the log: by its route, without ids, parameters or content."""
        fields = {
            "request_id": self._request_id,
            "method": self._scope.get("method", "WEBSOCKET"),
            "route": self._scope.get("path_template") or "-",
            "status": self._status,
            "milliseconds": round((time.perf_counter() - self._started) * 1000, 1),
        }
        log.info("request", extra={"fields": fields})


async def _refuse(send: Send, error: ProblemError, request_id: str) -> None:
    body = msgspec.json.encode(problem(error, request_id))
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _too_long(scope: Scope) -> ProblemError | None:
    """Refuse headers that no client needs; the server below limits only those that come in pieces."""
    if sum(len(name) + len(value) for name, value in scope["headers"]) <= MAX_HEAD:
        return None
    return ProblemError(431, f"The headers are longer than {MAX_HEAD // 1024} KiB together.")


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _request_id(names: Mapping[str, list[str]]) -> str:
    """The id that the caller gave, if it is one that a log can hold, else a new one."""
    given: Any = names.get("x-request-id", [""])[0]
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
