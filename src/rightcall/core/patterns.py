"""Patterns: a tool's name and how its arguments must match, as data and compiled (G13 to G16)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core.assertion import CannotJudge, Setting
from rightcall.core.calls import UNKNOWN_STATES, ToolCall
from rightcall.core.defaults import normaliser
from rightcall.core.expected import ArgumentsMode, ExpectedCall, Match
from rightcall.core.operators import Operator
from rightcall.core.operators.arguments import compile_arguments, in_place
from rightcall.core.provenance import Earlier, PlacedCall, Undecided, uses_results
from rightcall.core.stringify import stringify
from rightcall.core.values import comparer, deep_matches, freeze, is_json, is_plain
from rightcall.errors import TestSetError, Where

__all__ = [
    "ArgumentsMode",
    "ExpectedCall",
    "Match",
    "MatchesArguments",
    "Pattern",
    "ask_results",
    "compile_call",
    "compile_each",
    "compile_match",
]

Thing = TypeVar("Thing")
MatchesArguments = Callable[[Any], bool]
"""Decides on the arguments of a call whose state is `ok`."""


class Pattern(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """An expected call, compiled.

    `matches` is `None` when any arguments are accepted, whatever their state. `arguments` are what is compared,
    after `normalise` if there is one, operators in them as `Bound`; `text` is what a regular expression is shown as.
    Where it asks for results of earlier calls, `compile_at` makes it ready for what one call could know, and `matches`
    raises `Undecided` where that would decide.
    """

    name: str
    mode: ArgumentsMode
    arguments: Any = UNSET
    matches: MatchesArguments | None = None
    normalise: Callable[[Any], Any] | None = None
    has_operators: bool = False
    text: str = ""
    compile_at: Callable[[Earlier], Pattern] | None = None

    @functools.cached_property
    def key(self) -> Hashable:
        """Equal for patterns that are known to accept the same calls."""
        if self.matches is None:
            return (self.name,)
        if self.normalise or self.arguments is UNSET or not is_json(self.arguments):
            return id(self)
        return (self.name, self.mode, freeze(self.arguments))

    @functools.cached_property
    def literals(self) -> tuple[tuple[str, Any], ...]:
        """The top-level members that the arguments must have, for an index to find calls by.

        None where arguments are normalised first; nested objects are none where they are open.
        """
        if self.normalise or not isinstance(self.arguments, dict):
            return ()
        is_open = self.mode == "deep"
        items = self.arguments.items()
        closed = [(key, value) for key, value in items if not (is_open and isinstance(value, dict | list | tuple))]
        return tuple((key, value) for key, value in closed if is_json(value))

    def accepts(self, call: ToolCall) -> bool:
        """Whether the arguments of a call of this name match; unknown and malformed ones match only "any"."""
        if self.matches is None:
            return True
        if self.compile_at is not None:
            return self._decision(call) is True
        return call.arguments_state == "ok" and self.matches(call.arguments)

    def may_accept(self, call: ToolCall) -> bool:
        """The same with unknown arguments, and results of earlier calls that are unknown, matching everything (G11)."""
        if call.arguments_state in UNKNOWN_STATES:
            return True
        return self.accepts(call) if self.compile_at is None else self._decision(call) is not False

    def doubt(self, call: ToolCall) -> CannotJudge | None:
        """The result of an earlier call that decides whether this one matches and is not known, if there is one."""
        decision = True if self.compile_at is None else self._decision(call)
        return None if isinstance(decision, bool) else decision

    def at(self, call: ToolCall) -> Pattern:
        """The pattern as it is for one call: itself, or made ready for what that call could know."""
        if self.compile_at is None or not isinstance(call, PlacedCall):
            return self
        return self.compile_at(call.earlier)

    def _decision(self, call: ToolCall) -> bool | Undecided:
        assert self.matches is not None
        if not isinstance(call, PlacedCall):
            raise CannotJudge("no_calls", "Where values come from cannot be judged here.")
        if call.arguments_state != "ok":
            return False
        try:
            return self.matches(call.arguments)
        except Undecided:
            ready = self.at(call).matches
        assert ready is not None
        try:
            return ready(call.arguments)
        except Undecided as undecided:
            return undecided


def compile_call(call: ExpectedCall, mode: ArgumentsMode, setting: Setting) -> Pattern:
    """Compile an expected call under the test's argument mode; `TestSetError` with a path inside the call."""
    if call.match is not UNSET:
        if call.arguments is not UNSET:
            raise TestSetError("write either `arguments` or `match`, not both", Where(path="match"))
        return _from_match(call, setting)
    if call.arguments is UNSET or mode == "ignore":
        return Pattern(name=call.name, mode=mode)
    return _from_arguments(call, mode, call.arguments, setting)


def ask_results(patterns: Iterable[Pattern]) -> bool:
    """Whether one of them asks for results of earlier calls."""
    return any(pattern.compile_at is not None for pattern in patterns)


def compile_each(things: Iterable[Thing], compile_one: Callable[[Thing], Pattern], field: str) -> list[Pattern]:
    """Compile a list; an error of one of them has its place in the field that lists them."""
    patterns = []
    for index, thing in enumerate(things):
        try:
            patterns.append(compile_one(thing))
        except TestSetError as error:
            raise error.within(path=f"{field}[{index}]") from None
    return patterns


