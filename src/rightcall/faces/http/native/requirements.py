"""Requirements: what an agent has to fulfil, and the metrics by which that is told."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import FromPath, JSONBody
from litestar.response import Response
from msgspec import Meta

from rightcall.faces.http.auth import READ, WRITE
from rightcall.faces.http.bodies import StrictJSON
from rightcall.faces.http.native.desk import AtDesk, Cursor, IdempotencyKey, IfMatch, Limit
from rightcall.faces.http.native.membership import Ids, Members, MetricIds
from rightcall.faces.http.native.resource import Listed, Resource, history
from rightcall.store.requirements import METRICS, REQUIREMENTS, Requirement
from rightcall.store.rows import Kept


class RequirementBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent has to fulfil."""

    name: Annotated[str, Meta(min_length=1, max_length=500)]
    description: str = ""
    metadata: dict[str, Any] = {}


class RequirementView(RequirementBody, frozen=True, kw_only=True):
    """A requirement as it is kept."""

    id: str
    version: int
    created_at: datetime.datetime
    updated_at: datetime.datetime


def row_of(body: RequirementBody) -> Requirement:
    """The row of a requirement."""
    return Requirement(name=body.name, description=body.description, labels=body.metadata)


def view_of(kept: Kept[Requirement]) -> RequirementView:
    """A row as it is shown."""
    return RequirementView(
        **history(kept),
        name=kept.value.name,
        description=kept.value.description,
        metadata=kept.value.labels,
    )


RESOURCE: Resource[Requirement, RequirementView] = Resource(path="/requirements", aggregate=REQUIREMENTS, view=view_of)
_METRICS = Members(members=METRICS, owners=REQUIREMENTS, pointer="#/metric_ids")


class Requirements(Controller):
    """`/requirements`."""

    path = RESOURCE.path
    tags = ["requirements"]  # noqa: RUF012  # the framework reads it

    @get(guards=[READ], sync_to_thread=True)
    def list_requirements(
        self, desk: AtDesk, limit: Limit = 50, cursor: Cursor = None
    ) -> Response[Listed[RequirementView]]:
        """Requirements in the order of their making."""
        return RESOURCE.page(desk, limit, cursor)

    @post(guards=[WRITE], dto=StrictJSON[RequirementBody], return_dto=None, sync_to_thread=True)
    def create_requirement(
        self, desk: AtDesk, data: JSONBody[RequirementBody], idempotency_key: IdempotencyKey = None
    ) -> Response[RequirementView]:
        """Make a requirement."""
        return RESOURCE.make(desk, row_of(data), idempotency_key)

    @get("/{requirement_id:str}", guards=[READ], sync_to_thread=True)
    def read_requirement(self, desk: AtDesk, requirement_id: FromPath[str]) -> Response[RequirementView]:
        """One requirement."""
        return RESOURCE.show(desk, requirement_id)

    @put(
        "/{requirement_id:str}",
        guards=[WRITE],
        dto=StrictJSON[RequirementBody],
        return_dto=None,
        sync_to_thread=True,
    )
    def replace_requirement(
        self,
        desk: AtDesk,
        requirement_id: FromPath[str],
        data: JSONBody[RequirementBody],
        if_match: IfMatch = None,
    ) -> Response[RequirementView]:
        """Put another requirement in its place."""
        return RESOURCE.change(desk, requirement_id, row_of(data), if_match)

    @delete("/{requirement_id:str}", guards=[WRITE], sync_to_thread=True)
    def delete_requirement(self, desk: AtDesk, requirement_id: FromPath[str], if_match: IfMatch = None) -> None:
        """Delete a requirement that no test has."""
        RESOURCE.remove(desk, requirement_id, if_match)

    @get("/{requirement_id:str}/metrics", guards=[READ], sync_to_thread=True)
    def list_metrics(
        self, desk: AtDesk, requirement_id: FromPath[str], limit: Limit = 50, cursor: Cursor = None
    ) -> Response[Ids]:
        """The metrics of a requirement, by their ids, in their order."""
        return _METRICS.page(desk, requirement_id, limit, cursor)

    @put(
        "/{requirement_id:str}/metrics",
        guards=[WRITE],
        dto=StrictJSON[MetricIds],
        return_dto=None,
        sync_to_thread=True,
    )
    def replace_metrics(
        self, desk: AtDesk, requirement_id: FromPath[str], data: JSONBody[MetricIds]
    ) -> Response[MetricIds]:
        """Have these metrics, in this order, and no others."""
        return _METRICS.replace(desk, requirement_id, data.metric_ids, data)
