"""What the readers of message formats have in common: documents, lists, lines, and parts that belong together.

A family says what a value is; the rest is the same for all: a list of messages is one conversation, so are lines
that are single messages; each other line, and each element of an array, is a record of its own; parts such as
the chunks of a stream are gathered and put together at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import documents, heads, shapes

_Part = TypeVar("_Part")

MESSAGE: Final = "message"
"""What `kind` says of a single message."""

RECORD: Final = "record"
"""What `kind` says of a value that holds whole conversations."""

EXCHANGE: Final = "exchange"
"""What `kind` says of a request with its response. Those of other formats are gathered too, as `None`."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A format of messages.

    `kind` says what a value is: `MESSAGE`, `RECORD`, the name of a part, or `None` if it is not of this format.
    `whole` gives the trajectories of a list of messages or of a record; `together` those of all parts of a name,
    which a format without parts does not have. `silent` tells values that may stand among parts and say nothing of
    calls. `holds_records` tells values that are no record but hold several, which `whole` reads by `each`. `expected`
    says in an error what was looked for.
    """

    expected: str
    kind: Callable[[Any], str | None]
    whole: Callable[[Any], Iterable[Trajectory | TraceError]]
    together: Callable[[str, list[Any]], Iterable[Trajectory | TraceError]] | None = None
    silent: Callable[[Any], bool] = lambda value: False
    holds_records: Callable[[Any], bool] = lambda value: False


def claims(family: Family, head: bytes) -> bool:
    """Whether the first value is a message, a record or a part of the format, or a list of these."""
    return _is_claimed(family, heads.settled(head))


def _is_claimed(family: Family, value: Any) -> bool:
    if isinstance(value, list) and family.kind(value) is None:
        claimed = [_is_claimed(family, element) for element in value]
        return any(claimed) and all(known or family.silent(one) for known, one in zip(claimed, value, strict=True))
    return family.kind(value) is not None


def read(family: Family, chunks: Iterable[bytes], file: str) -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    gathered = _Gathered(family)
    errors: list[TraceError] = []
    for item in documents.documents(chunks):
        if isinstance(item, TraceError):
            errors.append(item)
            continue
        for value, path in _elements(family, item.value):
            if too_large := _too_large(family, value, path, item):
                errors.append(too_large)
            elif gathered.take(value, path, item.line):
                continue
            elif _is_record(family, value):
                yield from _placed(gathered.left(errors), file, None)
                errors = []
                yield from _placed(_whole(family, value, path), file, item.line)
            else:
                errors.append(_foreign(family, value).within(line=item.line, path=path))
    yield from _placed(gathered.left(errors), file, None)
    yield from _placed(gathered.trajectories(), file, None)


def runs(
    parts: Iterable[_Part], ends: Callable[[_Part], bool], begins: Callable[[_Part], bool] = lambda part: True
) -> Iterator[list[_Part]]:
    """Parts of streams that were captured one after another, stream by stream.

    A stream has ended after a part that `ends` it; the next part that `begins` one is of another.
    """
    run, ended = list[_Part](), False
    for part in parts:
        if ended and begins(part):
            yield run
            run, ended = [], False
        run.append(part)
        ended = ended or ends(part)
    if run:
        yield run


class _Gathered:
    """The parts that lines or elements are, by kind, and what was rejected or silent among them."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._parts: dict[str, list[Any]] = {}
        self._gaps: list[str] = []
        self._silent: list[TraceError] = []

    def left(self, errors: list[TraceError]) -> list[TraceError]:
        """The lines that cannot be read, unless they stand among parts: then they are gaps of these."""
        if not self._parts:
            return errors
        self._gaps += [f"{_place(error.where)} was rejected: {error.message}" for error in errors]
        return []

    def take(self, value: Any, path: str, line: int) -> bool:
        """Whether the value is part of something; then it is kept."""
        kind = self._family.kind(value)
        if kind is None and isinstance(value, dict) and {"request", "response"} <= value.keys():
            self._parts.setdefault(EXCHANGE, []).append(None)
        elif kind is None and self._family.silent(value):
            self._silent.append(_unexpected(self._family, value).within(line=line, path=path))
        elif kind in (None, RECORD):
            return False
        else:
            self._parts.setdefault(str(kind), []).append(value)
        return True

    def trajectories(self) -> Iterator[Trajectory | TraceError]:
        """What the parts add up to. Silent values alone, or exchanges of other formats alone, are errors."""
        if not self._parts:
            yield from self._silent
        for kind, values in self._parts.items():
            if kind == EXCHANGE and not any(values):
                yield TraceError(f"expected {self._family.expected}; found exchanges of another format")
            else:
                yield from _together(self._family, kind, values, tuple(self._gaps))


