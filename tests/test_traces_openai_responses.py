"""OpenAI Responses: which items are calls, whose result is whose, and what is missing."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError
from support import reading
from support.reading import told

USER = {"role": "user", "content": "hello"}
DONE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}


def function(name: str, id: str, arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments, **more}


def answers(id: str, output: Any, **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": output, **more}


items = partial(reading.items, "openai-responses")
one = partial(reading.one, "openai-responses")


def test_items_are_one_conversation() -> None:
    """Calls of one message stand together; a result begins the next; the user's messages count turns."""
    read = one([USER, function("a", "1"), function("b", "2"), answers("2", "B"), function("c", "3"), USER, DONE])
    assert [(call.name, call.turn, call.message) for call in read.tool_calls or ()] == [
        ("a", 0, 0),
        ("b", 0, 0),
        ("c", 0, 1),
    ]
    assert (told(read)[1], read.output) == (("b", {}, "ok", "B"), "Done.")


def test_lines_that_are_items_are_one_conversation() -> None:
    """Each line is an item."""
    assert told(one(USER, function("a", "1", '{"x": 1}'), answers("1", '{"y": 2}'))) == [
        ("a", {"x": 1}, "ok", {"y": 2})
    ]


@pytest.mark.parametrize(
    ("item", "call"),
    [
        ({"type": "web_search_call", "action": {"type": "search", "sources": []}}, ("web_search", {"type": "search"})),
        ({"type": "file_search_call", "queries": ["q"]}, ("file_search", {"queries": ["q"]})),
        ({"type": "code_interpreter_call", "code": "1"}, ("code_interpreter", {"code": "1"})),
        ({"type": "image_generation_call", "revised_prompt": "cat"}, ("image_generation", {"revised_prompt": "cat"})),
        ({"type": "computer_call", "action": {"type": "click"}}, ("computer", {"type": "click"})),
        ({"type": "local_shell_call", "action": {"command": ["ls"]}}, ("local_shell", {"command": ["ls"]})),
        ({"type": "shell_call", "action": {"commands": ["ls"]}}, ("shell", {"commands": ["ls"]})),
        ({"type": "apply_patch_call", "operation": {"path": "p"}}, ("apply_patch", {"path": "p"})),
        ({"type": "tool_search_call", "arguments": {"query": "q"}}, ("tool_search", {"query": "q"})),
        ({"type": "mcp_call", "name": "a", "arguments": '{"x": 1}', "server_label": "s"}, ("a", {"x": 1})),
        ({"type": "custom_tool_call", "name": "sql", "input": "SELECT 1"}, ("sql", {"input": "SELECT 1"})),
    ],
)
def test_every_kind_of_call_is_read(item: dict[str, Any], call: tuple[str, Any]) -> None:
    """Hosted tools have no name; theirs is the type without `_call`."""
    read = one([USER, {"id": "i1", "status": "in_progress", **item}])
    assert [(made.name, made.arguments) for made in read.tool_calls or ()] == [call]
    assert read.warnings == ()


def test_calls_of_unknown_types_are_calls_with_a_warning() -> None:
    """Nothing is dropped (B078)."""
    read = one([USER, {"type": "teleport_call", "id": "t", "status": "completed"}, {"type": "novelty"}])
    assert [(call.name, call.arguments_state, call.kind) for call in read.tool_calls or ()] == [
        ("teleport", "not_captured", "server")
    ]
    assert read.warnings == (
        "[1] is a call of the unknown type `teleport_call`",
        "[2] is an item of the unknown type `novelty` and is not read",
    )


@pytest.mark.parametrize(
    ("item", "status"),
    [
        ({"type": "mcp_call", "name": "a", "arguments": "{}", "output": "x", "error": None}, "ok"),
        ({"type": "mcp_call", "name": "a", "arguments": "{}", "error": {"message": "no"}}, "error"),
        ({"type": "mcp_call", "name": "a", "arguments": "{}", "status": "calling"}, "requested"),
        ({"type": "code_interpreter_call", "code": "1", "status": "failed"}, "error"),
        ({"type": "code_interpreter_call", "code": "1", "status": "interpreting"}, "requested"),
    ],
)
def test_what_the_provider_runs_says_what_became_of_it(item: dict[str, Any], status: str) -> None:
    """Its result stands in the same item."""
    assert [call.status for call in one([item]).tool_calls or ()] == [status]


def test_calls_of_the_provider_are_not_parallel() -> None:
    """What follows a call with its result was asked after it."""
    search = {"type": "web_search_call", "status": "completed", "action": {"query": "q"}}
    assert [call.message for call in one([search, THOUGHT, search]).tool_calls or ()] == [0, 1]


REQUEST = {"type": "mcp_approval_request", "id": "r1", "name": "pay", "arguments": '{"x": 1}', "server_label": "s"}
APPROVED = {"type": "mcp_call", "id": "c1", "approval_request_id": "r1", "name": "pay", "arguments": '{"x": 1}'}


