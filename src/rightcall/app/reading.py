"""Reading trace files: each in its turn, with what does not fit into memory kept beside it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from rightcall import traces
from rightcall.app import files, kit
from rightcall.app.matching import Reading
from rightcall.app.spool import Spools
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import containers, cutting
from rightcall.traces.cutting import Cutting, Met
from rightcall.traces.spilling import Keep

Read = Callable[[Iterable[bytes], str, Keep, Met | None], Iterator[Trajectory | TraceError]]
"""Reads one file, given its bytes, its name, what keeps things for it, and the traces met in the files before it."""


def trace_reader(trace_format: str | None, group_by: str | None) -> Read:
    """What reads each file; `UsageError` if the format, or what to group by, is not known."""
    format_ = kit.trace_format(trace_format)
    by = None if group_by is None else cutting.group_by(group_by)

    def read(chunks: Iterable[bytes], file: str, keep: Keep, met: Met | None) -> Iterator[Trajectory | TraceError]:
        return traces.read_as(format_, chunks, file, Cutting(by=by, keep=keep, met=met))

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


def read_sources(
    names: Iterable[str], trace_format: str | None = None, group_by: str | None = None
) -> Iterator[tuple[Source, Iterator[Reading]]]:
    """Open trace files in their order: each with what is read of it, while it is read."""
    read = trace_reader(trace_format, group_by)
    for name, keep, met in _opened(files.expand(names)):
        source = Source(files.shown(name), containers.Source(files.chunks(name)))
        items = read(source.bytes, source.file, keep, met)
        yield source, map(Reading, items, itertools.repeat(source.file))


def read_traces(
    names: Iterable[str], trace_format: str | None = None, group_by: str | None = None
) -> Iterator[Reading]:
    """Read trajectories, and the errors that stand for unreadable records, from files in their order."""
    return readings(files.expand(names), trace_reader(trace_format, group_by))


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
