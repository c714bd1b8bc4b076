"""What one assertion says of one trajectory: status, evidence, reason."""

from __future__ import annotations

import enum
from typing import Any, Literal

import msgspec

Severity = Literal["block", "warn", "shadow"]


class Status(enum.StrEnum):
    """The four statuses of a verdict (G1)."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    NOT_APPLICABLE = "not_applicable"


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


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one assertion says of one trajectory.

    `id` is unique within the test: the name, then `name[2]`, … in declaration order (G6). `score` is 0 or 1,
    or 0 to 100 for `tool_select`, and `None` for `error` and `not_applicable`. `reason` is the first
    finding's message, empty on a pass. `details` holds what the kind measured beside it.
    """

    id: str
    name: str
    kind: str
    status: Status
    severity: Severity = "block"
    score: float | None = None
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    details: dict[str, Any] = {}
