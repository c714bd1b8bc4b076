"""Everything that can go wrong for a user, in one tree.

    RightcallError              a message and a place
    ├── UsageError              an option or argument that cannot be used
    │   └── MissingExtraError   an optional dependency is not installed
    ├── TestSetError            a test set, test or expectation that cannot be used
    ├── TraceError              a trace, or one record of it, that cannot be read
    ├── EndpointError           an agent that cannot be reached, or an answer that is none
    └── StoreError              a report, a result or a row that cannot be written, a database that cannot be used
        ├── UnknownRowError     there is no such row, for the organization that asks
        ├── RefusedRowError     a value that no database can hold
        ├── ConflictError       a row stands in the way: the same name, or one that still points here
        └── ChangedRowError     the row has changed since it was read

Errors of ours are none of these: they crash.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Self

import msgspec


class Where(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in somebody's data: file, 1-based line and column, JSON path such as `tests[0].match`."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    path: str = ""

    def __str__(self) -> str:
        numbers = [str(number) for number in (self.line, self.column) if number is not None]
        if self.file is None:
            place = "line " + ", column ".join(numbers) if numbers else ""
        else:
            place = ":".join([self.file, *numbers])
        return ": ".join(part for part in (place, self.path) if part)


class RightcallError(Exception):
    """A mistake that a user can mend: `message` says what and how, `where` says the place.

    `where` grows as the error rises: the innermost code knows the path, the outermost the file.
    """

    __test__ = False

    def __init__(self, message: str, where: Where | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where or Where()

    def within(
        self, *, file: str | None = None, line: int | None = None, column: int | None = None, path: str = ""
    ) -> Self:
        """The same error with what was still unknown of its place filled in, `path` put in front."""
        at = self.where
        self.where = Where(
            file=at.file or file,
            line=at.line or line,
            column=at.column or (column if at.line is None else None),
            path=join_path(path, at.path),
        )
        return self

    def out_of(self, file: str) -> Self:
        """The same error without the name of the file, if it is this one: for what came from no file at all."""
        if self.where.file == file:
            self.where = msgspec.structs.replace(self.where, file=None)
        return self

    def __str__(self) -> str:
        place = str(self.where)
        return f"{place}: {self.message}" if place else self.message


class UsageError(RightcallError):
    """An option or argument that cannot be used."""


class MissingExtraError(UsageError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra `{extra}`: pip install 'rightcall[{extra}]'")


class TestSetError(RightcallError):
    """A test set, test or expectation that cannot be used."""


class TraceError(RightcallError):
    """A trace, or one record of it, that cannot be read.

    `record_id` is the record's own id where it could still be read.
    """

    def __init__(self, message: str, where: Where | None = None, record_id: str | None = None) -> None:
        super().__init__(message, where)
        self.record_id = record_id


class EndpointError(RightcallError):
    """An agent that cannot be reached, or an answer of its transport that is none (G38).

    `is_passing` says that the same request may well succeed later: a reset, a time-out, status 429 or 5xx. `after` is
    how many seconds the other side asks to wait before.
    """

    def __init__(
        self, message: str, where: Where | None = None, *, is_passing: bool = False, after: float | None = None
    ) -> None:
        super().__init__(message, where)
        self.is_passing = is_passing
        self.after = after


class StoreError(RightcallError):
    """A report, a result or a row that cannot be written, or a database that cannot be used."""


class UnknownRowError(StoreError):
    """There is no such row, as far as the organization that asks can see."""


class RefusedRowError(StoreError):
    """A value that a column of the database cannot hold."""


class ConflictError(StoreError):
    """Another row stands in the way: one of the same name, or one that still points at what is to go."""


class ChangedRowError(StoreError):
    """The row has another version than the one that was to be changed."""


def join_path(front: str, back: str) -> str:
    """Put two JSON paths together: `tests[0]` and `match` are `tests[0].match`."""
    if not front or not back or back.startswith("["):
        return front + back
    return f"{front}.{back}"


def did_you_mean(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """` (did you mean `near`?)` for the known word most like `word`, else the empty string.

    `likeness` is the least that words must be alike, from 0 to 1.
    """
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=likeness)
    return f" (did you mean `{near[0]}`?)" if near else ""
