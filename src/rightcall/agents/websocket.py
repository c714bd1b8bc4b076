"""An agent behind a WebSocket: one socket for a conversation, one message for each turn, any number back.

A reply is all messages until one that `done` is about, until nothing came for `idle` seconds, or, without either, until
the server closes; the next turn then opens a new socket. All messages of it are put together, so that no call in a
later one is lost. A message that comes after its end shows that `done` or `idle` ends too early, and is an error.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rightcall.agents import mapping, streaming, templates, web
from rightcall.agents.configuring import Setting
from rightcall.agents.continuing import Continuing
from rightcall.agents.discreet import Discreet
from rightcall.agents.events import Event
from rightcall.agents.exchange import Conversation, Endpoint, Reply, Turn
from rightcall.agents.limiting import LIMIT, within
from rightcall.agents.refusing import refused, too_large
from rightcall.agents.secrets import Secrets, shown, source
from rightcall.agents.web import WebConfig
from rightcall.core import jsontext
from rightcall.core.values import display
from rightcall.errors import EndpointError, MissingExtraError

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection, connect
    from websockets.exceptions import ConnectionClosed

_REFUSING: Final = frozenset({1002, 1003, 1007, 1008, 1010})
"""Codes of closing that say that what was sent is not wanted: the same again will not be either (RFC 6455, 7.4.1)."""


class WebSocket(WebConfig, frozen=True, kw_only=True):
    """An agent behind a WebSocket."""

    message: Annotated[
        Any, Meta(description="What is sent, JSON in which texts are templates; by default the turn.")
    ] = UNSET
    response: Annotated[mapping.Response | UnsetType, Meta(description="Where in a message its parts stand.")] = UNSET
    done: Annotated[
        mapping.Expression | UnsetType, Meta(description="What the last message has: found, and not false.")
    ] = UNSET
    idle: Annotated[float, Meta(gt=0, description="Seconds without a message that end a reply.")] | UnsetType = UNSET
    subprotocols: Annotated[tuple[str, ...], Meta(description="Subprotocols that are offered.")] = ()
    format: Annotated[str | None, Meta(description="The format of messages that no mapping reads.")] = None

    def check(self) -> None:
        """Refuse an address, a template or a path that is none."""
        web.check(self, "websocket", ("ws", "wss"))
        web.check_plain(self, "websocket")
        self.rendered()
        self.reading()

    def rendered(self) -> templates.Rendered | None:
        """What is sent, ready to be made for a turn."""
        return None if self.message is UNSET else templates.structure(self.message, "websocket.message")

    def reading(self) -> streaming.Reading:
        """How replies are read, ready."""
        return streaming.reading(self.response, {}, self.done, self.format, "websocket")

    def open(self, setting: Setting) -> Endpoint:
        """The agent, ready to be asked; `UsageError` if a secret is missing."""
        try:
            import websockets  # noqa: F401 - only whether it is there
        except ImportError:
            raise MissingExtraError("an agent behind a WebSocket", "run") from None
        return _WebSocketEndpoint(self, setting)

    @property
    def ends_by_closing(self) -> bool:
        """Whether nothing but the end of the socket ends a reply."""
        return self.done is UNSET and self.idle is UNSET


class _WebSocketEndpoint:
    def __init__(self, config: WebSocket, setting: Setting) -> None:
        self.config = config
        self.watch = setting.watch
        self.secrets = Secrets(setting.environment)
        self.message = config.rendered()
        self.reading = config.reading()
        self._url = self.secrets.filled(config.url)
        self._headers = self.secrets.all_filled(config.headers)
        self._proxy = None if config.proxy is None else self.secrets.filled(config.proxy)
        self._trust = web.trust(config.verify, setting.directory) if self._url.startswith("wss:") else None
        self.secrets.filled(jsontext.encode([] if config.message is UNSET else [config.message]).decode())

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[Conversation]:
        """Begin a conversation. Its socket is opened by the first turn and closed at its end."""
        held = _Conversation(self)
        try:
            yield Discreet(held, self.secrets)
        finally:
            await held.close()

    async def close(self) -> None:
        """Nothing is shared."""

    async def connected(self) -> ClientConnection:
        """A socket that is open; `EndpointError` if there can be none."""
        from websockets.exceptions import InvalidStatus, WebSocketException

        limit = self.config.connect_timeout
        try:
            return await self._connecting()
        except TimeoutError:
            raise EndpointError(f"no connection within {limit:g} s (`connect_timeout`)", is_passing=True) from None
        except InvalidStatus as error:
            answer = error.response
            body = self.secrets.hide((answer.body or b"").decode("utf-8", "replace"))
            raise refused(answer.status_code, answer.reason_phrase, body, answer.headers) from None
        except (WebSocketException, ValueError) as error:
            raise EndpointError(f"no WebSocket: {self.secrets.hide(str(error))}") from error
        except ssl.SSLError as error:
            raise EndpointError(f"no trusted connection: {error}") from error
        except OSError as error:
            raise EndpointError(f"no connection: {self.secrets.hide(str(error))}", is_passing=True) from error

    def _connecting(self) -> connect:
        from websockets.asyncio.client import connect
        from websockets.typing import Subprotocol

        class Connect(connect):
            """Follows nothing: what is sent along is for this address."""

            def process_redirect(self, exc: Exception) -> Exception | str:
                return exc

        return Connect(
            self._url,
            additional_headers=self._headers,
            subprotocols=[Subprotocol(name) for name in self.config.subprotocols] or None,
            proxy=self._proxy,
            open_timeout=self.config.connect_timeout,
            max_size=self.config.max_bytes,
            ssl=self._trust,
        )


class _Conversation:
    def __init__(self, endpoint: _WebSocketEndpoint) -> None:
        self._endpoint = endpoint
        self._socket: ClientConnection | None = None
        self._told = Continuing()

    async def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            socket, self._socket = self._socket, None
            await socket.close()

    async def send(self, turn: Turn) -> Reply:
        """Send one message and put together what comes back."""
        endpoint = self._endpoint
        variables = msgspec.to_builtins(turn)
        if endpoint.watch is not None:
            endpoint.watch.sent("request", f"WebSocket {source(endpoint.config.url)}")
            endpoint.watch.sent("message", _message(endpoint, variables, shown))
        text = _message(endpoint, variables, endpoint.secrets.value)
        advice = (
            f"{LIMIT}; say by `done` or `idle` when a reply has ended" if endpoint.config.ends_by_closing else LIMIT
        )
        async with within(endpoint.config.timeout, "no whole reply", advice):
            messages = await self._exchanged(text, variables)
        if endpoint.watch is not None:
            endpoint.watch.came("messages", messages)
        return self._told.new(self._reply(messages, variables))

    async def _exchanged(self, text: str, variables: templates.Variables) -> list[str]:
        from websockets.exceptions import ConnectionClosed

        if self._socket is None:
            self._socket = await self._endpoint.connected()
        try:
            await self._check_quiet(self._socket)
            await self._socket.send(text)
            return await self._messages(self._socket, variables)
        except ConnectionClosed as error:
            self._socket = None
            raise self._closed(error) from error

    async def _check_quiet(self, socket: ClientConnection) -> None:
        """`EndpointError` if something came since the last reply was taken to be whole."""
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                late = self._text(await socket.recv())
                raise EndpointError(
                    f"a message came after the reply had ended by `done` or `idle`: {display(late, 60)}; calls in it"
                    " would be lost"
                )

    async def _messages(self, socket: ClientConnection, variables: templates.Variables) -> list[str]:
        """The messages of one reply."""
        from websockets.exceptions import ConnectionClosedOK

        config, found, size = self._endpoint.config, list[str](), 0
        while True:
            try:
                text = self._text(await asyncio.wait_for(socket.recv(), self._patience(bool(found))))
            except ConnectionClosedOK:
                if not config.ends_by_closing or not found:
                    raise
                self._socket = None
                return found
            except TimeoutError:
                if config.idle is not UNSET and found:
                    return found
                message = f"no message for {config.read_timeout:g} s (`read_timeout`)"
                raise EndpointError(message, is_passing=True) from None
            found.append(text)
            size += len(text)
            if size > config.max_bytes:
                raise too_large(config.max_bytes)
            if self._endpoint.reading.is_last(streaming.value(text), variables):
                return found

    def _patience(self, has_begun: bool) -> float:
        """How long to wait for the next message."""
        config = self._endpoint.config
        return config.idle if has_begun and config.idle is not UNSET else config.read_timeout

    def _text(self, message: str | bytes) -> str:
        return self._endpoint.secrets.hide(message if isinstance(message, str) else message.decode("utf-8", "replace"))

    def _closed(self, error: ConnectionClosed) -> EndpointError:
        """What it means that the socket closed before the reply had ended."""
        if error.sent is not None and error.sent.code == 1009 and not error.rcvd_then_sent:
            return too_large(self._endpoint.config.max_bytes)
        told = error.rcvd
        if told is None:
            return EndpointError("the socket broke before the reply had ended", is_passing=True)
        reason = f": {self._endpoint.secrets.hide(told.reason)}" if told.reason else ""
        message = f"the server closed the socket before the reply had ended, with code {told.code}{reason}"
        return EndpointError(message, is_passing=told.code not in _REFUSING)

    def _reply(self, messages: list[str], variables: templates.Variables) -> Reply:
        endpoint = self._endpoint
        events = [Event(data=message) for message in messages]
        return streaming.together(endpoint.reading, events, variables, endpoint.watch)


def _message(endpoint: _WebSocketEndpoint, variables: templates.Variables, secret: templates.Value) -> str:
    """What is sent for a turn: text as it is, all else as JSON."""
    if endpoint.message is None:
        return jsontext.encode(variables).decode()
    return templates.written(endpoint.message(variables, secret))
