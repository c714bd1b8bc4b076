"""Rightcall's own words: nothing to translate, and `$` operators in arguments."""

from __future__ import annotations

from typing import Any

from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.operators import native


def _as_it_is(test: Any) -> Any:
    return test


NATIVE = Dialect(name="native", translate=_as_it_is, arguments=native)
