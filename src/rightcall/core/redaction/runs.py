"""Runs without secrets: what a report is told, and recorded trajectories.

Every text of every struct goes through the redactor unless it is named here, so that a field that is added is hidden
rather than shown. Statuses, counts, rates and hashes stay as they are: nothing that was decided is decided anew.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from rightcall.core import paths
from rightcall.core.calls import Trajectory
from rightcall.core.comparison import CallDifference, TestChange
from rightcall.core.operators import written
from rightcall.core.operators.base import Operator
from rightcall.core.redaction.redactor import Redactor
from rightcall.core.results import Result
from rightcall.core.rows import Row, RowDifference
from rightcall.core.summary import RunEnd
from rightcall.core.verdicts import Evidence, Finding, Verdict
from rightcall.errors import Where

Told = TypeVar("Told", bound=msgspec.Struct)
Difference = Finding | RowDifference | CallDifference

_KEPT: Final = frozenset(
    {
        *("hash", "test_set_hash", "product", "rules", "kind", "severity", "status", "outcome", "code", "mark"),
        *("arguments_state", "requestor", "counts"),
    }
)
"""Fields that hold words of ours, numbers or hashes: nothing that was recorded."""

_NAMED: Final = frozenset({"verdicts", "blocking", "thresholds", "places", "verdict_rates", "assertions"})
"""Fields that are mappings by names."""

_CALLS: Final = frozenset({"expected", "made", "before", "after"})
"""Fields that hold calls as `{"name": …, "arguments": …}`, with keys of ours."""


def redacted(told: Told, redactor: Redactor) -> Told:
    """The same without secrets: anything that a report is told, or a trajectory.

    What is secret in one place of a result or a trajectory is taken out of all its texts.
    """
    if isinstance(told, Trajectory):
        redactor = redactor.knowing(secrets_of(told, redactor))
    elif isinstance(told, Result):
        found = (attempt.secrets.get(redactor.name, ()) for attempt in told.attempts)
        redactor = redactor.knowing(secret for secrets in found for secret in secrets)
    elif isinstance(told, RunEnd) and told.comparison is not None:
        # The decision names tests.
        changed = (change.secrets.get(redactor.name, ()) for change in told.comparison.changes)
        redactor = redactor.knowing(secret for secrets in changed for secret in secrets)
    return _struct(told, redactor)


def secrets_of(trajectory: Trajectory, redactor: Redactor) -> Iterator[str]:
    """Every secret of a trajectory, as it stands there."""
    for call in trajectory.tool_calls or ():
        for value in (call.arguments, call.result, call.arguments_text, call.error, call.name, call.id):
            yield from redactor.find(value)
    for value in (trajectory.messages, trajectory.output, trajectory.metadata, trajectory.expectations, trajectory.id):
        yield from redactor.find(value)


def secrets_in(expected: Any, redactor: Redactor) -> Iterator[str]:
    """Every secret of a test or an assertion, as its file writes it."""
    if expected is None or isinstance(expected, Where | bool) or expected is msgspec.UNSET:
        return
    if isinstance(expected, msgspec.Struct) and not isinstance(expected, Operator):
        for field in expected.__struct_fields__:
            yield from secrets_in(getattr(expected, field), redactor)
    elif isinstance(expected, tuple):
        for item in expected:
            yield from secrets_in(item, redactor)
    else:
        yield from redactor.find(written(expected))


def _struct(told: Told, redactor: Redactor) -> Told:
    """The struct with every field shown without secrets."""
    changes: dict[str, Any] = {}
    for field in told.__struct_fields__:
        if field not in _KEPT:
            value = getattr(told, field)
            shown = _field(field, value, redactor)
            if shown is not value:
                changes[field] = shown
    return msgspec.structs.replace(told, **changes) if changes else told


def _field(field: str, value: Any, redactor: Redactor) -> Any:
    if field == "secrets":
        return {}
    if field == "alignments":
        return _Alignments(value, redactor) if value else value
    if field in _NAMED and isinstance(value, Mapping):
        return {name: _shown(item, redactor) for name, item in redactor.unique(value)} if value else value
    if field == "labels" and isinstance(value, dict):
        return _holder(value, redactor)
    if field in _CALLS and isinstance(value, dict):
        return _call(value, redactor)
    if field in _CALLS and isinstance(value, tuple):
        return tuple(_call(item, redactor) for item in value)
    return _shown(value, redactor)


def _shown(value: Any, redactor: Redactor) -> Any:
    if value is None or isinstance(value, enum.Enum | bool):
        return value
    if isinstance(value, Verdict):
        return _verdict(value, redactor)
    if isinstance(value, Finding | RowDifference | CallDifference):
        return _difference(value, redactor)
    if isinstance(value, TestChange):
        return _struct(value, redactor.knowing(value.secrets.get(redactor.name, ())))
    if isinstance(value, msgspec.Struct):
        return _struct(value, redactor)
    if isinstance(value, tuple):
        return tuple([_shown(item, redactor) for item in value])
    return value if isinstance(value, int | float) else redactor.value(value)


def _call(call: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A call as rows write it: the rules are for its arguments, not for the keys around them."""
    return {key: redactor.value(value) for key, value in call.items()}


def _holder(held: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A mapping whose own keys are mostly ours, such as `precision` or `tags`: only a rule that names one hides it."""
    names = redactor.rules.names_key
    shown = {key: redactor.hidden(item) if names(key) else redactor.value(item) for key, item in held.items()}
    return dict(redactor.unique(shown))


def _verdict(verdict: Verdict, redactor: Redactor) -> Verdict:
    evidence = verdict.evidence.spoken()
    shown = Evidence(
        findings=_shown(evidence.findings, redactor),
        details=_holder(evidence.details, redactor),
        score=evidence.score,
        precision=evidence.precision,
        recall=evidence.recall,
        fails=evidence.fails,
    )
    names = {"id": redactor.text(verdict.id), "name": redactor.text(verdict.name)}
    return msgspec.structs.replace(verdict, **names, evidence=shown)


def _difference(found: Difference, redactor: Redactor) -> Difference:
    """A finding, whose values stand at a path inside the arguments."""
    sides = ("before", "after") if isinstance(found, CallDifference) else ("expected", "actual")
    try:
        path = paths.parse(found.path)
    except ValueError:
        path = ()
    return msgspec.structs.replace(
        found,
        message=redactor.text(found.message),
        path=redactor.text(found.path),
        **{side: redactor.at(getattr(found, side), path) for side in sides},
    )


class _Alignments(Mapping[str, tuple[Row, ...]]):
    """Expected beside made without secrets, lined up and looked through when somebody looks."""

    def __init__(self, alignments: Mapping[str, tuple[Row, ...]], redactor: Redactor) -> None:
        self._alignments = alignments
        self._redactor = redactor
        self._ids = dict(redactor.unique({name: name for name in alignments}))

    def __getitem__(self, identity: str) -> tuple[Row, ...]:
        rows: tuple[Row, ...] = _shown(tuple(self._alignments[self._ids[identity]]), self._redactor)
        return rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