def compile_match(tool: str, match: Match | UnsetType, setting: Setting) -> Pattern:
    """Compile a tool's name with a match object, which may be left out: then any arguments are accepted."""
    return compile_call(ExpectedCall(name=tool, match=match), "ignore", setting)


def _from_match(call: ExpectedCall, setting: Setting) -> Pattern:
    match = call.match
    assert isinstance(match, Match)
    _check_keys(match)
    if match.mode == "regex":
        return _from_regex(call, match, setting)
    if match.mode == "ignore":
        return Pattern(name=call.name, mode="ignore")
    return _from_arguments(call, match.mode, match.args, setting)


def _check_keys(match: Match) -> None:
    wanted = {"regex": "pattern", "ignore": None}.get(match.mode, "args")
    given = {"pattern": match.pattern is not UNSET, "args": match.args is not UNSET}
    for key, is_given in given.items():
        if key == wanted and not is_given:
            raise TestSetError(f"mode `{match.mode}` needs `{key}`", Where(path="match"))
        if key != wanted and is_given:
            raise TestSetError(f"`{key}` has no effect in mode `{match.mode}`", Where(path=f"match.{key}"))
    if match.flags and match.mode != "regex":
        raise TestSetError(f"`flags` have no effect in mode `{match.mode}`", Where(path="match.flags"))


def _from_regex(call: ExpectedCall, match: Match, setting: Setting) -> Pattern:
    if call.ignore_arguments or call.defaults or call.fill_defaults:
        raise TestSetError("a `regex` match sees the whole text of the arguments: nothing of it can be ignored")
    assert isinstance(match.pattern, str)
    try:
        found = setting.regex(match.pattern, match.flags)
    except ValueError as error:
        raise TestSetError(f"not a regular expression: {error}", Where(path="match.pattern")) from None
    return Pattern(
        name=call.name,
        mode="regex",
        matches=lambda arguments: found(stringify(arguments)),
        text=f"/{match.pattern}/{match.flags}",
    )


def _from_arguments(call: ExpectedCall, mode: ArgumentsMode, expected: Any, setting: Setting) -> Pattern:
    normalise = normaliser(call, expected, setting)
    compared = in_place(expected, normalise) if normalise else expected
    has_operators = not is_json(compared)
    if not has_operators:
        compare = _comparison(mode, compared)
    elif isinstance(compared, Operator) and compared.accepts_all and mode != "subset":
        return Pattern(name=call.name, mode=mode)
    else:
        return _with_operators(call, mode, compared, normalise, setting)
    if compare is None:
        return Pattern(name=call.name, mode=mode, arguments=compared)
    return Pattern(
        name=call.name,
        mode=mode,
        arguments=compared,
        matches=_after(normalise, compare),
        normalise=normalise,
    )


def _after(normalise: Callable[[Any], Any] | None, compare: MatchesArguments) -> MatchesArguments:
    return compare if normalise is None else lambda arguments: compare(normalise(arguments))


def _with_operators(
    call: ExpectedCall, mode: ArgumentsMode, expected: Any, normalise: Callable[[Any], Any] | None, setting: Setting
) -> Pattern:
    def ready(earlier: Earlier | None) -> Pattern:
        compared, compare = _compile_operators(call, mode, expected, setting, earlier)
        return Pattern(
            name=call.name,
            mode=mode,
            arguments=compared,
            has_operators=True,
            matches=_after(normalise, compare),
            normalise=normalise,
            compile_at=ready if earlier is None and uses_results(expected) else None,
        )

    return ready(None)


def _compile_operators(
    call: ExpectedCall, mode: ArgumentsMode, expected: Any, setting: Setting, earlier: Earlier | None
) -> tuple[Any, MatchesArguments]:
    try:
        return compile_arguments(expected, mode, setting, earlier)
    except TestSetError as error:
        raise error.within(path="arguments" if call.match is UNSET else "match.args") from None


def _comparison(mode: ArgumentsMode, expected: Any) -> MatchesArguments | None:
    """How arguments are compared in a mode; `None` when any are accepted."""
    if not isinstance(expected, dict) or (mode == "exact" and is_plain(expected)):
        return comparer(expected)
    if mode == "exact":
        listed, size = _listed_keys(expected), len(expected)
        return lambda arguments: listed(arguments) and len(arguments) == size
    if not expected and mode in ("partial", "deep"):
        return None
    if mode == "deep":
        return lambda arguments: isinstance(arguments, dict) and deep_matches(expected, arguments)
    return _listed_keys(expected)


def _listed_keys(expected: Mapping[str, Any]) -> MatchesArguments:
    """`partial` and `subset`: every listed top-level key is there with an equal value.

    One comparison of item views does it, but for values that need more than Python's `==`.
    """
    others = {key: comparer(value) for key, value in expected.items() if type(value) is not str and not is_plain(value)}
    items = {key: value for key, value in expected.items() if key not in others}.items() if others else expected.items()
    compared = tuple(others.items())

    def has_items(arguments: Any) -> bool:
        return isinstance(arguments, dict) and items <= arguments.items()

    def has_equal_items(arguments: Any) -> bool:
        if not has_items(arguments):
            return False
        for key, is_equal in compared:  # noqa: SIM110  # a generator would cost more than what it goes over
            if key not in arguments or not is_equal(arguments[key]):
                return False
        return True

    return has_equal_items if compared else has_items
