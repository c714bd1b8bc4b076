"""The possible answers of the Berkeley Function Calling Leaderboard.

`{id, ground_truth: [{function: {parameter: [acceptable values]}}]}`: any order, no other calls, no other parameters.
An acceptable `""` says that the parameter may be left out; the values inside an acceptable object are lists of
acceptable values again. Shapes and meaning: bfcl-eval 2026.3.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.foreign import At, Note, Opened, Translated, literal, opened, rows

_STRINGS: Final = "case, spaces and punctuation of strings make no difference there; here they do"
_TYPES: Final = "5 is no integer there when it is written 5.0; here they are the same number"


def open_file(file: At) -> Opened:
    """A list of possible answers, one a question."""
    return opened(
        [_test(row) for row in rows(file)], [Note(_STRINGS), Note(_TYPES)], match="any_order", arguments="exact"
    )


def _test(row: At) -> Translated:
    calls = [_call(answer) for answer in row.need("ground_truth").items()]
    return Translated(test={"id": row.need("id").text(), "expected_tool_calls": calls}, path=row.path)


def _call(answer: At) -> dict[str, Any]:
    if not isinstance(answer.value, dict):
        message = "expected a function with its parameters; the answers to several turns are calls of which only"
        answer.refuse(f"{message} the effect is compared there, which cannot be said here")
    functions = list(answer.value)
    if len(functions) != 1:
        answer.refuse(f"expected one function, found {len(functions)}")
    (name,) = functions
    parameters = At(answer.value[name], answer.path)
    return {"name": name, "arguments": _object(parameters)}


def _object(parameters: At) -> dict[str, Any]:
    """An object of acceptable values by key; none of the keys may be an operator's."""
    for key in parameters.mapping():
        if key.startswith("$"):
            parameters.refuse(f"the parameter `{key}` cannot be expected here: its name begins with `$`")
    return {key: _acceptable(parameters.need(key)) for key in parameters.value}


def _acceptable(values: At) -> Any:
    given = values.items()
    values_there = [value for value in given if value.value != ""]
    if not given:
        values.refuse("expected at least one acceptable value, found none")
    written = [_value(value) for value in values_there] or [""]
    one = written[0] if len(written) == 1 else {"$one_of": written}
    return one if len(values_there) == len(given) else {"$optional": one}


def _value(value: At) -> Any:
    """An acceptable value: the values in an object, also one in a list, are lists of acceptable values."""
    if isinstance(value.value, dict):
        return _object(value)
    if isinstance(value.value, list):
        return [_value(item) for item in value.items()]
    return literal(value.value)


DIALECT = Dialect(name="bfcl", open=open_file)
