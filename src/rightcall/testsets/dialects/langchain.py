"""LangChain's agentevals: trajectory match evaluators against reference messages.

`trajectory_match_mode`, `tool_args_match_mode` and `tool_args_match_overrides` are the parameters of
`create_trajectory_match_evaluator`. Its argument mode `subset` says that what was passed is part of the reference, the
other way round than everywhere else; `superset` is what others call partial. Shapes and meaning: agentevals 0.0.9.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from rightcall.testsets.dialects.base import Dialect, Written
from rightcall.testsets.foreign import At, Note, Opened, Translated, choice, head, literal, opened, rows, written
from rightcall.testsets.model import TestSet
from rightcall.testsets.saying import Said, agreed, plain, said

_MATCH: Final = {"strict": "exact", "unordered": "any_order", "subset": "subset", "superset": "superset"}
_ARGUMENTS: Final = ("exact", "ignore", "subset", "superset")
_MODES: Final[Mapping[str, Literal["exact", "partial", "ignore"]]] = {
    "exact": "exact",
    "subset": "exact",
    "superset": "partial",
    "ignore": "ignore",
}
"""Our mode for each of its argument modes; in `subset` the arguments are optional, one by one."""
_STRICT: Final = "`strict` also compares the roles and the number of messages; here only the calls are compared"

_TURNED: Final = (
    "agentevals takes `subset` and `superset` of arguments also the other way round when trajectories are compared "
    "as `{}`; here they mean what they say"
)
_EMPTY: Final = "a reference without calls lets any calls pass as `superset` there; here it is not judged"


def open_file(file: At) -> Opened:
    """A file of examples with `reference_outputs`, the evaluator's parameters beside them."""
    match = choice(file, "trajectory_match_mode", tuple(_MATCH))
    mode = choice(file, "tool_args_match_mode", _ARGUMENTS)
    overrides = _overrides(file)
    tests = [_judged(_test(row, mode, overrides), match) for row in rows(file, "examples")]
    around = {"parallel": "unordered"} if match == "strict" else {}
    return opened(tests, _notes(match, mode, overrides), match=_MATCH[match], arguments=_MODES[mode], **around)


def _notes(match: str, mode: str, overrides: Mapping[str, At]) -> list[Note]:
    modes = {mode, *[override.value for override in overrides.values() if isinstance(override.value, str)]}
    is_turned = match in ("unordered", "subset") and not modes.isdisjoint(("subset", "superset"))
    return [Note(_STRICT)] * (match == "strict") + [Note(_TURNED.format(match))] * is_turned


def _judged(test: Translated, match: str) -> Translated:
    """The test, without an expectation where any calls at all would pass."""
    if match != "superset" or test.test["expected_tool_calls"]:
        return test
    rest = {key: value for key, value in test.test.items() if key != "expected_tool_calls"}
    return Translated(test=rest, path=test.path, notes=(Note(_EMPTY, test.path),))


def _overrides(file: At) -> dict[str, At]:
    """The override of each tool: a mode, or the fields that are compared. An empty one is none."""
    found = file.get("tool_args_match_overrides")
    if found is None:
        return {}
    given = {tool: found.need(tool) for tool, value in found.mapping().items() if value}
    for override in given.values():
        if isinstance(override.value, list):
            [field.text() for field in override.items()]
        else:
            override.one_of(_ARGUMENTS)
    return given


def _test(row: At, mode: str, overrides: Mapping[str, At]) -> Translated:
    reference = row.need("reference_outputs")
    messages = reference.need("messages") if isinstance(reference.value, dict) else reference
    calls = [
        _expected(call, mode, overrides)
        for message in messages.items()
        if (held := message.get("tool_calls")) is not None
        for call in held.items()
    ]
    test = head(row, ("id",), ("inputs",), metadata="metadata")
    return Translated(test={**test, "expected_tool_calls": calls}, path=row.path)


