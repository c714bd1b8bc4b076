"""Reports on their way: one that fails does not keep the others from being written."""

from __future__ import annotations

from pathlib import Path

import pytest

from rightcall.app.sinks import Sink, to_file
from rightcall.core.summary import Gate, RunEnd, RunHead, Summary
from rightcall.errors import StoreError
from rightcall.reports.json import JSONLinesReport, JSONReport
from support.reporting import RUN, report


class Narrow:
    """A target that takes so many pieces, and remembers what became of them."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken: list[bytes] = []
        self.end = "open"

    def write(self, data: bytes) -> None:
        """Take a piece, or refuse it for want of room."""
        if len(self.taken) == self.room:
            raise StoreError("no room")
        self.taken.append(data)

    def finish(self) -> None:
        """Note that it was finished."""
        self.end = "finished"

    def discard(self) -> None:
        """Note that it was discarded."""
        self.end = "discarded"


def send(*sinks: Sink) -> None:
    """Report a run to all of them."""
    summary = Summary()
    for sink in sinks:
        sink.start(RunHead(product="0.0", test_set="Refund flow", test_set_hash="abc"))
    for result in RUN:
        summary.add(result)
        for sink in sinks:
            sink.add(result)
    for sink in sinks:
        sink.end(RunEnd(summary=summary, decision=summary.decide(Gate())))


@pytest.mark.parametrize("room", range(7))
def test_trouble_ends_one_report_and_keeps_the_error(room: int) -> None:
    """Whenever a target fails, its report is discarded, once and for all, and the other one is whole."""
    narrow, wide = Narrow(room), Narrow(99)
    failing, other = Sink(JSONReport(), lambda: narrow), Sink(JSONReport(), lambda: wide)
    send(failing, other)
    assert (str(failing.error), narrow.end, len(narrow.taken)) == ("no room", "discarded", room)
    assert (other.error, wide.end) == (None, "finished")
    assert report(JSONReport(), RUN) == b"".join(wide.taken)


def test_discarded_report_takes_nothing_more() -> None:
    """A report of a run that was broken off is neither finished nor kept."""
    narrow = Narrow(99)
    sink = Sink(JSONReport(), lambda: narrow)
    sink.start(RunHead(product="0.0"))
    sink.discard()
    sink.add(RUN[0])
    assert (narrow.end, len(narrow.taken), sink.error) == ("discarded", 1, None)


def test_file_has_the_whole_report(tmp_path: Path) -> None:
    """A file is the bytes of its report."""
    path = tmp_path / "out.jsonl"
    send(to_file(JSONLinesReport(), str(path)))
    assert report(JSONLinesReport(), RUN) == path.read_bytes()
