"""Files in, files out: names become chunks of bytes, and reports become whole files or none."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import stat
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from rightcall.app import remote
from rightcall.errors import StoreError, TraceError, UsageError, Where

CHUNK: Final = 256 * 1024
"""Bytes read at once; larger chunks are slower."""

STDIN: Final = "-"

TRACE_SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".pb", ".eval", ".traj", ".sse", ".csv", ".parquet", ".har")
"""What a directory is searched for. A file that is named is read whatever its name."""

COMPRESSED_SUFFIXES: Final = (".gz", ".zst")
"""What may follow the suffix of a trace, once or twice."""

RUN_FILES: Final = ("run.json", "attempts.jsonl")
"""What is in the directory of a run of an agent; the second has its trajectories. See `app/running/journal.py`."""

_GLOB = frozenset("*?[")


def expand(names: Iterable[str]) -> list[str]:
    """Return the files that the names stand for, each once, in the order of the names.

    A directory stands for the trace files in it and below, sorted, links followed; hidden ones, test sets
    (`*rightcall.*`), pipes and devices are left out. A pattern that the shell has not expanded is expanded here; a URL
    stands for what `remote.expand` says. `-` is the standard input. `UsageError` for a name that stands for nothing,
    `TraceError` for a directory that cannot be searched.
    """
    found: dict[str, str] = {}
    for name in names:
        for file in _files(name):
            found.setdefault(file if file == STDIN or remote.is_url(file) else os.path.realpath(file), file)
    return list(found.values())


def _files(name: str) -> list[str]:
    name = remote.without_file_scheme(name)
    if remote.is_url(name):
        with _searching(remote.shown(name)):
            return remote.expand(name, lambda last: _is_trace(last.lower()))
    if name == STDIN or os.path.lexists(name):
        return _in_directory(name) if name != STDIN and os.path.isdir(name) else [name]
    if not _GLOB & set(name):
        raise UsageError(_why_missing(name), Where(file=name))
    _check_searched(name)
    matches = sorted(glob.glob(name, recursive=True))
    files = [file for match in matches for file in ([] if os.path.isdir(match) else [match])]
    if not files:
        raise UsageError("no file has such a name", Where(file=name))
    return files


def _check_searched(pattern: str) -> None:
    """Refuse a directory that a pattern leads into and that cannot be searched: its files would just be missing."""
    folder, last = os.path.split(pattern)
    searched = pattern if last == "**" else folder
    for each in glob.glob(os.path.join(searched, ""), recursive=True) if searched else []:
        with _searching(os.path.dirname(each)):
            os.scandir(each).close()
    if _GLOB & set(folder):
        _check_searched(folder)


def _why_missing(name: str) -> str:
    try:
        os.lstat(name)
    except PermissionError as error:
        return f"cannot be read: {cause(error)}"
    except OSError:
        pass
    return "there is no such file or directory"


def is_run(name: str) -> bool:
    """Whether a name is that of the directory of a run of an agent."""
    return all(os.path.isfile(os.path.join(name, file)) for file in RUN_FILES)


def _in_directory(directory: str) -> list[str]:
    """The trace files in a directory and below. A directory that links lead to again is searched once."""
    found: list[str] = []
    seen: set[str] = set()
    waiting = [directory]
    while waiting:
        folder = waiting.pop()
        if (real := os.path.realpath(folder)) not in seen:
            seen.add(real)
            folders, files = _listed(folder)
            found.extend(files)
            waiting.extend(reversed(folders))
    if not found:
        wanted = ", ".join(TRACE_SUFFIXES)
        raise UsageError(f"the directory holds no trace files ({wanted}; also with .gz or .zst)", Where(file=directory))
    return sorted(found, key=lambda path: path.split(os.sep))


def _listed(folder: str) -> tuple[list[str], list[str]]:
    """The directories in a directory, links to them among them, and the trace files in it: of a run, its attempts."""
    if is_run(folder):
        return [], [os.path.join(folder, RUN_FILES[1])]
    with _searching(folder), os.scandir(folder) as entries:
        shown = sorted((entry.path, entry.name, entry.is_dir()) for entry in entries if entry.name[0] != ".")
    folders = [path for path, _, is_folder in shown if is_folder]
    named = [path for path, name, is_folder in shown if not is_folder and _is_trace(name.lower())]
    return folders, [path for path in named if not _waits(path)]


def _waits(path: str) -> bool:
    """Whether a name is that of a pipe, a socket or a device, which may never end. A dead link is refused later."""
    return os.path.exists(path) and not os.path.isfile(path)


def _is_trace(name: str) -> bool:
    inner = name
    for suffix in COMPRESSED_SUFFIXES * 2:
        inner = inner.removesuffix(suffix)
    return inner.endswith(TRACE_SUFFIXES) and "rightcall." not in name


@contextlib.contextmanager
def _searching(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TraceError(f"cannot be searched: {cause(error)}", Where(file=folder)) from None


def check_apart(reading: Sequence[str], writing: Sequence[str]) -> None:
    """Refuse to write over what is read, or two reports to one file; `UsageError` before anything is touched."""
    inputs = {identity for name in reading if (identity := _identity(name)) is not None}
    outputs: dict[Hashable, str] = {}
    for name in writing:
        identity = _identity(name)
        if identity in inputs:
            raise UsageError("is read as input, so no report can be written there", Where(file=name))
        if identity in outputs:
            first = outputs[identity]
            raise UsageError(f"is the same file as `{first}`: two reports cannot be written to one", Where(file=name))
        outputs[identity] = name


def check_standard_input(names: Iterable[str]) -> None:
    """Refuse to read the standard input twice; `UsageError`."""
    if list(names).count(STDIN) > 1:
        raise UsageError("`-` is named more than once, but the standard input can be read only once")


def _identity(name: str) -> Hashable:
    """What is the same for two names of one file, also for one that is yet to be written; `None` if unknown."""
    try:
        status = os.fstat(sys.stdin.fileno()) if name == STDIN else os.stat(name)
    except (OSError, ValueError, AttributeError):
        return None if name == STDIN else os.path.realpath(name)
    return status.st_dev, status.st_ino


def is_regular(name: str) -> bool:
    """Whether the name is that of a file that can be read more than once."""
    return name != STDIN and os.path.isfile(name)


def chunks(name: str) -> Iterator[bytes]:
    """Read a file, or the standard input for `-`, piece by piece; `TraceError` with the cause if it cannot be."""
    try:
        with _opened(name) as file:
            while piece := file.read(CHUNK):
                yield piece
    except OSError as error:
        raise TraceError(f"cannot be read: {cause(error)}", Where(file=shown(name))) from None


def read(name: str) -> bytes:
    """Read a whole file, or the standard input for `-`; `UsageError` with the cause if it cannot be."""
    try:
        with _opened(name) as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot be read: {cause(error)}", Where(file=shown(name))) from None


def shown(name: str) -> str:
    """Return how messages name a file."""
    if remote.is_url(name):
        return remote.shown(name)
    return "<stdin>" if name == STDIN else name


@contextlib.contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == STDIN:
        stdin: TextIO | None = sys.stdin
        if stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        yield stdin.buffer
    elif remote.is_url(name):
        with remote.opened(name) as file:
            yield file
    else:
        with open(name, "rb") as file:
            yield file


class Writing:
    """A file being written: it takes its place when it is complete, in one step, or never (`StoreError`).

    It has the permissions of the file whose place it takes. What is no regular file, such as a pipe or a device, is
    written directly.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._target = Path(os.path.realpath(path))
        self._temporary: Path | None = None
        if not self._target.parent.is_dir():
            raise StoreError(f"the directory `{self._target.parent}` does not exist", Where(file=path))
        with storing(self.path):
            self._file = self._open()

    def write(self, data: bytes) -> None:
        """Add to the file."""
        with storing(self.path):
            self._file.write(data)

    def finish(self) -> None:
        """Put the complete file in its place."""
        with storing(self.path):
            self._file.close()
            if self._temporary is not None:
                os.replace(self._temporary, self._target)

    def discard(self) -> None:
        """Leave nothing behind. What stood there before stays."""
        with contextlib.suppress(OSError):
            self._file.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)

    def _open(self) -> BinaryIO:
        mode = self._target.stat().st_mode if self._target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            return open(self._target, "wb")
        # A short name, since that of the report may be as long as a name can be.
        self._temporary = self._target.with_name(f".rightcall-{os.urandom(8).hex()}.tmp")
        file = open(self._temporary, "xb")  # noqa: SIM115  # it is closed by finish or discard
        if mode is not None:
            self._temporary.chmod(stat.S_IMODE(mode))
        return file


@contextlib.contextmanager
def storing(path: str, trouble: str = "cannot be written") -> Iterator[None]:
    """Say of a file what keeps it from being written; `StoreError` with the cause."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{trouble}: {cause(error)}", Where(file=path)) from None


def write(path: str, data: bytes) -> None:
    """Write a whole file in one step; `StoreError` with the cause if it cannot be."""
    writing = Writing(path)
    try:
        writing.write(data)
        writing.finish()
    except BaseException:  # an interruption leaves nothing behind either
        writing.discard()
        raise


def cause(error: OSError) -> str:
    """Why the system refused, as part of a sentence."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
