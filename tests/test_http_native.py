"""What is kept over HTTP: tests, test sets, metrics, requirements, endpoints, on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from rightcall.store import audit, endpoints
from rightcall.store.engine import Org, Store
from rightcall.store.pages import Wanted
from support.serving import CLOSED, application, ask, bearer, key_of, sealer, talking

Api = Callable[..., httpx.Response]

CALLS = [{"name": "lookup_order", "arguments": {"order_id": 42}}, {"name": "issue_refund"}]


@pytest.fixture(scope="module")
def served(store: Store) -> Any:
    """The application over the database of the session."""
    return application(store, CLOSED)


@pytest.fixture
def api(served: Any, store: Store, org: Org) -> Api:
    """Ask as the holder of a key of a new organization."""
    key = key_of(store, org, "admin")

    def asked(method: str, path: str, **sent: Any) -> httpx.Response:
        headers = {**bearer(key), **sent.pop("headers", {})}
        return ask(served, method, f"/api/v1{path}", headers=headers, **sent)

    return asked


@pytest.mark.parametrize(
    "configuration",
    [
        {"expected_tool_calls": CALLS},
        {"expected_tool_calls": []},
        {"expected_tool_calls": None},
        {},
        {"expected_tool_calls": CALLS, "match": "any_order", "arguments": "exact"},
        {"allowed_tools": []},
        {"expected_tool_calls": [{"name": "pay", "arguments": {"cents": 9007199254740993, "big": 10**30}}]},
        None,
    ],
)
def test_a_test_comes_back_as_it_was_sent(api: Api, configuration: Any) -> None:
    """Calls, no calls, null and absence stay four things, and numbers stay exact (G3, G7)."""
    given = {} if configuration is None else {"test_configuration": configuration}
    made = api("POST", "/tests", json={"name": "One", "prompt": "Hi", **given}).json()
    read = api("GET", f"/tests/{made['id']}").json()
    assert (read, read.get("test_configuration", None)) == (made, configuration)
    assert ("test_configuration" in read) is (configuration is not None)


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/tests", {}, "#"),
        ("/tests", {"name": ""}, "#/name"),
        ("/tests", {"name": "x", "prompts": "y"}, "#/prompts"),
        ("/tests", {"name": "x", "test_configuration": 3}, "#/test_configuration"),
        ("/tests", {"name": "x", "test_configuration": {"match": "exact"}}, "#/test_configuration/match"),
        ("/tests", {"name": "x", "test_configuration": {"expected": []}}, "#/test_configuration/expected"),
        ("/tests", {"name": "x", "test_configuration": {"prompt": "y"}}, "#/test_configuration/prompt"),
        (
            "/tests",
            {"name": "x", "test_configuration": {"expected_tool_calls": [{"name": "a", "arguments": 3}, {}]}},
            "#/test_configuration/expected_tool_calls/1",
        ),
        ("/tests", {"name": "x", "test_configuration": {"code": "a.py:f"}}, "#/test_configuration/code"),
        ("/tests", {"name": "x", "turns": [{"prompt": "a", "allowed": []}]}, "#/turns/0/allowed"),
        ("/tests", {"name": "x", "requirement_id": "req_0"}, "#/requirement_id"),
        ("/metrics", {"name": "x", "kind": "no_kind"}, "#/kind"),
        ("/metrics", {"name": "x", "kind": "allowed_tools", "config": {"tool": []}}, "#/config/tool"),
        ("/metrics", {"name": "x", "kind": "code", "config": {"function": "a.py:f"}}, "#/config/function"),
        ("/metrics", {"name": "x", "kind": "tool_call_trajectory", "config": {"mode": 1}}, "#/config/mode"),
        ("/metrics", {"name": "x", "kind": "tool_call_trajectory", "config": {"match": "no"}}, "#/config/match"),
        ("/test_sets", {"name": "x", "gate": {"min_pass_rate": 2}}, "#/gate/min_pass_rate"),
        ("/test_sets", {"name": "x", "defaults": {"matches": "exact"}}, "#/defaults/matches"),
        ("/test_sets", {"name": "x", "defaults": {"match": "no"}}, "#/defaults/match"),
        ("/endpoints", {"name": "x", "kind": "command", "config": {"argv": ["sh"]}}, "#/kind"),
        ("/endpoints", {"name": "x", "kind": "mcp", "config": {"tool": "a", "command": ["sh"]}}, "#/config/command"),
        ("/endpoints", {"name": "x", "kind": "http", "config": {"urls": "http://a/"}}, "#/config/urls"),
        ("/keys", {"name": "x", "scopes": ["all"]}, "#/scopes/0"),
    ],
)
def test_what_cannot_be_used_is_refused_when_it_is_saved(api: Api, path: str, body: Any, pointer: str) -> None:
    """With the pointer to it; nothing that runs code or starts a program is ever kept (G27)."""
    answer = api("POST", path, json=body)
    found = [each["pointer"] for each in answer.json()["errors"]]
    assert (answer.status_code, answer.headers["content-type"], found) == (422, "application/problem+json", [pointer])


def test_every_organization_has_the_trajectory_metric_and_keeps_it(api: Api) -> None:
    """It is `in_order` and `partial`, and can be neither changed nor deleted."""
    (built_in,) = api("GET", "/metrics").json()["items"]
    path = f"/metrics/{built_in['id']}"
    body = {"name": "Mine", "kind": "allowed_tools", "config": {"tools": []}}
    statuses = [api("PUT", path, json=body).status_code, api("DELETE", path).status_code]
    assert (built_in["name"], built_in["config"], statuses) == (
        "Tool Call Trajectory",
        {"match": "in_order", "arguments": "partial"},
        [409, 409],
    )


def test_the_tests_of_a_test_set_keep_their_order(api: Api) -> None:
    """They are put at the end, put in an order, and taken out."""
    first, second, third = (api("POST", "/tests", json={"name": name}).json()["id"] for name in "abc")
    path = f"/test_sets/{api('POST', '/test_sets', json={'name': 'All'}).json()['id']}/tests"

    def listed() -> list[str]:
        return list(api("GET", path).json()["items"])

    api("POST", path, json={"test_ids": [second, first]})
    api("POST", path, json={"test_ids": [first, third]})
    added = listed()
    api("PUT", path, json={"test_ids": [third, first, second]})
    put = listed()
    api("DELETE", f"{path}/{first}")
    assert (added, put, listed()) == ([second, first, third], [third, first, second], [third, second])
    assert api("GET", f"/tests/{first}").status_code == 200


def test_tests_are_made_together_or_not_at_all(api: Api) -> None:
    """One that cannot be used is named by its place, and then none of them is kept."""
    path = f"/test_sets/{api('POST', '/test_sets', json={'name': 'All'}).json()['id']}"
    bad = {"name": "b", "test_configuration": {"expected_tool_calls": [{"nam": "x"}]}}
    refused = api("POST", f"{path}/bulk", json={"tests": [{"name": "a"}, bad]})
    before = api("GET", "/tests").json()["items"]
    made = api("POST", f"{path}/bulk", json={"tests": [{"name": "a"}, {"name": "b"}]}).json()["tests"]
    assert refused.json()["errors"][0]["pointer"] == "#/tests/1/test_configuration/expected_tool_calls/0/nam"
    assert (before, api("GET", f"{path}/tests").json()["items"]) == ([], [each["id"] for each in made])


def test_pages_hold_every_row_once(api: Api) -> None:
    """In the order of their making, also if rows are made meanwhile."""
    made = [api("POST", "/requirements", json={"name": str(number)}).json()["id"] for number in range(5)]
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        page = api("GET", "/requirements", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
        if len(made) < 6:
            made.append(api("POST", "/requirements", json={"name": "later"}).json()["id"])
    assert (seen, cursor) == (made, None)


@pytest.mark.parametrize("limit", ["0", "1001", "-1", "x", "1.5"])
def test_a_page_has_a_sensible_size(api: Api, limit: str) -> None:
    """Anything but 1 to 1,000 is refused by the name of the parameter."""
    answer = api("GET", f"/tests?limit={limit}")
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (400, "limit")


def test_a_change_to_what_somebody_else_has_changed_is_refused(api: Api) -> None:
    """`If-Match` is the version that was read; without it the last one wins."""
    made = api("POST", "/requirements", json={"name": "a"})
    path, tag = f"/requirements/{made.json()['id']}", made.headers["ETag"]
    assert api("GET", path).headers["ETag"] == tag

    def put(name: str, **headers: str) -> int:
        return api("PUT", path, json={"name": name}, headers=headers).status_code

    assert [put("b", **{"If-Match": tag}), put("c", **{"If-Match": tag}), put("d")] == [200, 412, 200]
    assert api("DELETE", path, headers={"If-Match": tag}).status_code == 412
    assert put("e", **{"If-Match": "*"}) == 200
    assert (api("GET", path).json()["name"], api("GET", path).headers["ETag"]) == ("e", '"4"')


def test_a_request_that_is_sent_twice_is_done_once(api: Api) -> None:
    """The same key and request get the same answer; another request with the key is a conflict."""
    headers = {"Idempotency-Key": "k"}
    first, again = (api("POST", "/tests", json={"name": "a"}, headers=headers) for _ in range(2))
    other = api("POST", "/tests", json={"name": "b"}, headers=headers)
    elsewhere = api("POST", "/requirements", json={"name": "a"}, headers=headers)
    assert (first.content, first.headers["Location"]) == (again.content, again.headers["Location"])
    assert (other.status_code, elsewhere.status_code, len(api("GET", "/tests").json()["items"])) == (409, 409, 1)


def test_requests_that_are_sent_at_once_are_done_once(served: Any, store: Store, org: Org) -> None:
    """Whoever comes second with a key waits for the first, and gets its answer."""
    headers = {**bearer(key_of(store, org, "admin")), "Idempotency-Key": "k"}

    async def at_once() -> list[httpx.Response]:
        async with talking(served) as client:
            posts = (client.post("/api/v1/tests", json={"name": "a"}, headers=headers) for _ in range(4))
            answers = await asyncio.gather(*posts)
            return [*answers, await client.get("/api/v1/tests", headers=headers)]

    *answers, listed = asyncio.run(at_once())
    assert (len({answer.content for answer in answers}), len(listed.json()["items"])) == (1, 1)


def test_a_requirement_that_tests_have_cannot_be_deleted(api: Api) -> None:
    """It is a conflict until they have another."""
    requirement = api("POST", "/requirements", json={"name": "a"}).json()["id"]
    test = api("POST", "/tests", json={"name": "a", "requirement_id": requirement}).json()["id"]
    found = [each["id"] for each in api("GET", f"/tests?requirement_id={requirement}").json()["items"]]
    first = api("DELETE", f"/requirements/{requirement}").status_code
    api("PUT", f"/tests/{test}", json={"name": "a"})
    assert (found, first, api("DELETE", f"/requirements/{requirement}").status_code) == ([test], 409, 204)


def test_secrets_are_kept_and_never_shown(api: Api, store: Store, org: Org) -> None:
    """Their names are shown, and only whoever drives the agent opens them."""
    body = {"name": "a", "kind": "http", "config": {"url": "http://127.0.0.1:1/${TOKEN}"}}
    endpoint = api("POST", "/endpoints", json=body).json()["id"]
    kept = api("PUT", f"/endpoints/{endpoint}/secrets", json={"secrets": {"TOKEN": "hunter2-hunter2"}})
    shown = [api("GET", f"/endpoints/{endpoint}{part}").text for part in ("", "/secrets")]
    with store.reading() as on:
        opened = endpoints.open_secrets(org, on, endpoint, sealer())
    assert (kept.status_code, kept.content, opened) == (204, b"", {"TOKEN": "hunter2-hunter2"})
    assert [text for text in shown if "hunter2" in text] == []
    assert '"TOKEN"' in shown[1]


def test_changes_are_written_down_with_who_made_them(api: Api, store: Store, org: Org) -> None:
    """The audit log names the key, what it did and the row, and nothing of what was sent."""
    identity = api("POST", "/requirements", json={"name": "secret words"}).json()["id"]
    api("PUT", f"/requirements/{identity}", json={"name": "other words"})
    api("DELETE", f"/requirements/{identity}")
    with store.reading() as on:
        deeds = audit.page(org, on, Wanted()).rows
    actions = ["create requirement", "change requirement", "delete requirement"]
    assert [(deed.action, deed.subject) for deed in deeds] == [(action, identity) for action in actions]
    assert {deed.actor[:4] for deed in deeds} == {"key_"}
    assert "words" not in str(deeds)
