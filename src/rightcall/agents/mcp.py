"""An agent that serves MCP, over streamable HTTP or as a program: a tool of the server is the agent.

The tool is called once a turn with what the user says as one of its arguments. What it gives is read like the reply of
any agent: its structured content if there is some, else its text. A result marked as an error is the agent's failure.

https://modelcontextprotocol.io/specification/
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from rightcall.agents import mapping, replies, streaming, templates
from rightcall.agents.configuring import TIMEOUT, EndpointConfig, Seconds, Setting
from rightcall.agents.continuing import Continuing
from rightcall.agents.discreet import Discreet
from rightcall.agents.events import Event
from rightcall.agents.exchange import Conversation, Endpoint, Reply, Turn
from rightcall.agents.limiting import within
from rightcall.agents.secrets import Secrets, Text, shown
from rightcall.core import jsontext
from rightcall.errors import EndpointError, MissingExtraError, TestSetError, did_you_mean

if TYPE_CHECKING:
    from mcp.client import Client


class Mcp(EndpointConfig, frozen=True, kw_only=True):
    """A tool of an MCP server."""

    tool: Annotated[str, Meta(min_length=1, description="The tool that is the agent.")]
    url: Annotated[Text | None, Meta(description="Where the server is.")] = None
    command: Annotated[tuple[str, ...], Meta(description="Or the program that it is, and its arguments.")] = ()
    argument: Annotated[str, Meta(description="The argument of the tool that is given what the user says.")] = "prompt"
    arguments: Annotated[dict[str, Any], Meta(description="All its arguments instead, in templates.")] | UnsetType = (
        UNSET
    )
    headers: Annotated[dict[str, Text], Meta(description="Headers; secrets in them by name.")] = field(
        default_factory=dict
    )
    env: Annotated[dict[str, Text], Meta(description="Variables of the program, besides those that it needs.")] = field(
        default_factory=dict
    )
    response: Annotated[mapping.Response | UnsetType, Meta(description="Where in a result its parts stand.")] = UNSET
    timeout: Seconds = TIMEOUT

    @property
    def programs(self) -> tuple[str, ...]:
        """Each word of the command that starts the server."""
        return self.command

    def check(self) -> None:
        """Refuse two servers, or none, and a template or a path that is none."""
        if (self.url is None) == (not self.command):
            raise TestSetError("expected `url` or `command`, and not both").within(path="mcp")
        self.rendered()
        self.reading()

    def rendered(self) -> templates.Rendered:
        """The arguments of the tool, ready to be made for a turn."""
        given = {self.argument: "{{ input }}"} if self.arguments is UNSET else self.arguments
        return templates.structure(given, "mcp.arguments")

    def reading(self) -> streaming.Reading:
        """How results are read, ready."""
        return streaming.reading(self.response, {}, UNSET, None, "mcp")

    def open(self, setting: Setting) -> Endpoint:
        """The server, ready to be asked; `UsageError` if a secret is missing."""
        try:
            import mcp  # noqa: F401 - only whether it is there
        except ImportError:
            raise MissingExtraError("an agent that serves MCP", "mcp") from None
        return _McpEndpoint(self, setting)


class _McpEndpoint:
    def __init__(self, config: Mcp, setting: Setting) -> None:
        self.config = config
        self.watch = setting.watch
        self.secrets = Secrets(setting.environment)
        self.arguments = config.rendered()
        self.reading = config.reading()
        self._url = None if config.url is None else self.secrets.filled(config.url)
        self._headers = self.secrets.all_filled(config.headers)
        self._env = self.secrets.all_filled(config.env)
        self._directory = setting.directory or "."

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[Conversation]:
        """Begin a conversation: connect, or start the program, and see that the tool is there."""
        is_begun = False
        try:
            async with AsyncExitStack() as held:
                async with within(self.config.timeout, "no connection"):
                    client = await held.enter_async_context(await self._client(held))
                    await self._check_tool(client)
                is_begun = True
                yield Discreet(_Conversation(self, client), self.secrets)
        except Exception as error:
            # What is raised inside comes out of the tasks of the client in groups.
            first = _first(error)
            if isinstance(first, EndpointError) or is_begun:
                raise first from None
            raise self.trouble(first) from error

    async def close(self) -> None:
        """Nothing is shared."""

    async def _client(self, held: AsyncExitStack) -> Client:
        import httpx2
        from mcp.client import Client
        from mcp.client.stdio import StdioServerParameters
        from mcp.client.streamable_http import streamable_http_client

        if self._url is None:
            program, *arguments = self.config.command
            return Client(StdioServerParameters(command=program, args=arguments, env=self._env, cwd=self._directory))
        limit = httpx2.Timeout(self.config.timeout)
        http = await held.enter_async_context(httpx2.AsyncClient(headers=self._headers, timeout=limit, trust_env=False))
        return Client(streamable_http_client(self._url, http_client=http))

    async def _check_tool(self, client: Client) -> None:
        """`EndpointError` unless the server has the tool, and the tool the arguments."""
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        if self.config.tool not in tools:
            raise EndpointError(f"the server has no tool {_near(self.config.tool, tools)}")
        taken = tools[self.config.tool].input_schema.get("properties", {})
        for name in (self.config.argument,) if self.config.arguments is UNSET else self.config.arguments:
            if name not in taken:
                raise EndpointError(
                    f"the tool `{self.config.tool}` has no argument {_near(name, taken)}; set `argument`"
                )

    def trouble(self, error: BaseException) -> EndpointError:
        """What went wrong on the way to the server."""
        import httpx2

        told = self.secrets.hide(str(error)) or type(error).__name__
        is_passing = isinstance(error, httpx2.TransportError)
        return EndpointError(f"the MCP server cannot be asked: {told}", is_passing=is_passing)


def _first(error: Exception) -> Exception:
    """The first exception in groups of them."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _near(name: str, known: Iterable[str]) -> str:
    names = ", ".join(f"`{one}`" for one in known) or "none"
    return f"`{name}`{did_you_mean(name, known)}; it has {names}"


