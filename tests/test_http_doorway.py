"""What holds for every request: names, origins, limits, headers, ids, the log, and how errors are told."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from rightcall.app import stateless
from rightcall.errors import StoreError
from rightcall.faces.http import problems, serving
from rightcall.store.engine import Store
from support.serving import JSON, OPEN, application, ask, opened, talking

GRADE: dict[str, Any] = {"trajectory": {"tool_calls": []}, "expectations": {"allowed_tools": []}}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A database with the organization of those who need no key."""
    with opened(tmp_path_factory.mktemp("served")) as store:
        yield store


@pytest.fixture(scope="module")
def served(store: Store) -> Any:
    """The application for this machine alone."""
    return application(store)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8321", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8321", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("localhost:8321@evil.example", 400),
        ("localhost evil", 400),
        ("", 400),
    ],
)
def test_a_server_answers_to_its_own_names_alone(served: Any, host: str, status: int) -> None:
    """A page that reaches this machine by a name of its own is refused, on every path."""
    answers = [ask(served, "GET", path, headers={"Host": host}) for path in ("/healthz", "/api/v1/tests")]
    assert [status, status] == [answer.status_code for answer in answers]


def test_an_allowed_name_is_answered_to(store: Store) -> None:
    """What `--allow-host` names."""
    named = application(store, replace(OPEN, allowed_hosts=("grading.example.org",)))
    assert ask(named, "GET", "/healthz", headers={"Host": "grading.example.org"}).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:8321", 200),
        ("http://localhost:3000", 403),
        ("https://evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_pages_of_other_origins_are_refused(served: Any, origin: str, status: int) -> None:
    """A page in a browser can send here, but is told by its origin."""
    assert ask(served, "POST", "/api/v1/grade", json=GRADE, headers={"Origin": origin}).status_code == status


@pytest.mark.parametrize(
    ("method", "path", "sent", "status"),
    [
        ("GET", "/nothing", {}, 404),
        ("GET", "/api/v1/tests/test_0", {}, 404),
        ("PATCH", "/api/v1/tests", {}, 405),
        ("POST", "/healthz", {}, 405),
        ("POST", "/api/v1/grade", {"content": b"{}"}, 415),
        ("POST", "/api/v1/grade", {"content": b"{}", "headers": {"Content-Type": "text/plain"}}, 415),
        ("POST", "/api/v1/grade", {"content": b"{}", "headers": {"Content-Type": "application/json; charset=x"}}, 415),
        ("POST", "/api/v1/grade", {"content": b"{}", "headers": {**JSON, "Content-Encoding": "gzip"}}, 415),
        ("POST", "/api/v1/grade", {"json": {}}, 422),
        ("POST", "/api/v1/grade", {"content": b" " * (10 * 1024 * 1024 + 1), "headers": JSON}, 413),
        ("GET", "/api/v1/tests?limit=x", {}, 400),
        ("GET", "/healthz", {"headers": {"X-Long": "x" * 32 * 1024}}, 431),
        ("GET", "/healthz", {"headers": {"Host": "x"}}, 400),
        ("GET", "/healthz", {"headers": {"Origin": "http://x"}}, 403),
    ],
)
def test_every_error_is_a_problem(served: Any, method: str, path: str, sent: dict[str, Any], status: int) -> None:
    """Of the media type and with the members of RFC 9457, the request's id, and the headers of all answers."""
    answer = ask(served, method, path, **sent)
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (problem["status"], problem["request_id"]) == (status, answer.headers["x-request-id"])
    assert problem.keys() == set(problems.Problem.__struct_fields__)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_a_mistake_of_ours_tells_nothing_of_what_was_sent(
    served: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer is 500 without a traceback; the log has where it was, but not the message."""
    words = "recorded " + "words"

    def broken(data: stateless.GradeData) -> bytes:
        raise RuntimeError(words)

    monkeypatch.setattr(stateless, "grade", broken)
    answer = ask(served, "POST", "/api/v1/grade", json=GRADE)
    lines = [serving.Lines().format(record) for record in caplog.records]
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "Traceback" not in answer.text
    assert [text for text in (answer.text, *lines) if words in text] == []
    assert any("in broken" in line and answer.json()["request_id"] in line for line in lines)


def test_a_database_that_does_not_answer_is_told(served: Any, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """`/readyz` says 503, `/healthz` still 200."""

    def broken() -> None:
        raise StoreError("/var/somewhere.db: the database cannot be used")

    monkeypatch.setattr(store, "reading", broken)
    statuses = [ask(served, "GET", path).status_code for path in ("/readyz", "/healthz", "/api/v1/tests")]
    assert statuses == [503, 200, 503]


def test_too_many_requests_are_told_when_to_come_back(store: Store) -> None:
    """429 with `Retry-After`; health is never limited."""
    limited = application(store, replace(OPEN, per_minute=2))

    async def asked() -> list[httpx.Response]:
        async with talking(limited) as client:
            return [await client.get(path) for path in ("/api/v1/tests",) * 3 + ("/healthz",) * 5]

    answers = asyncio.run(asked())
    assert [answer.status_code for answer in answers] == [200, 200, 429, *[200] * 5]
    assert 0 < int(answers[2].headers["retry-after"]) <= 60


@pytest.mark.parametrize(("given", "is_kept"), [("abc-1", True), ("a b", False), ("x" * 65, False), ('"}', False)])
def test_the_id_of_a_request_is_kept_if_a_log_can_hold_it(served: Any, given: str, is_kept: bool) -> None:
    """Any other is replaced by a new one."""
    answer = ask(served, "GET", "/healthz", headers={"X-Request-ID": given})
    assert (answer.headers["x-request-id"] == given) is is_kept


def test_the_log_holds_nothing_that_was_sent(served: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A line has the route, not the path, and neither query nor body; what there is not has no route."""
    with caplog.at_level(logging.INFO, "rightcall.http"):
        ask(served, "GET", "/api/v1/tests/secret1?limit=secret2", headers={"Authorization": "Bearer secret3"})
        ask(served, "POST", "/api/v1/grade", json={"secret4": "secret5"})
        ask(served, "GET", "/secret6")
    lines = [json.loads(serving.Lines().format(record)) for record in caplog.records]
    assert "secret" not in json.dumps(lines)
    assert [(line["route"], line["status"]) for line in lines] == [
        ("/api/v1/tests/{test_id}", 401),
        ("/api/v1/grade", 422),
        ("-", 404),
    ]


def test_requests_are_counted_by_route(served: Any) -> None:
    """As Prometheus reads them, without ids."""
    ask(served, "GET", "/api/v1/tests/secret-id")
    counted = ask(served, "GET", "/metrics").text
    assert 'path="/api/v1/tests/{test_id}",status_code="404"' in counted
    assert "secret-id" not in counted
