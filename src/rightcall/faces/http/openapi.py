"""The description of the API: OpenAPI 3.1, made from the routes and their structs.

What every operation has in common, its problems and its security, is added here, so that no route can forget it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from litestar import Litestar, get
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig

from rightcall import __version__
from rightcall.faces.http.bodies import JSON
from rightcall.faces.http.operations import OPEN
from rightcall.faces.http.problems import MEDIA_TYPE, Problem

CONFIG: Final = OpenAPIConfig(title="rightcall", version=__version__, use_handler_docstrings=True, path="/-/schema")

PROBLEMS: Final = {
    "400": "Something of the request cannot be read: the body, a parameter, or the name of the host.",
    "401": "A key is needed.",
    "403": "The key does not allow this, or the request came from a page of another origin.",
    "404": "There is no such thing.",
    "405": "The path does not have this method.",
    "409": "Another row stands in the way, or the idempotency key was used for another request.",
    "412": "The row has another version than `If-Match` says.",
    "413": "The body is too large.",
    "415": "The body is not of a type that is read.",
    "422": "The body has another shape, or its content cannot be used.",
    "429": "Too many requests.",
    "431": "The headers are too long.",
    "500": "The server itself failed.",
    "501": "The server lacks an optional part for this.",
    "503": "The server cannot work now.",
}
"""Statuses that any operation may answer with."""

_REFERENCE: Final = {"$ref": "#/components/schemas/Problem"}
_METHODS: Final = frozenset({"get", "put", "post", "delete", "patch"})


def document(app: Litestar) -> dict[str, Any]:
    """The description as JSON."""
    described: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(app.openapi_schema.to_schema()))
    components = described.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    (_, found) = msgspec.json.schema_components([Problem], ref_template="#/components/schemas/{name}")
    schemas.update(found)
    for body in _bodies(app):
        schemas[body.__name__]["additionalProperties"] = not body.__struct_config__.forbid_unknown_fields
    components["responses"] = {status: _told(words) for status, words in PROBLEMS.items()}
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "`rc_…`"}}
    for path, item in described["paths"].items():
        for method in _METHODS & item.keys():
            _complete(item[method], is_open=path in ("/healthz", "/readyz", "/api/v1/openapi.json"))
    return described


def _bodies(app: Litestar) -> Iterator[type[msgspec.Struct]]:
    """What handlers take as bodies; the framework does not say of them whether they refuse unknown fields."""
    handlers = (handler for route in app.routes for handler in getattr(route, "route_handlers", ()))
    fields = (field for handler in handlers if (field := handler.parsed_data_field) is not None)
    yield from (field.annotation for field in fields if field.is_subclass_of(msgspec.Struct))


def _told(description: str) -> dict[str, Any]:
    return {"description": description, "content": {MEDIA_TYPE: {"schema": _REFERENCE}}}


def _complete(operation: dict[str, Any], *, is_open: bool) -> None:
    """Add what any operation may answer with, and whether it asks for a key."""
    responses = operation.setdefault("responses", {})
    responses.update({status: {"$ref": f"#/components/responses/{status}"} for status in PROBLEMS})
    operation["security"] = [] if is_open else [{"key": []}]


@get("/openapi.json", opt=OPEN, sync_to_thread=False, media_type=JSON, tags=["operations"])
def openapi(state: State) -> dict[str, Any]:
    """The description of this API, in OpenAPI 3.1."""
    return state.openapi  # type: ignore[no-any-return]  # the state of an application is untyped


def describe() -> dict[str, Any]:
    """The description of the whole API, for which no database is needed."""
    from rightcall.faces.http.app import framework, now
    from rightcall.faces.http.settings import Settings

    return document(framework(Settings(), None, now))


def checked_in() -> bytes:
    """The description as it is checked in: indented, keys in order."""
    return msgspec.json.format(msgspec.json.encode(describe(), order="deterministic"), indent=2) + b"\n"
