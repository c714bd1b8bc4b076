"""Runs in outline, and their comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from rightcall.core.comparison import Comparison
from rightcall.core.comparison.comparer import Comparer
from rightcall.core.comparison.outlines import AttemptRow, ResultRow, RunRow, VerdictRow
from rightcall.core.results import Outcome, attempt_outcome, result_outcome
from rightcall.core.verdicts import Status, Verdict

BASELINE, CANDIDATE = RunRow(name="main.json"), RunRow(name="branch.json")


def compare(
    before: Iterable[ResultRow],
    after: Iterable[ResultRow],
    baseline: RunRow = BASELINE,
    candidate: RunRow = CANDIDATE,
) -> Comparison:
    """Compare two runs that are in memory."""
    waiting: dict[str, list[ResultRow]] = {}
    for each in before:
        waiting.setdefault(each.id, []).append(each)

    def find(identity: str) -> ResultRow | None:
        found = waiting.get(identity)
        return found.pop(0) if found else None

    comparer = Comparer(baseline, candidate, find)
    for each in after:
        comparer.add(each)
    return comparer.end(left for found in waiting.values() for left in found)


def verdict(identity: str, status: str, reason: str = "", **fields: Any) -> VerdictRow:
    """A verdict whose id is its name."""
    told = reason or ("" if status in ("pass", "not_applicable") else f"{identity} is wrong.")
    return VerdictRow(**{"id": identity, "name": identity, "status": Status(status), "reason": told, **fields})


def attempt(*verdicts: VerdictRow, calls: Sequence[str] | None = (), **fields: Any) -> AttemptRow:
    """An attempt whose outcome follows from its verdicts; calls are names."""
    whole = [Verdict(id=one.id, name=one.name, kind="k", status=one.status, severity=one.severity) for one in verdicts]
    made = None if calls is None else tuple({"name": name, "arguments": {}} for name in calls)
    return AttemptRow(**{"outcome": attempt_outcome(whole), "verdicts": verdicts, "made": made, **fields})


def result(identity: str, *attempts: AttemptRow, **fields: Any) -> ResultRow:
    """A result over attempts."""
    outcome = result_outcome(attempts) if attempts else Outcome.ERROR  # type: ignore[arg-type]  # reads outcomes only
    return ResultRow(**{"id": identity, "outcome": outcome, "attempts": attempts, **fields})


def one(identity: str, *statuses: str, calls: Sequence[str] | None = ()) -> ResultRow:
    """A test of one attempt, with verdicts `v0`, `v1`, … of these statuses."""
    return result(identity, attempt(*(verdict(f"v{at}", status) for at, status in enumerate(statuses)), calls=calls))


statuses = st.sampled_from([*Status])
severities = st.sampled_from(["block", "warn", "shadow"])
values: st.SearchStrategy[Any] = st.sampled_from(
    [{}, {"x": 1}, {"x": True}, {"x": "1", "y": []}, [], None, {"$regex": "x"}]
)
calls: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b", ""]), "arguments": values}
)
unread: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["a", "b"]),
        "arguments_state": st.sampled_from(["malformed", "redacted"]),
        "arguments_text": st.sampled_from([None, "{", "{x"]),
    }
)
names = st.sets(st.sampled_from("xyz")).map(sorted)
made = st.lists(calls | unread, max_size=5).map(tuple)


@st.composite
def results(draw: st.DrawFn) -> ResultRow:
    """A result of one to three attempts; ids are few, so that some are in both runs, and some twice."""
    attempts = [
        attempt(
            *(
                verdict(name, draw(statuses), severity=draw(severities))
                for name in draw(st.sets(st.sampled_from("xyz")))
            ),
            made=draw(st.none() | made),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return result(draw(st.sampled_from("abcdef")), *attempts, positional=draw(st.booleans()))


runs = st.lists(results(), max_size=6)
