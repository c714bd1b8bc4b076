"""From a trajectory and a compiled test to an attempt, and from attempts to a result.

This is the only place where a crash of ours becomes a verdict: an `error` that keeps the traceback.
"""

from __future__ import annotations

import hashlib
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rightcall.core import jsontext
from rightcall.core.assertion import Compiled, error_verdict, judge
from rightcall.core.calls import Trajectory, Transcript
from rightcall.core.failing import CRASHED, KIND, crash_verdict, cut_short, failure_verdict
from rightcall.core.results import Attempt, Outcome, Result, attempt_outcome, result_outcome, statistics
from rightcall.core.rows import Row, as_made
from rightcall.core.scoping import last_turn
from rightcall.core.verdicts import Status, Verdict
from rightcall.core.wording import amount
from rightcall.errors import TraceError, Where
from rightcall.testsets import CompiledTest
from rightcall.testsets.model import Test

_HASH_DIGITS = 16
_LINE = re.compile(r"(?:line )?([0-9]+)\b")


def attempt(trajectory: Trajectory, compiled: CompiledTest, file: str) -> Attempt:
    """Grade one trajectory for one test. Never raises, whatever the trajectory holds.

    Where the agent failed, the verdict on that comes first (G38). A conversation that could not be held has none but,
    if that was our mistake, one that says so.
    """
    if trajectory.trouble is not None:
        return _unheld(trajectory, trajectory.trouble, file)
    known = cut_short(trajectory)
    verdicts = tuple([_judged(known, assertion) for assertion in compiled.assertions])
    failed = failure_verdict(trajectory, (verdict.id for verdict in verdicts))
    verdicts = verdicts if failed is None else (failed, *verdicts)
    outcome = attempt_outcome(verdicts, compiled.test.min_assertion_rate)
    calls = trajectory.tool_calls
    return Attempt(
        trajectory=trajectory.id,
        outcome=outcome,
        verdicts=verdicts,
        reason="" if verdicts else "The test expects nothing.",
        calls=None if calls is None else len(calls),
        made=None if calls is None else tuple(map(as_made, calls)),
        output=None if outcome == Outcome.PASS else trajectory.output,
        alignments={} if outcome == Outcome.PASS else Alignments(trajectory, compiled.assertions, verdicts),
        warnings=(*trajectory.warnings, *_surplus(trajectory, compiled.test)),
        place=_place(trajectory, file),
        hash=_hash(trajectory),
    )


def _surplus(trajectory: Trajectory, test: Test) -> Iterator[str]:
    """Say of turns after those of the test that nothing is expected of them."""
    if any(assertion.turn is not None for assertion in test.assertions):
        last, known = last_turn(trajectory), len(test.turns)
        if 0 < known < last:
            turns = amount(known, "turn")
            yield f"the test has {turns}, the conversation {last}: nothing is expected of the turns after the test's"


def _unheld(trajectory: Trajectory, trouble: str, file: str) -> Attempt:
    crashed = crash_verdict(trajectory)
    return Attempt(
        trajectory=trajectory.id,
        outcome=Outcome.ERROR,
        verdicts=() if crashed is None else (crashed,),
        reason=trouble if crashed is None else "",
        warnings=trajectory.warnings,
        place=_place(trajectory, file),
        hash=_hash(trajectory),
    )


def _hash(trajectory: Trajectory) -> str:
    return hashlib.sha256(jsontext.encode(trajectory)).hexdigest()[:_HASH_DIGITS]


def transcribed(trajectory: Trajectory, compiled: CompiledTest, file: str) -> Attempt:
    """Grade it just so, and keep what a report needs that shows the conversation."""
    calls, messages, gaps = trajectory.tool_calls, trajectory.messages, trajectory.gaps
    transcript = Transcript(calls=calls, messages=messages, gaps=gaps)
    return msgspec.structs.replace(attempt(trajectory, compiled, file), transcript=transcript)


def unread_attempt(error: TraceError) -> Attempt:
    """Return the attempt that a record would have been, could it have been read."""
    place = str(error.where)
    return Attempt(trajectory=error.record_id or "", outcome=Outcome.ERROR, reason=error.message, place=place)


def _judged(trajectory: Trajectory, assertion: Compiled) -> Verdict:
    try:
        verdict = judge(trajectory, assertion)
        # Its words are found now: later they would keep the whole trajectory alive, or crash in a report.
        verdict.evidence.spoken()
    except Exception as error:
        return _crashed(assertion, error)
    return verdict


