"""What one assertion says of one trajectory: status, evidence, reason."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

Severity = Literal["block", "warn", "shadow"]


class Status(enum.StrEnum):
    """The four statuses of a verdict (G1)."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    NOT_APPLICABLE = "not_applicable"

    @property
    def short(self) -> str:
        """As tables show it."""
        return "n/a" if self is Status.NOT_APPLICABLE else self.value


WORST_FIRST: Final = (Status.FAIL, Status.ERROR, Status.PASS, Status.NOT_APPLICABLE)
"""Of several statuses, the first in this order weighs most."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of evidence against a trajectory.

    `code` is stable (`missing`, `unexpected`, `out_of_order`, `arguments_differ`, `too_few`, `forbidden`,
    `not_recorded`, `timeout`, …), `message` may improve. `expected_index` and `made_index` count from 0;
    `path` is the JSON path of the first difference inside the arguments.
    """

    code: str
    message: str
    expected_index: int | None = None
    made_index: int | None = None
    path: str = ""
    expected: Any = msgspec.UNSET
    actual: Any = msgspec.UNSET


Findings = tuple[Finding, ...]


Words = tuple[Findings, dict[str, Any]]


class Evidence(msgspec.Struct):
    """What a check found. It failed if `fails` says so or if there are findings.

    `precision` and `recall` are those of G19, for kinds that have them; `score` is given only by kinds
    whose score is not 0 or 1. A check that has decided may leave it to `words` to give the findings and details:
    they are asked for when somebody first reads them, and `fails` says whether there are findings.
    """

    findings: Findings = ()
    details: dict[str, Any] = {}
    score: float | None = None
    precision: float | None = None
    recall: float | None = None
    words: Callable[[], Words] | None = None
    fails: bool = False

    def spoken(self) -> Evidence:
        """The same evidence, with its findings and details."""
        words = self.words  # read once: two threads may ask at the same time, and find the same words
        if words is not None:
            self.findings, self.details = words()
            self.words = None
        return self


class Verdict(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What one assertion says of one trajectory.

    `id` is unique within the test: the name, then `name[2]`, … in declaration order (G6). `score` is 0 or 1,
    or 0 to 100 for `tool_select`, and `None` for `error` and `not_applicable`. `ban` says that the assertion
    forbids something, so that no rate over assertions may soften it (G25).
    """

    id: str
    name: str
    kind: str
    status: Status
    severity: Severity = "block"
    score: float | None = None
    ban: bool = False
    evidence: Evidence = msgspec.field(default_factory=Evidence)

    @property
    def findings(self) -> Findings:
        """The evidence against the trajectory, the first difference first; empty on a pass."""
        return self.evidence.spoken().findings

    @property
    def reason(self) -> str:
        """The first finding's message; empty on a pass (G4)."""
        findings = self.findings
        return findings[0].message if findings else ""

    @property
    def details(self) -> dict[str, Any]:
        """What the kind measured; `reason` says on a pass what matched, where the kind can say it."""
        evidence = self.evidence.spoken()
        return {**evidence.details, "reason": self.reason} if evidence.findings else evidence.details

    @property
    def precision(self) -> float | None:
        """The share of calls made that are paired with an expected one, where the kind measures it."""
        return self.evidence.precision

    @property
    def recall(self) -> float | None:
        """The share of expected calls that are paired with one made, where the kind measures it."""
        return self.evidence.recall

    def __repr__(self) -> str:
        return f"Verdict(id={self.id!r}, status={self.status.value!r}, reason={self.reason!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verdict) and self.record() == other.record()

    def __hash__(self) -> int:
        return hash((self.id, self.status))

    def record(self) -> dict[str, Any]:
        """The verdict as reports write it."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "status": self.status,
            "severity": self.severity,
            "score": self.score,
            "reason": self.reason,
            "findings": self.findings,
            "details": self.details,
        }
