"""A test set as the keys of a native file: reading them gives the same tests again."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.assertions.selection import ToolSelect
from rightcall.assertions.sequence import ToolSequence
from rightcall.assertions.tools import AllowedTools, ForbiddenTools, RequiredTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion
from rightcall.core.operators import Operator
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.core.values import is_json
from rightcall.errors import TestSetError
from rightcall.testsets.foreign import literal
from rightcall.testsets.keys import BESIDE, EXPECTATIONS
from rightcall.testsets.model import Test, TestSet
from rightcall.testsets.sugar import SETTINGS

WriteValue = Callable[[Any], Any]
"""Writes expected arguments; `TestSetError` for what cannot be written."""

_VALUES: Final = frozenset({(ExpectedCall, "arguments"), (Match, "args")})
"""Fields that are expected arguments."""
KEPT: Final = ("name", "requirement", "category", "topic", "prompt", "persona", "tags", "metadata")
AROUND: Final = ("tool_schemas", "tool_aliases", "ignore_arguments", "count", "parallel", "repeat")
RATES: Final = ("min_pass_rate", "min_assertion_rate")
_LISTS: Final[dict[type[Assertion], tuple[str, str]]] = {
    ToolSequence: ("expected_tool_sequence", "steps"),
    AllowedTools: ("allowed_tools", "tools"),
    ForbiddenTools: ("forbidden_tools", "tools"),
}
"""Assertions that one key lists, with the field that it lists."""
_COMMON: Final = msgspec.structs.fields(Assertion)
"""What every assertion has, such as a name; what is short for one has nothing of it."""


def native_keys(test_set: TestSet) -> dict[str, Any]:
    """The keys of a native file with these tests, everything written on the tests themselves."""
    gate = _plain(test_set.gate, value_written)
    models = {key: getattr(test_set, key) for key in ("judge", "simulator") if getattr(test_set, key) is not None}
    head = {
        "name": test_set.name,
        "gate": gate,
        **{key: _plain(model, value_written) for key, model in models.items()},
        "endpoint": test_set.endpoint,
        "metadata": test_set.metadata,
    }
    kept = {key: value for key, value in head.items() if value not in ("", None, {})}
    return {"version": 1, **kept, **test_set.extra, "tests": [native_test(test) for test in test_set.tests]}


def native_test(test: Test, write_value: WriteValue | None = None) -> dict[str, Any]:
    """The keys of one test. `write_value` writes expected arguments, by default as native files have them."""
    keys: dict[str, Any] = {} if test.positional else {"id": test.id}
    keys |= _changed(test, KEPT)
    keys |= test.extra
    try:
        keys |= _expected(test, write_value or value_written)
    except TestSetError as error:
        raise TestSetError(error.message, test.where) from None
    around = _changed(test, AROUND)
    if _said_in_order(keys).isdisjoint(BESIDE["parallel"]):
        around.pop("parallel", None)  # it has no effect there, and would be refused
    return {**keys, **around, **_changed(test, RATES)}


def _said_in_order(keys: dict[str, Any]) -> set[str]:
    return {key for part in (keys, *keys.get("turns", ())) for key in part}


def _changed(test: Test, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a test that are not what they are by themselves."""
    empty = Test(id="")
    return {
        name: _plain(getattr(test, name), value_written)
        for name in names
        if getattr(test, name) != getattr(empty, name)
    }


def _expected(test: Test, write_value: WriteValue) -> dict[str, Any]:
    """What a test expects: of all of it, then of its turns one after the other, then in the general form."""
    first = next((at for at, one in enumerate(test.assertions) if one.turn is not None), len(test.assertions))
    if not test.turns:
        return _expectations(test.assertions, write_value)
    keys, rest = _expectations(test.assertions[:first], write_value), list(test.assertions[first:])
    turns = [{} if prompt is None else {"prompt": prompt} for prompt in test.turns]
    if "assertions" not in keys:
        for number, turn in enumerate(turns, 1):
            until = next((at for at, one in enumerate(rest) if one.turn != number), len(rest))
            own = tuple([msgspec.structs.replace(one, turn=None) for one in rest[:until]])
            turn |= _expectations(own, write_value)
            rest = rest[until:]
    general = [*keys.pop("assertions", ()), *[_general(one, write_value) for one in rest]]
    return {**keys, "turns": turns, **({"assertions": general} if general else {})}


