"""Codex: sessions of rollout files, and the events of a run."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from support import reading


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-30T10:00:00Z", "type": kind, "payload": payload}


def asks(name: str, id: str, **arguments: Any) -> dict[str, Any]:
    return line("response_item", type="function_call", call_id=id, name=name, arguments=json.dumps(arguments))


def answers(id: str, output: Any) -> dict[str, Any]:
    return line("response_item", type="function_call_output", call_id=id, output=output)


HEAD = line("session_meta", id="r1", cwd="/tmp")
USER = line("response_item", type="message", role="user", content=[{"type": "input_text", "text": "hi"}])


items = partial(reading.items, "codex")
one = partial(reading.one, "codex")


def told(trajectory: Trajectory) -> list[tuple[str, Any, str]]:
    return [(call.name, call.arguments, call.status) for call in trajectory.tool_calls or ()]


def test_items_are_the_calls_and_events_repeat_them() -> None:
    """An event of the same call says what became of it, and adds none."""
    read = one(
        HEAD,
        USER,
        line("turn_context", model="m"),
        asks("shell", "1", command=["ls"]),
        asks("shell", "2", command=["pwd"]),
        line("event_msg", type="exec_command_end", call_id="2", exit_code=0),
        line("event_msg", type="exec_command_end", call_id="1", exit_code=2, stderr="no such file"),
        answers("2", "/tmp"),
        answers("1", "no such file"),
    )
    assert told(read) == [("shell", {"command": ["ls"]}, "error"), ("shell", {"command": ["pwd"]}, "ok")]
    assert [(call.message, call.error) for call in read.tool_calls or ()] == [(0, "no such file"), (0, None)]
    assert (read.id, read.conversation_id, read.warnings) == ("r1", "r1", ())


@pytest.mark.parametrize(
    ("event", "status"),
    [
        ({"type": "patch_apply_end", "success": False}, "error"),
        ({"type": "mcp_tool_call_end", "result": {"Err": "boom"}}, "error"),
        ({"type": "mcp_tool_call_end", "result": {"Ok": {"content": [], "isError": True}}}, "error"),
        ({"type": "mcp_tool_call_end", "result": {"Ok": {"content": []}}}, "ok"),
        ({"type": "exec_approval_request"}, "pending"),
    ],
)
def test_events_say_what_became_of_a_call(event: dict[str, Any], status: str) -> None:
    """Failures, and approvals that were still awaited."""
    read = one(HEAD, asks("a", "1"), line("event_msg", call_id="1", **event))
    assert [call.status for call in read.tool_calls or ()] == [status]


def test_an_id_that_repeats_belongs_to_no_event() -> None:
    """Two calls with one id stay two, and an event of that id says nothing of either."""
    read = one(
        HEAD, asks("a", "1"), asks("b", "1"), line("event_msg", type="patch_apply_end", call_id="1", success=False)
    )
    assert told(read) == [("a", {}, "requested"), ("b", {}, "requested")]


def test_an_event_without_its_call_is_told() -> None:
    """What the user ran is none of the agent's."""
    ran = line("event_msg", type="exec_command_end", call_id="u", exit_code=0, source="user_shell")
    said = line("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Hello."}])
    read = one(HEAD, USER, said, ran, line("event_msg", type="exec_command_end", call_id="x", exit_code=0))
    assert (read.tool_calls, read.output) == ((), "Hello.")
    assert read.warnings == ("an event tells of a call `x` that no item asks for",)


def test_the_exit_code_in_a_result_tells_a_failure() -> None:
    """Older versions write it beside the output."""
    read = one(HEAD, asks("shell", "1"), answers("1", '{"output": "", "metadata": {"exit_code": 1}}'))
    assert told(read) == [("shell", {}, "error")]


def test_sessions_of_one_file_are_apart() -> None:
    """A new head begins another one, unless the session was forked and repeats where it comes from."""
    other = line("session_meta", id="r2")
    assert [item.id for item in items(HEAD, asks("a", "1"), other) if isinstance(item, Trajectory)] == ["r1", "r2"]
    forked = line("session_meta", id="r3", forked_from_id="r1")
    assert told(one(forked, HEAD, asks("a", "1"), asks("b", "2"))) == [("a", {}, "requested"), ("b", {}, "requested")]


def test_replayed_history_makes_no_calls() -> None:
    """What a compaction keeps was asked before."""
    kept = line("compacted", message="…", replacement_history=[asks("a", "1")["payload"]])
    assert told(one(HEAD, asks("a", "1"), kept)) == [("a", {}, "requested")]


def test_a_cut_last_line_is_a_gap() -> None:
    """A crash leaves half a line (G12)."""
    read = one(HEAD, asks("a", "1"), '{"timestamp": "2026')
    assert (told(read), len(read.gaps)) == ([("a", {}, "requested")], 1)


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


