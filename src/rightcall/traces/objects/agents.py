"""Results of the OpenAI Agents SDK, as the saved state of a run tells them.

The answers of the model are what it asked for; the items of the run tell the agents and the results.
https://openai.github.io/openai-agents-python/results/
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rightcall.errors import TraceError

_ASKED: Final = "tool_approval_item"
_PERHAPS_DENIED: Final = {"rejected": True}
"""A decision by which a call was denied if its answer says so: items tell what was answered, not what was decided."""


_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
"""Events that end an answer, and hold it whole."""


def result(value: Any) -> Any:
    """The state that a run was left in."""
    return state(value.to_state())


def state(value: Any) -> Any:
    """A saved state as it is written, without the context that the program gave to its tools."""
    return value.to_json(context_serializer=lambda context: {})


def details(value: Any) -> Any:
    """What a run had done when it failed, as its exception tells it in `run_data`."""
    return _state(value.raw_responses, value.new_items, value.input)


def items(values: Iterable[Any]) -> Any:
    """The items that a run added, as `new_items` lists them."""
    return _state([], values)


def answers(values: Iterable[Any]) -> Any:
    """The answers of the model, as `raw_responses` lists them."""
    return _state(values, [])


def events(values: Iterable[Any]) -> Any:
    """The events of a run that was streamed; `TraceError` if they end in the middle of an answer."""
    listed = list(values)
    raw = [event.data for event in listed if event.type == "raw_response_event"]
    whole = [data.response for data in raw if data.type in _ENDS]
    if raw and raw[-1].type not in _ENDS:
        raise TraceError("the events of the run end in the middle of an answer; collect `stream_events()` to its end")
    return _state(whole, [event.item for event in listed if event.type == "run_item_stream_event"])


def _state(responses: Iterable[Any], made: Iterable[Any], given: Any = None) -> dict[str, Any]:
    """The parts of a state that say what was called, by the names that a saved state has for them."""
    listed = list(made)
    waiting = [_item(item) for item in listed if item.type == _ASKED]
    return {
        "$schemaVersion": "",
        "original_input": given,
        "model_responses": [{"output": list(response.output)} for response in responses],
        "generated_items": [_item(item) for item in listed],
        "current_step": {"data": {"interruptions": waiting}},
        "context": {"approvals": {name: _PERHAPS_DENIED for item in listed if (name := _called(item))}},
    }


def _item(item: Any) -> dict[str, Any]:
    agent = getattr(item, "agent", None)
    return {"type": item.type, "raw_item": item.raw_item, "agent": {"name": getattr(agent, "name", None)}}


def _called(item: Any) -> str | None:
    raw = item.raw_item
    name = raw.get("name") if isinstance(raw, dict) else getattr(raw, "name", None)
    return name if isinstance(name, str) else None
