"""Logs of agents and benchmarks: smolagents, SWE-agent, tau-bench, ATIF, Inspect; and files of expectations."""

from __future__ import annotations

import builtins
import io
import json
import zipfile
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import MissingExtraError, TraceError
from support import corpus
from support.reading import items, one


def calls(trajectory: Trajectory) -> tuple[ToolCall, ...]:
    return trajectory.tool_calls or ()


def function(name: str, arguments: Any = "{}", id: str = "t") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def step(*calls: Any, **more: Any) -> dict[str, Any]:
    return {"step_number": 1, "tool_calls": list(calls), "observations": "seen", "error": None, **more}


def test_smolagents_steps_tell_results_of_single_calls() -> None:
    """The joined text of several calls belongs to none of them; an error of several is nobody's."""
    read = one(
        "smolagents",
        [
            {"task": "go"},
            step(function("a", {}, "1")),
            step(function("b", {}, "2"), function("c", {}, "3")),
            step(function("d", {}, "4"), error={"type": "E", "message": "boom"}),
            step(function("e", {}, "5"), function("f", {}, "6"), error={"message": "boom"}),
            step(function("final_answer", {"answer": 5}, "7"), is_final_answer=True, action_output=5),
        ],
    )
    assert [(call.name, call.status, call.result, call.kind) for call in calls(read)] == [
        ("a", "ok", "seen", "client"),
        ("b", "ok", None, "client"),
        ("c", "ok", None, "client"),
        ("d", "error", "seen", "client"),
        ("e", "requested", None, "client"),
        ("f", "requested", None, "client"),
        ("final_answer", "ok", "seen", "output"),
    ]
    assert read.output == 5


def test_smolagents_calls_that_were_never_run_are_requested() -> None:
    """The model's message tells of them; it does not double the others."""
    asked = {"tool_calls": [function("a", {}, "1"), function("b", {}, "2")]}
    read = one("smolagents", [step(function("a", {}, "1"), model_output_message=asked)])
    assert [(call.name, call.status) for call in calls(read)] == [("a", "ok"), ("b", "requested")]


def test_smolagents_code_is_the_text_of_its_call() -> None:
    """An agent that writes code makes one call a step."""
    read = one("smolagents", [step(function("python_interpreter", "print(1)", "1"))])
    assert [(call.arguments, call.arguments_state, call.kind) for call in calls(read)] == [
        ({"input": "print(1)"}, "ok", "custom")
    ]


def asks(name: str, action: str, **more: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "agent": "main",
        "content": "",
        "action": action,
        "tool_calls": [function(name)],
        **more,
    }


TASK = {"role": "user", "content": "go", "agent": "main"}


def test_swe_agent_actions_after_the_history_are_calls() -> None:
    """By their first word; arguments in text are not made up."""
    actions = [{"action": "ls"}, {"action": "edit 'a' 'b'", "observation": "ok"}, {"action": "submit"}]
    read = one("swe-agent", {"history": [TASK, asks("bash", "ls")], "trajectory": actions})
    assert [(call.name, call.arguments_state, call.arguments_text, call.kind) for call in calls(read)] == [
        ("bash", "ok", None, "client"),
        ("edit", "not_captured", "edit 'a' 'b'", "client"),
        ("submit", "ok", None, "output"),
    ]
    assert calls(read)[1].result == "ok"


def test_swe_agent_demonstrations_are_no_calls() -> None:
    """A demonstration is few-shot text; a list of actions that tells another story is only warned about."""
    history = [TASK, asks("a", "a", is_demo=True), asks("b", "b")]
    read = one("swe-agent", {"history": history, "trajectory": [{"action": "other"}, {"action": "submit"}]})
    assert [call.name for call in calls(read)] == ["b"]
    assert read.warnings == ("`trajectory` does not repeat the actions of `history`; only the history is read",)


def test_swe_agent_text_for_a_shell_is_not_recorded() -> None:
    """It is neither a call nor no call (G3)."""
    read = one("swe-agent", {"history": [TASK, {"role": "assistant", "action": "ls", "content": "ls"}]})
    assert (read.tool_calls, len(read.warnings)) == (None, 1)


