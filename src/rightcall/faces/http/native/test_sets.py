"""Test sets: tests in an order, the metrics by which all of them are graded, and the gate."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import FromPath, JSONBody
from litestar.response import Response
from msgspec import Meta

from rightcall.core import jsontext
from rightcall.errors import TestSetError
from rightcall.faces.http.auth import READ, WRITE
from rightcall.faces.http.bodies import StrictJSON
from rightcall.faces.http.native import tests
from rightcall.faces.http.native.desk import AtDesk, Cursor, Desk, IdempotencyKey, IfMatch, Limit
from rightcall.faces.http.native.membership import Ids, Members, MetricIds, TestIds
from rightcall.faces.http.native.resource import Listed, Resource, history, once, pointing
from rightcall.faces.http.native.tests import TestBody, TestView
from rightcall.faces.http.problems import unusable
from rightcall.store import audit, test_sets
from rightcall.store.engine import Transaction
from rightcall.store.idempotency import Answer
from rightcall.store.rows import Kept
from rightcall.store.test_sets import TEST_SETS, TestSet
from rightcall.store.tests import TESTS

MOST_AT_ONCE = 1000
"""Tests that one request may make."""


class TestSetBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test set. `gate` and `defaults` are those of a test set file: what must hold, and keys for all its tests."""

    __test__ = False

    name: Annotated[str, Meta(min_length=1, max_length=500)]
    description: str = ""
    gate: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    metadata: dict[str, Any] = {}


class TestSetView(TestSetBody, frozen=True, kw_only=True):
    """A test set as it is kept."""

    id: str
    version: int
    created_at: datetime.datetime
    updated_at: datetime.datetime


