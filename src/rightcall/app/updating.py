"""A test set brought up to date in place: the lists of calls that runs do not match, and tests that are new.

What passes is left alone. Of what fails, only lists of calls are rewritten (`testsets.promotion.revising`); a test that
would still not pass afterwards is left as it is, and told.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rightcall import testsets
from rightcall.app import choosing, files, loading, runner, service
from rightcall.app.matching import Notes, matched_pairs
from rightcall.app.reading import read_traces
from rightcall.app.redaction import Redaction
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.core import jsontext
from rightcall.core.results import Attempt, Outcome
from rightcall.core.story import why
from rightcall.core.values import equal, visible
from rightcall.core.verdicts import Status
from rightcall.errors import TestSetError, TraceError, UsageError, Where
from rightcall.testsets import CompiledTest, TestSet, promotion
from rightcall.testsets.editing import Added, Change, Edit, Editable, applied
from rightcall.testsets.promotion import CALLS, SEQUENCE, Conceal, Draft, Recorded, Stated
from rightcall.testsets.source import load

_ALONE: Final = "test.json"
"""What one test by itself is called while it is tried."""

Concealing = Callable[[Sequence[Recorded]], Conceal]
"""Gives what takes the secrets of some runs out of the tests that they make."""


class Refused(msgspec.Struct, frozen=True):
    """A conversation or test of which nothing was made, and why."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{visible(self.name)}: {self.why}"


def unread(error: TraceError, file: str = "") -> Refused:
    """What is told of a record that cannot be read."""
    return Refused(str(error.where) or file, f"cannot be read: {error.message}")


