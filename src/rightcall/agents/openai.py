"""An agent or model behind OpenAI's chat completions, or a server that speaks like it.

It keeps nothing: each request holds the conversation from its start. Tools have no code here. A call whose tool has a
canned result in `results` is answered with it and the model goes on; any other ends the turn, and is told as not run if
the user goes on.

https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, field

from rightcall import traces
from rightcall.agents import templates, web
from rightcall.agents.configuring import Setting
from rightcall.agents.discreet import Discreet
from rightcall.agents.exchange import Conversation, Endpoint, Reply, Turn
from rightcall.agents.limiting import within
from rightcall.agents.secrets import FromEnvironment, Secrets, source
from rightcall.agents.web import Asked, Web, WebConfig
from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.errors import EndpointError, TestSetError, TraceError

_PATH: Final = "/chat/completions"
_NOT_RUN: Final = "The tool was not run."
_MOST_STEPS: Final = 20


class OpenAI(WebConfig, frozen=True, kw_only=True):
    """A model or agent that speaks OpenAI's chat completions."""

    model: Annotated[str, Meta(min_length=1, description="The model's name.")]
    api_key: Annotated[FromEnvironment | None, Meta(description="The key, by its environment variable.")] = None
    system: Annotated[str | None, Meta(description="What it is told first.")] = None
    tools: Annotated[tuple[dict[str, Any], ...], Meta(description="The tools that it may call.")] = ()
    results: Annotated[dict[str, Any], Meta(description="What tools answer, by their names.")] = field(
        default_factory=dict
    )
    parameters: Annotated[dict[str, Any], Meta(description="Further keys of the request, such as `temperature`.")] = (
        field(default_factory=dict)
    )

    def check(self) -> None:
        """Refuse an address that is none, and keys of a request that stand for themselves."""
        web.check(self, "openai")
        web.check_plain(self, "openai")
        if taken := {"model", "messages", "tools"} & self.parameters.keys():
            message = f"`{min(taken)}` is not one of the further keys of a request"
            raise TestSetError(message).within(path=f"openai.parameters.{min(taken)}")

    def open(self, setting: Setting) -> Endpoint:
        """The model, ready to be asked; `UsageError` if a secret is missing."""
        web.require()
        return _OpenAIEndpoint(self, setting)


class _OpenAIEndpoint:
    def __init__(self, config: OpenAI, setting: Setting) -> None:
        self.config = config
        self.watch = setting.watch
        self.secrets = Secrets(setting.environment)
        self.web = Web(config, self.secrets, setting.directory)
        self.url = _address(self.secrets.filled(config.url))
        key = {} if config.api_key is None else {"Authorization": f"Bearer {self.secrets.value(config.api_key.env)}"}
        self.headers = {"Content-Type": "application/json", **key, **self.secrets.all_filled(config.headers)}

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[Conversation]:
        """Begin a conversation."""
        yield Discreet(_Conversation(self), self.secrets)

    async def close(self) -> None:
        """Close every connection."""
        await self.web.close()


def _address(url: str) -> str:
    return url if url.rstrip("/").endswith(_PATH) else url.rstrip("/") + _PATH


class _Conversation:
    def __init__(self, endpoint: _OpenAIEndpoint) -> None:
        system = endpoint.config.system
        self._endpoint = endpoint
        self._messages: list[dict[str, Any]] = [] if system is None else [{"role": "system", "content": system}]

    async def send(self, turn: Turn) -> Reply:
        """Ask until the model calls nothing more that has a result."""
        # An attempt at a turn that fails leaves nothing behind.
        messages = [*self._messages, {"role": "user", "content": templates.written(turn.input)}]
        start = len(messages) - 1
        async with within(self._endpoint.config.timeout, "no whole reply"):
            steps = await self._steps(messages)
        self._messages = [*messages, *_not_run(messages[-1])]
        return self._reply(messages[start:], steps)

    async def _steps(self, messages: list[dict[str, Any]]) -> list[Trajectory]:
        """The answers of the model, each put after the messages, with the results of its calls."""
        found = list[Trajectory]()
        while len(found) < _MOST_STEPS:
            found.append(await self._answer(messages))
            messages.append(_answered(found[-1]))
            results = _results(messages[-1], self._endpoint.config.results)
            if not results:
                return found
            messages += results
        raise EndpointError(f"the model did not come to an end within {_MOST_STEPS} answers to canned `results`")

    async def _answer(self, messages: list[dict[str, Any]]) -> Trajectory:
        """One answer of the model, streamed or whole."""
        import httpx

        endpoint, config = self._endpoint, self._endpoint.config
        tools = {"tools": list(config.tools)} if config.tools else {}
        body = {"model": config.model, "messages": messages, **tools, **config.parameters}
        if endpoint.watch is not None:
            endpoint.watch.sent("request", f"POST {_address(source(config.url))}")
            endpoint.watch.sent("body", list(messages))
        asked = Asked(method="POST", url=endpoint.url, headers=endpoint.headers, content=jsontext.encode(body))
        async with endpoint.web.ask(asked, httpx.Cookies()) as response:
            parts = [chunk async for chunk in endpoint.web.chunks(response)]
        data = endpoint.secrets.hide_bytes(b"".join(parts))
        if endpoint.watch is not None:
            endpoint.watch.came("body", data.decode("utf-8", "replace"))
        return _read(data)

    def _reply(self, messages: list[dict[str, Any]], steps: list[Trajectory]) -> Reply:
        """The turn as its messages tell it, and what was noted of each answer."""
        told = _read(jsontext.encode({"messages": messages, "tools": list(self._endpoint.config.tools)}))
        made = msgspec.structs.replace(
            told,
            gaps=tuple(dict.fromkeys([*told.gaps, *(gap for step in steps for gap in step.gaps)])),
            warnings=tuple(dict.fromkeys([*told.warnings, *(note for step in steps for note in step.warnings)])),
        )
        return Reply(output=made.output, trajectory=made)


def _read(data: bytes) -> Trajectory:
    try:
        return traces.read_object(data, format="openai-chat")
    except TraceError as error:
        raise EndpointError(f"the reply is no chat completion: {error.message}", error.where) from error


def _answered(answer: Trajectory) -> dict[str, Any]:
    messages = [message for message in answer.messages or () if isinstance(message, dict)]
    if not messages:
        raise EndpointError("the reply is a chat completion without a message")
    return {"role": "assistant", **messages[-1]}


def _calls(message: dict[str, Any]) -> list[tuple[str, str]]:
    """The id and the name of each call in a message."""
    calls = [call for call in message.get("tool_calls") or () if isinstance(call, dict)]
    return [(str(call.get("id")), str((call.get("function") or {}).get("name"))) for call in calls]


def _results(message: dict[str, Any], results: dict[str, Any]) -> list[dict[str, Any]]:
    """A message with the result of each call; none if there is no call, or one without a result."""
    calls = _calls(message)
    if not all(name in results for _, name in calls):
        return []
    return [_result(id_, templates.written(results[name])) for id_, name in calls]


def _not_run(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [_result(id_, _NOT_RUN) for id_, _ in _calls(message)]


def _result(id_: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}
