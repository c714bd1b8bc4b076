"""The JSON Schema of expected values: data, and operators as their classes have them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rightcall.core.operators import Operator
from rightcall.core.operators.registry import OPERATORS, From, Length, Regex, Schema, Unordered

DATA: Final = {"$ref": "#/$defs/Data"}
"""An expected value."""

_PLAIN: Final = {"$ref": "#/$defs/PlainData"}
_LITERAL: Final[dict[str, Any]] = {
    "description": "Any data, which may have keys that begin with `$`.",
    "type": "object",
    "properties": {"$literal": {}},
    "required": ["$literal"],
    "additionalProperties": False,
}


def definitions() -> dict[str, Any]:
    """What `Data` stands for, with the definitions that it needs."""
    return {
        "Data": {
            "description": "Any JSON value, or a value operator: a mapping of keys that begin with `$`.",
            "anyOf": [*_values(DATA, {"$ref": "#/$defs/Member"}), {"$ref": "#/$defs/Operators"}],
        },
        "PlainData": {
            "description": "Any JSON value; `{$literal: …}` writes data that has keys that begin with `$`.",
            "anyOf": _values(_PLAIN, _PLAIN),
        },
        "Member": {
            "description": "The value of a key, which may also be said to be absent.",
            "anyOf": [DATA, *(_alone(kind) for kind in OPERATORS.values() if kind.alone)],
        },
        "Operators": _operators(),
    }


def _values(item: dict[str, Any], member: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "array", "items": item},
        {"type": "object", "propertyNames": {"not": {"pattern": r"^\$"}}, "additionalProperties": member},
        _LITERAL,
    ]


def _operators() -> dict[str, Any]:
    """Operators that may stand beside one another: all of them must hold."""
    kinds = {name: kind for name, kind in OPERATORS.items() if not kind.alone}
    flags = {"type": "string", "description": "Flags of the `$regex` beside it."}
    return {
        "description": "Value operators; several in one mapping must all hold.",
        "type": "object",
        "minProperties": 1,
        "properties": {**{name: _argument(kind) for name, kind in kinds.items()}, "$flags": flags},
        "additionalProperties": False,
        "dependentRequired": {"$flags": [Regex.name]},
    }


def _alone(kind: type[Operator]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {kind.name: _argument(kind)},
        "required": [kind.name],
        "additionalProperties": False,
    }


def _argument(kind: type[Operator]) -> dict[str, Any]:
    """What is written beside the operator's name, described by the first paragraph of its docstring."""
    description = " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
    return {**_shape(kind), "description": description}


def _shape(kind: type[Operator]) -> dict[str, Any]:
    fields = _fields(kind)
    if kind is Length:
        return {"anyOf": [{"type": "integer", "minimum": 0}, _mapping(kind, fields)]}
    if kind is From:
        return {"anyOf": [{"type": "string", "pattern": From.short_form}, _mapping(kind, fields)]}
    if kind is Schema:
        return {"type": ["object", "boolean"]}
    if kind.record:
        return _mapping(kind, fields)
    (first, *_) = fields.values()
    return {"const": True} if first.get("default") is True else first


def _mapping(kind: type[Operator], fields: dict[str, Any]) -> dict[str, Any]:
    required = [field.name for field in msgspec.structs.fields(kind) if field.required]
    least = {"required": required} if required else {"minProperties": 1}
    return {"type": "object", "properties": fields, "additionalProperties": False, **least}


def _fields(kind: type[Operator]) -> dict[str, Any]:
    """The schema of each field, null left out: a key that says nothing is not written."""
    schema = msgspec.json.schema(kind, schema_hook=_engine)
    properties = schema["$defs"][kind.__name__]["properties"]
    return {name: _field(kind, name, shape) for name, shape in properties.items()}


def _field(kind: type[Operator], name: str, shape: dict[str, Any]) -> dict[str, Any]:
    if name in kind.holds:
        least = {} if kind is Unordered else {"minItems": 1}
        return {"type": "array", "items": DATA, **least} if name == "values" else DATA
    choices = [choice for choice in shape.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1 and shape.get("default", ...) is None:
        return dict(choices[0])
    return shape


def _engine(kind: type) -> dict[str, Any]:
    """An engine, which is handed to an operator and never written."""
    return {"not": {}}