def item(step: str, id: str, kind: str = "command_execution", **more: Any) -> dict[str, Any]:
    return event(f"item.{step}", item={"id": id, "type": kind, **more})


START = [event("thread.started", thread_id="t1"), event("turn.started")]
END = event("turn.completed", usage={})


def test_a_run_counts_each_item_once() -> None:
    """By its beginning; calls that overlap are parallel."""
    read = one(
        *START,
        item("started", "1", command="ls", status="in_progress"),
        item("started", "2", command="pwd", status="in_progress"),
        item("completed", "2", command="pwd", status="completed", exit_code=0, aggregated_output="/tmp"),
        item("completed", "1", command="ls", status="failed", exit_code=2, aggregated_output="no"),
        item("completed", "3", "agent_message", text="Done."),
        END,
    )
    assert told(read) == [
        ("command_execution", {"command": "ls"}, "error"),
        ("command_execution", {"command": "pwd"}, "ok"),
    ]
    assert [call.message for call in read.tool_calls or ()] == [0, 0]
    assert (read.id, read.output, read.gaps) == ("t1", "Done.", ())


@pytest.mark.parametrize(
    ("fields", "call"),
    [
        (
            {"kind": "mcp_tool_call", "server": "s", "tool": "a", "arguments": {"x": 1}, "result": {"content": []}},
            ("a", {"x": 1}, "ok", "mcp"),
        ),
        (
            {"kind": "mcp_tool_call", "tool": "a", "arguments": {}, "error": {"message": "no"}},
            ("a", {}, "error", "mcp"),
        ),
        (
            {"kind": "file_change", "changes": [{"path": "p"}]},
            ("file_change", {"changes": [{"path": "p"}]}, "ok", "client"),
        ),
        ({"kind": "web_search", "query": "q"}, ("web_search", {"query": "q"}, "ok", "server")),
        (
            {"kind": "command_execution", "command": "rm", "status": "declined"},
            ("command_execution", {"command": "rm"}, "refused", "client"),
        ),
        ({"kind": "teleport"}, ("teleport", None, "ok", "client")),
    ],
)
def test_every_item_that_does_something_is_a_call(fields: dict[str, Any], call: tuple[Any, ...]) -> None:
    """By the name of the tool where there is one, else by the type of the item."""
    read = one(*START, item("completed", "1", **fields), END)
    assert [(made.name, made.arguments, made.status, made.kind) for made in read.tool_calls or ()] == [call]
    assert len(read.warnings) == (call[0] == "teleport")


@pytest.mark.parametrize("more", [[], [line("event_msg", type="exec_command_end", call_id="1", exit_code=-1)]])
def test_a_call_that_the_user_rejected_was_refused(more: list[Any]) -> None:
    """The session says so as the result of the call, or as the status of its end."""
    rejected = answers("1", "exec command rejected by user")
    assert told(one(HEAD, USER, asks("shell", "1"), rejected, *more)) == [("shell", {}, "refused")]
    declined = line("event_msg", type="exec_command_end", call_id="1", exit_code=-1, status="declined")
    assert told(one(HEAD, USER, asks("shell", "1"), declined, answers("1", "no"))) == [("shell", {}, "refused")]


def test_a_run_that_breaks_off_has_a_gap() -> None:
    """A call that never ended is kept."""
    read = one(*START, item("started", "1", command="ls", status="in_progress"))
    assert told(read) == [("command_execution", {"command": "ls"}, "requested")]
    assert read.gaps == ("the last turn did not end; calls may be missing",)


def test_a_resumed_run_goes_on() -> None:
    """Ids begin anew, the thread is the same."""
    turn = [item("completed", "item_0", command="ls", status="completed"), END]
    assert [call.turn for call in one(*START, *turn, *START, *turn).tool_calls or ()] == [0, 1]
    other = [event("thread.started", thread_id="t2"), event("turn.started")]
    assert len(items(*START, *turn, *other, *turn)) == 2


@pytest.mark.parametrize(
    ("first", "is_ours"),
    [(HEAD, True), (START[0], True), (event("error", message="x"), False), ({"type": "x", "payload": {}}, False)],
)
def test_it_is_told_by_its_lines(first: dict[str, Any], is_ours: bool) -> None:
    """Lines of other types do not make a session."""
    assert traces.FORMATS["codex"].claims(json.dumps(first).encode()) == is_ours


def test_what_is_no_line_is_an_error() -> None:
    """With its place."""
    (error,) = items({"silly": "this"})
    assert (
        str(error)
        == "f:1: expected lines of a session, or events of a run, of Codex; found an object with the keys `silly`"
    )
