"""Every recording that is cross-checked: where its files come from, what it cannot play, and what it cannot say."""

from __future__ import annotations

from typing import Final

import msgspec

from support.staged import limits as cannot
from support.staged.limits import Limit
from support.staged.scripts import SCRIPTS, Script


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """Files of a run that tell a script alike, and what they cannot tell.

    `lost` are the scripts of which calls are not in the files at all, with the reason; a gap has to say so.
    """

    run: str
    files: tuple[str, ...]
    limits: tuple[Limit, ...] = ()
    lost: dict[str, str] = {}


_OPENAI: Final = ("openai-chat", "openai-chat-streamed", "openai-responses", "openai-responses-streamed")
_CHAT: Final = _OPENAI[:2]
_ANTHROPIC: Final = ("anthropic", "anthropic-streamed")
_GEMINI: Final = ("gemini", "gemini-streamed")
_PYDANTIC: Final = ("v2", "v3", "v4", "v5", "v6", "hidden", "openinference")
_ADK: Final = ("spans", "details", "hidden", "openinference")
_APIS: Final = ("chat", "responses")

WATCHED: Final = {
    "openinference": (*_OPENAI, *_ANTHROPIC),
    "traceloop": (*_OPENAI, *_ANTHROPIC),
    "genai-events": _CHAT,
    "genai-events-hidden": _CHAT,
    "genai-spans": _OPENAI,
    "genai-details": _OPENAI,
    "genai-hidden": _OPENAI,
}
"""The instrumentations of the bare SDKs, and the conversations that each watches."""

SOURCES: Final = {
    **dict.fromkeys((*_OPENAI, *_ANTHROPIC, *_GEMINI), "plain"),
    **{f"{how}-{name}": f"instrumented:{how}" for how, names in WATCHED.items() for name in names},
    **{f"openai-agents-{api}": "agents_sdk:own" for api in _APIS},
    **{f"{how}-openai-agents-{api}": f"agents_sdk:{how}" for how in ("openinference", "traceloop") for api in _APIS},
    "langgraph": "langgraph_runs:own",
    "openinference-langgraph": "langgraph_runs:openinference",
    "traceloop-langgraph": "langgraph_runs:traceloop",
    **{f"pydantic-ai-{kind}": ":".join(("pydantic_runs", *_PYDANTIC)) for kind in _PYDANTIC},
    **{f"google-adk-{kind}": f"adk_runs:{kind}" for kind in _ADK},
}
"""The module that makes each run, and what it is given."""

_NO_AGENT: Final = {"nested": "a bare SDK runs no agent inside a call"}
_OBJECTS: Final = {"malformed": "the API sends arguments as objects, which cannot be broken"}
_MENDED: Final = {"malformed": "the SDK mends broken arguments before the program sees them"}
_UNIQUE: Final = {"reused": "the SDK refuses an id that comes again"}
_SMALL: Final = {"huge": "the exporter cannot encode integers of more than 64 bits"}
_NAMELESS: Final = {name: "not even names are recorded" for name in SCRIPTS if name != "silent"}
_ASIDE: Final = {"malformed": "calls with broken arguments are left out of the message"}
_EMPTY: Final = {"silent": "no span of a tool, and model spans without content: nothing is recorded, which is a gap"}

_UNPLAYED: Final = {
    **dict.fromkeys(_OPENAI, _NO_AGENT),
    "anthropic": {**_NO_AGENT, **_OBJECTS},
    "anthropic-streamed": {**_NO_AGENT, **_MENDED},
    **{name: {**_NO_AGENT, **_OBJECTS} for name in _GEMINI},
    **{name: _UNIQUE for name in SOURCES if "openai-agents" in name},
    **{f"google-adk-{kind}": _OBJECTS for kind in _ADK},
    "google-adk-details": {**_OBJECTS, **_SMALL},
}
UNPLAYED: Final[dict[str, dict[str, str]]] = {
    **_UNPLAYED,
    **{f"{how}-{name}": _UNPLAYED[name] for how, names in WATCHED.items() for name in names},
}
"""The scripts that a run does not play, with the reason."""

_WIRE: Final = ("messages.json", "exchanges.json", "exchanges.jsonl")
_LISTS: Final = ("messages-to-dict.json", "dumpd.json", "model-dump.json", "state.json")
_STREAMS: Final = ("states.jsonl", "updates.jsonl", "chunks.jsonl")
SPANS: Final = tuple(
    f"spans.{ending}"
    for ending in (
        "otlp.json",
        "otlp-base64.json",
        "otlp.pb",
        "console.txt",
        "objects.json",
        "shuffled.jsonl",
        "twice.jsonl",
    )
)
LOGS: Final = ("spans.otlp.jsonl", "spans.console.txt")


