"""Trajectories of one file put together: all of a conversation, all with a key in common, or all of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any, Final, TypeVar

import msgspec

from rightcall.core.calls import MOST_NAMES, Ingestion, ToolCall, Trajectory
from rightcall.core.values import equal
from rightcall.errors import TraceError, Where
from rightcall.traces import documents, hidden, spilling
from rightcall.traces.cutting import GroupBy, key_of

_Item = Trajectory | TraceError
_Row = tuple[int, int, int]
_T = TypeVar("_T")

_SHOWN_REJECTED: Final = 20


def regrouped(items: Iterable[_Item], by: GroupBy | None, keep: spilling.Keep) -> Iterator[_Item]:
    """The trajectories of a file as `by` says; without it, and by trace, they stand as they are.

    Those put together come in the order of their first parts. Errors of records come first when trajectories are
    put together by a key, each also as a gap of all that it may belong to; of a whole file they are gaps alone.
    """
    if by is None or by.kind == "trace":
        return iter(items)
    if by.kind == "file":
        return _whole(items)
    return _by_key(items, by, keep)


def _whole(items: Iterable[_Item]) -> Iterator[_Item]:
    parts, errors, calls = list[Trajectory](), list[TraceError](), 0
    for item in items:
        if isinstance(item, TraceError):
            errors.append(item)
            continue
        parts.append(item)
        calls += len(item.tool_calls or ())
        if calls > documents.MAX_CALLS:
            yield _too_many(None)
            return
    if parts:
        yield joined(parts, None, rejections(errors))
    else:
        yield from errors


def _by_key(items: Iterable[_Item], by: GroupBy, keep: spilling.Keep) -> Iterator[_Item]:
    """A first pass numbers the keys and keeps the trajectories; a second puts together what has the same number."""
    kept: spilling.Keeper[Trajectory] = keep(Trajectory)
    errors: list[TraceError] = []
    rows = spilling.in_order(_rows(items, by, kept, errors), keep(list[_Row]))
    yield from errors
    gaps = rejections(errors)
    for _, members in groupby(rows, key=lambda row: row[0]):
        parts = [kept.fetch(ticket) for _, _, ticket in members]
        key = key_of(parts[0], by)
        yield parts[0] if key is None else joined(parts, key, gaps)


def _rows(
    items: Iterable[_Item],
    by: GroupBy,
    kept: spilling.Keeper[Trajectory],
    errors: list[TraceError],
) -> Iterator[_Row]:
    """For each trajectory the number of what it belongs to, its own number, and its ticket."""
    first: dict[str, int] = {}
    for number, item in enumerate(items):
        if isinstance(item, TraceError):
            errors.append(item)
        else:
            key = key_of(item, by)
            yield number if key is None else first.setdefault(key, number), number, kept.keep(item)


def rejections(errors: Sequence[TraceError]) -> tuple[str, ...]:
    """A gap for each record that cannot be read; of very many only the first are told one by one."""
    told = [f"a record{_at(error)} was rejected: {error.message}" for error in errors[:_SHOWN_REJECTED]]
    more = len(errors) - len(told)
    return (*told, f"{more} more records were rejected") if more else tuple(told)


def _at(error: TraceError) -> str:
    return "" if error.where.line is None else f" on line {error.where.line}"


def joined(parts: Sequence[Trajectory], key: str | None, gaps: tuple[str, ...] = ()) -> _Item:
    """Several trajectories as one, in their order; an error if they name different tests or expect different things.

    `key` is what they have in common. Indices go on counting: those of calls, of model messages and of user turns,
    the last only as long as every part tells its turns. A part without recorded calls is a gap, unless none has any.
    A part that the next one repeats, messages and calls, adds nothing.
    """
    identity = _only(part.id or None for part in parts) or key or _only(part.conversation_id for part in parts) or ""
    tests = _united((part.test_id,) for part in parts if part.test_id is not None)
    expected = [part.expectations for part in parts if part.expectations]
    if unlike := _unlike(tests, expected, identity):
        return unlike
    adding = _adding(parts)
    calls = _calls(adding)
    if calls is not None and len(calls) > documents.MAX_CALLS:
        return _too_many(identity or None)
    metadata, differing = _metadata(parts)
    return msgspec.structs.replace(
        parts[-1],
        id=identity,
        test_id=next(iter(tests), None),
        conversation_id=_only(part.conversation_id for part in parts),
        trace_ids=_united(part.trace_ids for part in parts),
        tool_calls=calls,
        gaps=_united((part.gaps for part in parts), _unrecorded(adding, calls), gaps),
        available_tools=tuple({tool.name: tool for part in parts for tool in part.available_tools}.values()),
        messages=_messages(adding),
        failure=next((part.failure for part in parts if part.failure is not None), None),
        trouble=next((part.trouble for part in parts if part.trouble is not None), None),
        warnings=_united((part.warnings for part in parts), differing),
        metadata=metadata,
        ingestion=_ingestion(parts),
        expectations=expected[0] if expected else {},
    )


def _adding(parts: Sequence[Trajectory]) -> list[Trajectory]:
    """The parts without those that the next one repeats, as each request of a log repeats the conversation so far."""
    return [part for part, following in zip_longest(parts, parts[1:]) if not _repeats(part, following)]


def _repeats(part: Trajectory, following: Trajectory | None) -> bool:
    """Whether the next part holds all messages and all calls of one whose messages show all of its calls.

    Equal messages alone prove nothing: records may have the same prompt, and calls that no message shows.
    """
    if following is None or not part.messages or not part.tool_calls:
        return False
    later = (following.messages or [])[: len(part.messages)], (following.tool_calls or ())[: len(part.tool_calls)]
    shown = sum(len(sign.entries) for sign in hidden.in_messages(part.messages))
    return shown >= len(part.tool_calls) and later[0] == part.messages and _asked(later[1]) == _asked(part.tool_calls)


def _asked(calls: Iterable[ToolCall]) -> list[tuple[Any, ...]]:
    return [(call.name, call.id, call.arguments_state, call.arguments_text, call.arguments) for call in calls]


def _unlike(tests: Sequence[str], expected: Sequence[Any], identity: str) -> TraceError | None:
    """What is wrong with parts that cannot be of one test."""
    if len(tests) > 1:
        why = f"they name different tests, {', '.join(f'`{name}`' for name in tests)}"
    elif any(not equal(expected[0], other) for other in expected[1:]):
        why = "they expect different things"
    else:
        return None
    return TraceError(f"trajectories of one group cannot be put together: {why}", Where(), identity or None)


def _too_many(identity: str | None) -> TraceError:
    return TraceError(f"the calls put together are more than the limit of {documents.MAX_CALLS:,}", Where(), identity)


def _only(values: Iterable[_T | None]) -> _T | None:
    """The one value that all have, `None` if they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _united(each: Iterable[tuple[str, ...]], *more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for texts in (*each, *more) for text in texts))


