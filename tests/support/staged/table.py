"""What is cross-checked, as the table of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from support.staged.catalogue import LOGS, RECORDINGS, SOURCES, SPANS, UNPLAYED
from support.staged.scripts import SCRIPTS

HEADING: Final = ("| recorded by | read from | not played |", "|---|---|---|")
TITLES: Final = {
    "plain": "SDKs of OpenAI (chat, responses), Anthropic and Gemini, whole and streamed",
    "instrumented:openinference": "OpenInference around the SDKs of OpenAI and Anthropic",
    "instrumented:traceloop": "OpenLLMetry around the SDKs of OpenAI and Anthropic",
    "instrumented:genai-events": "OpenTelemetry around the SDK of OpenAI, older conventions",
    "instrumented:genai-events-hidden": "the same without content",
    "instrumented:genai-spans": "OpenTelemetry around the SDK of OpenAI, newest conventions, content on spans",
    "instrumented:genai-details": "the same, content in events",
    "instrumented:genai-hidden": "the same without content",
    "agents_sdk:own": "OpenAI Agents SDK",
    "agents_sdk:openinference": "OpenInference around the OpenAI Agents SDK",
    "agents_sdk:traceloop": "OpenLLMetry around the OpenAI Agents SDK",
    "langgraph_runs:own": "LangGraph",
    "langgraph_runs:openinference": "OpenInference around LangGraph",
    "langgraph_runs:traceloop": "OpenLLMetry around LangGraph",
    "pydantic_runs": "Pydantic AI: spans of versions 2 to 6, without content, and with OpenInference",
    "adk_runs:spans": "Google ADK, content on spans",
    "adk_runs:details": "Google ADK, content in events",
    "adk_runs:hidden": "Google ADK without content",
    "adk_runs:openinference": "OpenInference around Google ADK",
}
"""What the documentation calls each source."""

_SPANS: Final = "OTLP (JSON, base64 ids, protobuf), console, objects; shuffled, sent twice"
_TRACED: Final = frozenset((*SPANS, *LOGS))
_FORMS_OF: Final = {"exchanges": "logs of exchanges", "trace": "its own trace", "items": "items"}


def lines() -> list[str]:
    """The lines of the table: a source each, what is read of it, and the scripts that some of its runs cannot play."""
    return [*HEADING, *_rows()]


def _rows() -> Iterator[str]:
    for source in dict.fromkeys(SOURCES.values()):
        runs = [run for run, made_by in SOURCES.items() if made_by == source]
        files = [file for recording in RECORDINGS if recording.run in runs for file in recording.files]
        forms = dict.fromkeys(_form(file, SPANS[0] in files) for file in files)
        missing = [name for name in SCRIPTS if any(name in UNPLAYED.get(run, {}) for run in runs)]
        title = TITLES[source] if source in TITLES else TITLES[source.split(":")[0]]
        yield f"| {title} | {', '.join(forms)} | {', '.join(f'`{name}`' for name in missing) or '—'} |"


def _form(file: str, alone: bool) -> str:
    """What a file is, in words; spans `alone` have no log records beside them."""
    if file in _TRACED:
        return _SPANS if alone else "spans and log records: OTLP, console"
    stem = file.split(".")[0]
    return _FORMS_OF.get(stem, stem.replace("-", " "))
