"""Metrics: how tests are graded. Every organization has *Tool Call Trajectory*."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import FromPath, JSONBody
from litestar.response import Response
from msgspec import Meta

from rightcall.errors import TestSetError
from rightcall.faces.http.auth import READ, WRITE
from rightcall.faces.http.bodies import StrictJSON
from rightcall.faces.http.native.desk import AtDesk, Cursor, Desk, IdempotencyKey, IfMatch, Limit
from rightcall.faces.http.native.resource import Listed, Resource, history, refuse_built_in
from rightcall.faces.http.problems import unusable
from rightcall.store.metrics import METRICS, Metric
from rightcall.store.rows import Kept


class MetricBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How tests are graded.

    Of kind `tool_call_trajectory`, the expected calls are those of each test, and `config` says how they line up:
    `match` and `arguments`. Of any other kind of assertion, `config` is the assertion itself, the same for every test.
    """

    name: Annotated[str, Meta(min_length=1, max_length=500)]
    kind: Annotated[str, Meta(min_length=1, max_length=100)]
    description: str = ""
    config: dict[str, Any] = {}


class MetricView(MetricBody, frozen=True, kw_only=True):
    """A metric as it is kept. `built_in` names one that every organization has and nobody changes."""

    built_in: str | None
    id: str
    version: int
    created_at: datetime.datetime
    updated_at: datetime.datetime


def row_of(body: MetricBody) -> Metric:
    """The row of a metric; `ProblemError` if it can never grade anything."""
    from rightcall.app import checking

    try:
        checking.check_metric(body.kind, body.config)
    except TestSetError as error:
        raise unusable(error) from None
    return Metric(name=body.name, kind=body.kind, description=body.description, content=body.config)


def view_of(kept: Kept[Metric]) -> MetricView:
    """A row as it is shown."""
    return MetricView(
        **history(kept),
        name=kept.value.name,
        kind=kept.value.kind,
        description=kept.value.description,
        config=kept.value.content,
        built_in=kept.value.built_in,
    )


RESOURCE: Resource[Metric, MetricView] = Resource(path="/metrics", aggregate=METRICS, view=view_of)


class Metrics(Controller):
    """`/metrics`."""

    path = RESOURCE.path
    tags = ["metrics"]  # noqa: RUF012  # the framework reads it

    @get(guards=[READ], sync_to_thread=True)
    def list_metrics(self, desk: AtDesk, limit: Limit = 50, cursor: Cursor = None) -> Response[Listed[MetricView]]:
        """Metrics in the order of their making, the built-in ones first."""
        return RESOURCE.page(desk, limit, cursor)

    @post(guards=[WRITE], dto=StrictJSON[MetricBody], return_dto=None, sync_to_thread=True)
    def create_metric(
        self, desk: AtDesk, data: JSONBody[MetricBody], idempotency_key: IdempotencyKey = None
    ) -> Response[MetricView]:
        """Make a metric."""
        return RESOURCE.make(desk, row_of(data), idempotency_key)

    @get("/{metric_id:str}", guards=[READ], sync_to_thread=True)
    def read_metric(self, desk: AtDesk, metric_id: FromPath[str]) -> Response[MetricView]:
        """One metric."""
        return RESOURCE.show(desk, metric_id)

    @put("/{metric_id:str}", guards=[WRITE], dto=StrictJSON[MetricBody], return_dto=None, sync_to_thread=True)
    def replace_metric(
        self, desk: AtDesk, metric_id: FromPath[str], data: JSONBody[MetricBody], if_match: IfMatch = None
    ) -> Response[MetricView]:
        """Put another metric in its place, unless it is built in."""
        _check_own(desk, metric_id)
        return RESOURCE.change(desk, metric_id, row_of(data), if_match)

    @delete("/{metric_id:str}", guards=[WRITE], sync_to_thread=True)
    def delete_metric(self, desk: AtDesk, metric_id: FromPath[str], if_match: IfMatch = None) -> None:
        """Delete a metric, unless it is built in."""
        _check_own(desk, metric_id)
        RESOURCE.remove(desk, metric_id, if_match)


def _check_own(desk: Desk, identity: str) -> None:
    """Refuse to change what is built in; whether a metric is never changes."""
    with desk.reading() as on:
        refuse_built_in(METRICS.need(desk.org, on, identity))
