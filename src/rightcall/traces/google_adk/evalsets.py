"""Eval sets, whose cases hold invocations, and eval results, which hold what was really done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import contents, conversation, families, shapes
from rightcall.traces.contents import field
from rightcall.traces.conversation import Answered, Asked, Event, Said

_NOTE: Final = "an eval set may hold the calls that are expected rather than calls that were made"


def is_set(value: dict[str, Any]) -> bool:
    """Whether a value is an eval set, or one case of it."""
    return isinstance(field(value, "evalCases"), list) or (
        bool({"eval_id", "evalId"} & value.keys()) and isinstance(value.get("conversation"), list)
    )


def is_result(value: dict[str, Any]) -> bool:
    """Whether a value holds the results of an eval set."""
    return isinstance(field(value, "evalCaseResults"), list)


def holds_cases(value: Any) -> bool:
    """Whether a value holds several cases, or the results of several."""
    return isinstance(value, dict) and any(
        isinstance(field(value, key), list) for key in ("evalCases", "evalCaseResults")
    )


def cases(value: dict[str, Any]) -> Iterable[Trajectory | TraceError]:
    """One trajectory a case."""
    found = field(value, "evalCases")
    return [_case(value, "")] if found is None else families.each(found, "eval_cases", _case)


def _case(case: Any, path: str) -> Trajectory:
    if not isinstance(case, dict):
        raise TraceError(f"expected a case, an object; found {shapes.kind(case)}", Where(path=path))
    made = _trajectory(case.get("conversation") or [], f"{path}.conversation".removeprefix("."))
    return _named(made, field(case, "evalId"), _NOTE)


def results(value: dict[str, Any]) -> Iterable[Trajectory | TraceError]:
    """One trajectory a case: the invocations as they were, not as they were expected."""
    return families.each(field(value, "evalCaseResults"), "eval_case_results", _result)


def _result(case: Any, path: str) -> Trajectory:
    told = field(case, "evalMetricResultPerInvocation") if isinstance(case, dict) else None
    if not isinstance(told, list):
        raise TraceError("expected the results of each invocation", Where(path=path))
    actual = [field(one, "actualInvocation") for one in told if isinstance(one, dict)]
    made = _named(_trajectory(actual, f"{path}.eval_metric_result_per_invocation"), field(case, "evalId"))
    session = field(case, "sessionId")
    return msgspec.structs.replace(made, conversation_id=session if isinstance(session, str) else None)


def _named(made: Trajectory, identity: Any, *notes: str) -> Trajectory:
    known = identity if isinstance(identity, str) else ""
    warnings = (*made.warnings, *(notes if made.tool_calls else ()))
    return msgspec.structs.replace(made, id=known, test_id=known or None, warnings=warnings)


def _trajectory(invocations: Any, path: str) -> Trajectory:
    if not isinstance(invocations, list):
        raise TraceError(f"expected an array of invocations; found {shapes.kind(invocations)}", Where(path=path))
    warnings: list[str] = []
    told = _events(invocations, path, warnings)
    last = invocations[-1] if invocations and isinstance(invocations[-1], dict) else {}
    output = contents.text(field(last, "finalResponse")) or None
    return conversation.trajectory(invocations, told, warnings, path=path, output=output)


def _events(invocations: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    for index, invocation in enumerate(invocations):
        at = f"{path}[{index}]"
        if not isinstance(invocation, dict):
            raise TraceError(f"expected an invocation, an object; found {shapes.kind(invocation)}", Where(path=at))
        yield Said()
        data = field(invocation, "intermediateData")
        if isinstance(data, dict):
            yield from _data(data, f"{at}.intermediate_data", warnings)
        yield Asked()


def _data(data: dict[str, Any], path: str, warnings: list[str]) -> Iterator[Event]:
    """The calls of an invocation: in its events, or in the older list, which does not say what was parallel."""
    for index, event in enumerate(_listed(data, "invocationEvents")):
        content = event.get("content") if isinstance(event, dict) else None
        if isinstance(content, dict):
            yield from contents.events(content, f"{path}.invocation_events[{index}].content", warnings)
    for index, entry in enumerate(_listed(data, "toolUses")):
        at = f"{path}.tool_uses[{index}]"
        if not isinstance(entry, dict):
            raise TraceError(f"expected a call, an object; found {shapes.kind(entry)}", Where(path=at))
        call, notes = contents.function_call(entry, at)
        warnings += notes
        yield Asked((call,))
    for index, entry in enumerate(_listed(data, "toolResponses")):
        if isinstance(entry, dict):
            part = {"role": "user", "parts": [{"functionResponse": entry}]}
            answers = contents.events(part, f"{path}.tool_responses[{index}]", warnings)
            yield from (answer for answer in answers if isinstance(answer, Answered))


def _listed(data: dict[str, Any], camel: str) -> list[Any]:
    found = field(data, camel)
    return found if isinstance(found, list) else []
