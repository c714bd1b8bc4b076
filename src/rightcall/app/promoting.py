"""`rightcall promote`: recorded conversations become tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from rightcall import testsets
from rightcall.app import choosing, files, kit, loading, runner, service, updating
from rightcall.app.choosing import Choice
from rightcall.app.matching import Notes, Reading, belongs_to, names_of, pairs
from rightcall.app.reading import Pairing, read_traces
from rightcall.app.redaction import Redaction
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.app.updating import Refused, Updated
from rightcall.core.lining import Mode
from rightcall.core.results import Outcome
from rightcall.core.story import why
from rightcall.core.verdicts import Status
from rightcall.errors import TestSetError, TraceError, UsageError, Where
from rightcall.testsets import promotion
from rightcall.testsets.promotion import Draft, Drawing, Recorded
from rightcall.testsets.promotion.calls import Arguments
from rightcall.testsets.writing import native_test

_PROMPTS: Final = ("id", "name", "prompt")
"""Keys of a failed test that say nothing of what is expected."""

_SHOWN_AS: Final = "tests.yaml"
"""What a new file would be called that is shown only."""


class PromoteRequest(Pairing, frozen=True, kw_only=True):
    """What to promote, and to where: a new file `output`, or the test set `update`, which is changed in place.

    With `is_dry` neither need be named: nothing is going to be written.

    `tests` are test sets of which those conversations are taken that fail (`only_failed`). `choice` narrows the
    conversations; with `learn`, those of one id or one prompt are runs of one test.
    """

    traces: tuple[str, ...]
    output: str | None = None
    update: str | None = None
    is_dry: bool = False
    tests: tuple[str, ...] = ()
    only_failed: bool = False
    choice: Choice = Choice()
    learn: bool = False
    match: Mode = "exact"
    arguments: Arguments = "exact"
    schemas: bool = False
    redaction: Redaction = Redaction()


class Promotion(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: the tests, the bytes of the new file or the change of the old one, and what was left out.

    `notes` are sentences; `refused` names conversations that made no test, and why.
    """

    drafts: tuple[Draft, ...]
    data: bytes | None = None
    updated: Updated | None = None
    notes: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def exit_code(self) -> int:
        """3 if something that was chosen made no test, or nothing was chosen (G39)."""
        is_empty = not self.drafts and (self.updated is None or not self.updated.seen)
        return 3 if self.refused or is_empty else 0


def promote(request: PromoteRequest, watch: service.Watch | None = None) -> Promotion:
    """Make tests of conversations; nothing is written yet. `watch` is told of each that was read.

    Raises `UsageError`, `TestSetError` and `TraceError` for what cannot be used at all.
    """
    _check(request)
    refused: list[Refused] = []
    readings = service.watched(read_traces(request.traces, request), watch)
    if request.only_failed:
        drafts, notes = _of_failures(request, readings, refused)
        return _finished(request, drafts, {}, notes, refused)
    chosen = list(_chosen(request, readings, refused))
    known, new = _apart(request, chosen)
    drafts = [one for runs in _groups(request, new) for one in drafted(request, runs, refused)]
    return _finished(request, drafts, known, [], refused)


def _check(request: PromoteRequest) -> None:
    """Refuse what cannot be meant, before anything is read; `UsageError`."""
    if request.output is not None and request.update is not None:
        raise UsageError("`-o FILE` is for a new file and `--update FILE` for one that there is; give one of them")
    if request.output is None and request.update is None and not request.is_dry:
        message = "say where the tests go: `-o FILE` for a new file, `--update FILE` for one that there is"
        raise UsageError(f"{message}; `--dry-run` shows them")
    _check_tests(request)
    if request.learn and request.match != "exact":
        message = "where other calls may come in between, no step is optional and none limited: `--learn` needs"
        raise UsageError(f"{message} `--match exact`")
    _check_files(request)


