"""Tests: what the agent is asked, and which calls are expected."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import Response
from msgspec import UNSET, Meta, UnsetType

from rightcall.errors import TestSetError
from rightcall.faces.http.auth import READ, WRITE
from rightcall.faces.http.bodies import StrictJSON
from rightcall.faces.http.native.desk import AtDesk, Cursor, IdempotencyKey, IfMatch, Limit
from rightcall.faces.http.native.resource import Listed, Resource, history
from rightcall.faces.http.problems import unusable
from rightcall.store.rows import Kept
from rightcall.store.tests import TESTS, Test


class TestBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A test.

    In `test_configuration`, `expected_tool_calls` is a list of expected calls: `[]` says that none may be made, `null`,
    as absence, that nothing is expected of them. Beside it stand any other keys of a native test that expect something.
    """

    __test__ = False

    name: Annotated[str, Meta(min_length=1, max_length=500)]
    prompt: Annotated[Any, Meta(description="What the agent is asked, in a single turn.")] = UNSET
    turns: (
        Annotated[
            list[dict[str, Any]],
            Meta(min_length=1, description="The turns of the user instead, and what is expected of each."),
        ]
        | UnsetType
    ) = UNSET
    test_configuration: dict[str, Any] | UnsetType = UNSET
    requirement_id: str | None = None
    category: str | None = None
    topic: str | None = None
    tags: list[str] = []
    metadata: dict[str, Any] = {}


class TestView(TestBody, frozen=True, kw_only=True, omit_defaults=False):
    """A test as it is kept."""

    id: str
    version: int
    created_at: datetime.datetime
    updated_at: datetime.datetime


_CONTENT = ("prompt", "turns", "test_configuration")
_LABELS = ("category", "topic", "tags", "metadata")


def row_of(body: TestBody, pointer: str = "") -> Test:
    """The row of a test, which stands at `pointer` in what was sent; `ProblemError` if it can never be checked."""
    from rightcall.app import checking

    content = {name: value for name in _CONTENT if (value := getattr(body, name)) is not UNSET}
    try:
        checking.check_test(content)
    except TestSetError as error:
        raise unusable(error, pointer) from None
    labels = {name: getattr(body, name) for name in _LABELS}
    return Test(name=body.name, requirement_id=body.requirement_id, labels=labels, content=content)


def view_of(kept: Kept[Test]) -> TestView:
    """A row as it is shown."""
    row = kept.value
    return TestView(
        **history(kept),
        name=row.name,
        requirement_id=row.requirement_id,
        **row.labels,
        **row.content,
    )


RESOURCE: Resource[Test, TestView] = Resource(path="/tests", aggregate=TESTS, view=view_of, pointer="#/requirement_id")


class Tests(Controller):
    """`/tests`."""

    path = RESOURCE.path
    tags = ["tests"]  # noqa: RUF012  # the framework reads it

    @get(guards=[READ], sync_to_thread=True)
    def list_tests(
        self,
        desk: AtDesk,
        limit: Limit = 50,
        cursor: Cursor = None,
        requirement: Annotated[
            str | None, QueryParameter(name="requirement_id", description="Only the tests of this requirement.")
        ] = None,
    ) -> Response[Listed[TestView]]:
        """Tests in the order of their making."""
        equal = {} if requirement is None else {"requirement_id": requirement}
        return RESOURCE.page(desk, limit, cursor, **equal)

    @post(guards=[WRITE], dto=StrictJSON[TestBody], return_dto=None, sync_to_thread=True)
    def create_test(
        self, desk: AtDesk, data: JSONBody[TestBody], idempotency_key: IdempotencyKey = None
    ) -> Response[TestView]:
        """Make a test."""
        return RESOURCE.make(desk, row_of(data), idempotency_key)

    @get("/{test_id:str}", guards=[READ], sync_to_thread=True)
    def read_test(self, desk: AtDesk, test_id: FromPath[str]) -> Response[TestView]:
        """One test."""
        return RESOURCE.show(desk, test_id)

    @put("/{test_id:str}", guards=[WRITE], dto=StrictJSON[TestBody], return_dto=None, sync_to_thread=True)
    def replace_test(
        self, desk: AtDesk, test_id: FromPath[str], data: JSONBody[TestBody], if_match: IfMatch = None
    ) -> Response[TestView]:
        """Put another test in its place."""
        return RESOURCE.change(desk, test_id, row_of(data), if_match)

    @delete("/{test_id:str}", guards=[WRITE], sync_to_thread=True)
    def delete_test(self, desk: AtDesk, test_id: FromPath[str], if_match: IfMatch = None) -> None:
        """Delete a test; it leaves the test sets that it is in."""
        RESOURCE.remove(desk, test_id, if_match)
