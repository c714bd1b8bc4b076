"""What results, states and events of SDKs hold of a conversation; told by the names of their classes.

A class counts by its package and its name, or by those of a class that it extends. Nothing is imported and nothing
of the network is asked: each of these gives what it already holds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.errors import TraceError, Where
from rightcall.traces.objects import agents, dumps

Holder = Callable[[Any], Any]


def held(value: Any, path: str = "") -> Any:
    """What to read instead of a value: the conversation that it holds, or the value itself.

    `TraceError` with the path if it is of a run that has not ended, or does not give what it holds.
    """
    if isinstance(value, str | bytes | int | float | dict | None | type):
        return value
    if isinstance(value, list) or type(value) is tuple:
        return _listed(value, path)
    holder = next((HOLDERS[key] for key in names(value) if key in HOLDERS), None)
    return value if holder is None else _asked(holder, value, path)


def _asked(holder: Holder, value: Any, path: str) -> Any:
    """What a value holds. Nothing at all is nothing recorded, not a conversation without calls."""
    try:
        found = holder(value)
    except TraceError as error:
        raise error.within(path=path) from None
    except Exception as error:
        cause = str(error) or type(error).__name__
        raise TraceError(f"{_named(value)} does not give what it holds: {cause}", Where(path=path)) from error
    if isinstance(found, list | tuple) and not found:
        raise TraceError(f"{_named(value)} holds nothing that a model said", Where(path=path))
    return found


def _named(value: Any) -> str:
    inner = f" of `{type(value[0]).__name__}`" if type(value) in (list, tuple) else ""
    return f"`{type(value).__name__}`{inner}"


def names(value: Any) -> list[tuple[str, str]]:
    """The package and the name of each class that a value is of, its own first."""
    return [(base.__module__.partition(".")[0], base.__name__.partition("[")[0]) for base in type(value).__mro__]


def readable_spans(value: Any) -> list[Any] | None:
    """The spans of OpenTelemetry's SDK, if a value is one, a list of nothing else, or the exporter that keeps them."""
    if _EXPORTER in names(value):
        value = held(value)
    listed = list(value) if isinstance(value, list | tuple) and value else [value]
    return listed if all(("opentelemetry", "ReadableSpan") in names(one) for one in listed) else None


_EXPORTER: Final = ("opentelemetry", "InMemorySpanExporter")


def _ended(gives: Holder, ended: Callable[[Any], Any], advice: str) -> Holder:
    """What a run gives once it has ended."""

    def holder(value: Any) -> Any:
        if not ended(value):
            raise TraceError(f"the run of this `{type(value).__name__}` has not ended; {advice}")
        return gives(value)

    return holder


def _messages(value: Any) -> Any:
    return value.all_messages()


def _parts(values: Any) -> Any:
    """Parts of a message as the message that has them: results and prompts stand in a request."""
    library = sys.modules["pydantic_ai.messages"]
    asks = any(part.part_kind in _OF_REQUESTS for part in values)
    return (library.ModelRequest if asks else library.ModelResponse)(parts=list(values))


_OF_REQUESTS: Final = frozenset({"tool-return", "retry-prompt", "user-prompt", "system-prompt"})


def _generation(value: Any) -> Any:
    """The only answer of a result, which has a list of answers, or one for each prompt."""
    answers = [one for each in value.generations for one in (each if isinstance(each, list) else [each])]
    if len(answers) != 1:
        raise TraceError(f"expected one answer of a model; found {len(answers)}; give the one that was used")
    return answers[0]


