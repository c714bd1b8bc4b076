"""Runs and results in outline: what a comparison needs of them, made from results or read from a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core.results import Outcome, Result
from rightcall.core.summary import RULES_VERSION
from rightcall.core.verdicts import Severity, Status


class VerdictRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison needs of a verdict."""

    id: str
    name: str
    status: Status
    severity: Severity = "block"
    reason: str = ""


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison needs of an attempt.

    `made` are its calls; `None` if none were recorded, unset if the report does not keep them.
    """

    outcome: Outcome
    trajectory: str = ""
    reason: str = ""
    verdicts: tuple[VerdictRow, ...] = ()
    made: tuple[dict[str, Any], ...] | UnsetType | None = UNSET


class ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison needs of a result, by the names that the JSON report has for it.

    `secrets` are what each redactor, by its name, found in all of the result: texts that are kept here may show a part.
    """

    id: str
    outcome: Outcome
    reason: str = ""
    place: str = ""
    positional: bool = False
    attempts: tuple[AttemptRow, ...] = ()
    secrets: Mapping[str, tuple[str, ...]] = {}


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison needs of a run as a whole.

    `name` is for people. `is_complete` says that versions and test set are known, which JSON Lines do not tell.
    """

    name: str
    product: str = ""
    rules: str = RULES_VERSION
    test_set: str = ""
    test_set_hash: str = ""
    is_complete: bool = True


def row(result: Result) -> ResultRow:
    """Return what a comparison needs of a result."""
    return ResultRow(
        id=result.id,
        outcome=result.outcome,
        reason=result.reason,
        place=result.place,
        positional=result.positional,
        secrets=secrets(*(attempt.secrets for attempt in result.attempts)),
        attempts=tuple(
            AttemptRow(
                outcome=attempt.outcome,
                trajectory=attempt.trajectory,
                reason=attempt.reason,
                made=attempt.made,
                verdicts=tuple(
                    VerdictRow(id=one.id, name=one.name, status=one.status, severity=one.severity, reason=one.reason)
                    for one in attempt.verdicts
                ),
            )
            for attempt in result.attempts
        ),
    )


def secrets(*each: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What is secret in any of these, by the name of who found it."""
    found: dict[str, dict[str, None]] = {}
    for name, texts in (item for one in each for item in one.items()):
        found.setdefault(name, {}).update(dict.fromkeys(texts))
    return {name: tuple(texts) for name, texts in found.items()}
