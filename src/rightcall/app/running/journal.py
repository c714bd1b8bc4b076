"""The journal of a run: a directory in which every finished attempt is on disk at once.

    run.json         what the run is made with: its tests, the endpoint, how many attempts at each test
    tests/           the test sets as they were, byte for byte
    attempts.jsonl   a line of the native format for each finished attempt, in the order in which they ended
    results.jsonl    what the tests came to, when the run has ended

An attempt is one line, written with one call and handed to the system before anything else happens, so that it stays
whatever becomes of the program. It is forced to the disk about once a second and at the end, so that a machine that
loses its power loses the last second at most. A line that was torn off is no attempt: it is cut off, and the attempt
made again. The file is locked while a run writes to it; the system lets go of the lock of a program that was killed.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Annotated, Any, BinaryIO, Final

import msgspec
from msgspec import Meta

from rightcall.agents.pace import Pace
from rightcall.app import files
from rightcall.app.running import locking
from rightcall.app.running.planning import Planned
from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.core.failing import OURS
from rightcall.errors import RightcallError, TraceError, UsageError, Where
from rightcall.traces import documents, native

HEAD, ATTEMPTS = files.RUN_FILES
RESULTS: Final = "results.jsonl"
FORMAT: Final = 1
"""The version of the directory's shape."""

UNKEPT: Final = "the run cannot be kept"
"""What is said of a directory that no run can be kept in."""

