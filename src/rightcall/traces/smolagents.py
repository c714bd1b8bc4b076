"""The memory of smolagents: steps as `agent.memory.get_full_steps` returns them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import conversation, families, shapes
from rightcall.traces.conversation import Answered, Asked, Event, Said

_CODE: Final = "python_interpreter"
_OUTPUT: Final = "final_answer"


def _is_action(value: Any) -> bool:
    return isinstance(value, dict) and {"step_number", "tool_calls", "observations"} <= value.keys()


def _is_step(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return False
    return _is_action(value) or value.keys() <= {"task", "task_images"} or _is_aside(value)


def _is_aside(value: dict[str, Any]) -> bool:
    """Whether a step is a plan, a system prompt or a final answer, none of which holds calls."""
    return "plan" in value or value.keys() <= {"system_prompt"} or value.keys() <= {"output"}


def _kind(value: Any) -> str | None:
    if isinstance(value, list):
        known = all(map(_is_step, value)) and any(_is_action(step) or "task" in step for step in value)
        return families.RECORD if known else None
    if isinstance(value, dict) and isinstance(value.get("steps"), list) and _kind(value["steps"]):
        return families.RECORD
    return families.MESSAGE if _is_action(value) else None


def _whole(value: Any) -> Iterable[Trajectory]:
    steps, path = (value["steps"], "steps") if isinstance(value, dict) else (value, "")
    warnings: list[str] = []
    told = _events(steps, path, warnings)
    return [conversation.trajectory(steps, told, warnings, path=path, output=_output(steps))]


def _events(steps: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    for index, step in enumerate(steps):
        at = f"{path}[{index}]"
        if not _is_step(step):
            raise TraceError(f"expected a step of smolagents; found {shapes.kind(step)}", Where(path=at))
        if _is_action(step):
            calls = [*_calls(step.get("tool_calls"), f"{at}.tool_calls", warnings)]
            yield Asked((*calls, *_never_run(step, calls, at, warnings)))
            if calls:
                yield from _answers(step, calls, at)
        elif "task" in step:
            yield Said()


def _calls(entries: Any, path: str, warnings: list[str]) -> Iterator[ToolCall]:
    if entries is not None and not isinstance(entries, list):
        raise TraceError(f"expected an array of calls; found {shapes.kind(entries)}", Where(path=path))
    for index, entry in enumerate(entries or ()):
        place = f"{path}[{index}]"
        call, notes = shapes.call(entry)
        warnings += [f"{place} {note}" for note in notes]
        yield msgspec.structs.replace(_special(call, entry), sources=(place,))


def _special(call: ToolCall, entry: Any) -> ToolCall:
    """Code of an agent that writes code is the text of its call; the final answer is no tool of the user."""
    if call.name == _OUTPUT:
        return msgspec.structs.replace(call, kind="output")
    inner = entry.get("function") if isinstance(entry, dict) else None
    code = inner.get("arguments") if isinstance(inner, dict) else None
    if call.name != _CODE or not isinstance(code, str):
        return call
    return msgspec.structs.replace(
        call, arguments={"input": code}, arguments_state="ok", arguments_text=None, kind="custom"
    )


def _never_run(step: dict[str, Any], ran: list[ToolCall], at: str, warnings: list[str]) -> list[ToolCall]:
    """Calls that the model asked for in a step, and that were not run."""
    message = step.get("model_output_message")
    entries = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(entries, list) or any(call.name == _CODE for call in ran):
        return []
    known = {call.id for call in ran}
    asked = _calls(entries, f"{at}.model_output_message.tool_calls", warnings)
    return [call for call in asked if call.id and call.id not in known]


def _answers(step: dict[str, Any], calls: list[ToolCall], at: str) -> Iterator[Answered]:
    """What came of the calls of a step. Of several calls the memory keeps only their joined text."""
    error = step.get("error")
    failed = error.get("message") if isinstance(error, dict) else error
    if len(calls) > 1 and failed:
        return
    for call in calls:
        alone = len(calls) == 1
        yield Answered(
            id=call.id,
            name=call.name,
            result=step.get("observations") if alone else None,
            status="error" if failed else "ok",
            error=str(failed) if failed else None,
            place=at,
        )


def _output(steps: list[Any]) -> Any:
    final = [step for step in steps if isinstance(step, dict) and step.get("is_final_answer") is True]
    return final[-1].get("action_output") if final else None


_FAMILY: Final = families.Family(expected="steps of smolagents", kind=_kind, whole=_whole)


def claims(head: bytes) -> bool:
    """Whether the first value is a list of steps, or one action."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """The run that the steps tell of; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
