"""Where in a reply its parts stand: JSONPath (RFC 9535), or templates of Jinja2 on the variable `reply`.

One rule for what a JSONPath finds: a query that can only find one value gives that value, and nothing if it is not
there. Any other gives all it finds, in order; if it finds nothing, that is an empty list where the part of the query
before its first wildcard, slice or filter is there, `null` where that is `null`, else nothing.

What comes of all that is found is in `agents/gathering.py`.

https://www.rfc-editor.org/rfc/rfc9535
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rightcall.agents import templates
from rightcall.errors import EndpointError, MissingExtraError, TestSetError
from rightcall.testsets.marks import child

if TYPE_CHECKING:
    from jsonpath import JSONPath, JSONPathEnvironment

Expression = Annotated[str, Meta(description="A JSONPath, `$.answer`, or a template, `{{ reply.answer }}`.")]


class Response(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where in a reply its parts stand."""

    output: Expression | UnsetType = UNSET
    tool_calls: Expression | UnsetType = UNSET
    conversation_id: Expression | UnsetType = UNSET
    context: Expression | UnsetType = UNSET
    metadata: Expression | dict[str, Expression] | UnsetType = UNSET
    error: Expression | UnsetType = UNSET


class Found(msgspec.Struct, frozen=True):
    """What an expression found: values with their paths. `is_list` says that they are the items of a list.

    `value` is all of it, `UNSET` if nothing is there.
    """

    items: tuple[tuple[str, Any], ...] = ()
    value: Any = UNSET
    is_list: bool = False


Find = Callable[[Any, templates.Variables], Found]
"""An expression that is ready: what it finds in a reply."""


def _no_secret(name: str) -> str:
    raise EndpointError(f"a mapping of replies knows no secrets: `${{{name}}}`")


def expression(source: str, path: str = "") -> Find:
    """An expression that is ready; `TestSetError` with its place if it is none."""
    if source.startswith("$"):
        return _jsonpath(source, path)
    if not templates.is_template(source):
        near = f"; perhaps `$.{source}`" if source.replace(".", "").replace("_", "").isalnum() else ""
        message = (
            f"expected a JSONPath that begins with `$`, or a template with `{{{{ reply }}}}`, found `{source}`{near}"
        )
        raise TestSetError(message).within(path=path)
    render = templates.compiled(source, path)

    def find(reply: Any, variables: templates.Variables) -> Found:
        value = render({**variables, "reply": reply}, _no_secret)
        return Found(items=((source, value),), value=value)

    return find


def _jsonpath(source: str, path: str) -> Find:
    query, front = _queries(source, path)
    is_single = front is query

    def find(reply: Any, variables: templates.Variables) -> Found:
        items = _nodes(query, reply, source)
        if is_single:
            return Found(items=items, value=items[0][1] if items else UNSET)
        if items:
            return Found(items=items, value=[value for _, value in items], is_list=True)
        begun = _nodes(front, reply, source)
        if not begun:
            return Found()
        return Found(value=None if begun[0][1] is None else [], is_list=True)

    return find


def _queries(source: str, path: str) -> tuple[JSONPath, JSONPath]:
    """The query, and the part of it that can only find one value; the same if that is all of it."""
    environment = _environment()
    from jsonpath import JSONPath, JSONPathError

    try:
        query = environment.compile(source)
    except JSONPathError as error:
        raise TestSetError(f"this is no JSONPath: {str(error).splitlines()[0]}").within(path=path) from None
    assert isinstance(query, JSONPath)  # unions are none of the standard
    for count in range(len(query.segments), -1, -1):
        front = JSONPath(env=environment, segments=query.segments[:count])
        if front.singular_query():
            return query, query if count == len(query.segments) else front
    return query, query


@functools.cache
def _environment() -> JSONPathEnvironment:
    try:
        from jsonpath import JSONPathEnvironment
    except ImportError:
        raise MissingExtraError("a JSONPath", "run") from None

    class Deep(JSONPathEnvironment):
        """As deep as any JSON that is read."""

        max_recursion_depth = 250

    return Deep(strict=True)


def _nodes(query: JSONPath, reply: Any, source: str) -> tuple[tuple[str, Any], ...]:
    from jsonpath import JSONPathError

    if not isinstance(reply, dict | list):  # it would take a text as JSON
        return (("$", reply),) if query.empty() else ()
    try:
        return tuple([(_place(node.parts), node.obj) for node in query.finditer(reply)])
    except JSONPathError as error:
        raise EndpointError(f"the JSONPath `{source}` fails: {error}") from None


def _place(parts: Iterable[str | int]) -> str:
    return functools.reduce(child, parts, "$")


class Mapped(msgspec.Struct, frozen=True):
    """What a mapping found in a reply, field by field; a field that it does not name is not there."""

    fields: dict[str, Found] = {}
    reply: Any = None

    def value(self, name: str) -> Any:
        """What was found for a field, `UNSET` if nothing."""
        return self.fields[name].value if name in self.fields else UNSET


class Mapper(msgspec.Struct, frozen=True):
    """A mapping that is ready. `metadata` has an expression for each of its keys, where it is written so."""

    fields: dict[str, Find]
    metadata: dict[str, Find] = {}

    def mapped(self, reply: Any, variables: templates.Variables) -> Mapped:
        """What it finds in a reply; `EndpointError` if a template fails."""
        found = {name: find(reply, variables) for name, find in self.fields.items()}
        named = {name: find(reply, variables).value for name, find in self.metadata.items()}
        if self.metadata:
            found["metadata"] = Found(value={name: value for name, value in named.items() if value is not UNSET})
        return Mapped(found, reply)


def compiled(response: Response, path: str = "response") -> Mapper:
    """A mapping that is ready; `TestSetError` with the place of an expression that is none."""
    written = {name: getattr(response, name) for name in response.__struct_fields__}
    fields = {
        name: expression(source, child(path, name)) for name, source in written.items() if isinstance(source, str)
    }
    named = response.metadata if isinstance(response.metadata, dict) else {}
    at = child(path, "metadata")
    return Mapper(fields, {name: expression(source, child(at, name)) for name, source in named.items()})
