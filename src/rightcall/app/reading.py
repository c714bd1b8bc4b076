"""Reading trace files: each in its turn, with what does not fit into memory kept beside it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from rightcall import traces
from rightcall.app import files, kit
from rightcall.app.matching import Reading
from rightcall.app.spool import Spools
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import containers
from rightcall.traces.cutting import Met
from rightcall.traces.spilling import Keep

Read = Callable[[Iterable[bytes], str, Keep, Met | None], Iterator[Trajectory | TraceError]]
"""Reads one file, given its bytes, its name, what keeps things for it, and the traces met in the files before it."""


class How(msgspec.Struct, frozen=True, kw_only=True):
    """How trace files are read. All but `format` is as in `rightcall.traces.read`."""

    format: str | None = None
    group_by: str | None = None
    tool_name_at: str | None = None
    tool_arguments_at: str | None = None


class Pairing(How, frozen=True, kw_only=True):
    """How test sets are read, too, and how trajectories find their tests.

    `config` names a file with keys for whole test sets, for those that do not have them themselves, and `id_key` the
    metadata that names a trajectory's test. With `apply_all` each trajectory is for every test.
    """

    dialect: str | None = None
    config: str | None = None
    apply_all: bool = False
    id_key: str | None = None


_AS_IT_IS: Final = How()


def trace_reader(how: How) -> Read:
    """What reads each file; `UsageError` if something of how to do it is not known."""
    format_ = kit.trace_format(how.format)
    cut = traces.cutting_of(how.group_by, how.tool_name_at, how.tool_arguments_at)

    def read(chunks: Iterable[bytes], file: str, keep: Keep, met: Met | None) -> Iterator[Trajectory | TraceError]:
        return traces.read_as(format_, chunks, file, msgspec.structs.replace(cut, keep=keep, met=met))

    return read


class Source(msgspec.Struct, frozen=True):
    """A trace file that is read, by how messages name it, and what is known of it so far."""

    file: str
    bytes: containers.Source

    @property
    def format(self) -> str:
        """The format that reads it; empty if none was found yet."""
        return self.bytes.format

    @property
    def lines(self) -> int:
        """How many lines of text were read, out of what they come in."""
        return self.bytes.lines


def read_sources(names: Iterable[str], how: How = _AS_IT_IS) -> Iterator[tuple[Source, Iterator[Reading]]]:
    """Open trace files in their order: each with what is read of it, while it is read."""
    read = trace_reader(how)
    for name, keep, met in _opened(files.expand(names)):
        source = Source(files.shown(name), containers.Source(files.chunks(name)))
        items = read(source.bytes, source.file, keep, met)
        yield source, map(Reading, items, itertools.repeat(source.file))


def read_traces(names: Iterable[str], how: How = _AS_IT_IS) -> Iterator[Reading]:
    """Read trajectories, and the errors that stand for unreadable records, from files in their order."""
    return readings(files.expand(names), trace_reader(how))


def readings(names: Sequence[str], read: Read) -> Iterator[Reading]:
    """What is read of files that are there, in their order."""
    for name, keep, met in _opened(names):
        file = files.shown(name)
        for item in read(files.chunks(name), file, keep, met):
            yield Reading(item, file)


def _opened(names: Sequence[str]) -> Iterator[tuple[str, Keep, Met | None]]:
    """Each file with what keeps things while it is read, and, if there are several, the traces met in all of them."""
    met = Met() if len(names) > 1 else None
    for name in names:
        with Spools() as keep:
            yield name, keep, met