def _unrecorded(parts: Sequence[Trajectory], calls: tuple[ToolCall, ...] | None) -> Iterator[str]:
    if calls is not None:
        for number, part in enumerate(parts, 1):
            if part.tool_calls is None:
                name = f"`{part.id}`" if part.id else f"number {number}"
                yield f"the calls of part {name} were not recorded"


def _calls(parts: Sequence[Trajectory]) -> tuple[ToolCall, ...] | None:
    if all(part.tool_calls is None for part in parts):
        return None
    made: list[ToolCall] = []
    message = 0
    turn: int | None = 0
    for part in parts:
        before, calls = len(made), part.tool_calls or ()
        made += [_moved(call, before, message, turn) for call in calls]
        message += 1 + max((call.message for call in calls if call.message is not None), default=-1)
        turns = _turns(part)
        turn = None if turn is None or turns is None else turn + turns
    return tuple(made)


def _moved(call: ToolCall, calls: int, messages: int, turns: int | None) -> ToolCall:
    if not calls and not messages and turns == 0:
        return call
    return msgspec.structs.replace(
        call,
        parent=None if call.parent is None else call.parent + calls,
        message=None if call.message is None else call.message + messages,
        turn=None if call.turn is None or turns is None else call.turn + turns,
    )


def _turns(part: Trajectory) -> int | None:
    """How many user turns a part tells of, `None` if it does not say."""
    said = sum(
        isinstance(message, dict) and message.get("role") in ("user", "human") for message in part.messages or ()
    )
    shown = 1 + max((call.turn for call in part.tool_calls or () if call.turn is not None), default=-1)
    return max(said, shown) or None


def _messages(parts: Sequence[Trajectory]) -> list[Any] | None:
    told = [part.messages for part in parts if part.messages is not None]
    return [message for messages in told for message in messages] if told else None


def _ingestion(parts: Sequence[Trajectory]) -> Ingestion | None:
    """What was read of all parts: counts added up, names each once, and whether content was off in one."""
    counted = [part.ingestion for part in parts if part.ingestion is not None]
    fields = {name: [getattr(one, name) for one in counted] for name in Ingestion.__struct_fields__}
    return Ingestion(**{name: _total(values) for name, values in fields.items()}) if counted else None


def _total(values: list[Any]) -> Any:
    if isinstance(values[0], tuple):
        return _united(values)[:MOST_NAMES]
    return any(values) if isinstance(values[0], bool) else sum(values)


def _metadata(parts: Sequence[Trajectory]) -> tuple[dict[str, Any], list[str]]:
    """What the parts agree on; a key on which they differ is left out, with a warning."""
    found: dict[str, Any] = {}
    differing: dict[str, None] = {}
    for part in parts:
        for name, value in part.metadata.items():
            if name in found and not equal(found[name], value):
                differing[name] = None
            found.setdefault(name, value)
    kept = {name: value for name, value in found.items() if name not in differing}
    return kept, [
        f"the parts have different values of `{name}` in their metadata; it is left out" for name in differing
    ]
