"""Other tools' test sets, by meaning: one file a dialect, one line in `DIALECTS`."""

from __future__ import annotations

from typing import Final

from rightcall.errors import UsageError, did_you_mean
from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.dialects.native import NATIVE
from rightcall.testsets.dialects.orbit import ORBIT
from rightcall.testsets.dialects.rhesis import RHESIS

DIALECTS: Final = {dialect.name: dialect for dialect in (NATIVE, ORBIT, RHESIS)}

__all__ = ["DIALECTS", "Dialect", "named"]


def named(name: str) -> Dialect:
    """The dialect of that name; `UsageError` if there is none."""
    if name in DIALECTS:
        return DIALECTS[name]
    known = ", ".join(DIALECTS)
    raise UsageError(f"unknown dialect `{name}`{did_you_mean(name, DIALECTS)}; the dialects are {known}")
