"""Claude Code: lines into sessions, answers in parts, copies, branches, and agents inside calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support import reading


def use(name: str, id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def says(uuid: str, *blocks: dict[str, Any], parent: str | None = None, id: str | None = None, **more: Any) -> Any:
    """A line of the model; `id` is that of its answer."""
    message = {"role": "assistant", "content": list(blocks), **({"id": id} if id else {})}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "message": message, **more}


def user(uuid: str, content: Any = "Go on.", parent: str | None = None, **more: Any) -> Any:
    """A line of the user."""
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "message": message, **more}


def result(id: str, content: Any = "done", **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": id, "content": content, **more}]


items = partial(reading.items, "claude-code")
one = partial(reading.one, "claude-code")


def names(trajectory: Trajectory) -> list[str]:
    return [call.name for call in trajectory.tool_calls or ()]


def test_a_session_is_a_conversation() -> None:
    """Calls with their results, turns and sources; other lines say nothing."""
    read = one(
        {"type": "summary", "summary": "…", "leafUuid": "u1"},
        user("u1"),
        says("a1", use("Read", "t1", path="x")),
        user("u2", result("t1", "text"), toolUseResult={"stdout": "text"}),
        user("u3"),
        says("a2", {"type": "text", "text": "Done."}),
    )
    (call,) = read.tool_calls or ()
    assert (call.name, call.arguments, call.status, call.result) == ("Read", {"path": "x"}, "ok", "text")
    assert (call.turn, call.sources) == (0, ("line 3.content[0]",))
    assert (read.id, read.conversation_id, read.output, read.gaps) == ("s1", "s1", "Done.", ())


def test_one_answer_on_several_lines_is_one_message() -> None:
    """Parallel calls come on lines of their own, with results between."""
    read = one(
        user("u1"),
        says("a1", use("A", "t1"), id="msg_1"),
        user("u2", result("t1")),
        says("a2", use("B", "t2"), id="msg_1"),
        user("u3", result("t2")),
        says("a3", use("C", "t3"), id="msg_2"),
    )
    assert [(call.name, call.message, call.status) for call in read.tool_calls or ()] == [
        ("A", 0, "ok"),
        ("B", 0, "ok"),
        ("C", 1, "requested"),
    ]


def test_copies_of_lines_and_calls_count_once() -> None:
    """A resumed session repeats lines; an answer may repeat a block (B048)."""
    first = says("a1", use("A", "t1"), id="msg_1")
    assert names(one(user("u1"), first, {**first, "slug": "resumed"}, says("a2", use("A", "t1"), id="msg_1"))) == ["A"]


def test_equal_calls_of_different_answers_all_count() -> None:
    """Neither an id nor equal arguments make one call of two."""
    read = one(
        user("u1"), says("a1", use("A", "t1"), id="m1"), user("u2", result("t1")), says("a2", use("A", "t1"), id="m2")
    )
    assert names(read) == ["A", "A"]


def test_a_prompt_that_was_taken_back_is_not_read() -> None:
    """Of two prompts after the same line the last counts, and what followed the other is told."""
    read = one(
        user("u1"),
        says("a1", parent="u1"),
        user("u2", "Delete it.", parent="a1"),
        says("a2", use("Delete", "t1"), parent="u2"),
        user("u3", result("t1"), parent="a2"),
        user("u4", "Keep it.", parent="a1"),
        says("a3", use("Read", "t2"), parent="u4"),
    )
    assert names(read) == ["Read"]
    assert read.warnings == ("the user took back a prompt; 1 calls that followed it are not read",)


def test_results_of_parallel_calls_are_no_branches() -> None:
    """They hang on different lines, and the session goes on after one of them."""
    read = one(
        user("u1"),
        says("a1", use("A", "t1"), parent="u1", id="m1"),
        says("a2", use("B", "t2"), parent="a1", id="m1"),
        user("u2", result("t1"), parent="a1"),
        user("u3", result("t2"), parent="a2"),
        says("a3", use("C", "t3"), parent="u3", id="m2"),
    )
    assert [(call.name, call.status) for call in read.tool_calls or ()] == [
        ("A", "ok"),
        ("B", "ok"),
        ("C", "requested"),
    ]


TASK = use("Task", "t1", prompt="Find it.", subagent_type="finder")


@pytest.mark.parametrize(
    "inner",
    [
        [
            user("s1", "Find it.", isSidechain=True),
            says("s2", use("Grep", "t2"), parent="s1", isSidechain=True),
            user("s3", result("t2"), parent="s2", isSidechain=True),
        ],
        [says("s2", use("Grep", "t2"), parent_tool_use_id="t1"), user("s3", result("t2"), parent_tool_use_id="t1")],
        [
            {"type": "progress", "parentToolUseID": "t1", "data": {"agentId": "g", "message": part}}
            for part in (says("s2", use("Grep", "t2")), user("s3", result("t2")))
        ],
    ],
    ids=["by prompt", "by call", "by progress"],
)
def test_agents_are_inside_the_call_that_started_them(inner: list[Any]) -> None:
    """A sub-agent's calls follow the call, which is their parent."""
    read = one(user("u1"), says("a1", TASK), *inner, user("u2", result("t1")), says("a2", use("Edit", "t3")))
    assert [(call.name, call.kind, call.parent, call.agent, call.status) for call in read.tool_calls or ()] == [
        ("Task", "agent", None, None, "ok"),
        ("Grep", "client", 0, "finder", "ok"),
        ("Edit", "client", None, None, "requested"),
    ]
    assert (len({call.message for call in read.tool_calls or ()}), read.warnings) == (3, ())