def _too_large(family: Family, value: Any, path: str, document: documents.Document) -> TraceError | None:
    """What is wrong with a record, or with a part of one, that is beyond the limit (G8)."""
    try:
        if not family.holds_records(value):
            documents.within_limit(value, document)
    except TraceError as error:
        error.record_id = _identity(value)
        return error.within(line=document.line, path=path)
    return None


def _is_record(family: Family, value: Any) -> bool:
    return family.kind(value) == RECORD or (isinstance(value, list) and _is_conversation(family, value))


def _foreign(family: Family, value: Any) -> TraceError:
    """The error of a value that is nothing of the format."""
    error = _unexpected(family, value)
    error.record_id = _identity(value)
    return error


def each(
    records: Iterable[Any], path: str, read: Callable[[Any, str], Trajectory]
) -> Iterator[Trajectory | TraceError]:
    """The records that one value holds, each by itself: one beyond a limit, or that cannot be read, is one error (G8).

    `read` takes a record and its place, which it puts into its errors.
    """
    for index, record in enumerate(records):
        at = f"{path}[{index}]"
        try:
            check(record, at)
            yield read(record, at)
        except TraceError as error:
            error.record_id = error.record_id or _identity(record)
            yield error


def check(record: Any, path: str) -> None:
    """`TraceError` if a record is larger, or nested deeper, than the limits (G8)."""
    try:
        jsontext.check_depth(record)
        documents.check_size(len(jsontext.encode(record)))
    except jsontext.JSONError as error:
        raise TraceError(error.message, Where(path=path)) from None
    except TraceError as error:
        raise error.within(path=path) from None


def _place(where: Where) -> str:
    return where.path or f"line {where.line}"


def _elements(family: Family, value: Any) -> Iterable[tuple[Any, str]]:
    """One document as the values that it holds: a list that has a message of the format is a conversation."""
    if not isinstance(value, list) or not value or family.kind(value) or _is_conversation(family, value):
        return [(value, "")]
    return [(element, f"[{index}]") for index, element in enumerate(value)]


def _is_conversation(family: Family, value: list[Any]) -> bool:
    return any(family.kind(element) == MESSAGE for element in value)


def _placed(items: Iterable[Trajectory | TraceError], file: str, line: int | None) -> Iterator[Trajectory | TraceError]:
    for item in items:
        yield item.within(file=file, line=line) if isinstance(item, TraceError) else item


def _whole(family: Family, value: Any, path: str) -> Iterator[Trajectory | TraceError]:
    try:
        if not family.holds_records(value):
            jsontext.check_depth(value)
        yield from family.whole(value)
    except jsontext.JSONError as error:
        yield TraceError(error.message, Where(path=path), _identity(value))
    except TraceError as error:
        error.record_id = error.record_id or _identity(value)
        yield error.within(path=path)


def _unexpected(family: Family, value: Any) -> TraceError:
    return TraceError(f"expected {family.expected}; found {_found(value)}")


def _together(family: Family, kind: str, values: list[Any], gaps: tuple[str, ...]) -> Iterator[Trajectory | TraceError]:
    try:
        jsontext.check_depth(values)
        together = None if kind == MESSAGE else family.together
        for made in family.whole(values) if together is None else together(kind, values):
            yield made if isinstance(made, TraceError) else msgspec.structs.replace(made, gaps=(*made.gaps, *gaps))
    except jsontext.JSONError as error:
        yield TraceError(error.message)
    except TraceError as error:
        yield error


def _found(value: Any) -> str:
    if isinstance(value, dict):
        keys = ", ".join(f"`{key[:40]}`" for key in list(value)[:8])
        return f"an object with the keys {keys}" if keys else "an empty object"
    return shapes.kind(value)


def _identity(value: Any) -> str | None:
    identity = value.get("id") if isinstance(value, dict) else None
    return identity if isinstance(identity, str) else None
