"""Promoted tests hold for the traces that they were made from, and for nothing that is changed in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from rightcall.app import service
from rightcall.app.promoting import PromoteRequest, Promotion, promote
from rightcall.app.redaction import Redaction
from rightcall.app.suites import grade
from rightcall.core.calls import Trajectory
from rightcall.core.counting import Count
from rightcall.core.mutants import Strangers, draw
from rightcall.core.results import Outcome
from rightcall.testsets.promotion import Draft, Recorded
from support import corpus
from support.promoting import passes

READABLE = [entry for entry in corpus.everything() if entry.values[0] is None or entry.values[0].reader]

NO_SECRETS = Redaction(by_default=False)
"""What looks like a secret stays, so that every argument can be expected."""


FILE = "promoted.rightcall.yaml"


@cache
def promoted(path: Path, reader: str | None, redaction: Redaction = NO_SECRETS) -> Promotion:
    """What a file of the corpus promotes to; nothing is written."""
    return promote(PromoteRequest(traces=(str(path),), format=reader, output=FILE, redaction=redaction))


REASONS = ("is not whole, so it shows no more", "has no recorded tool calls", "cannot be read", "and differ; `--learn`")


@pytest.mark.parametrize("entry", READABLE)
def test_what_a_trace_promotes_to_passes_on_that_trace(entry: corpus.Entry | None, tmp_path: Path) -> None:
    """Every conversation makes a test that its own trace passes, or is refused because calls may be missing."""
    known = corpus.present(entry)
    found, file = promoted(known.path, known.reader), tmp_path / FILE
    file.write_bytes(found.data or b"")
    assert [str(one) for one in found.refused if not any(reason in one.why for reason in REASONS)] == []
    assert found.drafts or found.refused
    if found.drafts:
        suite = grade(service.GradeRequest(traces=(str(known.path),), format=known.reader, tests=(str(file),)))
        assert {draft.id: Outcome.PASS for draft in found.drafts} == {
            draft.id: suite.results[draft.id].outcome for draft in found.drafts
        }


@pytest.mark.parametrize("entry", READABLE)
def test_secrets_of_a_trace_change_no_more_than_what_is_expected_of_them(
    entry: corpus.Entry | None,
) -> None:
    """With secrets left out, the same conversations make tests, and the trace passes them too."""
    known = corpus.present(entry)
    open_ids = [draft.id for draft in promoted(known.path, known.reader).drafts]
    assert open_ids == [draft.id for draft in promoted(known.path, known.reader, Redaction()).drafts]


@pytest.mark.parametrize("entry", READABLE)
def test_a_changed_trace_fails_what_it_was_promoted_to(entry: corpus.Entry | None) -> None:
    """A call left out, made twice, swapped, renamed, or with another argument fails the test."""
    known = corpus.present(entry)
    found = promoted(known.path, known.reader)
    drafts = {draft.id: draft for draft in found.drafts}
    for trajectory in _read(known):
        draft = drafts.get(trajectory.id)
        if draft is not None:
            assert list(_survivors(draft, trajectory)) == []


def _read(entry: corpus.Entry) -> list[Trajectory]:
    readings = service.read_traces([str(entry.path)], service.How(format=entry.reader))
    return [reading.item for reading in readings if isinstance(reading.item, Trajectory)]


def _survivors(draft: Draft, trajectory: Trajectory) -> Iterator[str]:
    """The mutants that pass, of calls that count and whose arguments are known."""
    calls, count = trajectory.tool_calls or (), Count()
    for mutant in draw(trajectory, Strangers(), 25).mutants:
        about = [calls[at] for at in (mutant.at, mutant.other) if at is not None and at < len(calls)]
        is_known = all(count.takes(call) and call.arguments_state == "ok" for call in about)
        if is_known and passes(draft, Recorded(mutant.of(trajectory), "mutant")):
            yield f"{trajectory.id}: {mutant.words}"
