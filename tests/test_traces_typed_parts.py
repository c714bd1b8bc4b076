"""GenAI messages outside spans, and messages of Agent Framework: which calls they hold, and what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from rightcall import traces
from rightcall.errors import TraceError
from support.reading import items, one, told

GENAI = "otel-genai-messages"
AGENT = "agent-framework"


def said(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts), **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "content": words}


def asked(name: str, identity: str = "c", **more: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": identity, "name": name, **more}


def answered(result: Any, identity: str = "c", **more: Any) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": identity, "response": result, **more}


@pytest.mark.parametrize(
    ("part", "arguments", "state"),
    [
        (asked("a", arguments={"x": 1}), {"x": 1}, "ok"),
        (asked("a", arguments='{"x": 1}'), {"x": 1}, "ok"),
        (asked("a", arguments='{"x": '), None, "malformed"),
        (asked("a", arguments={}), {}, "ok"),
        (asked("a", arguments=None), None, "not_captured"),
        (asked("a"), None, "not_captured"),
    ],
)
def test_arguments_of_a_genai_part_have_their_state(part: Any, arguments: Any, state: str) -> None:
    """Without arguments nobody knows whether there were none: content may not have been captured (G10, G11)."""
    (call,) = one(GENAI, [said("assistant", part)]).tool_calls or ()
    assert (call.arguments, call.arguments_state) == (arguments, state)


@pytest.mark.parametrize(
    ("answer", "status"),
    [(answered("A"), "ok"), (answered("A", is_error=True), "error"), ({**answered(None), "result": "A"}, "ok")],
)
def test_a_genai_result_joins_its_call(answer: Any, status: str) -> None:
    """Also where it stands in the message that asked for it, as summaries of agents have it (G13)."""
    call = asked("a", arguments={})
    apart = one(GENAI, [said("assistant", call), said("tool", answer)])
    within = one(GENAI, [said("assistant", call, answer)])
    assert told(apart) == told(within) == [("a", {}, status, "A")]


def test_model_calls_of_one_conversation_are_aligned() -> None:
    """A call that a later request repeats counts once; another conversation is never taken for this one (G12)."""
    begin, call = said("user", text("Go")), said("assistant", asked("a", arguments={}))
    end = said("assistant", text("Done"))
    first = {"conversation_id": "x", "input_messages": [begin], "output_messages": [call]}
    later = [begin, call, said("tool", answered("A"))]
    second = {"conversation_id": "x", "input_messages": later, "output_messages": [end]}
    other = {**first, "conversation_id": "y"}
    read = [item for item in items(GENAI, first, second, other) if not isinstance(item, TraceError)]
    assert [(item.conversation_id, told(item), item.output) for item in read] == [
        ("x", [("a", {}, "ok", "A")], "Done"),
        ("y", [("a", {}, "requested", None)], None),
    ]


@pytest.mark.parametrize(
    ("others", "calls", "gaps"),
    [
        ([said("assistant", text("B"), finish_reason="stop")], 1, 0),
        ([said("assistant", asked("b"), finish_reason="tool_call")], 1, 1),
    ],
)
def test_of_several_outputs_the_first_is_read(others: list[Any], calls: int, gaps: int) -> None:
    """Calls of the others are a gap: nothing says that they are alternatives (G12)."""
    first = said("assistant", asked("a", arguments={}), finish_reason="tool_call")
    record = one(GENAI, {"input_messages": [said("user", text("Go"))], "output_messages": [first, *others]})
    alone = one(GENAI, [first, *others])
    assert [(len(read.tool_calls or ()), len(read.gaps)) for read in (record, alone)] == [(calls, gaps)] * 2


@pytest.mark.parametrize(
    ("messages", "gap"),
    [
        (
            [said("assistant", text("A"), finish_reason="tool_call")],
            "the finish reason is `tool_call`, but [0] has no calls",
        ),
        ([said("assistant", {"type": "compaction"})], "[0] sums up messages that are not recorded"),
        ([said("assistant", {"type": "web_call", "name": "a"})], "[0].parts[0] looks like calls, which are not read"),
    ],
)
def test_calls_that_genai_messages_do_not_show_are_a_gap(messages: Any, gap: str) -> None:
    """So the trajectory cannot pass for one without calls (G12)."""
    assert one(GENAI, messages).gaps == (gap,)


def test_messages_of_others_are_not_taken_for_genai_messages() -> None:
    """Text parts of the Vercel AI SDK have their words under `text`; a message of another format is an error."""
    ui = b'[{"role": "assistant", "parts": [{"type": "text", "text": "Hi"}]}]'
    with pytest.raises(TraceError):
        traces.detect(ui)
    (error,) = items(GENAI, [said("assistant", text("A")), {"role": "assistant", "content": "B", "tool_calls": [1]}])
    assert isinstance(error, TraceError)
    assert (error.message, error.where.path) == (
        "expected a GenAI message, `role` and typed `parts`; found another format",
        "[1]",
    )


def message(role: str, *contents: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "contents": list(contents), **more}


def called(name: str, identity: str = "c", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": identity, "name": name, **more}


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (called("a", arguments='{"x": 1}'), ("a", {"x": 1}, "client", None)),
        (called("a", arguments=""), ("a", {}, "client", None)),
        (called("a", hosted=True, server_name="s", arguments="{}"), ("a", {}, "server", "s")),
        (
            {"type": "mcp_server_tool_call", "call_id": "c", "tool_name": "a", "server_name": "s", "arguments": "{}"},
            ("a", {}, "mcp", "s"),
        ),
        (
            {"type": "shell_tool_call", "call_id": "c", "commands": ["ls"]},
            ("shell", {"commands": ["ls"]}, "server", None),
        ),
        ({"$type": "functionCall", "callId": "c", "name": "a", "arguments": {"x": 1}}, ("a", {"x": 1}, "client", None)),
    ],
)
def test_contents_of_agent_framework_are_calls(contents: Any, expected: Any) -> None:
    """In the words of Python and of .NET; tools of the provider among them (G9)."""
    (call,) = one(AGENT, [message("assistant", contents)]).tool_calls or ()
    assert (call.name, call.arguments, call.kind, call.server) == expected


def test_what_became_of_a_call_of_agent_framework() -> None:
    """An exception is a failure; an approval that is asked for waits, one that is denied refuses (G13)."""
    kinds = {"type": "function_approval_request", "id": "i"}, {"type": "function_approval_response", "id": "i"}
    wanted, granted = kinds
    failed = {"type": "function_result", "call_id": "c", "result": "", "exception": "ValueError"}
    plain = {"$type": "functionResult", "callId": "c", "result": "A"}
    asks = message("assistant", {**wanted, "function_call": called("a")})
    denies = message("user", {**granted, "approved": False, "function_call": called("a")})
    grants = message("user", {**granted, "approved": True, "function_call": called("a")})
    ran = message("assistant", called("a")), message("tool", plain)
    stories: list[tuple[list[Any], list[str]]] = [
        ([message("assistant", called("a")), message("tool", failed)], ["error"]),
        ([*ran], ["ok"]),
        ([asks], ["pending"]),
        ([asks, denies], ["refused"]),
        ([asks, denies, message("tool", {**plain, "result": "denied"})], ["refused"]),
        ([asks, grants, *ran], ["ok"]),
    ]
    read = [one(AGENT, story) for story, _ in stories]
    assert [[call.status for call in item.tool_calls or ()] for item in read] == [expected for _, expected in stories]
    assert [item.gaps for item in read] == [()] * len(stories)


def test_a_response_and_a_session_of_agent_framework_are_conversations() -> None:
    """With the id of the response or session, the author as agent, and a gap where calls are missing (G12)."""
    told_ = [message("user", "Go"), message("assistant", called("a"), author_name="Desk")]
    session = one(AGENT, {"type": "session", "session_id": "s", "state": {"in_memory": {"messages": told_}}})
    assert (session.conversation_id, [call.agent for call in session.tool_calls or ()]) == ("s", ["Desk"])
    reply = {"messages": [message("assistant", "Hi")], "response_id": "r", "finish_reason": {"value": "tool_calls"}}
    response = one(AGENT, reply)
    assert (response.id, response.gaps) == ("r", ("the finish reason is `tool_calls`, but the message has no calls",))


def test_contents_that_are_not_known_are_no_silence() -> None:
    """What looks like a call is a gap, what does not is a warning, a call of the user is not read (G12)."""
    odd, strange = {"type": "new_tool_call", "name": "a"}, {"type": "hologram"}
    read = one(AGENT, [message("assistant", odd, strange), message("user", called("b"))])
    assert read.gaps == (
        "[0].contents[0] looks like calls, which are not read",
        "[1].contents[0] looks like calls, which are not read",
    )
    assert read.warnings == (
        "[0].contents[0] is a part of the unknown type `new_tool_call` and is not read",
        "[0].contents[1] is a part of the unknown type `hologram` and is not read",
        "[1] has calls although it is no message of the model; they are not read",
    )
