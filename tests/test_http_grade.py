"""`POST /api/v1/grade`: what is sent is graded as the command line grades it, and nothing is kept."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from rightcall.app import stateless as grading
from rightcall.app.allowance import Allowance
from rightcall.core import jsontext
from rightcall.faces.http import bench
from support.command_line import run_here
from support.serving import JSON, application, ask, opened, talking

EXAMPLES = Path(__file__).parents[1] / "examples"
CALLS: dict[str, Any] = {"tool_calls": [{"name": "lookup_order", "arguments": {"order_id": 42}}]}


Grade = Callable[[Any], tuple[Any, int]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The application over an empty database."""
    with opened(tmp_path_factory.mktemp("served")) as store:
        yield application(store)


@pytest.fixture
def grade(served: Any) -> Grade:
    """Send a body to be graded, and return the decoded answer and its status."""

    def graded(body: Any) -> tuple[Any, int]:
        answer = ask(served, "POST", "/api/v1/grade", content=jsontext.encode(body), headers=JSON)
        return jsontext.decode(answer.content), answer.status_code

    return graded


def test_the_answer_is_the_report_of_the_command_line(
    served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The same tests and traces give the same bytes as `rightcall grade --json`, whichever way they came (G5)."""
    traces = (EXAMPLES / "refund" / "conversations.jsonl").read_text("utf-8")
    test_set = {"tests": [{"id": "damaged-item", "expected_tool_calls": ["lookup_order", "issue_refund"]}]}
    monkeypatch.chdir(tmp_path)
    Path("trace").write_text(traces, "utf-8")
    Path("test_set").write_bytes(jsontext.encode(test_set))
    printed = run_here(capfdbinary, "grade", "trace", "--tests", "test_set", "--json").out
    body = jsontext.encode({"trace": traces, "test_set": test_set})
    answer = ask(served, "POST", "/api/v1/grade", content=body, headers=JSON)
    assert (printed, 200) == (answer.text, answer.status_code)


@pytest.mark.parametrize(
    ("recorded", "expectations", "outcome"),
    [
        (CALLS, {"expected_tool_calls": ["lookup_order"]}, "pass"),
        (CALLS, {"expected_tool_calls": []}, "fail"),
        ({"tool_calls": []}, {"expected_tool_calls": []}, "pass"),
        ({"tool_calls": None}, {"expected_tool_calls": []}, "error"),
        (CALLS, {"expected_tool_calls": [{"name": "lookup_order", "arguments": {"order_id": "42"}}]}, "fail"),
        (CALLS, {"rubric": "It is polite."}, "error"),
        ({"tool_calls": 3}, {"allowed_tools": []}, "error"),
    ],
)
def test_what_was_recorded_is_graded_for_what_is_expected(
    grade: Grade, recorded: dict[str, Any], expectations: dict[str, Any], outcome: str
) -> None:
    """Expected, none expected, none made and none recorded stay different; no judge is asked from here (G3, G7)."""
    report, status = grade({"trajectory": recorded, "expectations": expectations})
    assert (outcome, 200) == (report["results"][0]["outcome"], status)


def test_integers_of_any_size_are_exact(grade: Grade) -> None:
    """No number is rounded on its way through the server (G7)."""
    recorded = {"tool_calls": [{"name": "pay", "arguments": {"cents": 9007199254740993}}]}
    expected = {"expected_tool_calls": [{"name": "pay", "arguments": {"cents": 9007199254740992}}]}
    report, _ = grade({"trajectory": recorded, "expectations": expected})
    assert report["results"][0]["outcome"] == "fail"


def test_a_trace_may_be_a_value_of_another_format(grade: Grade) -> None:
    """A trace that is JSON is sent as it is, and its format is found."""
    call = {"id": "1", "type": "function", "function": {"name": "lookup_order", "arguments": '{"order_id": 42}'}}
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    report, _ = grade({"trace": {"messages": messages}, "expectations": {"required_tools": ["lookup_order"]}})
    assert report["results"][0]["outcome"] == "pass"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"expectations": {"allowed_tools": []}}, "#"),
        ({"trajectory": CALLS, "trace": "x", "expectations": {"allowed_tools": []}}, "#"),
        ({"trajectory": CALLS}, "#"),
        ({"trajectory": CALLS, "expectations": {"allowed_tools": []}, "test_set": {"tests": []}}, "#"),
        ({"trajectory": CALLS, "expectation": {}}, "#/expectation"),
        ({"trajectory": [], "expectations": {"allowed_tools": []}}, "#/trajectory"),
        ({"trajectory": CALLS, "expectations": 3}, "#/expectations"),
        ({"trajectory": CALLS, "expectations": {}}, "#/expectations"),
        ({"trajectory": CALLS, "expectations": {"allowed_tool": []}}, "#/expectations/allowed_tool"),
        (
            {"trajectory": CALLS, "expectations": {"expected_tool_calls": ["a", {"nam": "b"}]}},
            "#/expectations/expected_tool_calls/1/nam",
        ),
        ({"trajectory": CALLS, "expectations": {"metadata": {"a/b~c d": 1}, "match": "no"}}, "#/expectations/match"),
        ({"trajectory": CALLS, "test_set": {"tests": [{"id": "a", "code": "x.py:f"}]}}, "#/test_set/tests/0/code"),
        ({"trajectory": CALLS, "expectations": {"code": "x.py:f"}}, "#/expectations/code"),
        (
            {"trajectory": CALLS, "expectations": {"assertions": [{"kind": "code", "function": "x.py:f"}]}},
            "#/expectations/assertions/0/function",
        ),
        ({"trace": "no trace", "expectations": {"allowed_tools": []}}, "#/trace"),
        ({"trace": "{}", "format": "nativ", "expectations": {"allowed_tools": []}}, "#"),
    ],
)
def test_what_cannot_be_graded_is_refused_at_its_place(grade: Grade, body: dict[str, Any], pointer: str) -> None:
    """Each mistake is a problem with the pointer to it, and code is never run (G8, G27)."""
    problem, status = grade(body)
    assert ([pointer], 422) == ([each["pointer"] for each in problem["errors"]], status)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'{"trajectory": {}, "trajectory": {}}', 400),
        (b'{"trace": NaN}', 400),
        (b"\xff", 400),
        (b"[]", 422),
        (b"null", 422),
    ],
)
def test_a_body_that_is_no_strict_json_is_refused(served: Any, content: bytes, status: int) -> None:
    """Broken, repeated, deep and foreign JSON never reaches the grading (G8)."""
    answer = ask(served, "POST", "/api/v1/grade", content=content, headers=JSON)
    assert (status, "application/problem+json") == (answer.status_code, answer.headers["content-type"])


def test_grading_leaves_the_event_loop(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While something is graded, others are answered."""
    go_on = threading.Event()

    def waiting(data: grading.GradeData) -> bytes:
        assert go_on.wait(30)
        return b"{}"

    monkeypatch.setattr(grading, "grade", waiting)

    async def meanwhile() -> tuple[int, bool]:
        async with talking(served) as client:
            body = {"trajectory": CALLS, "expectations": {"allowed_tools": []}}
            graded = asyncio.create_task(client.post("/api/v1/grade", json=body))
            health = await client.get("/healthz")
            was_done = graded.done()
            go_on.set()
            await graded
            return health.status_code, was_done

    assert asyncio.run(meanwhile()) == (200, False)


def test_nothing_is_written(grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grading leaves no file in the directory that the server runs in."""
    monkeypatch.chdir(tmp_path)
    grade({"trajectory": CALLS, "expectations": {"allowed_tools": []}})
    assert os.listdir(tmp_path) == []


def test_more_than_can_wait_is_told_to_come_back(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """When too many are being graded, the next is 503 with `Retry-After`, and others are still answered."""
    go_on = threading.Event()

    def waiting(data: grading.GradeData) -> bytes:
        assert go_on.wait(30)
        return b"{}"

    monkeypatch.setattr(grading, "grade", waiting)
    body = {"trajectory": CALLS, "expectations": {"allowed_tools": []}}

    async def crowd() -> tuple[httpx.Response, int, set[int]]:
        async with talking(served) as client:
            many = [asyncio.create_task(client.post("/api/v1/grade", json=body)) for _ in range(bench.MOST + 1)]
            done, waiting = await asyncio.wait(many, return_when=asyncio.FIRST_COMPLETED)
            listed = await client.get("/api/v1/tests")
            go_on.set()
            answers = await asyncio.gather(*waiting)
            return done.pop().result(), listed.status_code, {answer.status_code for answer in answers}

    refused, listed, graded = asyncio.run(crowd())
    assert (refused.status_code, refused.headers["retry-after"], listed, graded) == (503, "5", 200, {200})


SEARCHED = grading.GradeData(
    trace=jsontext.encode({"tool_calls": [{"name": "a", "arguments": {"x": "y"}}] * 3}),
    part="trajectory",
    format="native",
    expectations={"tool_call_args": [{"tool": "a", "match": {"mode": "regex", "pattern": "never"}}]},
)


@pytest.mark.parametrize(("seconds", "outcome"), [(10.0, "fail"), (0.0, "error")])
def test_regular_expressions_share_a_time_limit(seconds: float, outcome: str) -> None:
    """When all of a request have used it up, what they were to tell cannot be judged, which never passes (G28)."""
    report = jsontext.decode(grading.grade(SEARCHED, Allowance(searching=seconds)))
    assert report["results"][0]["outcome"] == outcome


def test_a_request_that_takes_too_long_is_refused() -> None:
    """Once its time is up, no further trajectory is graded, and nothing is answered as if it were all."""
    with pytest.raises(grading.PartError, match="took longer than -1 s"):
        grading.grade(SEARCHED, Allowance(grading=-1.0))