def _check_tests(request: PromoteRequest) -> None:
    if request.only_failed is not bool(request.tests):
        raise UsageError("`--only-failed` and `--tests FILE` belong together: the test sets say what has failed")
    if request.learn and request.only_failed:
        raise UsageError("`--learn` takes good runs, so it cannot be had with `--only-failed`")
    about_tests = {"--dialect": request.dialect, "--config": request.config, "--apply-all": request.apply_all or None}
    given = next((name for name, value in about_tests.items() if value is not None and not request.tests), None)
    if given is not None:
        raise UsageError(f"`{given}` is about the test sets that `--tests` names; give it with them")


def _check_files(request: PromoteRequest) -> None:
    if request.update is not None and not files.is_regular(request.update):
        raise UsageError("there is no such file to change in place; `-o` writes a new one", Where(file=request.update))
    if request.output is not None:
        promotion.form_of(request.output)
        if os.path.lexists(request.output):
            raise UsageError("exists already; `--update` changes it in place", Where(file=request.output))
    files.check_standard_input([*request.traces, *request.tests, *loading.named(request.config)])
    files.check_apart(files.expand(request.traces), [name for name in (request.output, request.update) if name])


def _chosen(request: PromoteRequest, readings: Iterable[Reading], refused: list[Refused]) -> Iterator[Recorded]:
    """The conversations that are asked for; what cannot be read is told."""
    for reading in readings:
        if isinstance(reading.item, TraceError):
            refused.append(updating.unread(reading.item, reading.file))
        elif request.choice.takes(reading.item):
            yield Recorded(reading.item, reading.file)


def _apart(request: PromoteRequest, chosen: Sequence[Recorded]) -> tuple[dict[str, list[Recorded]], list[Recorded]]:
    """The conversations of tests that the file to update has, by test, and all others."""
    if request.update is None:
        return {}, list(chosen)
    ids = {test.id for test in loading.read_tests(request.update, None).tests if not test.positional}
    known: dict[str, list[Recorded]] = {}
    new: list[Recorded] = []
    for run in chosen:
        identity = belongs_to(run.trajectory, request.id_key, ids)
        if identity is None:
            new.append(run)
        else:
            known.setdefault(identity, []).append(run)
    return known, new


def _groups(request: PromoteRequest, runs: Sequence[Recorded]) -> list[list[Recorded]]:
    """The runs of each test: those of one id, and to learn, those of one prompt too."""
    return choosing.together(runs, request.id_key, by_prompt=request.learn)


def drafted(request: PromoteRequest, runs: list[Recorded], refused: list[Refused]) -> Iterator[Draft]:
    """The test of some runs, if they make one that each of them passes."""
    drawing = _drawing(request, runs)
    identity = choosing.identity(runs, request.id_key, drawing.conceal)
    try:
        draft = promotion.draft(identity, runs, drawing)
        if len(runs) > 1 and not request.learn:
            _check_alike(draft, runs, drawing)
        _prove(draft, runs)
    except TestSetError as error:
        refused.append(Refused(identity, error.message))
        return
    yield replace(draft, notes=(*draft.notes, *_about(request, identity, runs)))


def _about(request: PromoteRequest, identity: str, runs: Sequence[Recorded]) -> Iterator[str]:
    """What else a reviewer should know."""
    if len(runs) == 1 and request.learn:
        yield "learned from one run, which shows nothing of what may vary"
    if not all(identity in names_of(run.trajectory, request.id_key) for run in runs):
        yield "the id is made of the prompt: recordings are for this test if they name it, as their `test_id`"


def _drawing(request: PromoteRequest, runs: Sequence[Recorded]) -> Drawing:
    return Drawing(
        conceal=updating.concealing(request.redaction, runs),
        match=request.match,
        arguments=request.arguments,
        schemas=request.schemas,
    )