def _expectations(assertions: tuple[Assertion, ...], write_value: WriteValue) -> dict[str, Any]:
    """The assertions under the keys that are short for them, as long as they stand in the order of those keys."""
    keys: dict[str, Any] = {}
    for index, assertion in enumerate(assertions):
        short = _short(assertion, write_value)
        if short is None or not _follows(short, keys):
            return {**keys, "assertions": [_general(one, write_value) for one in assertions[index:]]}
        for key, value in short.items():
            keys[key] = [*keys[key], *value] if key in keys else value
    return keys


def _follows(short: dict[str, Any], keys: dict[str, Any]) -> bool:
    """Whether a key may come after those that are there: later ones, or another item of a list of assertions."""
    key = next(iter(short))
    last = max((EXPECTATIONS.index(name) for name in keys if name in EXPECTATIONS), default=-1)
    at = EXPECTATIONS.index(key)
    return at > last or (at == last and key in ("required_tools", "tool_call_args"))


def _short(assertion: Assertion, write_value: WriteValue) -> dict[str, Any] | None:
    """The key that is short for an assertion, with its value; none for one with a name or severity of its own."""
    if any(getattr(assertion, field.name) != field.default for field in _COMMON):
        return None
    match assertion:
        case ToolCallTrajectory():
            fields = _fields(assertion, write_value)
            return {"expected_tool_calls": _bare(fields["expected_tool_calls"]), **_present(fields, SETTINGS)}
        case RequiredTool():
            return {"required_tools": [assertion.tool]}
        case ToolSelect(expected_tools=tuple() as named):
            threshold = {} if assertion.threshold == 100 else {"threshold": assertion.threshold}
            return {"expected_tools": list(named), **threshold}
        case ToolSequence(is_plain=False):
            return None  # no short way says it in the words of all dialects
        case ToolSequence() | AllowedTools() | ForbiddenTools():
            key, field = _LISTS[type(assertion)]
            value = _plain(getattr(assertion, field), write_value)
            # An empty list of steps or bans is no expectation as a key, but an assertion in its general form.
            return {key: value} if value or key == "allowed_tools" else None
    if assertion.__struct_config__.tag == "arguments":
        return {"tool_call_args": [_fields(assertion, write_value)]}
    return None


def _bare(calls: list[dict[str, Any]]) -> list[Any]:
    """The calls, those that accept any arguments as their names."""
    return [call["name"] if len(call) == 1 else call for call in calls]


def _present(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: fields[name] for name in names if name in fields}


def _general(assertion: Assertion, write_value: WriteValue) -> dict[str, Any]:
    return {"kind": assertion.__struct_config__.tag, **_fields(assertion, write_value)}


def _fields(struct: msgspec.Struct, write_value: WriteValue) -> dict[str, Any]:
    """The fields of a struct that are not what they are by themselves, as a file writes them."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(type(struct)):
        value = getattr(struct, field.name)
        if value is UNSET:
            continue
        if (type(struct), field.name) in _VALUES:  # never compared with a default, which an operator may accept
            fields[field.name] = write_value(value)
        elif field.required or value != _default(field):
            fields[field.name] = _plain(value, write_value)
    return fields


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _plain(value: Any, write_value: WriteValue) -> Any:
    """A field as JSON."""
    if isinstance(value, msgspec.Struct) and not isinstance(value, Operator):
        return _fields(value, write_value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(item, write_value) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item, write_value) for key, item in value.items()}
    return value


def value_written(value: Any) -> Any:
    """Expected arguments as a file writes them; `TestSetError` for Python objects, which no file can hold."""
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    return _value(value)


def data_written(value: Any) -> Any:
    """Expected arguments for a dialect in which everything is data."""
    if not is_json(value):
        raise TestSetError("operators in arguments cannot be said in this dialect, where all of them are data")
    return msgspec.json.encode(value).decode() if isinstance(value, str) else value


def _value(value: Any) -> Any:
    if isinstance(value, Operator):
        return value.form()
    if is_json(value):
        return literal(value)
    if isinstance(value, dict):
        if any(key.startswith("$") for key in value):
            raise TestSetError("an operator inside a mapping with keys that begin with `$` cannot be written")
        return {key: _value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    raise TestSetError(f"a Python object of type {type(value).__name__} cannot be written to a file")