class NewTests(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tests to make and to put into a test set."""

    tests: Annotated[list[TestBody], Meta(min_length=1, max_length=MOST_AT_ONCE)]


class MadeTests(msgspec.Struct, frozen=True, kw_only=True):
    """The tests that were made, in the order in which they were sent."""

    tests: list[TestView]


def row_of(body: TestSetBody) -> TestSet:
    """The row of a test set; `ProblemError` if its gate or its defaults cannot be used."""
    from rightcall.app import checking

    try:
        checking.check_test_set(body.gate, body.defaults)
    except TestSetError as error:
        raise unusable(error) from None
    content = {"gate": body.gate, "defaults": body.defaults}
    return TestSet(name=body.name, description=body.description, labels=body.metadata, content=content)


def view_of(kept: Kept[TestSet]) -> TestSetView:
    """A row as it is shown."""
    return TestSetView(
        **history(kept),
        name=kept.value.name,
        description=kept.value.description,
        metadata=kept.value.labels,
        **kept.value.content,
    )


RESOURCE: Resource[TestSet, TestSetView] = Resource(path="/test_sets", aggregate=TEST_SETS, view=view_of)
_TESTS = Members(members=test_sets.TESTS, owners=TEST_SETS, pointer="#/test_ids")
_METRICS = Members(members=test_sets.METRICS, owners=TEST_SETS, pointer="#/metric_ids")


class TestSets(Controller):
    """`/test_sets`."""

    path = RESOURCE.path
    tags = ["test sets"]  # noqa: RUF012  # the framework reads it

    @get(guards=[READ], sync_to_thread=True)
    def list_test_sets(self, desk: AtDesk, limit: Limit = 50, cursor: Cursor = None) -> Response[Listed[TestSetView]]:
        """Test sets in the order of their making."""
        return RESOURCE.page(desk, limit, cursor)

    @post(guards=[WRITE], dto=StrictJSON[TestSetBody], return_dto=None, sync_to_thread=True)
    def create_test_set(
        self, desk: AtDesk, data: JSONBody[TestSetBody], idempotency_key: IdempotencyKey = None
    ) -> Response[TestSetView]:
        """Make a test set, without tests."""
        return RESOURCE.make(desk, row_of(data), idempotency_key)

    @get("/{test_set_id:str}", guards=[READ], sync_to_thread=True)
    def read_test_set(self, desk: AtDesk, test_set_id: FromPath[str]) -> Response[TestSetView]:
        """One test set."""
        return RESOURCE.show(desk, test_set_id)

    @put("/{test_set_id:str}", guards=[WRITE], dto=StrictJSON[TestSetBody], return_dto=None, sync_to_thread=True)
    def replace_test_set(
        self, desk: AtDesk, test_set_id: FromPath[str], data: JSONBody[TestSetBody], if_match: IfMatch = None
    ) -> Response[TestSetView]:
        """Put other words in its place; its tests and metrics stay."""
        return RESOURCE.change(desk, test_set_id, row_of(data), if_match)

    @delete("/{test_set_id:str}", guards=[WRITE], sync_to_thread=True)
    def delete_test_set(self, desk: AtDesk, test_set_id: FromPath[str], if_match: IfMatch = None) -> None:
        """Delete a test set; its tests stay."""
        RESOURCE.remove(desk, test_set_id, if_match)

    @get("/{test_set_id:str}/tests", guards=[READ], sync_to_thread=True)
    def list_tests(
        self, desk: AtDesk, test_set_id: FromPath[str], limit: Limit = 50, cursor: Cursor = None
    ) -> Response[Ids]:
        """The tests of a test set, by their ids, in their order."""
        return _TESTS.page(desk, test_set_id, limit, cursor)

    @post(
        "/{test_set_id:str}/tests",
        guards=[WRITE],
        dto=StrictJSON[TestIds],
        return_dto=None,
        status_code=200,
        sync_to_thread=True,
    )
    def add_tests(self, desk: AtDesk, test_set_id: FromPath[str], data: JSONBody[TestIds]) -> Response[TestIds]:
        """Put tests at the end; those that are in it stay where they are."""
        return _TESTS.add(desk, test_set_id, data.test_ids, data)

    @put("/{test_set_id:str}/tests", guards=[WRITE], dto=StrictJSON[TestIds], return_dto=None, sync_to_thread=True)
    def replace_tests(self, desk: AtDesk, test_set_id: FromPath[str], data: JSONBody[TestIds]) -> Response[TestIds]:
        """Have these tests, in this order, and no others."""
        return _TESTS.replace(desk, test_set_id, data.test_ids, data)

    @delete("/{test_set_id:str}/tests/{test_id:str}", guards=[WRITE], sync_to_thread=True)
    def remove_test(self, desk: AtDesk, test_set_id: FromPath[str], test_id: FromPath[str]) -> None:
        """Take a test out of a test set; the test stays."""
        _TESTS.remove(desk, test_set_id, test_id)

    @get("/{test_set_id:str}/metrics", guards=[READ], sync_to_thread=True)
    def list_metrics(
        self, desk: AtDesk, test_set_id: FromPath[str], limit: Limit = 50, cursor: Cursor = None
    ) -> Response[Ids]:
        """The metrics of a test set, by their ids, in their order."""
        return _METRICS.page(desk, test_set_id, limit, cursor)

    @put("/{test_set_id:str}/metrics", guards=[WRITE], dto=StrictJSON[MetricIds], return_dto=None, sync_to_thread=True)
    def replace_metrics(
        self, desk: AtDesk, test_set_id: FromPath[str], data: JSONBody[MetricIds]
    ) -> Response[MetricIds]:
        """Have these metrics, in this order, and no others."""
        return _METRICS.replace(desk, test_set_id, data.metric_ids, data)

    @post("/{test_set_id:str}/bulk", guards=[WRITE], dto=StrictJSON[NewTests], return_dto=None, sync_to_thread=True)
    def create_tests(
        self,
        desk: AtDesk,
        test_set_id: FromPath[str],
        data: JSONBody[NewTests],
        idempotency_key: IdempotencyKey = None,
    ) -> Response[MadeTests]:
        """Make tests and put them at the end of a test set: all of them or, if one cannot be used, none."""
        return _made(desk, test_set_id, data, idempotency_key)


def _made(desk: Desk, test_set: str, data: NewTests, key: str | None) -> Response[MadeTests]:
    rows = [tests.row_of(body, f"/tests/{index}") for index, body in enumerate(data.tests)]

    def work(on: Transaction) -> Answer:
        TEST_SETS.need(desk.org, on, test_set)
        with pointing("#/tests"):
            made = TESTS.create_all(desk.org, on, rows)
        test_sets.TESTS.add(desk.org, on, test_set, [kept.id for kept in made])
        audit.note(desk.org, on, desk.caller.key, "create tests in test set", test_set, count=len(made))
        return Answer(status=201, body=jsontext.encode(MadeTests(tests=[tests.view_of(kept) for kept in made])))

    return once(desk, key, f"{RESOURCE.path}/{test_set}/bulk", data, work)
