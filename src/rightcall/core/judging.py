"""Why a check gives no verdict of pass or fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CannotJudge(Exception):
    """A check cannot decide: it becomes a verdict of status `error` (code and reason, and details if there are any)."""

    def __init__(self, code: str, reason: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.details = details or {}


class NothingToJudge(Exception):
    """What a check speaks of was not there: it becomes a verdict of status `not_applicable` (code and reason)."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def told(error: BaseException) -> str:
    """The class of an exception and what it says, where it can say anything."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return f"{type(error).__name__}, which cannot be shown"
