"""Traces over HTTP: files as they are, read on arrival, and made into tests that they pass."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from rightcall.app import receiving
from rightcall.core import jsontext
from rightcall.store.engine import Org, Store
from support.serving import CLOSED, application, ask, bearer, key_of

Api = Callable[..., httpx.Response]

CONVERSATIONS = (Path(__file__).parents[1] / "examples" / "refund" / "conversations.jsonl").read_bytes()


@pytest.fixture(scope="module")
def served(store: Store) -> Any:
    """The application over the database of the session."""
    return application(store, CLOSED)


@pytest.fixture
def api(served: Any, store: Store, org: Org) -> Api:
    """Ask as the holder of a key of a new organization."""
    key = key_of(store, org, "admin")
    return lambda method, path, **sent: ask(served, method, f"/api/v1{path}", headers=bearer(key), **sent)


def test_a_file_becomes_its_traces_in_their_order(api: Api) -> None:
    """Each conversation is a trace, of the format that was found."""
    answer = api("POST", "/traces?name=conversations.jsonl", content=CONVERSATIONS)
    traces = answer.json()["traces"]
    found = [(each["name"], each["position"], each["format"], each["state"]) for each in traces]
    assert answer.status_code == 201
    assert found[0] == ("late-order", 0, "openai-chat", "complete")
    assert api("GET", "/traces").json()["items"] == traces
    assert api("GET", f"/traces/{traces[0]['id']}").json() == traces[0]


def test_the_same_bytes_are_kept_once(api: Api) -> None:
    """A second upload makes nothing, and gets the same traces."""
    first, again = (api("POST", "/traces", content=CONVERSATIONS).json() for _ in range(2))
    assert (first["is_new"], again) == (True, {**first, "is_new": False})


def test_a_kept_trace_is_graded_as_the_file_is(api: Api) -> None:
    """Its trajectory is what `grade` takes, and gives the verdicts of the file itself."""
    trace = api("POST", "/traces", content=CONVERSATIONS).json()["traces"][0]["id"]
    trajectory = jsontext.decode(api("GET", f"/traces/{trace}/trajectory").content)
    expectations = {"expected_tool_calls": ["lookup_order", "check_policy", "issue_refund"], "match": "exact"}
    report = api("POST", "/grade", json={"trajectory": trajectory, "expectations": expectations}).json()
    assert (report["decision"]["passed"], report["results"][0]["attempts"][0]["calls"]) == (True, 3)


def test_a_trace_becomes_a_test_that_it_passes(api: Api) -> None:
    """The test asks what was asked and expects what was called."""
    trace = api("POST", "/traces", content=CONVERSATIONS).json()["traces"][0]["id"]
    answer = api("POST", f"/traces/{trace}/promote", json={"name": "Late order", "match": "in_order"})
    test = answer.json()
    trajectory = api("GET", f"/traces/{trace}/trajectory").json()
    report = api("POST", "/grade", json={"trajectory": trajectory, "expectations": test["test_configuration"]}).json()
    names = [call["name"] for call in test["test_configuration"]["expected_tool_calls"]]
    assert (answer.status_code, test["prompt"], names, report["decision"]["passed"]) == (
        201,
        "My order 42 arrived ten days late. I want my money back.",
        ["lookup_order", "check_policy", "issue_refund"],
        True,
    )


def test_a_trace_of_which_calls_may_be_missing_makes_no_test(api: Api) -> None:
    """What was not recorded cannot be expected (G3)."""
    trace = api("POST", "/traces", content=b'{"id": "a", "tool_calls": null}').json()["traces"][0]["id"]
    assert api("POST", f"/traces/{trace}/promote", json={"name": "x"}).status_code == 422


def test_a_bad_record_among_good_ones_is_told(api: Api) -> None:
    """The others are kept, and the answer says which was not, and why."""
    answer = api("POST", "/traces", content=b'{"id": "a", "tool_calls": []}\n{"id": "b", "tool_calls": [}\n').json()
    assert ([each["name"] for each in answer["traces"]], len(answer["rejected"])) == (["a"], 1)
    assert "line 2" in answer["rejected"][0]


@pytest.mark.parametrize(
    ("content", "query", "status"),
    [
        (b"", "", 400),
        (b"no trace", "", 422),
        (b"{}", "?format=no-format", 422),
        (gzip.compress(b'{"tool_calls": []}', mtime=0), "", 422),
        (b"PK\x03\x04", "", 422),
        (b'{"tool_calls": [}', "", 422),
        (b'{"tool_calls": []}\n' * (receiving.MOST + 1), "", 422),
    ],
)
def test_what_cannot_be_read_is_refused_and_not_kept(api: Api, content: bytes, query: str, status: int) -> None:
    """Nothing is left of it: no trace, no upload; what is packed has to be unpacked, so that its size is known (G8)."""
    answer = api("POST", f"/traces{query}", content=content)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert api("GET", "/traces").json()["items"] == []