class _Conversation:
    def __init__(self, endpoint: _McpEndpoint, client: Client) -> None:
        self._endpoint = endpoint
        self._client = client
        self._told = Continuing()

    async def send(self, turn: Turn) -> Reply:
        """Call the tool."""
        endpoint = self._endpoint
        variables = msgspec.to_builtins(turn)
        if endpoint.watch is not None:
            endpoint.watch.sent("tool", endpoint.config.tool)
            endpoint.watch.sent("arguments", endpoint.arguments(variables, shown))
        arguments = endpoint.arguments(variables, endpoint.secrets.value)
        try:
            async with within(endpoint.config.timeout, "no result"):
                found = await self._client.call_tool(endpoint.config.tool, arguments)
        except EndpointError:
            raise
        except Exception as error:
            raise endpoint.trouble(_first(error)) from error
        data = endpoint.secrets.hide_bytes(found.model_dump_json(by_alias=True, exclude_none=True).encode())
        result = jsontext.decode(data)
        if endpoint.watch is not None:
            endpoint.watch.came("result", result)
        return self._told.new(self._reply(result, variables))

    def _reply(self, result: dict[str, Any], variables: templates.Variables) -> Reply:
        text = "".join(str(part["text"]) for part in result.get("content", ()) if part.get("type") == "text")
        if result.get("isError"):
            return Reply(error=text or "the tool gave an error")
        structured = _structured(result.get("structuredContent"), text)
        if self._endpoint.reading.is_mapped:
            value = {"structured": structured, "text": text, "content": result.get("content")}
            part = self._endpoint.reading.part(Event(), value, variables)
            return streaming.mapped([part], self._endpoint.watch)
        found = replies.of_bytes(text.encode()) if structured is None else replies.of_value(structured)
        return replies.answer_alone(found, None)


def _structured(value: Any, text: str) -> Any:
    """The structured content; where there is none, the object that the text writes."""
    if isinstance(value, dict) and value.keys() == {"result"}:
        return value["result"]  # how servers in Python give what is no object
    if value is not None or text.lstrip()[:1] != "{":
        return value
    try:
        return jsontext.decode(text)
    except jsontext.JSONError:
        return None
