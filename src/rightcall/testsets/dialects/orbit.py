"""Orbit's dataset rows and scenarios: `expected_tool_calls` lists the names of tools that must be called.

A row's `min_pass_rate` is the share of its assertions that must pass (G36). Arguments are data: `$gt` is a key.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.assertions.arguments import ToolCallArgs
from rightcall.assertions.sequence import ToolSequence
from rightcall.core.assertion import Assertion
from rightcall.core.patterns import Match
from rightcall.errors import TestSetError
from rightcall.testsets.arguments import as_data
from rightcall.testsets.dialects.base import Dialect, Written, with_keys_renamed
from rightcall.testsets.keys import EXPECTATION_KEYS
from rightcall.testsets.model import Test, TestSet
from rightcall.testsets.saying import check_common, check_settings, in_steps
from rightcall.testsets.writing import data_written, native_test

_RENAMES = {"required_tools": "expected_tool_calls", "min_assertion_rate": "min_pass_rate"}
_FAMILIES: Final = ("required_tools", "tool_call_args", "expected_tool_sequence", "allowed_tools")
"""What a row can expect."""
_OURS: Final = ("turns", "tool_aliases", "ignore_arguments", "count", "parallel", "repeat", "min_pass_rate")


_MODES: Final = ("exact", "subset", "regex")
"""How arguments can be matched there."""


def translate(row: Any) -> Any:
    """A row as a native test."""
    return with_keys_renamed(row, _RENAMES)


def write(test_set: TestSet) -> Written:
    """Rows. What an expected list in order says, a sequence says too."""
    return Written(data={"dialect": "orbit", "rows": [_row(test) for test in test_set.tests]})


def _row(test: Test) -> dict[str, Any]:
    check_settings(test, "orbit", _OURS)
    for assertion in test.assertions:
        check_common(assertion, test, "orbit")
        _check_words(assertion, test)
    keys = native_test(in_steps(test), data_written)
    for name in keys:
        if name in EXPECTATION_KEYS and name not in _FAMILIES:
            raise TestSetError(f"`{name}` of this test cannot be said in the dialect `orbit`", test.where)
    return {_RENAMES.get(key, key): value for key, value in keys.items()}


def _check_words(assertion: Assertion, test: Test) -> None:
    """Refuse what is written where a row has it, but in words that only we know."""
    matches: list[Any] = []
    if isinstance(assertion, ToolCallArgs):
        matches = [assertion.match]
        if assertion.negate:
            raise TestSetError("`negate` cannot be said in the dialect `orbit`", test.where)
    if isinstance(assertion, ToolSequence):
        matches = [step.match for step in assertion.steps]
    for match in matches:
        if isinstance(match, Match) and match.mode not in _MODES:
            raise TestSetError(f"`mode: {match.mode}` cannot be said in the dialect `orbit`", test.where)


DIALECT = Dialect(
    name="orbit",
    translate=translate,
    arguments=as_data,
    renames=_RENAMES,
    holders=("rows", "scenarios"),
    write=write,
)
