"""Rightcall's own words: nothing to translate, and `$` operators in arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.testsets.dialects.base import Dialect, Written

if TYPE_CHECKING:
    from rightcall.testsets.model import TestSet


def write(test_set: TestSet) -> Written:
    """A test set in native words, which say everything."""
    from rightcall.testsets.writing import native_keys

    return Written(data=native_keys(test_set))


DIALECT = Dialect(name="native", write=write)
