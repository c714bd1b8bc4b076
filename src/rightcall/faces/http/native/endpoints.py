"""Endpoints: how agents are reached. Secrets are written, never read back."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import FromPath, JSONBody
from litestar.response import Response
from msgspec import Meta

from rightcall.errors import StoreError, TestSetError
from rightcall.faces.http.auth import READ, WRITE
from rightcall.faces.http.bodies import StrictJSON
from rightcall.faces.http.native.desk import AtDesk, Cursor, Desk, IdempotencyKey, IfMatch, Limit
from rightcall.faces.http.native.resource import Listed, Resource, history
from rightcall.faces.http.problems import ProblemError, unusable
from rightcall.store import audit, endpoints
from rightcall.store.endpoints import ENDPOINTS, Endpoint
from rightcall.store.engine import Transaction
from rightcall.store.rows import Kept

SecretName = Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]


class EndpointBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an agent is reached.

    `config` is what a test set file says under `endpoint: {kind: …}`. `${NAME}` in it stands for the secret of that
    name. Ways that would start a program on the server are not taken.
    """

    name: Annotated[str, Meta(min_length=1, max_length=500)]
    kind: Literal["http", "websocket", "openai", "mcp"]
    config: dict[str, Any]


class EndpointView(EndpointBody, frozen=True, kw_only=True):
    """An endpoint as it is kept."""

    id: str
    version: int
    created_at: datetime.datetime
    updated_at: datetime.datetime


class SecretsBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All secrets of an endpoint, by their names."""

    secrets: Annotated[dict[SecretName, str], Meta(max_length=100)]


class SecretNames(msgspec.Struct, frozen=True, kw_only=True):
    """What the secrets of an endpoint are called."""

    names: list[str]


def row_of(body: EndpointBody) -> Endpoint:
    """The row of an endpoint; `ProblemError` if nothing can be reached so."""
    from rightcall.app import checking

    try:
        checking.check_endpoint(body.kind, body.config)
    except TestSetError as error:
        raise unusable(error) from None
    return Endpoint(name=body.name, kind=body.kind, content=body.config)


def view_of(kept: Kept[Endpoint]) -> EndpointView:
    """A row as it is shown."""
    row = {"name": kept.value.name, "kind": kept.value.kind, "config": kept.value.content}
    return msgspec.convert({**history(kept), **row}, EndpointView)


RESOURCE: Resource[Endpoint, EndpointView] = Resource(path="/endpoints", aggregate=ENDPOINTS, view=view_of)


class Endpoints(Controller):
    """`/endpoints`."""

    path = RESOURCE.path
    tags = ["endpoints"]  # noqa: RUF012  # the framework reads it

    @get(guards=[READ], sync_to_thread=True)
    def list_endpoints(self, desk: AtDesk, limit: Limit = 50, cursor: Cursor = None) -> Response[Listed[EndpointView]]:
        """Endpoints in the order of their making."""
        return RESOURCE.page(desk, limit, cursor)

    @post(guards=[WRITE], dto=StrictJSON[EndpointBody], return_dto=None, sync_to_thread=True)
    def create_endpoint(
        self, desk: AtDesk, data: JSONBody[EndpointBody], idempotency_key: IdempotencyKey = None
    ) -> Response[EndpointView]:
        """Make an endpoint."""
        return RESOURCE.make(desk, row_of(data), idempotency_key)

    @get("/{endpoint_id:str}", guards=[READ], sync_to_thread=True)
    def read_endpoint(self, desk: AtDesk, endpoint_id: FromPath[str]) -> Response[EndpointView]:
        """One endpoint."""
        return RESOURCE.show(desk, endpoint_id)

    @put("/{endpoint_id:str}", guards=[WRITE], dto=StrictJSON[EndpointBody], return_dto=None, sync_to_thread=True)
    def replace_endpoint(
        self, desk: AtDesk, endpoint_id: FromPath[str], data: JSONBody[EndpointBody], if_match: IfMatch = None
    ) -> Response[EndpointView]:
        """Put another endpoint in its place; its secrets stay."""
        return RESOURCE.change(desk, endpoint_id, row_of(data), if_match)

    @delete("/{endpoint_id:str}", guards=[WRITE], sync_to_thread=True)
    def delete_endpoint(self, desk: AtDesk, endpoint_id: FromPath[str], if_match: IfMatch = None) -> None:
        """Delete an endpoint with its secrets."""
        RESOURCE.remove(desk, endpoint_id, if_match)

    @get("/{endpoint_id:str}/secrets", guards=[READ], sync_to_thread=True)
    def list_secrets(self, desk: AtDesk, endpoint_id: FromPath[str]) -> SecretNames:
        """What the secrets of an endpoint are called; their values are not shown to anybody."""
        with desk.reading() as on:
            ENDPOINTS.need(desk.org, on, endpoint_id)
            return SecretNames(names=endpoints.secret_names(desk.org, on, endpoint_id))

    @put(
        "/{endpoint_id:str}/secrets",
        guards=[WRITE],
        dto=StrictJSON[SecretsBody],
        return_dto=None,
        status_code=204,
        sync_to_thread=True,
    )
    def replace_secrets(self, desk: AtDesk, endpoint_id: FromPath[str], data: JSONBody[SecretsBody]) -> None:
        """Keep these secrets, sealed, and no others. The server needs a key to seal them with."""
        _keep(desk, endpoint_id, data.secrets)


def _keep(desk: Desk, endpoint: str, secrets: dict[str, str]) -> None:
    _check_sealing(desk)

    def work(on: Transaction) -> None:
        ENDPOINTS.need(desk.org, on, endpoint)
        endpoints.set_secrets(desk.org, on, endpoint, secrets, desk.sealer)
        audit.note(desk.org, on, desk.caller.key, "set secrets of endpoint", endpoint, names=sorted(secrets))

    desk.write(work)


def _check_sealing(desk: Desk) -> None:
    """Refuse to keep secrets where the operator has given no key for them."""
    try:
        desk.sealer.seal("", "")
    except StoreError as error:
        raise ProblemError(501, f"{error.message[:1].upper()}{error.message[1:]}.") from None