BETWEEN_SYNCS: Final = 1.0
"""Seconds between two times that the file is forced to the disk."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a run was made with: what it was called, what it is called in the journal, and its hash."""

    file: str
    kept: str
    hash: str = ""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is made with. `planned` says how many attempts are to be made at each test, in their order.

    `endpoint` is what the command line said of it, and `endpoints` what each test set says: names of secrets, never
    secrets. `pace` and `early_stop` are how it is run. `programs` are the hashes of the files that are run, by path.
    """

    rightcall_run: int = FORMAT
    product: str
    id: str
    started_at: str
    test_sets: tuple[Kept, ...]
    config: Kept | None = None
    dialect: str | None = None
    endpoint: str | None = None
    endpoints: tuple[Any, ...] = ()
    planned: dict[str, Annotated[int, Meta(ge=1)]]
    repeat: int | None = None
    filters: tuple[str, ...] = ()
    early_stop: bool = False
    pace: Pace = Pace()
    programs: dict[str, str] = {}


class Entry(msgspec.Struct, frozen=True):
    """An attempt in the journal: where its line begins, how long it is, and whether there was trouble."""

    offset: int
    size: int
    has_trouble: bool


def read_head(directory: str) -> Head:
    """What a run was made with; `UsageError` if the directory is none of a run, or of another version."""
    path = os.path.join(directory, HEAD)
    if not os.path.isfile(path):
        raise UsageError(f"is no run: there is no `{HEAD}` in it", Where(file=directory))
    try:
        head = msgspec.json.decode(files.read(path), type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"is no head of a run: {error}", Where(file=path)) from None
    if head.rightcall_run != FORMAT:
        message = f"is of version {head.rightcall_run} of the journal; this rightcall knows version {FORMAT}"
        raise UsageError(message, Where(file=path))
    return head


def create(directory: str, head: Head, contents: Mapping[str, bytes]) -> None:
    """Make the directory of a run, with the files that it is made with by their names in it; `StoreError`.

    The head is written last: a directory with a head is whole.
    """
    with files.storing(directory, UNKEPT):
        os.makedirs(os.path.join(directory, "tests"))
        for name, data in contents.items():
            files.write(os.path.join(directory, name), data)
        with open(os.path.join(directory, ATTEMPTS), "xb"):
            pass
    head_as_json = msgspec.json.format(msgspec.json.encode(head), indent=2) + b"\n"
    files.write(os.path.join(directory, HEAD), head_as_json)


class Journal:
    """The attempts of a run, being written. One writer at a time, until it is closed.

    Opening it raises `UsageError` where another program writes, `TraceError` for a line that is none of a journal.
    """

    def __init__(self, directory: str) -> None:
        self.path = os.path.join(directory, ATTEMPTS)
        self._synced = 0.0
        with _writing(self.path):
            self._file = open(self.path, "r+b", buffering=0)  # noqa: SIM115  # it is closed by `close`
        try:
            _lock(self._file, directory)
            self.entries = entries(self.path)
            with _writing(self.path):
                self._end = self._file.seek(_whole(self.entries))
                self._file.truncate()  # what a program that was killed did not write to its end
        except RightcallError:
            self._file.close()
            raise

    def add(self, planned: Planned, trajectory: Trajectory, now: float) -> Trajectory:
        """Keep a finished attempt and return it as it is kept; `StoreError` if that is not possible.

        One that is too large to be read again is trouble (G8). `now` counts seconds from anywhere.
        """
        line = native.encode(trajectory)
        if len(line) > documents.MAX_RECORD:
            trajectory = _without_content(trajectory, len(line))
            line = native.encode(trajectory)
        self._write(line)
        if now - self._synced >= BETWEEN_SYNCS:
            self._synced = now
            with _writing(self.path):
                os.fsync(self._file.fileno())
        self.entries[planned] = Entry(self._end, len(line), trajectory.trouble is not None)
        self._end += len(line)
        return trajectory

    def _write(self, line: bytes) -> None:
        """Write a line whole, or leave nothing of it."""
        with _writing(self.path):
            try:
                if self._file.write(line) != len(line):
                    raise OSError(errno.ENOSPC, "no space left on the device")
            except OSError:
                with contextlib.suppress(OSError):
                    self._file.truncate(self._end)
                    self._file.seek(self._end)
                raise

    def forget_trouble(self) -> None:
        """Forget the attempts in which there was trouble, so that they are made again."""
        self.entries = {planned: entry for planned, entry in self.entries.items() if not entry.has_trouble}

    def finished(self) -> Iterator[tuple[Planned, Trajectory | TraceError]]:
        """The attempts that are in it, each with what was recorded of it."""
        return read(self.path, self.entries)

    def close(self) -> None:
        """Force all to the disk and let go of the lock."""
        with _writing(self.path):
            os.fsync(self._file.fileno())
            self._file.close()


def entries(path: str) -> dict[Planned, Entry]:
    """The attempts in a journal, the last one where one was made again; `TraceError` for a line that is none."""
    found: dict[Planned, Entry] = {}
    offset = 0
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):  # the last one may have been torn off
                    planned, has_trouble = _told(line, path, number)
                    found[planned] = Entry(offset, len(line), has_trouble)
                offset += len(line)
    except OSError as error:
        raise TraceError(f"cannot be read: {files.cause(error)}", Where(file=path)) from None
    return found


def _told(line: bytes, path: str, number: int) -> tuple[Planned, bool]:
    """Which attempt a line tells of, and whether there was trouble."""
    try:
        value = jsontext.decode(line)
        test, attempt = value["test_id"], value["metadata"][OURS]["attempt"]
        if not isinstance(test, str) or type(attempt) is not int or attempt < 1:
            raise ValueError(attempt)
        return Planned(test, attempt), value.get("trouble") is not None
    except (jsontext.JSONError, LookupError, TypeError, ValueError):
        raise TraceError("is no attempt of a run", Where(file=path, line=number)) from None


def read(path: str, found: Mapping[Planned, Entry]) -> Iterator[tuple[Planned, Trajectory | TraceError]]:
    """Attempts of a journal as they are read from any file."""
    with open(path, "rb") as file:
        for planned, entry in found.items():
            file.seek(entry.offset)
            (item,) = native.read([file.read(entry.size)], path)
            yield planned, item


def _without_content(trajectory: Trajectory, size: int) -> Trajectory:
    limit = documents.MAX_RECORD
    message = f"the conversation takes {size:,} bytes, which is more than the limit of {limit:,}"
    kept = {name: getattr(trajectory, name) for name in ("id", "test_id", "conversation_id", "metadata")}
    return Trajectory(**{**kept, "metadata": {OURS: trajectory.metadata[OURS]}}, trouble=message)


def _whole(found: Mapping[Planned, Entry]) -> int:
    """Where the last whole line ends."""
    return max((entry.offset + entry.size for entry in found.values()), default=0)


def _lock(file: BinaryIO, directory: str) -> None:
    try:
        locking.lock(file)
    except BlockingIOError:
        raise UsageError("another rightcall is at work on this run; wait for its end", Where(file=directory)) from None


def _writing(path: str) -> AbstractContextManager[None]:
    return files.storing(path, "the journal cannot be written")
