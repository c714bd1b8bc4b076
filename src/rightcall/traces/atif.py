"""ATIF, the Agent Trajectory Interchange Format of Harbor: steps with calls and observations, and sub-agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import chat, conversation, documents, families, shapes, toolspecs
from rightcall.traces.conversation import Answered, Asked, Event, Said


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
        return None
    return families.RECORD if str(value.get("schema_version")).startswith("ATIF") else None


def _whole(value: Any) -> Iterable[Trajectory]:
    warnings: list[str] = []
    made = _trajectory(value, "steps", warnings)
    gaps: list[str] = []
    calls = tuple(_nested(value, warnings, gaps))
    if too_many := documents.too_many_calls(len(calls), path="steps"):
        raise too_many
    session, identity = value.get("session_id"), value.get("trajectory_id")
    known = next((one for one in (identity, session) if isinstance(one, str) and one), "")
    return [
        msgspec.structs.replace(
            made,
            id=known,
            conversation_id=session if isinstance(session, str) else None,
            tool_calls=None if made.tool_calls is None and not calls else calls,
            gaps=tuple(dict.fromkeys((*made.gaps, *gaps))),
            warnings=tuple(dict.fromkeys((*made.warnings, *warnings))),
        )
    ]


def _trajectory(value: dict[str, Any], path: str, warnings: list[str]) -> Trajectory:
    steps, agent = value["steps"], value.get("agent")
    about = agent if isinstance(agent, dict) else {}
    told = _events(steps, path, warnings, about.get("name"))
    searched = [(step, f"{path}[{index}]") for index, step in enumerate(steps) if not _is_copied(step)]
    made = conversation.trajectory(
        steps,
        told,
        [],
        path=path,
        tools=toolspecs.tools(about.get("tool_definitions")),
        output=_output(steps),
        searched=searched,
    )
    return msgspec.structs.replace(made, warnings=(*warnings, *made.warnings))


def _nested(root: dict[str, Any], warnings: list[str], gaps: list[str]) -> Iterator[ToolCall]:
    """Each call, followed by the calls of the sub-agents that it refers to. No trajectory is read twice."""
    within = root.get("subagent_trajectories")
    known = {one["trajectory_id"]: one for one in _whole_ones(within) if isinstance(one.get("trajectory_id"), str)}
    waiting: list[tuple[ToolCall, int | None, tuple[str, ...]]] = []
    _push(waiting, root, None, (), warnings)
    count = 0
    while waiting:
        call, parent, path = waiting.pop()
        references = [known.pop(one) for one in _references(call) if one in known]
        yield msgspec.structs.replace(call, parent=parent, agent_path=path, kind="agent" if references else call.kind)
        for child in reversed(references):
            gaps += _push(waiting, child, count, path, warnings)
        count += 1
    apart = [name for name, value in known.items() if _has_calls(value)]
    gaps += [f"no call refers to the sub-agent {name!r}; its calls are not read" for name in apart]


def _has_calls(value: dict[str, Any]) -> bool:
    return any(isinstance(step, dict) and step.get("tool_calls") for step in value["steps"])


def _push(
    waiting: list[Any], value: Any, parent: int | None, path: tuple[str, ...], warnings: list[str]
) -> tuple[str, ...]:
    """Put the calls of a trajectory before those that wait; gives its gaps."""
    made = _trajectory(value, "steps", warnings)
    agent = value.get("agent")
    name = agent.get("name") if isinstance(agent, dict) else None
    within = (*path, name) if isinstance(name, str) else path
    calls = made.tool_calls or ()
    if parent is not None:
        calls = tuple(msgspec.structs.replace(call, message=None, turn=None) for call in calls)
    waiting += [(call, parent, within) for call in reversed(calls)]
    return made.gaps


def _whole_ones(found: Any) -> list[dict[str, Any]]:
    listed = found if isinstance(found, list) else []
    return [one for one in listed if isinstance(one, dict) and isinstance(one.get("steps"), list)]


def _references(call: ToolCall) -> list[str]:
    """The ids of the sub-agents that a call started, which its reader has kept among the sources."""
    return [source.removeprefix(_REF) for source in call.sources if source.startswith(_REF)]


_REF: Final = "subagent "


def _events(steps: list[Any], path: str, warnings: list[str], agent: Any) -> Iterator[Event]:
    for index, step in enumerate(steps):
        at = f"{path}[{index}]"
        if not isinstance(step, dict):
            raise TraceError(f"expected a step, an object; found {shapes.kind(step)}", Where(path=at))
        if _is_copied(step):
            continue
        if step.get("source") == "user":
            yield Said()
        elif step.get("source") == "agent":
            results = _results(step)
            calls = [*_calls(step, at, warnings, agent, results)]
            yield Asked(tuple(calls))
            yield from _answers(results, calls, at)
        elif step.get("tool_calls"):
            warnings.append(f"{at} has calls although it is no step of the agent; they are not read")


def _is_copied(step: Any) -> bool:
    """Whether a step repeats what another trajectory tells."""
    return isinstance(step, dict) and step.get("is_copied_context") is True


def _calls(
    step: dict[str, Any], at: str, warnings: list[str], agent: Any, results: list[dict[str, Any]]
) -> Iterator[ToolCall]:
    entries = step.get("tool_calls")
    if entries is not None and not isinstance(entries, list):
        found = shapes.kind(entries)
        raise TraceError(f"expected an array of calls; found {found}", Where(path=f"{at}.tool_calls"))
    for index, entry in enumerate(entries or ()):
        known = entry if isinstance(entry, dict) else {}
        call, notes = shapes.named(
            known.get("function_name"),
            known.get("arguments"),
            id=known.get("tool_call_id"),
            absent="not_captured",
            at=f"{at}.tool_calls[{index}]",
        )
        warnings += notes
        own = [result for result in results if call.id and result.get("source_call_id") == call.id]
        sources = (*call.sources, *(f"{_REF}{one}" for result in own for one in _ids(result)))
        yield msgspec.structs.replace(call, sources=sources, agent=agent if isinstance(agent, str) else None)


def _ids(result: dict[str, Any]) -> list[str]:
    found = result.get("subagent_trajectory_ref")
    listed = found if isinstance(found, list) else [found]
    ids = [one.get("trajectory_id") for one in listed if isinstance(one, dict)]
    return [one for one in ids if isinstance(one, str)]


def _results(step: dict[str, Any]) -> list[dict[str, Any]]:
    observation = step.get("observation")
    found = observation.get("results") if isinstance(observation, dict) else None
    return [result for result in found if isinstance(result, dict)] if isinstance(found, list) else []


def _answers(results: list[dict[str, Any]], calls: list[ToolCall], at: str) -> Iterator[Answered]:
    """Results by the id of their call; the format has no word for failure."""
    for index, result in enumerate(results):
        identity = result.get("source_call_id")
        if isinstance(identity, str) or (len(calls) == len(results) == 1):
            yield Answered(
                id=identity if isinstance(identity, str) else calls[0].id,
                name=None if isinstance(identity, str) else calls[0].name,
                result=chat.text(result.get("content")),
                place=f"{at}.observation.results[{index}]",
            )


def _output(steps: list[Any]) -> Any:
    last = steps[-1] if steps and isinstance(steps[-1], dict) else {}
    if last.get("source") != "agent" or last.get("tool_calls"):
        return None
    return chat.text(last.get("message")) or None


_FAMILY: Final = families.Family(
    expected="a trajectory with `schema_version` ATIF and `steps`", kind=_kind, whole=_whole
)


def claims(head: bytes) -> bool:
    """Whether the first value is a trajectory in ATIF, or a list of these."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every trajectory, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
