"""An agent behind HTTP: one request for each turn, made from templates, its reply read by a mapping or by itself.

A reply is JSON, or a stream of server-sent events or of JSON lines. With a mapping, each event is read by it and they
are put together; without one, the whole is read like a trace of any known format.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import quote, urlencode

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from rightcall.agents import mapping, streaming, templates, web
from rightcall.agents.configuring import Setting, Watch
from rightcall.agents.continuing import Continuing
from rightcall.agents.discreet import Discreet
from rightcall.agents.exchange import Conversation, Endpoint, Reply, Turn
from rightcall.agents.limiting import within
from rightcall.agents.secrets import Secrets, shown, source
from rightcall.agents.web import Asked, Web, WebConfig
from rightcall.core import jsontext
from rightcall.errors import TestSetError

if TYPE_CHECKING:
    import httpx

_BODILESS: Final = frozenset({"GET", "DELETE"})
_JSON: Final = "application/json"


class Http(WebConfig, frozen=True, kw_only=True):
    """An agent behind HTTP."""

    method: Annotated[Literal["GET", "POST", "PUT", "PATCH", "DELETE"], Meta(description="The method.")] = "POST"
    query: Annotated[dict[str, Any], Meta(description="What is added to the address, in templates.")] = field(
        default_factory=dict
    )
    body: Annotated[Any, Meta(description="The body, JSON in which texts are templates; by default the turn.")] = UNSET
    form: Annotated[dict[str, Any] | UnsetType, Meta(description="The body as a form, in templates.")] = UNSET
    response: Annotated[mapping.Response | UnsetType, Meta(description="Where in a reply its parts stand.")] = UNSET
    events: Annotated[
        dict[str, mapping.Response], Meta(description="The same for events of a stream, by their names.")
    ] = field(default_factory=dict)
    done: Annotated[
        mapping.Expression | UnsetType, Meta(description="What the last event of a stream has: found, and not false.")
    ] = UNSET
    format: Annotated[str | None, Meta(description="The format of a reply that no mapping reads.")] = None

    def check(self) -> None:
        """Refuse an address, a template or a path that is none."""
        web.check(self, "http")
        Templates.of(self)

    def open(self, setting: Setting) -> Endpoint:
        """The agent, ready to be asked; `UsageError` if a secret is missing."""
        web.require()
        return _HttpEndpoint(self, Templates.of(self), setting)


class Templates(msgspec.Struct, frozen=True):
    """The parts of a request, ready to be made for a turn."""

    url: templates.Rendered
    headers: templates.Rendered
    query: templates.Rendered
    body: templates.Rendered | None
    form: templates.Rendered | None
    reading: streaming.Reading

    @classmethod
    def of(cls, config: Http) -> Templates:
        """The templates of a description; `TestSetError` with the place of one that is none."""
        if config.body is not UNSET and config.form is not UNSET:
            raise TestSetError("`body` and `form` are two bodies; leave one out").within(path="http.form")
        return cls(
            url=templates.compiled(source(config.url), "http.url"),
            headers=templates.structure({name: source(text) for name, text in config.headers.items()}, "http.headers"),
            query=templates.structure(config.query, "http.query"),
            body=None if config.body is UNSET else templates.structure(config.body, "http.body"),
            form=None if config.form is UNSET else templates.structure(config.form, "http.form"),
            reading=streaming.reading(config.response, config.events, config.done, config.format, "http"),
        )


class _HttpEndpoint:
    def __init__(self, config: Http, ready: Templates, setting: Setting) -> None:
        self.config = config
        self.ready = ready
        self.secrets = Secrets(setting.environment)
        self.watch = setting.watch
        self.web = Web(config, self.secrets, setting.directory)
        _look_up(config, self.secrets)

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[Conversation]:
        """Begin a conversation, with cookies of its own."""
        import httpx

        yield Discreet(_Conversation(self, httpx.Cookies()), self.web.secrets)

    async def close(self) -> None:
        """Close every connection."""
        await self.web.close()


def _look_up(config: Http, secrets: Secrets) -> None:
    """Look every secret up, so that one that is missing is missed before anything is sent."""
    for part in (config.url, *config.headers.values()):
        secrets.filled(part)
    given = [config.query, *(part for part in (config.body, config.form) if part is not UNSET)]
    secrets.filled(jsontext.encode(given).decode())


class _Conversation:
    def __init__(self, endpoint: _HttpEndpoint, cookies: httpx.Cookies) -> None:
        self._endpoint = endpoint
        self._cookies = cookies
        self._told = Continuing()

    async def send(self, turn: Turn) -> Reply:
        """Send one request and read its reply."""
        endpoint = self._endpoint
        variables = msgspec.to_builtins(turn)
        if endpoint.watch is not None:
            _show(endpoint.watch, request(endpoint.config, endpoint.ready, variables, shown))
        asked = request(endpoint.config, endpoint.ready, variables, endpoint.secrets.value)
        async with within(endpoint.config.timeout, "no whole reply"):
            reply = await exchanged(
                endpoint.web, asked, self._cookies, endpoint.ready.reading, variables, endpoint.watch
            )
        return self._told.new(reply)


def request(config: Http, ready: Templates, variables: templates.Variables, secret: templates.Value) -> Asked:
    """The request for a turn; `EndpointError` if a template finds nothing."""
    headers = {name: templates.written(value) for name, value in ready.headers(variables, secret).items()}
    kind, content = _content(config, ready, variables, secret)
    names = {name.lower() for name in headers}
    told = {"Content-Type": kind} if kind and "content-type" not in names else {}
    told |= {} if "accept" in names else {"Accept": f"{_JSON}, text/event-stream"}
    query = {name: _queried(value) for name, value in ready.query(variables, secret).items() if value is not None}
    url = templates.written(ready.url(_quoted(variables), secret))
    return Asked(method=config.method, url=url, headers={**told, **headers}, query=query, content=content)


def _quoted(variables: templates.Variables) -> templates.Variables:
    """Texts as they may stand in any part of an address: what an agent calls its conversation leads nowhere else."""
    return {name: quote(value, safe="") if isinstance(value, str) else value for name, value in variables.items()}


def _queried(value: Any) -> Any:
    return [templates.written(item) for item in value] if isinstance(value, list) else templates.written(value)


def _content(
    config: Http, ready: Templates, variables: templates.Variables, secret: templates.Value
) -> tuple[str, bytes | None]:
    """The type of the body, and the body."""
    if ready.form is not None:
        fields = {name: _queried(value) for name, value in ready.form(variables, secret).items()}
        return "application/x-www-form-urlencoded", urlencode(fields, doseq=True).encode()
    if ready.body is not None:
        value = ready.body(variables, secret)
        if isinstance(config.body, str) and isinstance(value, str):
            return "text/plain; charset=utf-8", value.encode("utf-8", "surrogatepass")
        return _JSON, jsontext.encode(value)
    return ("", None) if config.method in _BODILESS else (_JSON, jsontext.encode(variables))


def _show(watch: Watch, asked: Asked) -> None:
    query = f"?{urlencode(asked.query, doseq=True)}" if asked.query else ""
    watch.sent("request", f"{asked.method} {asked.url}{query}")
    watch.sent("headers", asked.headers)
    if asked.content is not None:
        watch.sent("body", asked.content.decode("utf-8", "replace"))


async def exchanged(
    client: Web,
    asked: Asked,
    cookies: httpx.Cookies,
    reading: streaming.Reading,
    variables: templates.Variables,
    watch: Watch | None,
) -> Reply:
    """The reply to a request."""
    async with client.ask(asked, cookies) as response:
        stream = streaming.Stream(reading, response.headers, client.secrets)
        async for chunk in client.chunks(response):
            if stream.feed(chunk):
                break
    if watch is not None:
        watch.came("status", client.secrets.hide(f"{response.status_code} {response.reason_phrase}"))
        watch.came("content type", client.secrets.hide(response.headers.get("content-type", "")))
        watch.came("body", stream.text)
    return stream.reply(variables, watch)