HOLDERS: Final[dict[tuple[str, str], Holder]] = {
    ("openai", "Choice"): lambda value: {"choices": [dumps.members(value, "")]},
    ("google", "Candidate"): lambda value: {"candidates": [dumps.members(value, "")]},
    ("google", "_BaseChat"): lambda value: value.get_history(),
    ("langchain_core", "ChatGeneration"): lambda value: value.message,
    ("langchain_core", "ChatResult"): _generation,
    ("langchain_core", "LLMResult"): _generation,
    ("langgraph", "StateSnapshot"): lambda value: value.values,
    ("langgraph", "GraphOutput"): lambda value: value.value,
    ("pydantic_ai", "BaseToolCallPart"): lambda part: _parts([part]),
    ("pydantic_ai", "AgentRunResult"): _messages,
    ("pydantic_ai", "AgentRun"): _ended(_messages, lambda run: run.result is not None, "iterate over it to its end"),
    ("pydantic_ai", "StreamedRunResult"): _ended(
        _messages, lambda run: run.is_complete, "await `get_output()` or consume its stream first"
    ),
    ("pydantic_ai", "StreamedRunResultSync"): _ended(
        _messages, lambda run: run.is_complete, "call `get_output()` or consume its stream first"
    ),
    ("agents", "RunResult"): agents.result,
    ("agents", "RunResultStreaming"): _ended(
        agents.result, lambda run: run.is_complete, "consume `stream_events()` first"
    ),
    ("agents", "RunState"): agents.state,
    ("agents", "RunItemBase"): lambda value: agents.items([value]),
    ("agents", "ModelResponse"): lambda value: agents.answers([value]),
    ("agents", "RunErrorDetails"): agents.details,
    ("opentelemetry", "ReadableSpan"): lambda value: jsontext.decode(value.to_json()),
    _EXPORTER: lambda value: list(value.get_finished_spans()),
}
"""What each class gives, by its package and its name."""


def _listed(value: Any, path: str) -> Any:
    """A list of events or states as what they tell together; any other list as it is."""
    if not value or isinstance(value[0], str | int | dict):
        return value
    for holds, gives in _LISTS:
        if all(holds(names(one)) for one in value):
            return _asked(gives, value, path)
    return value


def _of(package: str, *classes: str) -> Callable[[list[tuple[str, str]]], bool]:
    known = frozenset((package, name) for name in classes)
    return lambda found: not known.isdisjoint(found)


_REPEATING: Final = frozenset({"text", "citation", "thinking", "signature", "input_json"})
"""Events that Anthropic's stream helper adds to those of the API, and which repeat them."""


def _of_the_api(events: Any) -> Any:
    kept = [event for event in events if event.type not in _REPEATING]
    return events if len(kept) == len(events) else kept


def _snapshots(states: Any) -> Any:
    """The states of one history, oldest first; those before the first message are left out."""
    steps = sorted(states, key=lambda state: (state.metadata or {}).get("step", 0))
    return [state.values for state in steps if isinstance(state.values, dict) and any(state.values.values())]


_CHAT_EVENTS: Final = (
    "ChunkEvent",
    "ContentDeltaEvent",
    "ContentDoneEvent",
    "RefusalDeltaEvent",
    "RefusalDoneEvent",
    "FunctionToolCallArgumentsDeltaEvent",
    "FunctionToolCallArgumentsDoneEvent",
    "LogprobsContentDeltaEvent",
    "LogprobsContentDoneEvent",
    "LogprobsRefusalDeltaEvent",
    "LogprobsRefusalDoneEvent",
)

_LISTS: Final[tuple[tuple[Callable[[list[tuple[str, str]]], bool], Holder], ...]] = (
    (_of("langgraph", "StateSnapshot"), _snapshots),
    (_of("openai", *_CHAT_EVENTS), lambda events: [event.chunk for event in events if event.type == "chunk"]),
    (
        lambda found: found[0][0] == "anthropic" and found[0][1].endswith("Event"),
        _of_the_api,
    ),
    (lambda found: found[0][0] == "pydantic_ai" and found[0][1].endswith("Part"), _parts),
    (_of("agents", "RunItemBase"), agents.items),
    (_of("agents", "ModelResponse"), agents.answers),
    (_of("agents", "RawResponsesStreamEvent", "RunItemStreamEvent", "AgentUpdatedStreamEvent"), agents.events),
)
"""Lists of nothing but one kind of event, item or state, and what they tell together."""