class Alignments(Mapping[str, tuple[Row, ...]]):
    """Expected beside made for the verdicts that failed, by their id: lined up when somebody looks."""

    def __init__(self, trajectory: Trajectory, assertions: Sequence[Compiled], verdicts: Sequence[Verdict]) -> None:
        self._trajectory = trajectory
        failed = {verdict.id for verdict in verdicts if verdict.status == Status.FAIL}
        self._assertions = {
            assertion.id: assertion
            for assertion in assertions
            if assertion.id in failed and hasattr(assertion.check, "align")
        }

    def __getitem__(self, identity: str) -> tuple[Row, ...]:
        assertion = self._assertions[identity]
        check: Any = assertion.check
        try:
            return tuple(check.align(assertion.prepared(self._trajectory)))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            return (Row(mark="note", note=f"rightcall could not line this up, please report it: {what}"),)

    def __iter__(self) -> Iterator[str]:
        return iter(self._assertions)

    def __len__(self) -> int:
        return len(self._assertions)


def _crashed(assertion: Compiled, error: Exception) -> Verdict:
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    reason = f"rightcall itself failed ({what}); this is a mistake of ours, please report it."
    return error_verdict(assertion, CRASHED, reason, {"traceback": "".join(traceback.format_exception(error))})


def _place(trajectory: Trajectory, file: str) -> str:
    """The file, and the line where each conversation has one of its own."""
    sources = (source for call in trajectory.tool_calls or () for source in call.sources)
    line = _LINE.match(next(sources, "").removeprefix(file).lstrip(": "))
    return f"{file}:{line[1]}" if line else file


def result(test: Test, attempts: Sequence[Attempt], identity: str | None = None, planned: int | None = None) -> Result:
    """Fold the attempts of a test into its result; without any it could not be judged.

    `planned` is how many attempts were to be made, where that is known. Those that were not made are unknown: where
    they could change what the test came to, it could not be judged (G37).
    """
    if not attempts:
        return _without_attempts(test, planned)
    kept = tuple(attempts)
    missing = 0 if planned is None else max(0, planned - len(kept))
    outcome = result_outcome(kept, test.min_pass_rate, missing)
    return Result(
        id=identity or test.id,
        name=test.name,
        outcome=outcome,
        attempts=kept,
        statistics=statistics(kept) if len(kept) > 1 else None,
        reason=_unmade(missing, len(kept) + missing, outcome) if missing else "",
        place=_test_place(test),
        places=_places(test, kept),
        labels=_labels(test),
        positional=test.positional,
    )


def _places(test: Test, attempts: Sequence[Attempt]) -> dict[str, Where]:
    """Where the expectations stand whose verdicts did not pass; verdicts are in the order of the expectations."""
    found: dict[str, Where] = {}
    for attempt in attempts:
        own = attempt.verdicts[1:] if attempt.verdicts and attempt.verdicts[0].kind == KIND else attempt.verdicts
        if len(own) == len(test.places):
            for verdict, place in zip(own, test.places, strict=True):
                if verdict.status is Status.FAIL or verdict.status is Status.ERROR:
                    found[verdict.id] = place.where
    return found


def _unmade(missing: int, planned: int, outcome: Outcome) -> str:
    if outcome in (Outcome.PASS, Outcome.FAIL):
        return f"settled after {planned - missing} of {planned} attempts"
    return f"{missing} of {amount(planned, 'attempt')} {'was' if missing == 1 else 'were'} not made"


def _without_attempts(test: Test, planned: int | None) -> Result:
    return Result(
        id=test.id,
        name=test.name,
        outcome=Outcome.ERROR,
        reason=f"no trajectory for test `{test.id}`" if planned is None else "no attempt was made",
        place=_test_place(test),
        labels=_labels(test),
        positional=test.positional,
    )


def unread(error: TraceError) -> Result:
    """Return the result that stands for a record that cannot be read."""
    place = str(error.where)
    return Result(
        id=error.record_id or place or "unreadable record",
        name="",
        outcome=Outcome.ERROR,
        reason=f"The record cannot be read: {error.message}",
        place=place,
    )


def crashes(result: Result) -> int:
    """Count the verdicts that are a crash of ours."""
    attempts = result.attempts
    verdicts = (verdict for attempt in attempts for verdict in attempt.verdicts if verdict.status == Status.ERROR)
    return sum(finding.code == CRASHED for verdict in verdicts for finding in verdict.findings)


def _test_place(test: Test) -> str:
    where = test.where
    if where.file is None:
        return ""
    return where.file if where.line is None else f"{where.file}:{where.line}"


def _labels(test: Test) -> dict[str, Any]:
    labels: dict[str, Any] = {
        "requirement": test.requirement,
        "category": test.category,
        "topic": test.topic,
        "tags": list(test.tags),
        "metadata": test.metadata,
        **test.extra,
    }
    return {name: value for name, value in labels.items() if value not in (None, [], {})}