def _expected(call: At, mode: str, overrides: Mapping[str, At]) -> dict[str, Any]:
    function = call.get("function") or call
    name = function.need("name").text()
    arguments = function.need("arguments" if "function" in call.mapping() else "args").decoded()
    override = overrides.get(name)
    if override is None:
        return {"name": name} if mode == "ignore" else {"name": name, "arguments": _arguments(arguments, mode)}
    if isinstance(override.value, list):
        return {"name": name, "match": {"mode": "partial", "args": _fields(override.value, arguments)}}
    if override.value == "ignore":
        return {"name": name, "match": {"mode": "ignore"}}
    args = _arguments(arguments, override.value)
    return {"name": name, "match": {"mode": _MODES[override.value], "args": args}}


def _arguments(arguments: At, mode: str) -> Any:
    if mode == "exact":
        return written(arguments.value)
    if mode == "superset":
        return literal(arguments.mapping())
    return _keyed({key: {"$optional": literal(value)} for key, value in arguments.mapping().items()}, arguments)


def _keyed(conditions: dict[str, Any], arguments: At) -> dict[str, Any]:
    """Conditions by argument. A mapping with operators in it has no place for keys that begin with `$`."""
    for key in conditions:
        if key.startswith("$"):
            arguments.refuse(f"the argument `{key}` cannot be expected in this mode: its name begins with `$`")
    return conditions


def _fields(paths: Sequence[str], arguments: At) -> dict[str, Any]:
    """What the compared fields must be. A field that is null or not there in the reference must be so when called."""
    conditions: dict[str, list[tuple[Any, bool]]] = {}
    for path in paths:
        top, *below = path.split(".")
        value = _reached(arguments.value, [top, *below])
        conditions.setdefault(top, []).append(_condition(below, value))
    return _keyed({top: _together(found) for top, found in conditions.items()}, arguments)


def _reached(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _condition(below: Sequence[str], value: Any) -> tuple[Any, bool]:
    """What the top key must hold, and whether it may be absent. Below it, a JSON Schema says it best."""
    if not below:
        return literal(value), value is None
    schema: dict[str, Any] = {"const": value} if value is not None else {"not": {"type": "null"}}
    for key in reversed(below):
        schema = {"type": "object", "required": [key], "properties": {key: schema}}
    return {"$schema": schema if value is not None else {"not": schema}}, value is None


def _together(found: Sequence[tuple[Any, bool]]) -> Any:
    values = [value for value, _ in found]
    both = values[0] if len(values) == 1 else {"$all": values}
    return {"$optional": both} if all(may_be_absent for _, may_be_absent in found) else both


def write(test_set: TestSet) -> Written:
    """Examples with reference messages, each call in a message of its own."""
    tests = [said(test, "langchain") for test in test_set.tests]
    match = agreed(tests, "match", {ours: theirs for theirs, ours in _MATCH.items()}, "langchain")
    mode = agreed(tests, "arguments", {"exact": "exact", "partial": "superset", "ignore": "ignore"}, "langchain")
    notes = [Note(_STRICT)] if match == "strict" else []
    data = {
        "dialect": "langchain",
        "trajectory_match_mode": match,
        "tool_args_match_mode": mode,
        "tests": [_example(test) for test in tests],
    }
    return Written(data=data, notes=(*notes, *[note for test in tests for note in test.notes]))


def _example(test: Said) -> dict[str, Any]:
    messages = [{"role": "assistant", "content": "", "tool_calls": [_call(test, name)]} for name in test.calls]
    inputs = {} if test.prompt is None else {"inputs": test.prompt}
    return {**test.identity("id"), **inputs, "reference_outputs": messages}


def _call(test: Said, call: Any) -> dict[str, Any]:
    arguments = json.dumps(plain(test, call), ensure_ascii=False)
    return {"type": "function", "function": {"name": call.name, "arguments": arguments}}


DIALECT = Dialect(name="langchain", open=open_file, write=write)
