"""Results out: to every report, folded into the summary on the way, and decided once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec.structs import replace

from rightcall import __version__
from rightcall.app import files, gates, runner
from rightcall.app.gates import FailOn
from rightcall.app.matching import Grade, Notes
from rightcall.app.redaction import Redaction, noting
from rightcall.app.sinks import Sink
from rightcall.core.results import Result
from rightcall.core.summary import Decision, Gate, RunEnd, RunHead, Summary
from rightcall.errors import StoreError
from rightcall.testsets import TestSet

if TYPE_CHECKING:
    from rightcall.core.comparison import Comparison
    from rightcall.core.redaction.redactor import Redactor

_PAIRING = (
    'no trajectory was for any test: it is for the test whose id it has, as in `{"id": "TEST", "messages": …}`, or '
    "its conversation; --test-id-key names the "
    "key that has a test's id, --apply-all grades each trajectory for every test"
)


class Graded(msgspec.Struct, frozen=True):
    """What a run came to, and the reports that could not be written."""

    end: RunEnd
    unwritten: tuple[StoreError, ...] = ()

    def exit_code(self, *, exit_zero: bool = False) -> int:
        """Return 0, 1 or 3 (G39); `exit_zero` forgives failures and nothing else."""
        code = gates.forgiving(self.end.decision) if exit_zero else self.end.decision.exit_code
        return 3 if self.unwritten and code == 0 else code


def grading(asked: Redaction, sinks: Sequence[Sink]) -> tuple[Grade, list[Redactor]]:
    """Return how these reports need trajectories to be graded, and what takes secrets out of them.

    Each sink is given its redactor; `UsageError` for a rule that is none.
    """
    for sink in sinks:
        sink.redactor = asked.redactor(hides_secrets=sink.hides_secrets)
    redactors = asked.redactors(sink.hides_secrets for sink in sinks)
    grade = runner.transcribed if any(sink.shows_transcripts for sink in sinks) else runner.attempt
    return noting(grade, redactors) if redactors else grade, redactors


class Alone:
    """What a run is compared with, result by result (`with`). This is nothing: the run has no baseline."""

    fail_on = FailOn.FAILURE

    def add(self, result: Result) -> None:
        """Take a result of the run."""

    def end(self) -> Comparison | None:
        """Return what the run differs in from its baseline, if there is one."""
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Forget what was kept."""


def beside(baseline: str | None, head: RunHead, fail_on: FailOn, redactors: Sequence[Redactor]) -> Alone:
    """Return what a run is compared with: the run in the file `baseline`. `UsageError` if that cannot be used."""
    if baseline is None:
        return Alone()
    # Most runs are compared with nothing, and need nothing of this.
    from rightcall.app.comparing import Against

    return Against(baseline, head, fail_on, redactors)


def report(
    head: RunHead, results: Iterator[Result], sinks: Sequence[Sink], notes: Notes, baseline: Alone | None = None
) -> Graded:
    """Send every result to every sink, fold the summary on the way, decide once.

    `baseline` is what the run is compared with.
    """
    against = baseline or Alone()
    summary, crashes, attempts = Summary(), 0, 0
    # What is wrong with the input as a whole shows at the first result: then nothing has been written yet.
    first = list(islice(results, 1))
    try:
        for sink in sinks:
            sink.start(head)
        for result in chain(first, results):
            summary.add(result)
            against.add(result)
            crashes += runner.crashes(result)
            attempts += len(result.attempts)
            for sink in sinks:
                sink.add(result)
        decision = gates.with_crashes(summary.decide(head.gate), crashes)
        end = _end(summary, decision, notes if attempts else _unpaired(notes), against)
        for sink in sinks:
            sink.end(end)
    finally:
        for sink in sinks:
            sink.discard()
    return Graded(end, tuple(sink.error for sink in sinks if sink.error is not None))


def _unpaired(notes: Notes) -> Notes:
    """What is said where no trajectory was for any test: how they would be."""
    return replace(notes, warnings=[*notes.warnings, _PAIRING]) if notes.unused else notes


def _end(summary: Summary, decision: Decision, notes: Notes, against: Alone) -> RunEnd:
    comparison = against.end()
    return RunEnd(
        summary=summary,
        decision=gates.with_comparison(decision, comparison, against.fail_on),
        comparison=comparison,
        counted=gates.counted(notes.counts),
        unused=tuple(notes.unused),
        warnings=(*notes.warnings, *gates.excused(comparison, against.fail_on)),
    )


def head_of(sets: Sequence[TestSet], names: Sequence[str], gate: Gate) -> RunHead:
    """Return what a run with these test sets, of these names, begins with."""
    titles = [test_set.name or files.shown(name) for test_set, name in zip(sets, names, strict=True)]
    hashes = [test_set.hash for test_set in sets]
    whole = hashes[0] if len(hashes) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    return RunHead(product=__version__, test_set=", ".join(titles), test_set_hash=whole if sets else "", gate=gate)