def _of(runs: tuple[str, ...], files: tuple[str, ...], *limits: Limit) -> tuple[Recording, ...]:
    return tuple(Recording(run=run, files=files, limits=limits) for run in runs)


def _watched(how: str, names: tuple[str, ...], files: tuple[str, ...], *limits: Limit) -> tuple[Recording, ...]:
    return _of(tuple(f"{how}-{name}" for name in names), files, *limits)


def _losing(lost: dict[str, str], recordings: tuple[Recording, ...]) -> tuple[Recording, ...]:
    return tuple(msgspec.structs.replace(one, lost=lost) for one in recordings)


RECORDINGS: Final = (
    *_of(("openai-chat", "openai-responses"), _WIRE, cannot.no_word_for_failure),
    *_of(("openai-chat-streamed", "openai-responses-streamed"), _WIRE[:1], cannot.no_word_for_failure),
    *_of(("anthropic",), _WIRE),
    *_of(("anthropic-streamed",), _WIRE[:1]),
    *_of(("gemini",), _WIRE, cannot.errors_are_objects),
    *_of(("gemini-streamed",), _WIRE[:1], cannot.errors_are_objects),
    *_watched("openinference", WATCHED["openinference"], SPANS, cannot.status_left_open),
    *_watched("traceloop", (*_CHAT, *_ANTHROPIC), SPANS, cannot.status_left_open),
    *_watched("traceloop", _OPENAI[2:], SPANS, cannot.unanswered),
    *_watched("genai-events", _CHAT, LOGS, cannot.status_left_open),
    *_watched("genai-events-hidden", _CHAT, LOGS, cannot.nothing_captured, cannot.unanswered),
    *_watched("genai-spans", _OPENAI, SPANS, cannot.status_left_open),
    *_losing(_SMALL, _watched("genai-details", _OPENAI, LOGS[:1], cannot.status_left_open, cannot.lists_of_one_type)),
    *_watched("genai-details", _OPENAI, LOGS[1:], cannot.status_left_open, cannot.lists_of_one_type),
    *_losing(_NAMELESS, _watched("genai-hidden", _OPENAI, SPANS)),
    *_watched("openai-agents", _APIS, ("trace.json", "trace.jsonl"), cannot.one_turn),
    *_watched(
        "openai-agents", _APIS, ("items.json", "state.json"), cannot.no_word_for_failure, cannot.outer_calls_only
    ),
    *_watched("openinference-openai-agents", _APIS, SPANS),
    *_losing(_EMPTY, _watched("traceloop-openai-agents", _APIS[:1], SPANS, cannot.executions_only)),
    *_watched("traceloop-openai-agents", _APIS[1:], SPANS),
    *_of(("langgraph",), _LISTS + _STREAMS, cannot.outer_calls_only),
    *_of(("openinference-langgraph",), SPANS, cannot.broken_calls_never_run),
    *_losing(_ASIDE, _of(("traceloop-langgraph",), SPANS)),
    *_of(("pydantic-ai-v5",), ("messages.json",), cannot.validation_errors, cannot.outer_calls_only),
    *_watched("pydantic-ai", ("v2", "v3", "v4", "v5", "v6", "openinference"), SPANS, cannot.validation_errors),
    *_of(("pydantic-ai-hidden",), SPANS, cannot.nothing_captured),
    *_of(("google-adk-spans",), ("events.jsonl", "session.json"), cannot.errors_are_objects, cannot.outer_calls_only),
    *_of(("google-adk-spans",), LOGS, cannot.errors_are_objects, cannot.results_are_objects),
    *_of(
        ("google-adk-details",),
        LOGS,
        cannot.errors_are_objects,
        cannot.results_are_objects,
        cannot.only_the_type_of_an_error,
        cannot.no_empty_arguments,
        cannot.lists_of_one_type,
    ),
    *_of(
        ("google-adk-hidden",),
        LOGS,
        cannot.nothing_captured,
        cannot.only_the_type_of_an_error,
        cannot.executions_only,
    ),
    *_of(
        ("google-adk-openinference",),
        LOGS,
        cannot.errors_are_objects,
        cannot.results_are_objects,
        cannot.no_empty_arguments,
        cannot.overwritten_models,
    ),
)


def played(run: str) -> list[Script]:
    """The scripts that a run plays."""
    return [script for script in SCRIPTS.values() if script.name not in UNPLAYED.get(run, {})]