def test_tau_bench_trials_are_attempts_and_ids_may_repeat() -> None:
    """Equal ids and equal arguments are two calls when they stand twice."""
    said = {"role": "assistant", "content": None, "tool_calls": [function("a")]}
    answer = {"role": "tool", "tool_call_id": "t", "name": "a", "content": "1"}
    runs = [{"task_id": 7, "trial": trial, "traj": [said, answer, said, answer]} for trial in (0, 1)]
    read = [item for item in items("tau-bench", runs) if isinstance(item, Trajectory)]
    assert [(item.id, item.test_id, [call.status for call in calls(item)]) for item in read] == [
        ("7-0", "7", ["ok", "ok"]),
        ("7-1", "7", ["ok", "ok"]),
    ]


def own(name: str, requestor: str = "assistant", id: str = "t") -> dict[str, Any]:
    return {"id": id, "name": name, "arguments": {}, "requestor": requestor}


def simulation(**more: Any) -> dict[str, Any]:
    return {"id": "s", "task_id": "t1", "termination_reason": "user_stop", **more}


def test_tau2_tells_who_called_and_what_failed() -> None:
    """The simulated user calls tools too; several results may stand in one message."""
    results = [
        {"role": "tool", "id": "1", "content": "A", "error": False},
        {"role": "tool", "id": "2", "content": "no", "error": True},
    ]
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [own("a", id="1"), own("b", id="2")]},
        {"role": "tool", "tool_messages": results},
        {"role": "user", "content": None, "tool_calls": [own("c", "user", "3")]},
    ]
    read = one("tau-bench", {"simulations": [simulation(messages=messages)], "tasks": [], "info": {}})
    assert [(call.name, call.requestor, call.status, call.error) for call in calls(read)] == [
        ("a", "assistant", "ok", None),
        ("b", "assistant", "error", "no"),
        ("c", "user", "requested", None),
    ]
    assert (read.id, read.test_id) == ("s", "t1")


def test_tau2_voice_runs_keep_calls_in_ticks() -> None:
    """Of both sides."""
    result = {"role": "tool", "id": "1", "content": "A", "error": False}
    ticks = [
        {"agent_tool_calls": [own("a", id="1")], "agent_tool_results": [result]},
        {"user_tool_calls": [own("b", "user", "2")]},
    ]
    read = one("tau-bench", simulation(messages=[], ticks=ticks))
    assert [(call.name, call.requestor, call.status) for call in calls(read)] == [
        ("a", "assistant", "ok"),
        ("b", "user", "requested"),
    ]