@pytest.mark.parametrize(
    ("story", "calls"),
    [
        ([REQUEST], [("pay", {"x": 1}, "pending", None)]),
        (
            [REQUEST, {"type": "mcp_approval_response", "approval_request_id": "r1", "approve": False}],
            [("pay", {"x": 1}, "refused", None)],
        ),
        (
            [
                REQUEST,
                {"type": "mcp_approval_response", "approval_request_id": "r1", "approve": True},
                {**APPROVED, "output": "paid"},
            ],
            [("pay", {"x": 1}, "ok", "paid")],
        ),
    ],
)
def test_a_request_for_approval_is_the_call_that_it_asks_for(story: list[Any], calls: list[Any]) -> None:
    """Pending, refused, or run: one call."""
    assert told(one([USER, *story])) == calls


def test_a_wrapper_of_parallel_calls_is_taken_apart() -> None:
    """Each use is a call, and all have the wrapper's result, unless a tool of that name is on offer."""
    uses = [{"recipient_name": "functions.a", "parameters": {"x": 1}}, {"recipient_name": "b", "parameters": {}}]
    wrapper = function("multi_tool_use.parallel", "w", json.dumps({"tool_uses": uses}))
    assert told(one([wrapper, answers("w", "both")])) == [("a", {"x": 1}, "ok", "both"), ("b", {}, "ok", "both")]
    offered = {"input": [USER, wrapper], "tools": [{"type": "function", "name": "multi_tool_use.parallel"}]}
    assert [call.name for call in one(offered).tool_calls or ()] == ["multi_tool_use.parallel"]


@pytest.mark.parametrize("arguments", ["", None])
def test_missing_arguments_are_not_captured(arguments: Any) -> None:
    """A call without arguments writes `{}`, so nothing means that they are not there (G10)."""
    (call,) = one([function("a", "1", arguments)]).tool_calls or ()
    assert (call.arguments, call.arguments_state) == (None, "not_captured")


def test_broken_arguments_are_kept() -> None:
    """A call that was cut off is malformed (G9)."""
    (call,) = one([function("a", "1", '{"x": ', status="incomplete")]).tool_calls or ()
    assert (call.arguments_state, call.arguments_text) == ("malformed", '{"x": ')


@pytest.mark.parametrize(
    "output",
    [
        {"type": "apply_patch_call_output", "status": "failed", "output": "no"},
        {"type": "shell_call_output", "output": [{"stdout": "", "outcome": {"type": "exit", "exit_code": 2}}]},
        {"type": "function_call_output", "output": '{"output": "no", "metadata": {"exit_code": 1}}'},
    ],
)
def test_commands_that_fail_are_errors(output: dict[str, Any]) -> None:
    """By status or by exit code."""
    read = one([function("a", "1"), {"call_id": "1", **output}])
    assert [call.status for call in read.tool_calls or ()] == ["error"]


def test_bodies_offer_tools_by_the_names_of_calls() -> None:
    """Hosted tools by their type without a preview; servers list theirs."""
    listing = {"type": "mcp_list_tools", "tools": [{"name": "far", "input_schema": {"type": "object"}}]}
    tools = [{"type": "function", "name": "a"}, {"type": "web_search_preview"}, {"type": "mcp", "server_label": "s"}]
    read = one({"object": "response", "id": "resp_1", "status": "completed", "output": [listing, DONE], "tools": tools})
    assert [tool.name for tool in read.available_tools] == ["a", "web_search", "far"]
    assert read.available_tools[2] == ToolSpec(name="far", parameters={"type": "object"})
    assert (read.id, read.tool_calls, read.output) == ("resp_1", (), "Done.")


@pytest.mark.parametrize(
    ("body", "gap"),
    [
        ({"status": "failed"}, "the response has the status `failed`; calls may be missing"),
        ({"previous_response_id": "resp_0"}, "what came before, the response `resp_0`, is not recorded"),
    ],
)
def test_what_is_missing_is_a_gap(body: dict[str, Any], gap: str) -> None:
    """A response that is not whole, and one that continues something else (G12)."""
    assert one({"object": "response", "output": [DONE], **body}).gaps == (gap,)


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **more}


def test_a_stream_is_put_together_by_place() -> None:
    """Ids may change from event to event, and fragments interleave."""
    read = one(
        event("created", response={"id": "resp_1", "status": "in_progress", "output": []}),
        event("output_item.added", output_index=0, item={**function("a", "1", ""), "id": "x"}),
        event("output_item.added", output_index=1, item={**function("b", "2", ""), "id": "y"}),
        event("function_call_arguments.delta", output_index=1, item_id="q", delta='{"y"'),
        event("function_call_arguments.delta", output_index=0, item_id="p", delta='{"x": 1}'),
        event("function_call_arguments.delta", output_index=1, item_id="r", delta=": 2}"),
        event("output_item.done", output_index=0, item={**function("a", "1", '{"x": 1}'), "id": "z"}),
        event("completed", response={"id": "resp_1", "status": "completed", "output": []}),
    )
    assert ([(call.name, call.arguments) for call in read.tool_calls or ()], read.gaps) == (
        [("a", {"x": 1}), ("b", {"y": 2})],
        (),
    )


