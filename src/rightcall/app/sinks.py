"""Where reports go: each report has a sink, and one that fails does not keep the others from being written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rightcall.app import files
from rightcall.app.files import Writing
from rightcall.app.redaction import shown
from rightcall.core.results import Result
from rightcall.core.summary import RunEnd, RunHead
from rightcall.errors import StoreError
from rightcall.reports import Report
from rightcall.reports.markdown import LIMIT, MarkdownReport

if TYPE_CHECKING:
    from rightcall.core.redaction.redactor import Redactor
    from rightcall.core.redaction.runs import Told


class Target(Protocol):
    """What takes the bytes of a report."""

    def write(self, data: bytes) -> None:
        """Take some bytes; `StoreError` if that fails."""
        ...

    def finish(self) -> None:
        """Keep what was written."""
        ...

    def discard(self) -> None:
        """Forget what was written."""
        ...


class Sink:
    """A report on its way to a target. After the first trouble it takes nothing more and keeps the error.

    All that a report is told of a run goes through `start`, `add` and `end`, whatever its format: this is the one door
    by which recorded values leave, and `redactor`, if there is one, takes out of them here what must not leave.
    `path` is the file that the target writes, if it is one.
    """

    def __init__(self, report: Report, target: Callable[[], Target], path: str | None = None) -> None:
        self.error: StoreError | None = None
        self.path = path
        self.redactor: Redactor | None = None
        self._report = report
        self._make_target = target
        self._target: Target | None = None

    @property
    def shows_transcripts(self) -> bool:
        """Whether the report shows conversations; they are kept only for one that says so."""
        return bool(getattr(self._report, "shows_transcripts", False))

    @property
    def hides_secrets(self) -> bool:
        """Whether the report is shown around, so that secrets are hidden in it unless that is switched off."""
        return bool(getattr(self._report, "hides_secrets", False))

    def start(self, head: RunHead) -> None:
        """Begin the report."""
        with self._keeping_error():
            self._target = self._make_target()
            self._target.write(self._report.start(self._shown(head)))

    def add(self, result: Result) -> None:
        """Add a result."""
        if self._target is not None:
            with self._keeping_error():
                self._target.write(self._report.add(self._shown(result)))

    def end(self, end: RunEnd) -> None:
        """Complete the report."""
        if self._target is not None:
            with self._keeping_error():
                self._target.write(self._report.end(self._shown(end)))
                self._target.finish()
                self._target = None

    def discard(self) -> None:
        """Leave nothing of a report that was not completed."""
        if self._target is not None:
            self._target.discard()
            self._target = None

    def _shown(self, told: Told) -> Told:
        return shown(told, self.redactor)

    @contextmanager
    def _keeping_error(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            self.error = error
            self.discard()


class Appending:
    """A file that others write to as well: what is added to it is added at the end, all at once (`StoreError`)."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Keep what is to be added."""
        self._pieces.append(data)

    def finish(self) -> None:
        """Add it."""
        with files.storing(self.path), open(self.path, "ab") as file:
            file.write(b"".join(self._pieces))

    def discard(self) -> None:
        """Add nothing."""
        self._pieces.clear()


def check_apart(reading: Sequence[str], sinks: Sequence[Sink]) -> None:
    """Refuse reports that would take the place of what is read, or of one another; `UsageError`."""
    files.check_apart(reading, [sink.path for sink in sinks if sink.path is not None])


def _size(path: str) -> int:
    """Return how many bytes a file holds; none if there is no such file."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def to_file(report: Report, path: str) -> Sink:
    """Return a sink that writes a file, whole or not at all."""
    return Sink(report, lambda: Writing(path), path)


def to_step_summary(path: str) -> Sink:
    """Return a sink that adds the Markdown report to the summary of a step, in what room is left there."""
    return Sink(MarkdownReport(LIMIT - _size(path)), lambda: Appending(path), path)
