"""Spans of wrappers: the tool that was called is named inside what the wrapper was given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, UsageError
from support.command_line import run_here
from support.openinference import model, request, tool
from support.runs import grade, lines, record, write_tests

AT = {"tool_name_at": "inputs.call.tool_name", "tool_arguments_at": "inputs.call.args"}


def wrapped(span_id: str, given: Any, **more: Any) -> dict[str, Any]:
    """The span of a wrapper that was given something."""
    return tool(span_id, "handle", given, **more)


def listing(**more: Any) -> dict[str, Any]:
    """What a wrapper is given to call `list_rows`."""
    return {"call": {"tool_name": "list_rows", **more}}


def told(trajectory: Trajectory) -> list[tuple[str, Any, str]]:
    """The calls by name, arguments and their state."""
    return [(call.name, call.arguments, call.arguments_state) for call in trajectory.tool_calls or ()]


@pytest.mark.parametrize(
    ("given", "call"),
    [
        (listing(args={"n": 2}), ("list_rows", {"n": 2}, "ok")),
        (listing(args='{"n": 2}'), ("list_rows", {"n": 2}, "ok")),
        (listing(args='{"n": 2'), ("list_rows", None, "malformed")),
        (listing(args={}), ("list_rows", {}, "ok")),
        (listing(), ("list_rows", None, "not_captured")),
        (listing(args=None), ("list_rows", None, "not_captured")),
    ],
)
def test_a_call_through_a_wrapper_is_that_of_the_tool(given: Any, call: tuple[str, Any, str]) -> None:
    """Its arguments are read like any others; where there are none, they are not known, rather than none (G9, G10)."""
    trajectory = rightcall.read(request(wrapped("a", given)), **AT)
    assert [call] == told(trajectory)
    assert trajectory.warnings == ()


@pytest.mark.parametrize("given", [{"call": {}}, {"call": {"tool_name": 7}}, {"call": {"tool_name": ""}}, {}, None])
def test_a_span_without_a_name_there_keeps_its_own(given: Any) -> None:
    """A note counts such spans once."""
    spans = wrapped("a", listing(args={})), wrapped("b", given, start=2), wrapped("c", given, start=4)
    trajectory = rightcall.read(request(*spans), **AT)
    assert [name for name, _, _ in told(trajectory)] == ["list_rows", "handle", "handle"]
    note = "spans of tools that have no name at `inputs.call.tool_name`, and keep their own: 2"
    assert trajectory.warnings == (note,)


def test_everything_that_was_given_is_the_arguments_if_no_path_is_named() -> None:
    """A path may also lead through odd keys and items."""
    given = {"odd key": [{"tool": "look"}], "n": 1}
    trajectory = rightcall.read(request(wrapped("a", given)), tool_name_at='inputs["odd key"][0].tool')
    assert told(trajectory) == [("look", given, "ok")]


def test_a_call_that_a_model_asked_for_is_told_once() -> None:
    """The wrapper's span is the execution of the call that it names (G12)."""
    asked = model("m", [{"name": "list_rows", "id": "1", "arguments": {"n": 2}}])
    spans = request(asked, wrapped("a", listing(args={"n": 2}), start=2, output__value="rows"))
    (call,) = rightcall.read(spans, **AT).tool_calls or ()
    assert (call.name, call.id, call.status, call.result) == ("list_rows", "1", "ok", "rows")
    assert len(rightcall.read(spans).tool_calls or ()) == 2


