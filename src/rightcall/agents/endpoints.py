"""The ways to reach an agent by name: what a test set says under `endpoint`, what the command line says, a function.

`endpoint: {python: "agent.py:refund"}` is a mapping with one key, the way; what belongs to it stands in a mapping, or
is nothing but the one thing that it needs.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from rightcall.agents.command import Command
from rightcall.agents.configuring import EndpointConfig, Setting, Watch
from rightcall.agents.exchange import Endpoint
from rightcall.agents.http import Http
from rightcall.agents.mcp import Mcp
from rightcall.agents.openai import OpenAI
from rightcall.agents.python import Python, PythonEndpoint
from rightcall.agents.websocket import WebSocket
from rightcall.errors import MissingExtraError, TestSetError, UsageError, Where, did_you_mean, join_path
from rightcall.testsets.explain import explain, found
from rightcall.testsets.marks import child
from rightcall.testsets.source import Source

_C = TypeVar("_C", bound=EndpointConfig)

ENDPOINTS: Final[dict[str, type[EndpointConfig]]] = {
    "python": Python,
    "command": Command,
    "http": Http,
    "websocket": WebSocket,
    "openai": OpenAI,
    "mcp": Mcp,
}
"""Every way to reach an agent by its name."""

_SHORT: Final = {"python": "call", "command": "argv", "http": "url", "websocket": "url"}
"""The key that a way needs, for who writes nothing else."""


def read(data: Any, where: Where = Where()) -> EndpointConfig:  # noqa: B008 - it is frozen
    """The endpoint that a value of a test set describes; `TestSetError` with the path of what is wrong.

    `where` is the place of the value, whose path is put in front.
    """
    if isinstance(data, str):
        data = parse(data)
    known = ", ".join(f"`{name}`" for name in ENDPOINTS)
    if not isinstance(data, Mapping) or len(data) != 1:
        keys = f"the keys {', '.join(f'`{key}`' for key in data)}" if isinstance(data, Mapping) else found(data)
        raise _refused(f"expected a mapping with one key, the way to the agent ({known}); found {keys}", "", where)
    [(name, value)] = data.items()
    if name not in ENDPOINTS:
        near = did_you_mean(str(name), ENDPOINTS)
        raise _refused(
            f"there is no way `{name}` to reach an agent{near}; there are {known}", child("", str(name)), where
        )
    if not isinstance(value, Mapping) and name in _SHORT:
        value = {_SHORT[name]: value}
    config = _converted(value, ENDPOINTS[name], child("", name), where)
    try:
        config.check()
    except TestSetError as error:
        raise _refused(error.message, error.where.path, where) from None
    return config


def placed(data: Any, source: Source) -> EndpointConfig:
    """The endpoint of a test set, by its `endpoint` key; `TestSetError` with the line and column of what is wrong."""
    try:
        return read(data, Where(path="endpoint"))
    except MissingExtraError:
        raise
    except (TestSetError, UsageError) as error:
        raise TestSetError(error.message, source.key(error.where.path or "endpoint")) from None


def schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """The JSON Schema of what `read` takes, and the definitions that it refers to, all named `endpoint.…`."""
    ways = list(ENDPOINTS)
    refs, components = msgspec.json.schema_components(ENDPOINTS.values(), ref_template="#/$defs/endpoint.{name}")
    written = {
        name: {"anyOf": [ref, _short(name)]} if name in _SHORT else ref for name, ref in zip(ways, refs, strict=True)
    }
    shape = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": False}
    text = {"type": "string", "description": "The agent as `--endpoint` names it."}
    described = {"anyOf": [{**shape, "properties": written}, text], "description": "How the agent is reached."}
    return described, {f"endpoint.{name}": definition for name, definition in components.items()}


def _short(name: str) -> dict[str, Any]:
    """The shape of the one thing that a way needs."""
    if name == "command":
        return {"type": "array", "items": {"type": "string"}, "minItems": 1}
    return {"type": "string"}


def _converted(value: Any, kind: type[_C], path: str, where: Where) -> _C:
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        problem = explain(value, msgspec.inspect.type_info(kind), path)
        if problem is None:
            raise _refused(*_limit(str(error), path), where) from None
        raise _refused(problem.message, problem.path, where) from None


def _limit(message: str, path: str) -> tuple[str, str]:
    """What decoding says of a value of the right type that is too small or has the wrong form, and its path."""
    told, _, at = message.partition(" - at `$")
    told = told[:1].lower() + told[1:].replace("`float`", "a number").replace("`int`", "a number").replace(
        "`str`", "text"
    )
    return told, path + at.removesuffix("`")


def _refused(message: str, path: str, where: Where) -> TestSetError:
    return TestSetError(message, msgspec.structs.replace(where, path=join_path(where.path, path)))


def parse(text: str) -> dict[str, Any]:
    """The endpoint that a word of the command line describes: `python:agent.py:refund`, `command:./agent`, a URL."""
    way, _, rest = text.partition(":")
    if rest.startswith("//"):
        return _of_url(way, text)
    if way == "command" and rest:
        return {"command": _words(rest)}
    if way in ENDPOINTS and rest:
        return {way: rest}
    known = ", ".join(f"`{name}:…`" for name in ENDPOINTS)
    raise UsageError(f"expected a URL or one of {known}; found `{text}`")


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        told = str(error)
        raise UsageError(f"`command:{line}` is no command: {told[:1].lower()}{told[1:]}") from None


def _of_url(scheme: str, url: str) -> dict[str, Any]:
    ways = {"http": "http", "https": "http", "ws": "websocket", "wss": "websocket"}
    if scheme not in ways:
        known = ", ".join(f"`{one}`" for one in ways)
        raise UsageError(f"expected a URL that begins with one of {known}, found `{url}`")
    return {ways[scheme]: url}


def open(  # noqa: A001 - `endpoints.open` is what it does
    config: EndpointConfig, environment: Mapping[str, str], directory: str, watch: Watch | None = None
) -> Endpoint:
    """The agent that is described. Secrets come from `environment`; paths are relative to `directory`.

    `UsageError` and `EndpointError` if it cannot be driven at all: a secret is missing, a function cannot be loaded.
    """
    return config.open(Setting(environment=environment, directory=directory, watch=watch))


def of(call: Callable[..., Any]) -> Endpoint:
    """A function of this process as an agent; see `agents/python.py` for what it is given and returns."""
    return PythonEndpoint(call)
