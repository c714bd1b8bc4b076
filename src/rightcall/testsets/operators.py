"""Expected values of a native file: mappings of `$` keys become operators, `{$literal: v}` is any data `v`."""

from __future__ import annotations

from typing import Any, Final

from msgspec.inspect import StructType, type_info
from msgspec.structs import replace

from rightcall.core.operators import MAX_NESTED, Operator
from rightcall.core.values import SCALARS
from rightcall.errors import TestSetError, did_you_mean, join_path
from rightcall.testsets.arguments import MisplacedError, as_data
from rightcall.testsets.explain import Problem, explain, found, shorten
from rightcall.testsets.marks import child

_LITERAL: Final = "$literal"
_FLAGS: Final = "$flags"
_ESCAPE: Final = "write {$literal: …} around data that has such keys"


def native(value: Any, path: str) -> Any:
    """Arguments of a native file, in which `$` begins an operator."""
    try:
        return _read(as_data(value, path), path, 0)
    except RecursionError:  # files are not so deep, but match objects can hold anything
        raise MisplacedError(path, "nested too deeply") from None


def _read(value: Any, path: str, depth: int) -> Any:
    if isinstance(value, list | tuple):
        return [
            item if item.__class__ in SCALARS else _read(item, child(path, index), depth)
            for index, item in enumerate(value)
        ]
    if isinstance(value, Operator):
        return _read_inside(value, path, depth)
    if not isinstance(value, dict):
        return value
    names = [key for key in value if isinstance(key, str) and key.startswith("$")]
    if not names:
        if SCALARS.issuperset(map(type, value.values())):
            return value.copy()
        return {
            key: item if item.__class__ in SCALARS else _read(item, child(path, str(key)), depth)
            for key, item in value.items()
        }
    _check_names(names, value, path)
    if names == [_LITERAL]:
        return value[_LITERAL]
    from rightcall.core.operators.registry import Together

    if depth == MAX_NESTED:
        raise MisplacedError(path, f"operators stand deeper inside one another than the limit of {MAX_NESTED}")
    operators = tuple([_operator(name, value, path, depth + 1) for name in names if name != _FLAGS])
    return operators[0] if len(operators) == 1 else Together(values=operators)


def _read_inside(operator: Operator, path: str, depth: int) -> Operator:
    """An operator that is a Python object, whose values may be mappings of `$` keys too."""
    if not operator.holds or depth == MAX_NESTED:
        return operator  # what is nested more deeply is refused when it is compiled
    at = child(path, operator.name)
    held = {field: _held(type(operator), field, getattr(operator, field), at, depth + 1) for field in operator.holds}
    return replace(operator, **held)


def _check_names(names: list[str], value: dict[Any, Any], path: str) -> None:
    """Refuse unknown operators, and operators beside what they cannot stand beside."""
    from rightcall.core.operators.registry import OPERATORS

    known = (*OPERATORS, _LITERAL, _FLAGS)
    for name in names:
        if name not in known:
            message = f"`{shorten(name)}` is no operator{did_you_mean(name, known)}; {_ESCAPE}"
            raise MisplacedError(child(path, name), message, "key")
    for key in value:
        if key not in names:
            message = f"`{names[0]}` is an operator and `{shorten(str(key))}` is not: one mapping holds either"
            message += f"; {_inside(names[0], key) or _ESCAPE}"
            raise MisplacedError(child(path, names[0]), message, "key")
    if _FLAGS in names and "$regex" not in names:
        raise MisplacedError(child(path, _FLAGS), f"`{_FLAGS}` has no effect without `$regex`", "key")
    for name in names:
        if len(names) > 1 and (name == _LITERAL or (name in OPERATORS and OPERATORS[name].alone)):
            other = next(other for other in names if other != name)
            raise MisplacedError(child(path, name), f"`{name}` stands alone, not beside `{other}`", "key")


def _inside(name: str, key: Any) -> str:
    """How a key that is a field of the operator is written, inside it; empty if it is none."""
    from rightcall.core.operators.registry import OPERATORS

    fields = OPERATORS[name].__struct_fields__ if name in OPERATORS else ()
    return f"write {{{name}: {{{fields[0]}: …, {key}: …}}}}" if key in fields[1:] else ""


def _operator(name: str, value: dict[str, Any], path: str, depth: int) -> Operator:
    from rightcall.core.operators.registry import OPERATORS

    kind, at = OPERATORS[name], child(path, name)
    argument = value[name]
    try:
        fields = kind.fields_of(argument)
    except TestSetError as error:
        raise MisplacedError(at, error.message) from None
    if fields is None:
        words = ", ".join(f"`{field}`" for field in kind.__struct_fields__)
        raise MisplacedError(at, f"expected a mapping of {words}, found {found(argument)}")
    paths = {field: child(at, field) if fields is argument else at for field in kind.__struct_fields__}
    if name == "$regex" and _FLAGS in value:
        fields, paths["flags"] = {**fields, "flags": value[_FLAGS]}, child(path, _FLAGS)
    _check_shape(kind, fields, paths, at if fields is argument else None)
    held = {field: _held(kind, field, item, paths[field], depth) for field, item in fields.items()}
    try:
        return kind(**held)
    except TestSetError as error:
        field, _, rest = error.where.path.partition(".")
        raise MisplacedError(join_path(paths.get(field, at), rest), error.message) from None


def _held(kind: type[Operator], field: str, item: Any, path: str, depth: int) -> Any:
    """A field's value: expected values in it are read, everything else is as it is."""
    if field not in kind.holds:
        return item
    read = _read(item, path, depth)
    return tuple(read) if field == "values" else read


def _check_shape(kind: type[Operator], fields: dict[str, Any], paths: dict[str, str], mapping: str | None) -> None:
    """Refuse keys that the operator does not have and arguments of a wrong type, in the words of all files.

    `mapping` is the path of the mapping that the fields are written in, if they are.
    """
    shape = type_info(kind)
    assert isinstance(shape, StructType)
    types = {field.name: field.type for field in shape.fields}
    if mapping is not None:
        problem = explain(fields, shape, mapping) or _null(fields, paths)
    else:
        problem = next(
            filter(None, (explain(item, types[field], paths[field]) for field, item in fields.items())), None
        )
    if problem is not None:
        raise MisplacedError(problem.path, problem.message, problem.at)


def _null(fields: dict[str, Any], paths: dict[str, str]) -> Problem | None:
    for field, item in fields.items():
        if item is None:
            return Problem(paths[field], f"expected a value for `{field}`, found null; leave the key out")
    return None