def test_a_wrapper_that_is_a_step_runs_what_a_model_asked_for() -> None:
    """A span of no kind of tool is taken for the execution of a call that it names, never for a call alone (G12)."""
    asked = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "list_rows", "arguments": "{}"}}]}
    chat = {"mlflow.spanType": "CHAT_MODEL", "mlflow.spanOutputs": json.dumps(asked)}
    step = {"mlflow.spanType": "CHAIN", "mlflow.spanInputs": json.dumps(listing(args={})), "mlflow.spanOutputs": "[1]"}
    spans = [
        {"name": "chat", "span_id": "a", "start_time_unix_nano": 1, "attributes": chat},
        {"name": "handle", "span_id": "b", "start_time_unix_nano": 2, "attributes": step},
    ]
    (call,) = rightcall.read(spans, **AT).tool_calls or ()
    assert (call.name, call.status, call.result) == ("list_rows", "ok", [1])
    (call,) = rightcall.read(spans).tool_calls or ()
    assert (call.name, call.status) == ("list_rows", "requested")
    assert rightcall.read(spans[1:], **AT).tool_calls is None


def test_the_span_of_the_tool_inside_its_wrapper_is_the_same_call() -> None:
    """A wrapper around an instrumented tool does not double it (G12)."""
    inner = tool("b", "list_rows", {"n": 2}, parent="a", start=1)
    trajectory = rightcall.read(request(wrapped("a", listing(args={"n": 2})), inner), **AT)
    assert [name for name, _, _ in told(trajectory)] == ["list_rows"]


def test_a_mapped_name_is_not_that_of_a_label() -> None:
    """What is told of labels alone is not told of a name from inside the inputs."""
    attributes = {"mlflow.spanType": "TOOL", "mlflow.spanInputs": json.dumps(listing(args={}))}
    span = {"name": "Manager.handle", "span_id": "a", "attributes": attributes}
    labels = [
        read.ingestion.labels for read in (rightcall.read([span]), rightcall.read([span], **AT)) if read.ingestion
    ]
    assert labels == [("Manager.handle",), ()]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ({"tool_name_at": "inputs..a"}, "`inputs..a` is no path: `..a` is no step of a path; steps are "),
        (
            {"tool_name_at": "call.name"},
            "`call.name` does not lead into what a span was given; expected a path such as ",
        ),
        ({"tool_name_at": "inputs"}, "`inputs` does not lead into what a span was given; "),
        ({"tool_name_at": ""}, "`` does not lead into what a span was given; "),
        ({"tool_name_at": "inputs[*].a"}, "`inputs[*].a` leads to many values; name one item, as `[0]`, instead of "),
        ({"tool_name_at": "inputs.a", "tool_arguments_at": "b"}, "`b` does not lead into what a span was given; "),
        ({"tool_arguments_at": "inputs.b"}, "`inputs.b` says where arguments are; say where the name of the tool is"),
    ],
)
def test_a_path_that_cannot_be_one_is_refused(paths: dict[str, str], message: str) -> None:
    """Before anything is read, with where it stops being a path."""
    with pytest.raises(UsageError) as caught:
        list(traces.read([b"{}"], **paths))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("value", [[{"role": "user", "content": "Hi"}], {"tool_calls": []}])
def test_other_formats_are_refused(value: Any) -> None:
    """Nothing but spans has wrappers; an option without effect would look like one that worked."""
    with pytest.raises(TraceError, match="only in spans can the name of a tool be at a path"):
        rightcall.read(value, **AT)


def test_a_bad_path_is_a_usage_error(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A bad path is exit code 2, before anything is read."""
    file = lines(tmp_path / "t.jsonl", record("1", "a"))
    code, _, err = run_here(capfdbinary, "grade", file, "--tool-name-at", "name")
    assert (code, "`name` does not lead into what a span was given" in err) == (2, True)


def test_grade_judges_the_tool_behind_the_wrapper(tmp_path: Path) -> None:
    """A ban of the tool sees it."""
    tests = write_tests(tmp_path / "x.rightcall.json", t={"forbidden_tools": ["list_rows"]})
    file = tmp_path / "t.json"
    file.write_text(json.dumps(request(wrapped("a", listing(args={})))))
    assert grade(file, tests=[tests]).outcomes == {"t": "pass"}
    assert grade(file, tests=[tests], **AT).outcomes == {"t": "fail"}
