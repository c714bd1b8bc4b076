"""The server process: one socket, one store, one event loop, until it is told to stop."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any, Final

import msgspec
import uvicorn

from rightcall.app import keyring
from rightcall.errors import UsageError
from rightcall.faces.http import app
from rightcall.faces.http.settings import MAX_HEAD, Access, Settings
from rightcall.store import migrating
from rightcall.store.engine import Store
from rightcall.store.sealing import Sealer

GRACE: Final = 20
"""Seconds that requests have to end when the server is told to stop."""

KEEP_ALIVE: Final = 15
"""Seconds that a connection may stay open without a request."""

MOST_AT_ONCE: Final = 200
"""Requests and connections at once; those beyond are told to come back."""

THREADS: Final = 32
"""Requests that work with the database at once."""


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """Where to listen, on what database, and the keys that secrets are sealed with (`store.sealing`)."""

    host: str
    port: int
    database: str
    settings: Settings
    secret_keys: tuple[str, ...] = ()


def serve(asked: Serving, tell: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; then end what has begun, and return.

    `tell` is given the address once connections are taken. Raises `UsageError` where it must not or cannot listen
    there, and `StoreError` for a database that cannot be used.
    """
    sealer = Sealer(asked.secret_keys)
    with migrating.open_or_make(asked.database) as store:
        keyring.have_default(store, app.now())
        settings = msgspec.structs.replace(asked.settings, access=_access(asked.host, store))
        with _listening(asked.host, asked.port) as listening:
            _log_lines()
            server = _Server(
                _config(app.create(settings, store, sealer=sealer)), lambda: tell(_words(listening, settings))
            )
            asyncio.run(server.serve(sockets=[listening]))


def is_local(host: str) -> bool:
    """Whether an address is one that only this machine reaches."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _access(host: str, store: Store) -> Access:
    """Who is let in; `UsageError` to listen to others before there is a key."""
    if is_local(host):
        return Access.OPEN
    if not keyring.has_keys(store):
        raise UsageError(
            f"`{host}` is reached from other machines, and there is no key yet, so that anybody could read and write; "
            "make one first: rightcall keys create NAME"
        )
    return Access.KEYS


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), port), family=family)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen at {host}, port {port}: {error}") from None


def _config(served: Any) -> uvicorn.Config:
    return uvicorn.Config(
        served,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        limit_concurrency=MOST_AT_ONCE,
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
    )


def _words(listening: socket.socket, settings: Settings) -> str:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    need = "no key is needed while there is none" if settings.access is Access.OPEN else "keys are needed"
    return f"serving at http://{shown}:{port} ({need}); stop with Ctrl+C"


class _Server(uvicorn.Server):
    """Tells when it listens, and takes being stopped as the end of its work rather than as an interruption."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="request"))
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop when what has begun has ended; at once if asked twice."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


class Lines(logging.Formatter):
    """One JSON object a line. Messages of exceptions are left out: they may hold what was recorded."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return msgspec.json.encode(line).decode()


def _log_lines() -> None:
    """Write what the server logs to the standard error: every request, and what goes wrong."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    for name, level in (("rightcall.http", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level)