class Updated(msgspec.Struct, frozen=True, kw_only=True):
    """A test set file before and after, the ids of the tests that changed, the tests that are new, what was told.

    `seen` counts the tests that there were runs for.
    """

    file: str
    before: bytes
    after: bytes
    changed: tuple[str, ...] = ()
    added: tuple[Draft, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
    seen: int = 0

    @property
    def diff(self) -> list[str]:
        """The lines of a unified diff, without their ends; none if nothing changed."""
        old, new = (_lines(data) for data in (self.before, self.after))
        return list(difflib.unified_diff(old, new, self.file, f"{self.file} (updated)", lineterm=""))

    def write(self) -> None:
        """Put the new text in the place of the old one; `StoreError` if that fails.

        `UsageError` if somebody has changed or removed the file since it was read: their work would be lost.
        """
        if self.after == self.before:
            return
        if files.read(self.file) != self.before:
            message = "was changed by somebody else since it was read, so it is left as it is now; update it again"
            raise UsageError(message, Where(file=self.file))
        files.write(self.file, self.after)


def concealing(asked: Redaction, runs: Sequence[Recorded]) -> Conceal:
    """What takes secrets out of the tests that runs make, also where a text only repeats them."""
    redactor = asked.shared
    if redactor is None:
        return lambda value: value
    from rightcall.core.redaction.runs import secrets_of

    return redactor.knowing(secret for run in runs for secret in secrets_of(run.trajectory, redactor)).value


def _lines(data: bytes) -> list[str]:
    return [line.removesuffix("\r") for line in data.decode("utf-8", "surrogatepass").split("\n")]


def update(request: service.GradeRequest, ids: Collection[str], concealing: Concealing) -> Updated:
    """Bring those tests of the one test set of a request up to date with its traces; nothing is written yet.

    A trajectory is for the test that it is graded for. Raises what reading raises.
    """
    (file,) = request.tests
    runs: dict[str, list[Recorded]] = {}
    refused: list[Refused] = []
    table = {test.test.id: test for test in loading.compiled(file, _read(files.read(file), file))}
    for pair in matched_pairs(read_traces(request.traces, request), table, request.id_key, Notes()):
        if isinstance(pair, TraceError):
            refused.append(unread(pair))
        elif pair[0].test.id in ids:
            test, reading = pair
            runs.setdefault(test.test.id, []).append(Recorded(reading.trajectory, reading.file))
    found = updated(file, runs, (), concealing)
    return msgspec.structs.replace(found, refused=(*refused, *found.refused))


def updated(
    file: str,
    runs: Mapping[str, Sequence[Recorded]],
    new: Sequence[Draft],
    concealing: Concealing,
    *,
    learn: bool = False,
) -> Updated:
    """The file with the tests of these runs revised where they fail, and new tests at the end; nothing is written.

    `learn` lets several runs that differ decide together. `TestSetError` for a file that cannot be changed in place.
    """
    if not files.is_regular(file):
        raise UsageError("is no file that can be changed in place", Where(file=file))
    before = files.read(file)
    test_set = _read(before, file)
    kept = _Revision(file, before, concealing, learn)
    for index, test in enumerate(loading.compiled(file, test_set)):
        if test.test.id in runs:
            kept.consider(index, test, runs[test.test.id])
    added = choosing.renamed(new, {test.id for test in test_set.tests})
    edits: list[Edit] = [*kept.edits.values(), *([_addition(test_set, added)] if added else [])]
    return Updated(
        file=file,
        before=before,
        after=_changed(before, file, edits),
        changed=tuple(kept.edits),
        added=added,
        notes=tuple(kept.notes),
        refused=tuple(kept.refused),
        seen=sum(test.id in runs for test in test_set.tests),
    )


def _changed(before: bytes, file: str, edits: Sequence[Edit]) -> bytes:
    """The file with all changes made, which can still be used."""
    if not edits:
        return before
    after = Editable(before, file).edited(edits)
    loading.compiled(file, _read(after, file))
    return after


def _addition(test_set: TestSet, added: Sequence[Draft]) -> Edit:
    items = [(draft.keys, [visible(line) for line in draft.comments]) for draft in added]
    if test_set.tests:
        return Added(("tests",), items)
    return Change((), {"tests": [keys for keys, _ in items]})


def _read(data: bytes, file: str) -> TestSet:
    value, _ = load(data, file)
    if isinstance(value, dict) and value.get("dialect", "native") != "native":
        message = f"is in the dialect `{value['dialect']}`, and only native test sets are changed in place"
        raise TestSetError(f"{message}; `rightcall convert` writes one", Where(file=file))
    return loading.parse_tests(data, file, None)


class _Revision:
    """The changes to the tests of one file."""

    def __init__(self, file: str, data: bytes, concealing: Concealing, learn: bool) -> None:
        self.edits: dict[str, Change] = {}
        self.notes: list[str] = []
        self.refused: list[Refused] = []
        self._name = file
        self._file = Editable(data, file)
        self._concealing = concealing
        self._learn = learn

    def consider(self, index: int, test: CompiledTest, runs: Sequence[Recorded]) -> None:
        """Revise a test if it fails, and can pass by what is rewritten."""
        attempts = _graded(test, runs)
        if runner.result(test.test, attempts).outcome is Outcome.PASS:
            return
        identity = test.test.id
        try:
            change, notes = self._change(index, test, runs, attempts)
        except TestSetError as error:
            self.refused.append(Refused(identity, f"was left as it is: {error.message}"))
            return
        self.edits[identity] = change
        self.notes += [f"{identity}: {note}" for note in notes]

    def _change(
        self, index: int, test: CompiledTest, runs: Sequence[Recorded], attempts: Sequence[Attempt]
    ) -> tuple[Change, tuple[str, ...]]:
        for run in runs:
            promotion.check_whole(run)
        _check_only_lists_fail(index, test, attempts)
        setting = testsets.setting_of(test.test, compile_regex, compile_schema)
        made = [setting.counted(run.trajectory).calls for run in runs]
        if len(runs) > 1 and not self._learn and not _are_alike(made):
            raise TestSetError(f"its {len(runs)} runs differ; `rightcall promote --learn` finds what they share")
        stated = self._stated(index, test)
        revised = promotion.revise(stated, made, self._concealing(runs))
        change = Change(("tests", index), revised.keys)
        self._prove(index, change, runs)
        return change, revised.notes

    def _stated(self, index: int, test: CompiledTest) -> Stated:
        value = self._file.value
        keys = value["tests"][index]
        around = {name: keys.get(name, value.get(name)) for name in ("match", "arguments")}
        path = f"tests[{index}].{CALLS}"
        checks: Iterator[Any] = (
            compiled.check
            for compiled, place in zip(test.assertions, test.test.places, strict=True)
            if place.where.path == path
        )
        patterns = getattr(next(checks, None), "patterns", ())
        return Stated(keys=keys, patterns=patterns, **{name: value for name, value in around.items() if value})

    def _prove(self, index: int, change: Change, runs: Sequence[Recorded]) -> None:
        """Refuse a change that cannot be made, or after which the test would not pass on its runs."""
        self._file.check(change)
        tests = applied(self._file.value, [change])["tests"]
        # Alone, as JSON: reading a large file again for each of its tests would take its time.
        alone = jsontext.encode({**self._file.value, "tests": [tests[index]]})
        (changed,) = loading.compiled(self._name, loading.parse_tests(alone, _ALONE, None))
        for attempt in _graded(changed, runs):
            if attempt.outcome is not Outcome.PASS:
                raise TestSetError(f"it would still not pass: {why(attempt)}")


def _graded(test: CompiledTest, runs: Sequence[Recorded]) -> list[Attempt]:
    return [runner.attempt(run.trajectory, test, run.file) for run in runs]


def _are_alike(made: Sequence[Sequence[Any]]) -> bool:
    """Whether all runs made the same calls with the same arguments."""
    each = [[[call.name, call.arguments, call.arguments_state] for call in calls] for calls in made]
    return all(equal(each[0], one) for one in each)


def _check_only_lists_fail(index: int, test: CompiledTest, attempts: Sequence[Attempt]) -> None:
    """Refuse to rewrite a list of calls after runs that break something else, or could not be judged."""
    lists = {f"tests[{index}].{key}" for key in (CALLS, SEQUENCE)}
    for attempt in attempts:
        for verdict, place in zip(attempt.verdicts, test.test.places, strict=True):
            if verdict.severity != "block" or verdict.status in (Status.PASS, Status.NOT_APPLICABLE):
                continue
            if verdict.status is Status.ERROR:
                raise TestSetError(f"it could not be judged: {verdict.reason}")
            if place.where.path not in lists:
                told = f"`{verdict.id}` fails, and only a test's own list of calls is ever rewritten"
                raise TestSetError(f"{told}: {verdict.reason}")
