"""Results of tau-bench, one run of a task each, and of tau2-bench, whose simulated user may call tools too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import chat, conversation, families, shapes
from rightcall.traces.conversation import Answered, Asked, Event


def _kind(value: Any) -> str | None:
    if _is_list(value):
        return families.RECORD
    if not isinstance(value, dict):
        return None
    known = _is_run(value) or _is_simulation(value) or _is_results(value)
    return families.RECORD if known else None


def _is_list(value: Any) -> bool:
    """Whether a value is messages of tau2 outside a file of results: one says who asked for a call."""
    if not isinstance(value, list) or not all(map(_has_role, value)):
        return False
    return any("requestor" in one or any(map(_has_requestor, _list(one.get("tool_calls")))) for one in value)


def _has_role(message: Any) -> bool:
    return isinstance(message, dict) and str(message.get("role")) in chat.ROLES


def _has_requestor(entry: Any) -> bool:
    return isinstance(entry, dict) and "requestor" in entry


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_run(value: dict[str, Any]) -> bool:
    return "task_id" in value and isinstance(value.get("traj"), list)


def _is_simulation(value: Any) -> bool:
    return (
        isinstance(value, dict) and {"task_id", "termination_reason"} <= value.keys() and _messages(value) is not None
    )


def _is_results(value: dict[str, Any]) -> bool:
    found = value.get("simulations")
    return isinstance(found, list) and ("tasks" in value or "info" in value) and all(map(_is_simulation, found))


def _messages(simulation: dict[str, Any]) -> list[Any] | None:
    """The messages of a simulation, or the ticks in which a voice run keeps its calls."""
    found: Any = next((simulation[key] for key in ("messages", "ticks") if simulation.get(key)), [])
    return found if isinstance(found, list) else None


def _whole(value: Any) -> Iterable[Trajectory | TraceError]:
    if _is_list(value):
        return [_conversation(value, _TAU2, "")]
    if _is_run(value):
        return [_identified(_conversation(value["traj"], _TAU, "traj"), value)]
    return families.each(value["simulations"], "simulations", _run) if _holds_runs(value) else [_run(value, "")]


def _holds_runs(value: Any) -> bool:
    return isinstance(value, dict) and not _is_run(value) and not _is_simulation(value)


def _run(simulation: dict[str, Any], path: str) -> Trajectory:
    made = _ticks(simulation) if simulation.get("ticks") and not simulation.get("messages") else None
    place = f"{path}.messages".removeprefix(".")
    return _identified(made or _conversation(_messages(simulation) or [], _TAU2, place), simulation)


def _identified(made: Trajectory, value: dict[str, Any]) -> Trajectory:
    """The task is the test; a task that is run several times has several attempts."""
    task, trial = value.get("task_id"), value.get("trial")
    test = str(task) if isinstance(task, str | int) else None
    identity = value.get("id")
    known = identity if isinstance(identity, str) else "-".join(str(part) for part in (test, trial) if part is not None)
    return msgspec.structs.replace(made, id=known, test_id=test)


def _conversation(messages: list[Any], words: chat.Words, path: str) -> Trajectory:
    messages = [one for message in messages for one in _single(message)]
    warnings: list[str] = []
    told = chat.events(messages, path, warnings, words)
    return conversation.trajectory(messages, told, warnings, path=path, output=chat.output(messages))


def _single(message: Any) -> list[Any]:
    """A message that holds several results, as the results."""
    found = message.get("tool_messages") if isinstance(message, dict) else None
    return found if isinstance(found, list) else [message]


def _ticks(simulation: dict[str, Any]) -> Trajectory:
    warnings: list[str] = []
    ticks = simulation["ticks"] if isinstance(simulation["ticks"], list) else []
    return conversation.trajectory(ticks, _tick_events(ticks, warnings), warnings, path="ticks")


def _tick_events(ticks: list[Any], warnings: list[str]) -> Iterator[Event]:
    for index, tick in enumerate(ticks):
        for side in ("agent", "user"):
            at = f"ticks[{index}].{side}"
            calls = [_call(entry) for entry in _listed(tick, f"{side}_tool_calls")]
            warnings += [f"{at}_tool_calls {note}" for _, notes in calls for note in notes]
            if calls:
                yield Asked(tuple(msgspec.structs.replace(call, sources=(at,)) for call, _ in calls))
            for result in _listed(tick, f"{side}_tool_results"):
                if isinstance(result, dict):
                    yield from _answers2(result, at)


def _listed(tick: Any, key: str) -> list[Any]:
    found = tick.get(key) if isinstance(tick, dict) else None
    return found if isinstance(found, list) else []


def _call(entry: Any) -> tuple[ToolCall, tuple[str, ...]]:
    call, notes = shapes.call(entry)
    by_user = isinstance(entry, dict) and entry.get("requestor") == "user"
    return msgspec.structs.replace(call, requestor="user") if by_user else call, notes


def _answers(message: dict[str, Any], place: str) -> Iterator[Answered]:
    """tau-bench marks failures only by text, which is no mark."""
    yield chat.answer(message, place, result=message.get("content"), name=message.get("name"))


def _answers2(message: dict[str, Any], place: str) -> Iterator[Answered]:
    content = message.get("content")
    error = str(content) if message.get("error") is True else None
    yield chat.answer(message, place, result=content, id=message.get("id"), error=error)


_TAU: Final = chat.Words(answers=_answers)
_TAU2: Final = chat.Words(call=_call, answers=_answers2, callers=frozenset({"assistant", "user"}))


_FAMILY: Final = families.Family(
    expected="a result of tau-bench or tau2-bench",
    kind=_kind,
    whole=_whole,
    holds_records=_holds_runs,
)


def claims(head: bytes) -> bool:
    """Whether the first value is a run, a simulation or a file of results, or a list of these."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every run, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
