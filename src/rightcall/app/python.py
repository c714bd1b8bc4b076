"""What Python programs call: read anything, grade it, or have it checked with an `AssertionError`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from rightcall import testsets, traces
from rightcall.agents.captured import Captured
from rightcall.app import judging, kit
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.core.assertion import Compiled
from rightcall.core.assertion import grade as judge_all
from rightcall.core.calls import Trajectory
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.core.rows import Row
from rightcall.core.sidebyside import side_by_side
from rightcall.core.values import display
from rightcall.core.verdicts import Status, Verdict
from rightcall.errors import TraceError
from rightcall.traces.containers import sse

WIDTH: Final = 100

_HEAD: Final = 4096

_CONTENT: Final = "to read a file, give `pathlib.Path(…).read_bytes()`"

_NOTHING_JUDGED: Final = "Nothing was judged: every expectation is empty, or of a severity that does not block."


def read(value: Any, **how: str | None) -> Trajectory:
    """The one trajectory that a value holds: see `rightcall.read`."""
    if isinstance(value, Captured):
        return value.trajectory
    if isinstance(value, os.PathLike) or hasattr(value, "readline"):
        raise TraceError(f"expected what is in a file, found the file itself; {_CONTENT}")
    if isinstance(value, str) and not _is_content(value):
        raise TraceError(f"expected JSON text, found {display(value, 40)}; {_CONTENT}")
    return traces.read_object(value, **how)


def _is_content(text: str) -> bool:
    """Whether a text is JSON or a captured stream, rather than the name of a file."""
    return text.strip()[:1] in ("{", "[", "\ufeff", "") or sse.claims(text[:_HEAD].encode("utf-8", "replace"))


def grade(
    trajectory: Any, expectations: Mapping[str, Any], *, dialect: str | None = None, judge: Any = None
) -> tuple[Verdict, ...]:
    """The verdicts of the expectations on a trajectory: see `rightcall.grade`."""
    test = compiled(expectations, dialect, judge)
    return judge_all(read(trajectory), test.assertions)


class NotJudgedError(AssertionError):
    """The trajectory does not pass because it could not be judged, not because the agent was wrong."""

    __test__ = False


class Judged(msgspec.Struct, frozen=True):
    """A trajectory with the verdicts of a test on it."""

    trajectory: Trajectory
    verdicts: tuple[Verdict, ...]
    test: testsets.CompiledTest

    @property
    def outcome(self) -> Outcome:
        """What the verdicts come to (G2)."""
        return attempt_outcome(self.verdicts, self.test.test.min_assertion_rate)

    def explanation(self) -> str:
        """Why it does not pass: every reason, and expected beside made; empty where it does."""
        if self.outcome is Outcome.PASS:
            return ""
        return explanation(self.trajectory, self.verdicts, self.test.assertions) or _NOTHING_JUDGED


def judge(trajectory: Any, test: testsets.CompiledTest) -> Judged:
    """Grade anything that `read` takes for a test that is ready."""
    known = read(trajectory)
    return Judged(known, judge_all(known, test.assertions), test)


def check(
    trajectory: Any,
    expectations: Mapping[str, Any],
    keys: Mapping[str, Any],
    *,
    dialect: str | None = None,
    asked: Any = None,
) -> Judged:
    """Raise `AssertionError` unless the trajectory passes: see `rightcall.check`."""
    __tracebackhide__ = True
    # What is no mapping is refused as it is, where expectations are read.
    given = {**expectations, **keys} if isinstance(expectations, Mapping) else expectations
    judged = judge(trajectory, compiled(given, dialect, asked))
    require(judged)
    return judged


def require(judged: Judged) -> None:
    """Raise `AssertionError` unless it passed, `NotJudgedError` if it could not be judged."""
    __tracebackhide__ = True
    if judged.outcome is not Outcome.PASS:
        kind = AssertionError if judged.outcome is Outcome.FAIL else NotJudgedError
        raise kind(judged.explanation())


def compiled(expectations: Mapping[str, Any], dialect: str | None = None, judge: Any = None) -> testsets.CompiledTest:
    """The expectations ready to check; `TestSetError` with the path of a bad one, or when there is none.

    `judge` is what `judging.given` takes.
    """
    test = testsets.from_keys(expectations, kit.all_kinds(), dialect=dialect)
    return testsets.compile_test(test, compile_regex, compile_schema, judge=judging.given(judge))


def explanation(trajectory: Trajectory, verdicts: Sequence[Verdict], assertions: Sequence[Compiled]) -> str:
    """Every blocking verdict that is no pass, with its reason and expected beside made."""
    of_verdict = {assertion.id: assertion for assertion in assertions}
    parts = [
        _explained(trajectory, verdict, of_verdict.get(verdict.id))
        for verdict in verdicts
        if verdict.severity == "block" and verdict.status in (Status.FAIL, Status.ERROR)
    ]
    return "\n\n".join(parts)


def _explained(trajectory: Trajectory, verdict: Verdict, assertion: Compiled | None) -> str:
    word = "" if verdict.status is Status.FAIL else "could not be judged: "
    text = f"{verdict.id}: {word}{verdict.reason}"
    rows = () if assertion is None or verdict.status is not Status.FAIL else _rows(trajectory, assertion)
    return "\n".join([text, "", *(line.text for line in side_by_side(rows, WIDTH))]) if rows else text


def _rows(trajectory: Trajectory, assertion: Compiled) -> Sequence[Row]:
    """Expected beside made, where the kind can show it."""
    align = getattr(assertion.check, "align", None)
    return () if align is None else tuple(align(assertion.prepared(trajectory)))
