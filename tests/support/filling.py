"""An organization that has something of everything."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import select

from rightcall.store import (
    attempts,
    audit,
    counters,
    endpoints,
    idempotency,
    keys,
    policies,
    requirements,
    results,
    runs,
    schema,
    spans,
    test_sets,
    tests,
    traces,
    uploads,
)
from rightcall.store import metrics as metric_rows
from rightcall.store.engine import Org, Snapshot, Store, Transaction
from rightcall.store.sealing import Sealer
from support.databases import NOW, later

SEALER: Final = Sealer(["A" * 43 + "="])


class Filled:
    """The ids of what `fill` made, by the words for them."""

    def __init__(self, ids: dict[str, str], key: str) -> None:
        self.ids = ids
        self.key = key


def fill(store: Store, org: Org, mark: str) -> Filled:
    """Make one row of everything; `mark` stands in each text that is in one."""
    with store.writing(NOW) as on:
        ids = {**_tests(org, on, mark), **_traces(org, on, mark)}
        ids["endpoint"] = endpoints.ENDPOINTS.create(
            org, on, endpoints.Endpoint(name=mark, kind="http", content={"url": mark})
        ).id
        endpoints.set_secrets(org, on, ids["endpoint"], {"TOKEN": mark}, SEALER)
        ids["run"] = _run(org, on, ids, mark)
        ids["policy"] = policies.POLICIES.create(org, on, policies.Policy(name=mark, content={"says": mark})).id
        key, text = keys.create(org, on, mark, keys.SCOPES)
        ids["key"] = key.id
        counters.take(org, on, "things", 7)
        idempotency.once(org, on, "again", "hash", lambda: idempotency.Answer(status=201, body=mark.encode()))
        audit.note(org, on, key.id, "made", ids["test"], mark=mark)
    return Filled(ids, text)


def _tests(org: Org, on: Transaction, mark: str) -> dict[str, str]:
    requirement = requirements.REQUIREMENTS.create(org, on, requirements.Requirement(name=mark, labels={"of": mark})).id
    metric = metric_rows.METRICS.create(org, on, metric_rows.Metric(name=mark, kind="selection", content={"is": mark}))
    made = tests.Test(name=mark, content={"input": mark}, requirement_id=requirement, labels={"of": mark})
    test, spare = (kept.id for kept in tests.TESTS.create_all(org, on, [made, made]))
    other = metric_rows.METRICS.create(org, on, metric_rows.Metric(name=mark, kind="budget")).id
    test_set = test_sets.TEST_SETS.create(org, on, test_sets.TestSet(name=mark, content={"gate": mark})).id
    requirements.METRICS.add(org, on, requirement, [metric.id])
    test_sets.TESTS.add(org, on, test_set, [test])
    test_sets.METRICS.add(org, on, test_set, [metric.id])
    spares = {"spare_test": spare, "spare_metric": other}
    return {"requirement": requirement, "metric": metric.id, "test": test, "test_set": test_set, **spares}


def _traces(org: Org, on: Transaction, mark: str) -> dict[str, str]:
    upload, _ = uploads.keep(org, on, mark.encode(), mark, "native")
    made = traces.Trace(key=f"file {mark}", name=mark, upload_id=upload.id, labels={"of": mark})
    trace = traces.TRACES.create(org, on, made).id
    traces.set_trajectories(org, on, {trace: mark.encode()})
    spanned = spans.take(
        org, on, "spanned", [spans.Span(span_id="1", name=mark, body=mark.encode(), ended_at=1)], "otlp"
    )
    return {"upload": upload.id, "trace": trace, "spanned": spanned.trace_id}


def _run(org: Org, on: Transaction, ids: dict[str, str], mark: str) -> str:
    made = runs.Run(alias=mark, test_set_id=ids["test_set"], endpoint_id=ids["endpoint"], content={"of": mark})
    planned = [runs.Planned(test_id=ids["test"], name=mark, test={"input": mark}, attempts=2)] * 2
    run = runs.plan(org, on, made, planned).id
    runs.claim(org, on, run, "worker", later(60))
    ended = attempts.Attempt(position=0, outcome="fail", finished_at=NOW, record={"of": mark}, trajectory=mark.encode())
    cell = attempts.Cell(verdict=mark, status="fail", score=0.0, metric_id=ids["metric"])
    attempts.record(org, on, run, ended, (cell,))
    results.settle(org, on, run, 0, "fail", mark, {"of": mark})
    return run


def rows(on: Snapshot, org: Org) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of an organization, by table."""
    found = {}
    for table in schema.METADATA.sorted_tables:
        if table is not schema.organizations:
            query = select(table).where(table.c.organization_id == org).order_by(*table.primary_key.columns)
            found[table.name] = [tuple(row) for row in on.connection.execute(query)]
    return found
