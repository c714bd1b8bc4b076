"""Comparing a run with its baseline: two that were written, or one that is being graded with one that was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from rightcall.app import files
from rightcall.app.gates import FailOn
from rightcall.app.redaction import Redaction, shown
from rightcall.app.reporting import Alone
from rightcall.app.runs import Baseline, read_run
from rightcall.core.comparison import Comparison
from rightcall.core.comparison.comparer import Comparer
from rightcall.core.comparison.outlines import RunRow, row
from rightcall.core.results import Result
from rightcall.core.summary import RunHead
from rightcall.errors import StoreError, UsageError, Where
from rightcall.reports.json import comparison_document
from rightcall.reports.markdown import comparison_as_markdown
from rightcall.reports.terminal import comparison_as_text

if TYPE_CHECKING:
    from rightcall.core.redaction.redactor import Redactor


class Writer(msgspec.Struct, frozen=True, kw_only=True):
    """How a comparison is written, the endings of file names that mean it, and whether it is shown around."""

    write: Callable[[Comparison], bytes]
    suffixes: tuple[str, ...]
    hides_secrets: bool = False


JSON: Final = Writer(write=comparison_document, suffixes=(".json",))

WRITERS: Final = (
    JSON,
    Writer(write=comparison_as_text, suffixes=(".txt",)),
    Writer(write=comparison_as_markdown, suffixes=(".md", ".markdown"), hides_secrets=True),
)


class CompareRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs to compare, each a report of it, and where to write what was found."""

    baseline: str
    candidate: str
    outputs: tuple[str, ...] = ()
    redaction: Redaction = Redaction()


class Compared(msgspec.Struct, frozen=True):
    """What was found, with its secrets, how to take them out, and the files that could not be written."""

    comparison: Comparison
    redaction: Redaction
    unwritten: tuple[StoreError, ...] = ()

    @property
    def exit_code(self) -> int:
        """0, 1 or 3 (G39)."""
        code = self.comparison.decide().exit_code
        return 3 if self.unwritten and code == 0 else code

    def written(self, writer: Writer) -> bytes:
        """What was found, without what is not to be shown."""
        return writer.write(shown(self.comparison, self.redaction.redactor(hides_secrets=writer.hides_secrets)))


def compare(request: CompareRequest) -> Compared:
    """Compare two runs that were written, and write what was found.

    `UsageError` if one cannot be read, or they were graded by other rules.
    """
    names = [request.baseline, request.candidate]
    writers = [_writer(path) for path in request.outputs]
    files.check_standard_input(names)
    files.check_apart(names, request.outputs)
    # Looking for secrets takes longer than all else: it is done for what is written, and for the screen.
    redactors = request.redaction.redactors({False, *(writer.hides_secrets for writer in writers)})
    compared = Compared(_comparison(request, redactors), request.redaction)
    pieces = [(path, compared.written(writer)) for path, writer in zip(request.outputs, writers, strict=True)]
    errors = [error for path, data in pieces if (error := _written(path, data)) is not None]
    return Compared(compared.comparison, request.redaction, tuple(errors))


def _writer(path: str) -> Writer:
    for writer in WRITERS:
        if path.lower().endswith(writer.suffixes):
            return writer
    endings = ", ".join(suffix for writer in WRITERS for suffix in writer.suffixes)
    raise UsageError(f"no comparison has files named like `{path}`; the endings are {endings}")


def _written(path: str, data: bytes) -> StoreError | None:
    try:
        files.write(path, data)
    except StoreError as error:
        return error
    return None


def _comparison(request: CompareRequest, redactors: Sequence[Redactor]) -> Comparison:
    with Baseline(read_run(request.baseline, redactors)) as baseline:
        candidate = read_run(request.candidate, redactors)
        check_rules(baseline.run, candidate.run)
        comparer = Comparer(baseline.run, candidate.run, baseline.take)
        for each in candidate.results:
            comparer.add(each)
        return comparer.end(baseline.rest())


class Against(Alone):
    """A run that was written, with which one that is being graded is compared.

    `fail_on` says whether the comparison decides. `UsageError` if it cannot be read, or other rules made it.
    """

    def __init__(self, name: str, head: RunHead, fail_on: FailOn, redactors: Sequence[Redactor] = ()) -> None:
        self.fail_on = fail_on
        candidate = RunRow(
            name="this run",
            product=head.product,
            rules=head.rules,
            test_set=head.test_set,
            test_set_hash=head.test_set_hash,
        )
        saved = read_run(name, redactors)
        check_rules(saved.run, candidate)
        self._baseline = Baseline(saved)
        self._comparer = Comparer(saved.run, candidate, self._baseline.take)

    def add(self, result: Result) -> None:
        """Take a result of the run."""
        self._comparer.add(row(result))

    def end(self) -> Comparison:
        """Return what the run differs in."""
        return self._comparer.end(self._baseline.rest())

    def __exit__(self, *_: object) -> None:
        """Forget what was kept."""
        self._baseline.__exit__()


def check_rules(baseline: RunRow, candidate: RunRow) -> None:
    """Refuse runs that were graded by other rules: the same calls may then come to other verdicts."""
    if baseline.is_complete and candidate.is_complete and baseline.rules != candidate.rules:
        raise UsageError(
            f"was graded by the rules {baseline.rules}, {candidate.name} by the rules {candidate.rules}: their "
            "verdicts cannot be compared; grade both with the same version of rightcall",
            Where(file=baseline.name),
        )