def _check_alike(draft: Draft, runs: Sequence[Recorded], drawing: Drawing) -> None:
    """Refuse several conversations of one id that differ, unless that is what is to be learned."""
    singles = [promotion.draft(draft.id, [run], drawing).keys for run in runs]
    if any(keys != singles[0] for keys in singles):
        raise TestSetError(f"{len(runs)} conversations are of this test, and differ; `--learn` finds what they share")


def _prove(draft: Draft, runs: Sequence[Recorded]) -> None:
    """Refuse a test that does not pass on what it was made from."""
    test = testsets.compile_test(testsets.from_keys(draft.keys, kit.all_kinds()), compile_regex, compile_schema)
    for run in runs:
        attempt = runner.attempt(run.trajectory, test, run.file)
        if attempt.outcome is not Outcome.PASS:
            raise TestSetError(f"its test would not pass on `{run.shown}` itself: {why(attempt)}")


def _of_failures(
    request: PromoteRequest, readings: Iterable[Reading], refused: list[Refused]
) -> tuple[list[Draft], list[str]]:
    """The tests of conversations that failed: their prompts, with what the failed test expects."""
    config = loading.read_config(request.config)
    sets = [(name, loading.read_tests(name, request.dialect, config)) for name in request.tests]
    compiled = {test.test.id: test for name, test_set in sets for test in loading.compiled(name, test_set)}
    notes = Notes()
    drafts: list[Draft] = []
    for pair in pairs(readings, compiled, request, notes):
        if isinstance(pair, TraceError):
            refused.append(updating.unread(pair))
        else:
            test, reading = pair
            if request.choice.takes(reading.trajectory):
                drafts += _of_failure(request, test, Recorded(reading.trajectory, reading.file), refused)
    unused = [f"no test was for {name}" for name in notes.unused]
    return drafts, [*unused, *notes.warnings]


def _of_failure(
    request: PromoteRequest, test: testsets.CompiledTest, run: Recorded, refused: list[Refused]
) -> Iterator[Draft]:
    attempt = runner.attempt(run.trajectory, test, run.file)
    if attempt.outcome is Outcome.ERROR:
        refused.append(Refused(run.shown, f"could not be judged for `{test.test.id}`: {why(attempt)}"))
    if attempt.outcome is not Outcome.FAIL:
        return
    conceal = updating.concealing(request.redaction, [run])
    expected = {key: value for key, value in native_test(test.test).items() if key not in _PROMPTS}
    reasons = [f"{verdict.id}: {verdict.reason}" for verdict in attempt.verdicts if verdict.status is Status.FAIL]
    identity = choosing.identity([run], request.id_key, conceal)
    yield promotion.failed_draft(identity, run, expected, reasons, conceal)


def _finished(
    request: PromoteRequest,
    drafts: Sequence[Draft],
    known: Mapping[str, Sequence[Recorded]],
    notes: Sequence[str],
    refused: Sequence[Refused],
) -> Promotion:
    """The bytes of the new file, or the change of the old one."""
    if request.update is None:
        unique = choosing.renamed(drafts, frozenset())
        data = _written(unique, request.output or _SHOWN_AS) if unique else None
        return Promotion(drafts=unique, data=data, notes=(*notes, *_told(unique)), refused=tuple(refused))
    updated = updating.updated(
        request.update, known, drafts, lambda runs: updating.concealing(request.redaction, runs), learn=request.learn
    )
    return Promotion(
        drafts=updated.added,
        updated=updated,
        notes=(*notes, *_told(updated.added), *updated.notes),
        refused=(*refused, *updated.refused),
    )


def _written(drafts: Sequence[Draft], output: str) -> bytes:
    """The new file, which is read again: what is written can be used."""
    data = promotion.written(drafts, promotion.form_of(output))
    testsets.read(data, kit.all_kinds(), file=output)
    return data


def _told(drafts: Sequence[Draft]) -> list[str]:
    return [f"{draft.id}: {note}" for draft in drafts for note in draft.notes]
