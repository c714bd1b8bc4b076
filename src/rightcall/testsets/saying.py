"""What a test expects, for dialects that can say one list of expected calls and little else.

Everything that would change a verdict and cannot be said is refused with the test's place; labels that only reports
show are left out with a note.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NoReturn

import msgspec
from msgspec import UNSET

from rightcall.assertions.sequence import Step, ToolSequence
from rightcall.assertions.tools import AllowedTools
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.core.values import is_json
from rightcall.errors import TestSetError, Where
from rightcall.testsets.explain import listed
from rightcall.testsets.foreign import Note
from rightcall.testsets.model import Test, TestSet

_LABELS: Final = ("name", "requirement", "category", "topic", "tags", "metadata", "extra", "tool_schemas")
_DECIDING: Final = (
    "turns",
    "tool_aliases",
    "ignore_arguments",
    "count",
    "repeat",
    "min_pass_rate",
    "min_assertion_rate",
)


_HEAD: Final = ("name", "judge", "simulator", "endpoint", "metadata", "extra")


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One test as one list of expected calls; `notes` say which labels are left out."""

    id: str
    is_positional: bool
    dialect: str
    where: Where
    prompt: Any
    match: str
    arguments: str
    calls: tuple[ExpectedCall, ...]
    notes: tuple[Note, ...] = ()

    def identity(self, key: str) -> dict[str, str]:
        """The test's id under a key; nothing where it is only a position."""
        return {} if self.is_positional else {key: self.id}

    def refuse(self, message: str) -> NoReturn:
        """Raise the message at the test's place."""
        raise TestSetError(message, self.where)


def said(test: Test, dialect: str) -> Said:
    """What the test expects; `TestSetError` if it is not one list of calls, or one with settings of ours."""
    check_settings(test, dialect, _DECIDING)
    assertion = _only(test, dialect)
    if assertion.only_successful:
        raise TestSetError(f"`only_successful` cannot be said in the dialect `{dialect}`", test.where)
    for call in assertion.expected_tool_calls:
        if call.match is not UNSET or call.ignore_arguments or call.defaults or call.fill_defaults:
            message = f"how `{call.name}` is matched by itself cannot be said in the dialect `{dialect}`"
            raise TestSetError(message, test.where)
    has_any = bool(assertion.expected_tool_calls) and all(_is_bare(call) for call in assertion.expected_tool_calls)
    return Said(
        id=test.id,
        is_positional=test.positional,
        dialect=dialect,
        where=test.where,
        prompt=test.prompt,
        match=assertion.match,
        # Calls that accept any arguments are compared by name, whatever the mode.
        arguments="ignore" if has_any else assertion.arguments,
        calls=assertion.expected_tool_calls,
        notes=tuple(left_out(test, _LABELS, dialect)),
    )


def _only(test: Test, dialect: str) -> ToolCallTrajectory:
    own = [assertion for assertion in test.assertions if isinstance(assertion, ToolCallTrajectory)]
    if len(own) != 1 or len(test.assertions) != 1:
        kinds = [str(assertion.__struct_config__.tag) for assertion in test.assertions] or ["nothing"]
        message = f"the dialect `{dialect}` says one list of expected calls and nothing else; this test expects"
        raise TestSetError(f"{message} {listed(list(dict.fromkeys(kinds)), 'and')}", test.where)
    check_common(own[0], test, dialect)
    # Which calls stood in one message is not known, so that no dialect can say it; of one call it says nothing.
    if "unordered" in (own[0].parallel, test.parallel) and len(own[0].expected_tool_calls) > 1:
        raise TestSetError(f"`parallel: unordered` cannot be said in the dialect `{dialect}`", test.where)
    return own[0]


def in_steps(test: Test) -> Test:
    """The test with an expected list in order as the sequence that says the same, if one does."""
    return msgspec.structs.replace(test, assertions=tuple([_as_steps(assertion) for assertion in test.assertions]))


