"""Requests over HTTP, and what can go wrong with them: time-outs, redirects, sizes, statuses.

Nothing is followed to another host, nothing is taken from the environment, certificates are checked.
"""

from __future__ import annotations

import functools
import os
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta, field

from rightcall.agents.configuring import MAX_REPLY, TIMEOUT, EndpointConfig, Seconds
from rightcall.agents.refusing import refused, too_large
from rightcall.agents.secrets import Secrets, Text, source
from rightcall.agents.templates import is_template
from rightcall.errors import EndpointError, MissingExtraError, TestSetError, UsageError

if TYPE_CHECKING:
    import httpx

_REDIRECTS: Final = 5
_MUCH: Final = 10_000
_SECRET_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"})


class WebConfig(EndpointConfig, frozen=True, kw_only=True):
    """What all agents behind HTTP are described by."""

    url: Annotated[Text, Meta(description="The address; `${NAME}` in it is an environment variable's value.")]
    headers: Annotated[dict[str, Text], Meta(description="Headers; secrets in them by name, `Bearer ${TOKEN}`.")] = (
        field(default_factory=dict)
    )
    timeout: Seconds = TIMEOUT
    connect_timeout: Annotated[float, Meta(gt=0, description="Seconds until there is a connection.")] = 10.0
    read_timeout: Annotated[float, Meta(gt=0, description="Seconds without a byte of the reply.")] = 120.0
    max_bytes: Annotated[int, Meta(gt=0, description="Bytes that a reply may have.")] = MAX_REPLY
    verify: Annotated[bool | str, Meta(description="The file of certificates to check by; `false` checks none.")] = True
    proxy: Annotated[Text | None, Meta(description="The proxy to go through; without it none.")] = None


def check(config: WebConfig, path: str, schemes: tuple[str, ...] = ("http", "https")) -> None:
    """`TestSetError` for an address that cannot be one, and for a secret that is written out."""
    url = source(config.url)
    scheme, colon, rest = url.partition("://")
    if not url.startswith("$") and (scheme not in schemes or not colon or not rest):
        known = " or ".join(f"`{one}://`" for one in schemes)
        raise TestSetError(f"expected an address that begins with {known}, found `{url}`").within(path=f"{path}.url")
    if "@" in rest.partition("/")[0] and "${" not in rest.partition("@")[0]:
        raise TestSetError(_written_out("a password")).within(path=f"{path}.url")
    for name, value in config.headers.items():
        if name.lower() in _SECRET_HEADERS and "${" not in source(value):
            raise TestSetError(_written_out(f"`{name}`")).within(path=f"{path}.headers.{name}")


def check_plain(config: WebConfig, path: str) -> None:
    """`TestSetError` for a template in what is the same for all turns; it would be sent as it is written."""
    texts = {"url": config.url, **{f"headers.{name}": value for name, value in config.headers.items()}}
    for name, text in texts.items():
        if is_template(source(text)):
            message = f"is the same for all turns and can be no template, found `{source(text)}`"
            raise TestSetError(message).within(path=f"{path}.{name}")


