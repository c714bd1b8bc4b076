"""Patterns: a tool's name and how its arguments must match, as data and compiled (G13 to G16)."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core.assertion import Setting
from rightcall.core.calls import UNKNOWN_STATES, ToolCall
from rightcall.core.operators import Operator
from rightcall.core.operators.arguments import absent_keys, compile_arguments, in_place
from rightcall.core.stringify import stringify
from rightcall.core.values import comparer, deep_matches, freeze, is_json, is_plain, member
from rightcall.errors import TestSetError, Where

Thing = TypeVar("Thing")
ArgumentsMode = Literal["partial", "exact", "ignore", "subset", "regex", "deep"]


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the arguments of one call must match, whatever the test's default.

    `mode` `exact`, `subset`, `partial` and `deep` need `args`; `regex` needs `pattern`, a JavaScript regular
    expression with optional `flags`, which is searched in `JSON.stringify(arguments)`; `ignore` needs neither.
    """

    mode: ArgumentsMode
    args: Any = UNSET
    pattern: str | UnsetType = UNSET
    flags: str = ""


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool call that a test expects.

    Without `arguments` any arguments are accepted. `match` overrides the test's argument mode for this call;
    `ignore_arguments` names arguments, or globs of them, that are not compared; `defaults` maps an argument to
    the value that it may have, or be absent; `fill_defaults` takes such values from the tool's JSON Schema.
    """

    name: str
    arguments: Any = UNSET
    match: Match | UnsetType = UNSET
    ignore_arguments: tuple[str, ...] = ()
    defaults: dict[str, Any] = {}
    fill_defaults: bool = False


DEFAULTS_ARE_VALUES: Final = "a default is a value, no operator; write `$optional` among the `arguments` instead"

MatchesArguments = Callable[[Any], bool]
"""Decides on the arguments of a call whose state is `ok`."""


class Pattern(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """An expected call, compiled.

    `matches` is `None` when any arguments are accepted, whatever their state. `arguments` are what is compared,
    after `normalise` if there is one, operators in them as `Bound`; `text` is what a regular expression is shown as.
    """

    name: str
    mode: ArgumentsMode
    arguments: Any = UNSET
    matches: MatchesArguments | None = None
    normalise: Callable[[Any], Any] | None = None
    has_operators: bool = False
    text: str = ""

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
        return call.arguments_state == "ok" and self.matches(call.arguments)

    def may_accept(self, call: ToolCall) -> bool:
        """The same with unknown arguments matching everything (G11)."""
        return call.arguments_state in UNKNOWN_STATES or self.accepts(call)


def compile_call(call: ExpectedCall, mode: ArgumentsMode, setting: Setting) -> Pattern:
    """Compile an expected call under the test's argument mode; `TestSetError` with a path inside the call."""
    if call.match is not UNSET:
        if call.arguments is not UNSET:
            raise TestSetError("write either `arguments` or `match`, not both", Where(path="match"))
        return _from_match(call, setting)
    if call.arguments is UNSET or mode == "ignore":
        return Pattern(name=call.name, mode=mode)
    return _from_arguments(call, mode, call.arguments, setting)


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
    normalise = _normaliser(call, expected, setting)
    compared = in_place(expected, normalise) if normalise else expected
    has_operators = not is_json(compared)
    if not has_operators:
        compare = _comparison(mode, compared)
    elif isinstance(compared, Operator) and compared.accepts_all and mode != "subset":
        return Pattern(name=call.name, mode=mode)
    else:
        compared, compare = _compile_operators(call, mode, compared, setting)
    if compare is None:
        return Pattern(name=call.name, mode=mode, arguments=compared)
    return Pattern(
        name=call.name,
        mode=mode,
        arguments=compared,
        has_operators=has_operators,
        matches=compare if normalise is None else lambda arguments: compare(normalise(arguments)),
        normalise=normalise,
    )


def _compile_operators(
    call: ExpectedCall, mode: ArgumentsMode, expected: Any, setting: Setting
) -> tuple[Any, MatchesArguments]:
    try:
        return compile_arguments(expected, mode, setting)
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


def _normaliser(call: ExpectedCall, expected: Any, setting: Setting) -> Callable[[Any], Any] | None:
    """Both sides are compared without the ignored arguments and with the defaults filled in (G16).

    An argument that the expected ones say may be absent is not filled in: what it may be is said there.
    """
    ignored = call.ignore_arguments + setting.ignore_arguments
    defaults = {**(_schema_defaults(call, setting) if call.fill_defaults else {}), **call.defaults}
    if defaults:
        _check_defaults(call, expected)
        defaults = {key: value for key, value in defaults.items() if key not in absent_keys(expected)}
    if not ignored and not defaults:
        return None
    patterns = [re.compile(fnmatch.translate(glob)) for glob in ignored]

    def normalise(arguments: Any) -> Any:
        if not isinstance(arguments, dict):
            return arguments
        filled = {**defaults, **arguments}
        return {key: value for key, value in filled.items() if not any(glob.match(key) for glob in patterns)}

    return normalise


def _check_defaults(call: ExpectedCall, expected: Any) -> None:
    for key, value in call.defaults.items():
        if not is_json(value):
            raise TestSetError(DEFAULTS_ARE_VALUES, Where(path=member("defaults", key)))
    if isinstance(expected, Operator):
        field = "defaults" if call.defaults else "fill_defaults"
        message = f"`{field}` need arguments that are listed, and here all of them are one operator, `{expected.name}`"
        raise TestSetError(message, Where(path=field))


def _schema_defaults(call: ExpectedCall, setting: Setting) -> dict[str, Any]:
    schema = setting.tool_schemas.get(call.name)
    if schema is None:
        message = f"`fill_defaults` needs the JSON Schema of `{call.name}` in `tool_schemas`"
        raise TestSetError(message, Where(path="fill_defaults"))
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    if not isinstance(properties, dict):
        message = f"the JSON Schema of `{call.name}` has no mapping under `properties`"
        raise TestSetError(message, Where(path="fill_defaults"))
    return {
        key: value["default"] for key, value in properties.items() if isinstance(value, dict) and "default" in value
    }