def _as_steps(assertion: Assertion) -> Assertion:
    if not isinstance(assertion, ToolCallTrajectory) or assertion.match != "in_order" or assertion.only_successful:
        return assertion
    if assertion.parallel == "unordered" and len(assertion.expected_tool_calls) > 1:
        return assertion
    if not assertion.expected_tool_calls:
        return AllowedTools(tools=())
    steps = [_step(call, assertion.arguments) for call in assertion.expected_tool_calls]
    known = [step for step in steps if step is not None]
    return ToolSequence(steps=tuple(known)) if len(known) == len(steps) else assertion


def _step(call: ExpectedCall, mode: str) -> Step | None:
    """A step that accepts the same calls; none where a step cannot say it."""
    if call.ignore_arguments or call.defaults or call.fill_defaults:
        return None
    if call.match is not UNSET:
        return Step(tool=call.name, match=call.match) if call.match.mode in ("exact", "subset", "regex") else None
    if call.arguments is UNSET or mode == "ignore":
        return Step(tool=call.name)
    if mode == "exact" or not isinstance(call.arguments, dict):
        return Step(tool=call.name, match=Match(mode="exact", args=call.arguments))
    return Step(tool=call.name, match=Match(mode="subset", args=call.arguments)) if mode == "partial" else None


def check_common(assertion: Assertion, test: Test, dialect: str) -> None:
    """Refuse an assertion with a name, a severity or anything else that any kind may have."""
    for field in msgspec.structs.fields(Assertion):
        if getattr(assertion, field.name) != field.default:
            raise TestSetError(f"the `{field.name}` of an assertion cannot be said in `{dialect}`", test.where)


def check_settings(test: Test, dialect: str, names: Sequence[str]) -> None:
    """Refuse settings of a test that would change its verdict, if they are not what they are by themselves."""
    empty = Test(id="")
    for name in names:
        if getattr(test, name) != getattr(empty, name):
            raise TestSetError(f"`{name}` cannot be said in the dialect `{dialect}`", test.where)


def check_gate(test_set: TestSet, dialect: str) -> None:
    """Refuse a gate that is not the usual one."""
    if test_set.gate != TestSet().gate:
        message = f"the `gate` cannot be said in the dialect `{dialect}`; leave it out"
        raise TestSetError(message, test_set.source.key("gate"))


def around(test_set: TestSet, dialect: str, kept: Collection[str]) -> list[Note]:
    """One note for each thing that the file says of itself and the dialect has no place for."""
    empty = TestSet()
    gone = [name for name in _HEAD if name not in kept and getattr(test_set, name) != getattr(empty, name)]
    return [Note(f"the dialect `{dialect}` has no place for `{name}` of the file; it is left out") for name in gone]


def left_out(test: Test, names: Sequence[str], dialect: str) -> list[Note]:
    """One note for each label that the dialect has no place for."""
    empty = Test(id="")
    gone = [name for name in names if getattr(test, name) != getattr(empty, name)]
    return [
        Note(f"the dialect `{dialect}` has no place for `{name}`; it is left out", test.where.path) for name in gone
    ]


def _is_bare(call: ExpectedCall) -> bool:
    return call == ExpectedCall(name=call.name)


def plain(test: Said, call: ExpectedCall) -> Any:
    """The arguments of a call, which are data; `{}` where any are accepted, and that is what the mode says of `{}`."""
    if call.arguments is UNSET:
        if test.arguments == "exact":
            test.refuse(f"`{call.name}` with any arguments cannot be said beside exact ones in `{test.dialect}`")
        return {}
    if not is_json(call.arguments):
        test.refuse(f"an operator in the arguments of `{call.name}` cannot be said in the dialect `{test.dialect}`")
    if not isinstance(call.arguments, dict):
        test.refuse(f"arguments of `{call.name}` that are no object cannot be said in the dialect `{test.dialect}`")
    return call.arguments


def agreed(tests: Sequence[Said], name: str, words: Mapping[str, str], dialect: str) -> str:
    """The dialect's word for a setting that it has once a file, so that all tests must have the same."""
    found = {getattr(test, name): test for test in tests}
    for value, test in found.items():
        if value not in words:
            test.refuse(f"`{name}: {value}` cannot be said in the dialect `{dialect}`")
    if len(found) > 1:
        last = list(found.values())[-1]
        last.refuse(f"`{name}` is the same for all tests of a file in the dialect `{dialect}`; here it differs")
    return words[next(iter(found))] if found else next(iter(words.values()))
