"""The lines of a file into sessions, and each session into one trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rightcall.core.calls import Ingestion, ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import blocks, documents
from rightcall.traces.claude_code import agents
from rightcall.traces.claude_code.lines import Line


def trajectories(lines: Iterable[Line], gaps: tuple[str, ...]) -> Iterator[Trajectory | TraceError]:
    """The trajectory of each session, in order of appearance."""
    for identity, members in _sessions(lines):
        try:
            yield _trajectory(identity, members, gaps)
        except TraceError as error:
            error.record_id = identity
            yield error


def _sessions(lines: Iterable[Line]) -> Iterator[tuple[str | None, list[Line]]]:
    """Lines by session. A line that continues another belongs with it; one that names no session, to the latest."""
    owners: dict[str, str] = {}
    members: dict[str, list[Line]] = {}
    latest = ""
    for line in lines:
        named = line.text("sessionId") or line.text("session_id")
        latest = owners.get(line.text("parentUuid") or "") or named or latest
        members.setdefault(latest, []).append(line)
        if uuid := line.text("uuid"):
            owners.setdefault(uuid, latest)
    nameless = members.pop("", []) if len(members) > 1 else []
    for number, (identity, found) in enumerate(members.items()):
        told = [*nameless, *found] if number == 0 else found
        if any(line.kind in ("user", "assistant") for line in told) or len(members) == 1:
            yield identity or None, told


def _trajectory(identity: str | None, lines: list[Line], gaps: tuple[str, ...]) -> Trajectory:
    said = [line for line in _once(lines) if line.kind in ("user", "assistant")]
    if not said:
        return Trajectory(id=identity or "", conversation_id=identity, gaps=gaps, warnings=("no messages",))
    kept, warnings = _without_abandoned(said)
    told = agents.flattened(agents.conversations(kept))
    if too_many := documents.too_many_calls(len(told.calls)):
        raise too_many
    main = [line.message for line in kept if not line.agent] or [line.message for line in kept]
    messages = [message for message in main if blocks.is_message(message)]
    if not any(line.kind == "assistant" for line in kept):
        warnings = [*warnings, "there is no message of the model"]
    return Trajectory(
        id=identity or "",
        conversation_id=identity,
        tool_calls=told.calls if any(line.kind == "assistant" for line in kept) else None,
        gaps=(*gaps, *_replaced(lines), *told.gaps),
        available_tools=_tools(lines),
        messages=messages,
        output=blocks.output(messages),
        warnings=(*warnings, *told.warnings),
        ingestion=Ingestion(messages=len(kept), joined=told.answered),
    )


def _replaced(lines: list[Line]) -> Iterator[str]:
    """The gap of a summary that stands in the place of what the model said, if that is not in the file (G12).

    A session that goes on in the same file after its summary keeps everything.
    """
    for line in lines:
        if line.kind == "assistant":
            return
        if line.value.get("isCompactSummary") is True or line.value.get("subtype") == "compact_boundary":
            yield f"{line.at} sums up messages that are not recorded"
            return


def _once(lines: list[Line]) -> Iterator[Line]:
    """Without copies: a resumed session repeats lines, whatever else it writes beside their messages."""
    seen: dict[str, list[Any]] = {}
    for line in lines:
        known = seen.setdefault(line.text("uuid") or "", [])
        content = line.message.get("content") if isinstance(line.message, dict) else line.message
        if line.text("uuid") and any(content == other for other in known):
            continue
        known.append(content)
        yield line


def _without_abandoned(lines: list[Line]) -> tuple[list[Line], list[str]]:
    """Without what follows a prompt that the user took back: of two prompts after the same line the last counts."""
    prompts: dict[str, list[Line]] = {}
    for line in lines:
        if line.is_prompt and not line.agent and (above := line.text("parentUuid")):
            prompts.setdefault(above, []).append(line)
    gone = {uuid for siblings in prompts.values() for line in siblings[:-1] if (uuid := line.text("uuid"))}
    if not gone:
        return lines, []
    kept, dropped = [], 0
    for line in lines:
        uuid = line.text("uuid")
        if uuid in gone or line.text("parentUuid") in gone:
            gone |= {uuid} if uuid else set()
            dropped += _calls(line)
        else:
            kept.append(line)
    return kept, [f"the user took back a prompt; {dropped} calls that followed it are not read"] if dropped else []


def _calls(line: Line) -> int:
    content = line.message.get("content") if isinstance(line.message, dict) else None
    return sum(map(blocks.is_call, content)) if isinstance(content, list) else 0


def _tools(lines: list[Line]) -> tuple[ToolSpec, ...]:
    """The tools that the first line of a run lists, by name."""
    for line in lines:
        listed = line.value.get("tools")
        if line.kind == "system" and isinstance(listed, list):
            return tuple(ToolSpec(name=name) for name in listed if isinstance(name, str))
    return ()
