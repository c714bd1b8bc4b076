"""Traces: recordings sent as files, read on arrival, and made into tests."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import Controller, delete, get, post
from litestar.params import BodyKwarg, FromPath, JSONBody, QueryParameter
from litestar.response import Response
from msgspec import Meta

from rightcall.core import jsontext
from rightcall.errors import TestSetError, TraceError
from rightcall.faces.http.auth import INGEST, READ, WRITE
from rightcall.faces.http.bodies import BINARY, Binary, StrictJSON, written
from rightcall.faces.http.native import tests
from rightcall.faces.http.native.desk import AtDesk, Cursor, Desk, IdempotencyKey, IfMatch, Limit
from rightcall.faces.http.native.resource import Listed, Resource, history, pointing
from rightcall.faces.http.native.tests import TestBody, TestView
from rightcall.faces.http.problems import ProblemError, unusable
from rightcall.store import audit, traces, uploads
from rightcall.store.engine import Transaction
from rightcall.store.rows import Kept
from rightcall.store.traces import TRACES, State, Trace

Match = Literal["exact", "in_order", "any_order", "subset", "superset"]
Arguments = Literal["exact", "partial", "ignore"]


class TraceView(msgspec.Struct, frozen=True, kw_only=True):
    """A trace. `position` is its place in the upload that it came in, from 0."""

    id: str
    version: int
    created_at: datetime.datetime
    updated_at: datetime.datetime
    name: str
    format: str
    state: State
    upload_id: str | None
    position: int
    conversation_id: str | None


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an upload: the traces read from it, and what of it could not be read, in words."""

    upload_id: str
    is_new: bool
    traces: list[TraceView]
    rejected: list[str] = []


class PromoteBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a trace becomes a test: what the test is called, and how closely later calls must follow."""

    name: Annotated[str, Meta(min_length=1, max_length=500)]
    match: Match = "exact"
    arguments: Arguments = "exact"
    requirement_id: str | None = None


def view_of(kept: Kept[Trace]) -> TraceView:
    """A row as it is shown."""
    row = kept.value
    return TraceView(
        **history(kept),
        name=row.name,
        format=row.format,
        state=row.state,
        upload_id=row.upload_id,
        position=row.position,
        conversation_id=row.conversation_id,
    )


RESOURCE: Resource[Trace, TraceView] = Resource(path="/traces", aggregate=TRACES, view=view_of)

Named = Annotated[str, QueryParameter(name="name", max_length=500, description="What the file is called.")]
Format = Annotated[
    str | None, QueryParameter(name="format", max_length=100, description="Its format, if it should not be detected.")
]
GroupBy = Annotated[
    str | None,
    QueryParameter(name="group_by", max_length=500, description="What of it is one trajectory, as for `grade`."),
]


class Traces(Controller):
    """`/traces`."""

    path = RESOURCE.path
    tags = ["traces"]  # noqa: RUF012  # the framework reads it

    @get(guards=[READ], sync_to_thread=True)
    def list_traces(self, desk: AtDesk, limit: Limit = 50, cursor: Cursor = None) -> Response[Listed[TraceView]]:
        """Traces in the order of their coming."""
        return RESOURCE.page(desk, limit, cursor)

    @post(guards=[INGEST], dto=Binary[bytes], return_dto=None, sync_to_thread=True)
    def upload_traces(
        self,
        desk: AtDesk,
        data: Annotated[bytes, BodyKwarg(media_type=BINARY)],
        name: Named = "",
        trace_format: Format = None,
        group_by: GroupBy = None,
    ) -> Response[Received]:
        """Send a trace file as it is, of any format that is read. The same bytes are kept once."""
        return _received(desk, data, name, trace_format, group_by)

    @get("/{trace_id:str}", guards=[READ], sync_to_thread=True)
    def read_trace(self, desk: AtDesk, trace_id: FromPath[str]) -> Response[TraceView]:
        """What is known of a trace."""
        return RESOURCE.show(desk, trace_id)

    @get("/{trace_id:str}/trajectory", guards=[READ], sync_to_thread=True)
    def read_trajectory(self, desk: AtDesk, trace_id: FromPath[str]) -> Response[dict[str, Any]]:
        """The calls and messages of a trace, as a native record: what `grade` takes as `trajectory`."""
        return written(_trajectory(desk, trace_id))

    @delete("/{trace_id:str}", guards=[WRITE], sync_to_thread=True)
    def delete_trace(self, desk: AtDesk, trace_id: FromPath[str], if_match: IfMatch = None) -> None:
        """Delete a trace."""
        RESOURCE.remove(desk, trace_id, if_match)

    @post("/{trace_id:str}/promote", guards=[WRITE], dto=StrictJSON[PromoteBody], return_dto=None, sync_to_thread=True)
    def promote_trace(
        self,
        desk: AtDesk,
        trace_id: FromPath[str],
        data: JSONBody[PromoteBody],
        idempotency_key: IdempotencyKey = None,
    ) -> Response[TestView]:
        """Make a test of a trace that did well: it expects the calls that were made, and passes on the trace itself."""
        from rightcall.app import receiving

        try:
            drafted = receiving.promoted(_trajectory(desk, trace_id), data.match, data.arguments)
        except TestSetError as error:
            raise unusable(error) from None
        body = msgspec.convert({**drafted, "name": data.name, "requirement_id": data.requirement_id}, TestBody)
        return tests.RESOURCE.make(desk, tests.row_of(body), idempotency_key)


def _received(desk: Desk, body: bytes, name: str, trace_format: str | None, group_by: str | None) -> Response[Received]:
    from rightcall.app import receiving

    try:
        read = receiving.read(body, trace_format, group_by)
    except TraceError as error:
        raise unusable(error) from None

    def work(on: Transaction) -> Received:
        upload, is_new = uploads.keep(desk.org, on, body, name, trace_format)
        if is_new:
            rows = [
                Trace(
                    key=f"{upload.id}/{position}",
                    name=one.name,
                    format=read.format,
                    upload_id=upload.id,
                    position=position,
                    conversation_id=one.conversation_id,
                )
                for position, one in enumerate(read.trajectories)
            ]
            made = TRACES.create_all(desk.org, on, rows)
            lines = [one.line for one in read.trajectories]
            traces.set_trajectories(desk.org, on, dict(zip([kept.id for kept in made], lines, strict=True)))
            audit.note(desk.org, on, desk.caller.key, "upload traces", upload.id, count=len(made))
        shown = [view_of(kept) for kept in traces.of_upload(desk.org, on, upload.id)]
        return Received(upload_id=upload.id, is_new=is_new, traces=shown, rejected=list(read.rejected))

    with pointing("#"):
        answer = desk.write(work)
    return written(jsontext.encode(answer), 201)


def _trajectory(desk: Desk, trace: str) -> bytes:
    with desk.reading() as on:
        TRACES.need(desk.org, on, trace)
        line = traces.trajectory(desk.org, on, trace)
    if line is None:
        raise ProblemError(409, "The trace is not complete yet, so that it has no trajectory.")
    return line
