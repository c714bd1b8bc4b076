"""Arguments that are not compared, and arguments that may have a default instead of being listed (G16)."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from typing import Any, Final

from rightcall.core.assertion import Setting
from rightcall.core.expected import ExpectedCall
from rightcall.core.operators import Operator
from rightcall.core.operators.arguments import absent_keys
from rightcall.core.values import is_json, member
from rightcall.errors import TestSetError, Where

DEFAULTS_ARE_VALUES: Final = "a default is a value, no operator; write `$optional` among the `arguments` instead"


def normaliser(call: ExpectedCall, expected: Any, setting: Setting) -> Callable[[Any], Any] | None:
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
