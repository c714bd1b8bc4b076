"""Where in a reply its parts stand: JSONPath (RFC 9535), or templates of Jinja2 on the variable `reply`.

One rule for what a JSONPath finds: a query that can only find one value gives that value, and nothing if it is not
there. Any other gives all it finds, in order; if it finds nothing, that is an empty list where the part of the query
before its first wildcard, slice or filter is there, `null` where that is `null`, else nothing.

Nothing, `null` and an empty list stay different for `tool_calls`: not said, not recorded, none made. Lists that several
places give are put together. Texts that several places give as `output` are joined.

https://www.rfc-editor.org/rfc/rfc9535
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rightcall.agents import looking, replies, reported, templates
from rightcall.agents.exchange import Reply
from rightcall.core.values import display
from rightcall.errors import EndpointError, MissingExtraError, TestSetError
from rightcall.testsets.marks import child
from rightcall.traces import shapes

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


def as_it_is(value: dict[str, Any]) -> Mapped:
    """An object with the keys of a reply, mapped by these."""
    return Mapped({key: Found(items=((f"$.{key}", part),), value=part) for key, part in value.items()}, value)


def reply(parts: list[Mapped]) -> Reply:
    """The reply that the parts of it come to: one, or the messages of a stream in their order.

    Texts of `output` are joined, calls put together; of the rest the last one counts, of errors the first.
    """
    metadata = [_object(value) for part in parts if (value := part.value("metadata")) not in (UNSET, None)]
    failures = [replies.failure(value) for part in parts if (value := part.value("error")) is not UNSET]
    made = Reply(
        output=_output(parts),
        conversation_id=_last(parts, "conversation_id"),
        context=_last(parts, "context"),
        metadata={key: value for one in metadata for key, value in one.items()},
        error=next(filter(None, failures), None),
    )
    return _with_calls(made, parts)


def _last(parts: list[Mapped], name: str) -> Any:
    known = [value for part in parts if (value := part.value(name)) not in (UNSET, None)]
    return known[-1] if known else None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"`metadata` is mapped to {shapes.kind(value)}, expected an object; found {display(value, 60)}"
        raise EndpointError(message)
    return value


def _output(parts: list[Mapped]) -> Any:
    values = [value for part in parts for value in _outputs(part.fields.get("output", Found()))]
    if len(values) > 1 and all(isinstance(value, str) for value in values):
        return "".join(values)
    return values[0] if len(values) == 1 else values or None


def _outputs(found: Found) -> list[Any]:
    values = found.value if found.is_list else [found.value]
    return [value for value in values or () if value is not UNSET and value is not None]


def _with_calls(made: Reply, parts: list[Mapped]) -> Reply:
    """The reply with the calls of all parts. What looks like calls and was not found is said."""
    told = [(part, part.fields["tool_calls"]) for part in parts if "tool_calls" in part.fields]
    said = [found for _, found in told if found.value is not UNSET]
    entries = [entry for found in said for entry in _entries(found)]
    overlooked = [place for part in parts for place in _overlooked(part, [value for _, value in entries])]
    if not said:
        return _warned(made, overlooked)
    if not entries and all(_is_null(found) for found in said):
        return replies.with_calls(_warned(made, overlooked), reported.Reported())
    calls = reported.read([value for _, value in entries], "", [at for at, _ in entries])
    if overlooked and not entries:
        gap = f"the mapping finds no calls, but what looks like calls stands at {_listed(overlooked)}"
        return replies.with_calls(made, msgspec.structs.replace(calls, gaps=(*calls.gaps, gap)))
    return replies.with_calls(_warned(made, overlooked), calls)


def _is_null(found: Found) -> bool:
    values = [value for _, value in found.items]
    return found.value is None or (bool(values) and all(value is None for value in values))


def _entries(found: Found) -> Iterable[tuple[str, Any]]:
    """Each call, or message with calls, by its place: lists are put together, `null` among several is none."""
    for path, value in found.items:
        if isinstance(value, str):
            value = reported.decoded(value, path)
        if isinstance(value, list):
            yield from ((child(path, index), entry) for index, entry in enumerate(value))
        elif value is not None:
            yield path, value


def _overlooked(part: Mapped, read: list[Any]) -> list[str]:
    """The places of what looks like calls in a reply and is not, nor stands in, what was read."""
    inside = [place.value for value in read for place in looking.calls(value)]
    return [
        f"$.{place.path}" if place.path[:1] not in ("", "[") else f"${place.path}"
        for place in looking.calls(part.reply)
        if not all(one in read or one in inside for one in _each(place.value)) and place.value not in inside
    ]


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _listed(places: list[str]) -> str:
    return ", ".join(f"`{place}`" for place in dict.fromkeys(places[:3]))


def _warned(made: Reply, places: list[str]) -> Reply:
    if not places:
        return made
    told = f"what looks like calls at {_listed(places)} is not read: no mapping of `tool_calls` leads there"
    return msgspec.structs.replace(made, warnings=(*made.warnings, told))
