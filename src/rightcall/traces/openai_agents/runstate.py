"""The saved state of a run: what the model answered, and the results that the run has so far."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import CallStatus, ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import conversation, responses, shapes


def is_state(value: Any) -> bool:
    """Whether a value is the state of a run."""
    return isinstance(value, dict) and "$schemaVersion" in value and "model_responses" in value


def trajectory(state: dict[str, Any]) -> Trajectory:
    """The trajectory of a run so far: the input, then each answer of the model with its results."""
    items = [*_given(state), *_made(state)]
    warnings: list[str] = []
    events = responses.events(items, "items", warnings)
    made = conversation.trajectory(items, events, warnings, path="items", output=responses.output(items))
    agents, waiting, denied = _agents(state), _waiting(state), _denied(state)
    calls = made.tool_calls and tuple(_placed(call, agents, waiting, denied) for call in made.tool_calls)
    trace, identity = state.get("trace"), state.get("conversation_id")
    trace_id = trace.get("id") if isinstance(trace, dict) else None
    return msgspec.structs.replace(
        made,
        tool_calls=calls,
        trace_ids=(trace_id,) if isinstance(trace_id, str) else (),
        conversation_id=identity if isinstance(identity, str) else None,
        gaps=(*made.gaps, *_gaps(state)),
    )


def _given(state: dict[str, Any]) -> list[Any]:
    given = state.get("original_input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else _array(state, "original_input")


def _array(state: dict[str, Any], key: str) -> list[Any]:
    found = state.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise TraceError(f"expected an array; found {shapes.kind(found)}", Where(path=key))
    return found


def _made(state: dict[str, Any]) -> list[Any]:
    """What the run added: the answers of the model with results between, or the items if they tell of more calls."""
    wrapped = max((_array(state, key) for key in ("session_items", "generated_items")), key=_count)
    answers = [_output(answer, index) for index, answer in enumerate(_array(state, "model_responses"))]
    items = [one["raw_item"] for one in wrapped if _is_wrapped(one) and one.get("type") != "tool_approval_item"]
    if sum(map(_is_call, items)) > sum(_is_call(item) for answer in answers for item in answer):
        return items
    return list(_with_results(answers, [item for item in items if not _is_call(item)]))


def _count(wrapped: list[Any]) -> int:
    return sum(_is_wrapped(one) for one in wrapped)


def _is_wrapped(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("raw_item"), dict)


def _is_call(item: Any) -> bool:
    return responses.kind_of(item).endswith("_call")


def _output(answer: Any, index: int) -> list[Any]:
    output = answer.get("output") if isinstance(answer, dict) else None
    if not isinstance(output, list):
        place = f"model_responses[{index}].output"
        raise TraceError(f"expected an array of items; found {shapes.kind(output)}", Where(path=place))
    return output


def _with_results(answers: list[list[Any]], others: list[Any]) -> Iterator[Any]:
    """Each answer, then the results of its calls, the first that are left for each id."""
    results: defaultdict[Any, deque[Any]] = defaultdict(deque)
    for item in others:
        if responses.kind_of(item).endswith("_output"):
            results[str(item.get("call_id"))].append(item)
    for answer in answers:
        yield from answer
        for item in filter(_is_call, answer):
            waiting = results[str(item.get("call_id"))]
            yield from [waiting.popleft()] if waiting else []
    for waiting in results.values():
        yield from waiting


def _agents(state: dict[str, Any]) -> dict[str, str]:
    """The agent of each call, by its id."""
    found: dict[str, str] = {}
    for key in ("generated_items", "session_items"):
        for one in filter(_is_wrapped, _array(state, key)):
            agent = one.get("agent")
            if isinstance(agent, dict) and isinstance(agent.get("name"), str) and _is_call(one["raw_item"]):
                found[str(one["raw_item"].get("call_id"))] = agent["name"]
    return found


def _waiting(state: dict[str, Any]) -> frozenset[str]:
    """The calls that wait for an approval, by id."""
    step = state.get("current_step")
    data = step.get("data") if isinstance(step, dict) else None
    asked = data.get("interruptions") if isinstance(data, dict) else None
    listed = asked if isinstance(asked, list) else []
    return frozenset(str(one["raw_item"].get("call_id")) for one in listed if _is_wrapped(one))


class _Denied(msgspec.Struct, frozen=True):
    """Calls whose approval was denied: each by its id, and all later ones of a tool by the answer they got."""

    ids: frozenset[str]
    answers: frozenset[tuple[str, str]]

    def has(self, call: ToolCall) -> bool:
        answer = call.result if isinstance(call.result, str) else ""
        return call.id in self.ids or (call.name, answer) in self.answers


_NOT_APPROVED: Final = "Tool execution was not approved."
"""What the model is told of a denied call unless the program says something else."""


def _denied(state: dict[str, Any]) -> _Denied:
    context = state.get("context")
    ids: set[str] = set()
    answers: set[tuple[str, str]] = set()
    for tool, decision in _decisions(context if isinstance(context, dict) else {}):
        rejected = decision.get("rejected")
        if rejected is True:
            answers.add((str(tool), str(decision.get("sticky_rejection_message") or _NOT_APPROVED)))
        elif isinstance(rejected, list):
            ids.update(map(str, rejected))
    return _Denied(frozenset(ids), frozenset(answers))


def _decisions(context: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """What was decided on each tool: by its name, in newer states by agent and tool."""
    approvals, listed = context.get("approvals"), context.get("function_tool_approvals")
    pairs = list(approvals.items()) if isinstance(approvals, dict) else []
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict):
            pairs.append((one.get("tool_key"), one.get("decision")))
    yield from (pair for pair in pairs if isinstance(pair[1], dict))


def _placed(call: ToolCall, agents: dict[str, str], waiting: frozenset[str], denied: _Denied) -> ToolCall:
    agent = agents.get(call.id or "")
    status: CallStatus = call.status
    if denied.has(call):
        status = "refused"
    elif status == "requested" and call.id in waiting:
        status = "pending"
    return msgspec.structs.replace(
        call,
        status=status,
        agent=agent,
        agent_path=(agent,) if agent else (),
        kind="handoff" if call.name.startswith("transfer_to_") and call.kind == "client" else call.kind,
    )


def _gaps(state: dict[str, Any]) -> Iterator[str]:
    identity = state.get("previous_response_id")
    if isinstance(identity, str) and not _array(state, "model_responses"):
        yield f"what came before, the response `{identity[:60]}`, is not recorded"