def test_agents_without_a_call_come_last() -> None:
    """Nothing is lost; a warning says so."""
    read = one(user("u1"), says("a1", use("A", "t1")), says("s1", use("Grep", "t2"), isSidechain=True))
    assert names(read) == ["A", "Grep"]
    assert read.warnings == ("1 calls of sub-agents that no call of the file started come last",)


def test_a_file_of_one_agent_is_its_conversation() -> None:
    """Newer versions keep sub-agents in files of their own."""
    lines = [user("u1", isSidechain=True, agentId="g"), says("a1", use("A", "t1"), isSidechain=True, agentId="g")]
    read = one(*lines)
    assert (names(read), read.warnings) == (["A"], ())


def test_what_the_user_refused_is_told() -> None:
    """A refusal is not a failure of the tool."""
    refused = user("u2", result("t1", "no", is_error=True), toolUseResult="User rejected tool use")
    failed = user("u3", result("t2", "no", is_error=True))
    read = one(user("u1"), says("a1", use("A", "t1"), use("B", "t2")), refused, failed)
    assert [call.status for call in read.tool_calls or ()] == ["refused", "error"]


def test_notes_of_the_program_are_no_turns() -> None:
    """Neither meta lines, nor the summary after a compaction, nor the note of an interruption."""
    notes = [user("u2", isMeta=True), user("u3", isCompactSummary=True), user("u5", "[Request interrupted by user]")]
    read = one(
        user("u1"),
        says("a1", use("A", "t1")),
        *notes,
        says("a2", use("B", "t2")),
        user("u4"),
        says("a3", use("C", "t3")),
    )
    assert [call.turn for call in read.tool_calls or ()] == [0, 0, 1]


def test_sessions_of_one_file_are_apart_unless_they_continue() -> None:
    """By session id; a line that continues another one belongs with it."""
    other = {"sessionId": "s2"}
    assert [
        names(item)
        for item in items(user("u1"), says("a1", use("A", "t1")), {**user("v1"), **other})
        if isinstance(item, Trajectory)
    ] == [["A"], []]
    read = one(
        user("u1"), says("a1", use("A", "t1"), parent="u1"), {**says("b1", use("B", "t2"), parent="a1"), **other}
    )
    assert names(read) == ["A", "B"]


def test_lines_that_cannot_be_read_are_gaps() -> None:
    """They may have held calls; a broken line of the user cannot (G12)."""
    read = one(
        user("u1"),
        says("a1", use("A", "t1")),
        "42",
        "{broken",
        {**says("a2"), "message": 5},
        {**user("u2"), "message": {}},
    )
    assert names(read) == ["A"]
    assert [gap.partition(" was")[0] for gap in read.gaps] == ["line 3", "line 4", "line 5"]
    assert [warning.partition(" was")[0] for warning in read.warnings] == ["line 6.content"]


def test_a_printed_run_lists_its_tools() -> None:
    """`--output-format stream-json` begins with them."""
    start = {"type": "system", "subtype": "init", "session_id": "s1", "tools": ["Read", "Edit"]}
    line = {"type": "assistant", "session_id": "s1", "message": {"role": "assistant", "content": [use("Read", "t1")]}}
    read = one(start, line, {"type": "result", "subtype": "success", "session_id": "s1"})
    assert ([tool.name for tool in read.available_tools], names(read)) == (["Read", "Edit"], ["Read"])


def test_the_export_is_read_like_the_file() -> None:
    """Lines may stand in one document."""
    lines = [user("u1"), says("a1", use("A", "t1"))]
    for document in ({"loglines": lines}, lines):
        assert traces.detect(json.dumps(document).encode()) == "claude-code"
        assert names(traces.read_object(document)) == ["A"]


@pytest.mark.parametrize("text", ["5", '"x"', "[]", '{"silly": "this"}', "{broken"])
def test_what_is_no_session_is_an_error(text: str) -> None:
    """Never an empty list."""
    found = traces.read([text.encode()], format="claude-code", file="f")
    with pytest.raises(TraceError, match="f:") as caught:
        _first(found)
    assert caught.value.where.file == "f"


def _first(found: Iterator[Trajectory | TraceError]) -> Trajectory:
    """The first item; if it is an error, it is raised."""
    item = next(found)
    if isinstance(item, TraceError):
        raise item
    return item