def atif(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.7", "agent": {"name": "boss"}, "steps": list(steps), **more}


def acts(name: str, *results: Any, id: str = "t", **more: Any) -> dict[str, Any]:
    call = {"tool_call_id": id, "function_name": name, "arguments": {}}
    return {"source": "agent", "message": "", "tool_calls": [call], "observation": {"results": list(results)}, **more}


def test_atif_sub_agents_follow_the_call_that_refers_to_them() -> None:
    """At any depth, also in a circle; copied context is no call."""
    refers = {"source_call_id": "t", "content": "ok", "subagent_trajectory_ref": [{"trajectory_id": "child"}]}
    back = {"source_call_id": "t", "subagent_trajectory_ref": [{"trajectory_id": "child"}]}
    child = {**atif(acts("b"), acts("c", back), trajectory_id="child"), "agent": {"name": "helper"}}
    read = one(
        "atif", atif(acts("x", is_copied_context=True), acts("a", refers), acts("d"), subagent_trajectories=[child])
    )
    assert [(call.name, call.kind, call.parent, call.agent_path) for call in calls(read)] == [
        ("a", "agent", None, ("boss",)),
        ("b", "client", 0, ("boss", "helper")),
        ("c", "client", 0, ("boss", "helper")),
        ("d", "client", None, ("boss",)),
    ]
    lonely = one("atif", atif(acts("a"), subagent_trajectories=[child]))
    assert lonely.gaps == ("no call refers to the sub-agent 'child'; its calls are not read",)


def inspect_call(name: str, id: str = "t", **more: Any) -> dict[str, Any]:
    return {"id": id, "function": name, "arguments": {}, "type": "function", **more}


def sample(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"id": "s", "epoch": 2, "input": "go", "messages": list(messages), **more}


def says(*entries: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(entries)}


def model_event(*entries: Any) -> dict[str, Any]:
    return {"event": "model", "output": {"choices": [{"message": says(*entries)}]}, "tools": [{"name": "a"}]}


def test_inspect_epochs_failures_and_attachments() -> None:
    """Long texts are put in their places; an error of a result is a failure."""
    call = {**inspect_call("a"), "arguments": {"text": "attachment://1"}}
    error = {"role": "tool", "content": "", "tool_call_id": "t", "function": "a", "error": {"message": "boom"}}
    read = one(
        "inspect-log", {"version": 2, "eval": {}, "samples": [sample(says(call), error, attachments={"1": "long"})]}
    )
    assert [(call.arguments, call.status, call.error) for call in calls(read)] == [({"text": "long"}, "error", "boom")]
    assert (read.id, read.test_id) == ("s_epoch_2", "s")


def test_inspect_rejections_by_an_approver_are_refusals() -> None:
    """Other errors of a result, and of the event of a tool, are failures."""
    for kind, status in (("approval", "refused"), ("timeout", "error")):
        error = {"type": kind, "message": "no"}
        answer = {"role": "tool", "content": "", "tool_call_id": "t", "function": "a", "error": error}
        event = {"event": "tool", "id": "t", "function": "a", "arguments": {}, "result": "", "error": error}
        events = [model_event(inspect_call("a")), event]
        told = one("inspect-log", sample(says(inspect_call("a")), answer)), one("inspect-log", sample(events=events))
        assert [(call.status, call.error) for read in told for call in calls(read)] == [(status, "no")] * 2


def test_inspect_calls_that_stand_only_in_events_come_last() -> None:
    """What the messages have is not doubled."""
    events = [model_event(inspect_call("a", "1")), model_event(inspect_call("b", "2"))]
    events += [{"event": "tool", "id": "2", "function": "b", "result": "B", "error": None}]
    read = one("inspect-log", sample(says(inspect_call("a", "1")), events=events))
    assert [(call.name, call.result) for call in calls(read)] == [("a", None), ("b", "B")]
    assert [tool.name for tool in read.available_tools] == ["a"]
    assert read.warnings == ("1 calls stand only in events, such as those of sub-agents; they come last",)


def test_inspect_results_without_calls_are_a_gap() -> None:
    """Calls were made that the log does not show (G12)."""
    read = one("inspect-log", sample({"role": "tool", "content": "x", "tool_call_id": "1", "function": "a"}))
    assert (read.tool_calls, read.gaps) == ((), ("messages[0] answers no call that is recorded",))


def archive(**members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("_journal/start.json", b"{}")
        for name, data in members.items():
            out.writestr(f"samples/{name}.json", data)
    return made.getvalue()


def test_inspect_archives_hold_a_trajectory_a_sample() -> None:
    """A broken sample is an error of its own."""
    good = json.dumps(sample(says(inspect_call("a")))).encode()
    first, bad, none = traces.read([archive(one=good, two=b"{", three=b"5")], file="f")
    assert isinstance(first, Trajectory)
    assert [call.name for call in calls(first)] == ["a"]
    assert isinstance(bad, TraceError)
    assert bad.where.path == "samples/two.json"
    assert isinstance(none, TraceError)


@pytest.mark.parametrize("cut", [100, 150])
def test_an_archive_that_is_cut_off_is_refused(cut: int) -> None:
    """Its directory stands at the end."""
    with pytest.raises(TraceError, match="f: the archive is damaged or cut off"):
        list(traces.read([archive(one=b"{}")[:cut]], file="f", format="inspect-log"))


def test_without_the_extra_a_compressed_archive_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zstandard is not in the base."""
    found = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "zstandard":
            raise ImportError(name)
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"rightcall\[bulk\]"):
        list(traces.read([(corpus.OWN / "inspect-log" / "4.eval").read_bytes()]))


@pytest.mark.parametrize(
    "document",
    [
        {"id": "simple_0", "ground_truth": [{"f": {"x": [1]}}]},
        [{"query": "q", "expected_tool_use": [{"tool_name": "a", "tool_input": {}}], "reference": "r"}],
    ],
)
def test_files_of_expectations_are_refused_with_a_sentence(document: Any) -> None:
    """They must not read as traces, nor as something unknown."""
    with pytest.raises(TraceError, match="which say what should be called; give a recorded trace"):
        list(traces.read([json.dumps(document).encode()]))


@pytest.mark.parametrize(
    ("format", "document", "place"),
    [
        ("smolagents", [step(), 5], "f:1: [1]: expected a step of smolagents; found a number"),
        ("smolagents", [step(tool_calls=5)], "f:1: [0].tool_calls: expected an array of calls; found a number"),
        ("swe-agent", {"trajectory": [{"action": "ls", "observation": ""}]}, "f:1: expected `history`; found only"),
        ("swe-agent", {"history": []}, "f:1: expected a trajectory file of SWE-agent"),
        ("swe-agent", {"history": [{**TASK, "tool_calls": 5}]}, "f:1: history[0].tool_calls: expected an array"),
        ("tau-bench", {"task_id": 1, "traj": [5]}, "f:1: traj[0]: expected a message, an object; found a number"),
        ("tau-bench", {"x": 1}, "f:1: expected a result of tau-bench or tau2-bench; found an object"),
        ("atif", atif(5), "f:1: steps[0]: expected a step, an object; found a number"),
        ("atif", atif({"source": "agent", "tool_calls": 5}), "f:1: steps[0].tool_calls: expected an array of calls"),
        ("inspect-log", {"version": 2, "eval": {}}, "f:1: the log holds no samples"),
        ("inspect-log", {"version": 2, "eval": {}, "samples": [5]}, "f:1: samples[0]: expected a sample"),
        ("inspect-log", sample(5), "f:1: messages[0]: expected a message, an object"),
    ],
)
def test_what_is_not_of_the_format_says_where(format: str, document: Any, place: str) -> None:
    """An error with file, line and JSON path."""
    errors = [str(item) for item in items(format, document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors


def test_long_trajectory_files_of_swe_agent_are_told_by_their_actions() -> None:
    """The history comes after them, often beyond what is looked at."""
    action = {"action": "ls", "observation": "x" * 40_000, "response": "", "thought": ""}
    value = {"environment": "main", "trajectory": [action, action, action], "history": [TASK, asks("bash", "ls")]}
    assert traces.detect(json.dumps(value).encode()) == "swe-agent"


INSPECT = [
    {"id": "1", "role": "user", "content": "hi"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": "a", "arguments": {"x": 1}}]},
    {"role": "tool", "tool_call_id": "c", "function": "a", "content": "A"},
]
TAU2 = [
    {"role": "user", "content": "hi", "turn_idx": 0, "tool_calls": None},
    {"role": "assistant", "tool_calls": [{"id": "c", "name": "a", "arguments": {"x": 1}, "requestor": "assistant"}]},
    {"id": "c", "role": "tool", "content": "A", "requestor": "assistant", "error": False},
]


@pytest.mark.parametrize(
    ("format", "value"), [("inspect-log", INSPECT), ("inspect-log", {"messages": INSPECT}), ("tau-bench", TAU2)]
)
def test_messages_outside_their_file_are_a_conversation(format: str, value: Any) -> None:
    """They are told by calls that only their format writes so."""
    data = json.dumps(value).encode()
    (read,) = traces.read([data])
    assert traces.detect(data) == format
    assert isinstance(read, Trajectory)
    assert [(call.name, call.arguments, call.status) for call in read.tool_calls or ()] == [("a", {"x": 1}, "ok")]
    assert read.gaps == ()