def _written_out(what: str) -> str:
    return f"{what} is a secret and stands in the file; name an environment variable that holds it: `${{NAME}}`"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request."""

    method: str
    url: str
    headers: dict[str, str] = {}
    query: dict[str, Any] = {}
    content: bytes | None = None


class Web:
    """Clients for all conversations with an agent. Cookies are those of each conversation.

    Each request has a client to itself, which is used again after it: the pool of one client looks through all its
    connections for each request, so that two hundred at once would take seven times as long.
    """

    def __init__(self, config: WebConfig, secrets: Secrets, directory: str) -> None:
        self._config = config
        self.secrets = secrets
        self._proxy = None if config.proxy is None else secrets.filled(config.proxy)
        self._trust = trust(config.verify, directory)
        self._clients: list[httpx.AsyncClient] = []
        self._idle: list[httpx.AsyncClient] = []

    @contextmanager
    def _client(self) -> Iterator[httpx.AsyncClient]:
        """A client that nobody else uses; the one that was used last, since its connection is the least old."""
        client = self._idle.pop() if self._idle else self._made()
        try:
            yield client
        finally:
            self._idle.append(client)

    def _made(self) -> httpx.AsyncClient:
        import httpx

        config = self._config
        client = httpx.AsyncClient(
            timeout=httpx.Timeout(config.read_timeout, connect=config.connect_timeout, pool=None),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # it keeps none
            verify=self._trust,
            proxy=self._proxy,
            trust_env=False,
            follow_redirects=False,
        )
        self._clients.append(client)
        return client

    async def close(self) -> None:
        """Close every connection."""
        clients, self._clients, self._idle = self._clients, [], []
        for client in clients:
            await client.aclose()

    @asynccontextmanager
    async def ask(self, asked: Asked, cookies: httpx.Cookies) -> AsyncIterator[httpx.Response]:
        """Send a request: inside, the answer, of which the body is still to come. Its status is 2xx."""
        import httpx

        try:
            with self._client() as client:
                request = self._request(asked, client)
                for _ in range(_REDIRECTS + 1):
                    cookies.set_cookie_header(request)
                    response = await client.send(request, stream=True)
                    try:
                        cookies.extract_cookies(response)
                        if not response.is_redirect:
                            await self._check_status(response)
                            yield response
                            return
                        request = self._redirected(response)
                    finally:
                        await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, ssl.SSLError) as error:
            raise self._trouble(error) from error
        raise EndpointError(f"more than {_REDIRECTS} redirects, the last to {self._shown(request.url)}")

    def _request(self, asked: Asked, client: httpx.AsyncClient) -> httpx.Request:
        try:
            return client.build_request(
                asked.method,
                asked.url,
                headers=asked.headers,
                params=asked.query or None,
                content=asked.content,
            )
        except (UnicodeEncodeError, TypeError, ValueError) as error:
            raise EndpointError(f"the request cannot be made: {self.secrets.hide(str(error))}") from None

    def _redirected(self, response: httpx.Response) -> httpx.Request:
        """The request that a redirect asks for, unless it leads away or loses what was to be said."""
        following = response.next_request
        if following is None:
            raise EndpointError(f"status {response.status_code}, a redirect without an address")
        old, new = response.request.url, following.url
        advice = "if that is the agent, put it in `url`"
        if (old.host, old.port) != (new.host, new.port) and not _is_upgrade(old, new):
            raise EndpointError(f"redirected to another host, {self._shown(new)}, which is not followed; {advice}")
        if old.scheme == "https" and new.scheme != "https":
            raise EndpointError(f"redirected from https to {self._shown(new)}, which is not followed; {advice}")
        if following.method != response.request.method and response.status_code != 303:
            raise EndpointError(f"redirected by status {response.status_code} to {self._shown(new)}; {advice}")
        return following

    async def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if 200 <= status < 300:
            return
        body = bytearray()
        async for chunk in self.chunks(response):
            body += chunk
            if len(body) > _MUCH:
                break
        text = self.secrets.hide(bytes(body[:_MUCH]).decode("utf-8", "replace"))
        raise refused(status, response.reason_phrase, text, response.headers)

    async def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """The bytes of an answer as they come; `EndpointError` beyond the limit, or if they break off."""
        import httpx

        count = 0
        try:
            async for chunk in response.aiter_bytes():
                count += len(chunk)
                if count > self._config.max_bytes:
                    raise too_large(self._config.max_bytes)
                yield chunk
        except httpx.HTTPError as error:
            raise self._trouble(error) from error

    def _to(self, error: httpx.RequestError) -> str:
        """The host and the port of a request, which a proxy or a redirect may have changed; nothing secret."""
        url = error.request.url
        return self.secrets.hide(f" to {url.host}{'' if url.port is None else f':{url.port}'}")

    def _trouble(self, error: Exception) -> EndpointError:
        """What went wrong on the way, in words, and whether it may pass."""
        import httpx

        config, cause = self._config, self.secrets.hide(str(error)) or type(error).__name__
        limits = {
            httpx.ConnectTimeout: f"no connection within {config.connect_timeout:g} s (`connect_timeout`)",
            httpx.ReadTimeout: f"no byte of a reply for {config.read_timeout:g} s (`read_timeout`)",
        }
        if isinstance(error, httpx.TimeoutException):
            return EndpointError(limits.get(type(error), f"time-out: {cause}"), is_passing=True)
        if _is_untrusted(error):
            return EndpointError(f"no trusted connection: {cause}")
        if isinstance(error, httpx.ConnectError):
            return EndpointError(f"no connection{self._to(error)}: {cause}", is_passing=True)
        if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError | httpx.ProxyError):
            return EndpointError(f"the connection broke: {cause}", is_passing=True)
        return EndpointError(f"the request failed: {cause}")

    def _shown(self, url: httpx.URL) -> str:
        return f"`{self.secrets.hide(str(url.copy_with(userinfo=b'', query=None)))}`"


def require() -> None:
    """`MissingExtraError` without httpx."""
    try:
        import httpx  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtraError("an agent behind HTTP", "run") from None


def _is_upgrade(old: httpx.URL, new: httpx.URL) -> bool:
    """Whether an address is the same with encryption."""
    ports = (None, 80, 443)
    return old.host == new.host and old.scheme == "http" and new.scheme == "https" and {old.port, new.port} <= {*ports}


def _is_untrusted(error: BaseException | None) -> bool:
    """Whether a connection failed over its certificates."""
    while error is not None:
        if isinstance(error, ssl.SSLError) or "CERTIFICATE" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def trust(verify: bool | str, directory: str) -> ssl.SSLContext | bool:
    """What certificates are checked by. Those that come with httpx are read once: that takes its time."""
    if verify is True:
        return _known_authorities()
    if verify is False:
        return False
    try:
        return ssl.create_default_context(cafile=os.path.join(directory, verify))
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"`verify`: the certificates in `{verify}` cannot be read: {error}") from None


@functools.cache
def _known_authorities() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context(trust_env=False)
