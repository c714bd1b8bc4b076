"""The calls of one trajectory for people: a line each, in the order of asking, as the tree that they form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rightcall.core.calls import CallStatus, ToolCall, Trajectory
from rightcall.core.sidebyside import call_text, cells, wrap
from rightcall.core.values import cut, display, visible
from rightcall.core.wording import amount, times
from rightcall.reports.terminal import Detail, Look
from rightcall.reports.terminal.paint import Line, Piece, Style
from rightcall.traces.spans import nanoseconds

_UNICODE: Final = {"first": "┌", "between": "│", "last": "└"}
_ASCII: Final = {"first": "/", "between": "|", "last": "\\"}
_STYLES: Final[dict[CallStatus, Style]] = {
    "requested": "muted",
    "ok": "pass",
    "error": "fail",
    "refused": "error",
    "pending": "error",
}
_SHOWN_TEXT: Final = 80
_SHOWN_RESULT: Final = 200
_DEEPEST: Final = 12
"""Levels of calls inside calls that are indented; deeper ones stand under the last."""


def shown(trajectory: Trajectory, file: str, look: Look) -> Iterator[Line]:
    """The trajectory: its id and file, its calls, then gaps and warnings. `look.detail` verbose shows results too."""
    calls = trajectory.tool_calls
    told = "no calls recorded" if calls is None else amount(len(calls), "call")
    yield (("strong", trajectory.id or "(no id)"), ("plain", f"  {told}  "), ("muted", file))
    yield from _tree(calls or (), look)
    if trajectory.failure is not None:
        yield from _wrapped("fail", "  failed: ", trajectory.failure, look.width)
    if trajectory.trouble is not None:
        yield from _wrapped("error", "  trouble: ", trajectory.trouble, look.width)
    for gap in trajectory.gaps:
        yield from _wrapped("error", "  gap: ", gap, look.width)
    for warning in trajectory.warnings:
        yield from _wrapped("muted", "  note: ", warning, look.width)


def _wrapped(style: Style, start: str, text: str, width: int) -> Iterator[Line]:
    for number, piece in enumerate(wrap(visible(text), width - len(start))):
        yield ((style, (start if number == 0 else " " * len(start)) + piece),)


def _tree(calls: Sequence[ToolCall], look: Look) -> Iterator[Line]:
    """Each call under the call that it was made inside, headed by its turn and its agent where these change."""
    depths, brackets = _depths(calls), _brackets(calls, look)
    number_width = max(2, len(str(len(calls))))
    has_turns = len({call.turn for call in calls}) > 1
    has_agents = any(call.agent for call in calls)
    turn, agents = None, dict[int | None, str | None]()
    for index, call in enumerate(calls):
        indent = " " * (number_width + 3 + 2 * depths[index])
        if has_turns and call.parent is None and call.turn != turn and call.turn is not None:
            turn = call.turn
            yield (("muted", f"  turn {turn + 1}"),)
        if has_agents and agents.get(call.parent) != call.agent:
            agents[call.parent] = call.agent
            yield from _wrapped("muted", f"{indent}agent ", _agent(call), look.width)
        start = f"  {index + 1:>{number_width}} {'  ' * depths[index]}{brackets[index]}"
        yield from _call(call, start, look)


def _agent(call: ToolCall) -> str:
    return " > ".join(call.agent_path) or call.agent or "(none)"


def _depths(calls: Sequence[ToolCall]) -> list[int]:
    depths: list[int] = []
    for index, call in enumerate(calls):
        inside = call.parent is not None and 0 <= call.parent < index
        depths.append(min(depths[call.parent] + 1, _DEEPEST) if inside and call.parent is not None else 0)
    return depths


def _brackets(calls: Sequence[ToolCall], look: Look) -> list[str]:
    """A bracket that joins the calls of each message that asks for several; nothing where there are none such."""
    marks = _ASCII if look.ascii_only else _UNICODE
    keys = [None if call.message is None else (call.parent, call.message) for call in calls]
    counts = Counter(key for key in keys if key is not None)
    if not any(count > 1 for count in counts.values()):
        return [""] * len(calls)
    seen = Counter[tuple[int | None, int]]()
    found = []
    for key in keys:
        if key is None or counts[key] == 1:
            found.append("  ")
            continue
        seen[key] += 1
        place = "first" if seen[key] == 1 else "last" if seen[key] == counts[key] else "between"
        found.append(f"{marks[place]} ")
    return found


def _call(call: ToolCall, start: str, look: Look) -> Iterator[Line]:
    """A call with what is known of it, and below it its error, and its result if that is wanted."""
    under = " " * (cells(start) + 2)
    texts = wrap(_text(call), look.width - cells(start))
    *before, last = [start + texts[0], *(" " * cells(start) + text for text in texts[1:])]
    yield from ((("plain", line),) for line in before)
    marks = _marks(call, look.detail)
    size = sum(cells(text) for _, text in marks)
    if cells(last) + 2 + size <= look.width:
        yield (("plain", f"{last}  "), *marks)
    else:
        yield (("plain", last),)
        yield (("plain", under), *marks)
    if call.error:
        yield from _wrapped("fail", f"{under}error: ", cut(visible(call.error), _SHOWN_RESULT), look.width)
    if look.detail is Detail.VERBOSE and call.result is not None:
        yield from _wrapped("muted", f"{under}result: ", display(call.result, _SHOWN_RESULT), look.width)


def _text(call: ToolCall) -> str:
    if call.arguments_state == "ok":
        return call_text({"name": call.name, "arguments": call.arguments})
    state = call.arguments_state.replace("_", " ")
    kept = "" if call.arguments_text is None else f": {cut(visible(call.arguments_text), _SHOWN_TEXT)}"
    name = visible(call.name) or '""'
    return f"{name}(<arguments {state}{kept}>)"


def _marks(call: ToolCall, detail: Detail) -> list[Piece]:
    """What is known of a call beside its name and arguments, in brackets: its status, then all that is not usual."""
    kind = f"{call.kind} {visible(call.server)}" if call.server else call.kind
    rest = [] if kind == "client" else [kind]
    rest += [] if call.requestor == "assistant" else [f"by the {call.requestor}"]
    rest += [told] if (told := _lasted(call)) else []
    rest += [f"seen {times(len(call.sources))}"] if detail is Detail.VERBOSE and call.sources else []
    more = "".join(f", {word}" for word in rest)
    return [("muted", "["), (_STYLES[call.status], call.status), ("muted", f"{more}]")]


def _lasted(call: ToolCall) -> str:
    """How long the call ran, with three digits; empty if that is not known."""
    began, ended = nanoseconds(call.started_at), nanoseconds(call.ended_at)
    if began is None or ended is None or ended < began:
        return ""
    milliseconds = (ended - began) / 1_000_000
    if milliseconds < 1000:
        return f"{milliseconds:.3g} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:,.0f} s"