def test_the_last_event_holds_everything() -> None:
    """The finished response counts once, not beside its events."""
    item = function("a", "1")
    end = event("completed", response={"id": "r", "status": "completed", "output": [item]})
    assert told(one(event("output_item.done", output_index=0, item=item), end)) == [("a", {}, "requested", None)]


def test_a_stream_that_breaks_off_has_a_gap() -> None:
    """What came is read."""
    read = one(event("created", response={"id": "r"}), event("output_item.done", item=function("a", "1")))
    assert [call.name for call in read.tool_calls or ()] == ["a"]
    assert read.gaps == ("the response has the status `in_progress`; calls may be missing",)


def test_streams_one_after_another_are_responses_of_their_own() -> None:
    """Each has its beginning and its end."""
    stream = [event("created", response={"id": "r"}), event("output_item.done", item=function("a", "1"))]
    end = event("completed", response={"status": "completed"})
    assert len(items(*stream, end, *stream, end)) == 2


def exchange(given: list[Any], output: list[Any] | None, **request: Any) -> dict[str, Any]:
    identity = f"resp_{len(given)}"
    response = None if output is None else {"object": "response", "id": identity, "output": output}
    return {"url": "https://x/v1/responses", "request": {"model": "m", "input": given, **request}, "response": response}


def test_a_log_repeats_history_and_counts_each_call_once() -> None:
    """Reasoning that the client leaves out, and ids that it writes anew, do not matter."""
    later = [USER, function("a", "client:1"), answers("client:1", "A")]
    read = one([exchange([USER], [THOUGHT, function("a", "1")]), exchange(later, [THOUGHT, DONE])])
    assert (told(read), read.output, read.gaps) == ([("a", {}, "ok", "A")], "Done.", ())


def test_a_log_follows_what_the_server_keeps() -> None:
    """An input may be only what is new, after the response that it names."""
    first = exchange([USER], [function("a", "1")])
    second = exchange([answers("1", "A"), USER], [function("b", "2")], previous_response_id="resp_1")
    read = one([first, second])
    assert [(call.name, call.turn, call.status) for call in read.tool_calls or ()] == [
        ("a", 0, "ok"),
        ("b", 1, "requested"),
    ]


def test_a_log_finds_the_items_that_a_request_refers_to() -> None:
    """By their id; one that is not there is a gap."""
    first = exchange([USER], [{**function("a", "1"), "id": "fc_1"}])
    known = {"type": "item_reference", "id": "fc_1"}
    assert told(one([first, exchange([USER, known, answers("1", "A")], [DONE])])) == [("a", {}, "ok", "A")]
    lost = one([exchange([USER, {"type": "item_reference", "id": "fc_9"}], [DONE])])
    assert lost.gaps == ("the item `fc_9` that a request refers to is not recorded",)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([function("a", "1"), {"role": "wizard", "content": "x"}], "f:1: [1].role"),
        ([function("a", "1"), 5], "f:1: [1]: expected an item"),
        ([function("a", "1"), {"role": "assistant", "content": [{"type": "tool_use"}]}], "f:1: [1]: expected an item"),
        ({"object": "response", "output": "text", "input": 5}, "f:1: input: expected an array of items"),
        ({"model": "x"}, "f:1: expected a list of items"),
        (5, "f:1: expected a list of items"),
    ],
)
def test_what_is_no_conversation_says_where(document: Any, place: str) -> None:
    """An error of that record, with file, line and JSON path."""
    errors = [str(item) for item in items(document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors


def test_a_bad_line_among_items_is_a_gap() -> None:
    """The calls that could be read are kept (G12)."""
    text = f"{json.dumps(USER)}\n{json.dumps(function('a', '1'))}\n{{broken\n"
    (read,) = traces.read([text.encode()])
    assert isinstance(read, Trajectory)
    assert ([call.name for call in read.tool_calls or ()], len(read.gaps)) == (["a"], 1)


@pytest.mark.parametrize(
    ("value", "format"),
    [
        ([USER, function("a", "1")], "openai-responses"),
        ({"model": "m", "input": [USER], "tools": []}, "openai-responses"),
        ({"model": "m", "input": "hi", "instructions": "Be brief."}, "openai-responses"),
        ([exchange([USER], [DONE])], "openai-responses"),
        ([USER, {"role": "assistant", "content": "hi"}], "openai-chat"),
    ],
)
def test_it_is_told_from_its_relatives(value: Any, format: str) -> None:
    """Messages alone are a chat; an item, a body or an event is this format."""
    assert traces.detect(json.dumps(value).encode()) == format


def test_values_in_memory_are_read_with_their_results() -> None:
    """A list of items is no list of bare calls."""
    read = traces.read_object([function("a", "1", status="completed"), answers("1", "A")])
    assert told(read) == [("a", {}, "ok", "A")]
