"""JSON Schema validation within limits, without ever fetching anything: the `SchemaEngine` handed to the core.

The validator is jsonschema's. What it would do inexactly or without a bound is done here: patterns are JavaScript's
and run in our engine, `multipleOf` divides exactly, unique items are told apart in one pass, and every keyword that
is evaluated counts toward a limit.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from rightcall.app.regex import compile_regex
from rightcall.core import jsontext
from rightcall.core.assertion import CannotJudge, Validate, Violation
from rightcall.core.values import cut, display, equal, freeze, member, visible
from rightcall.errors import TestSetError, Where, did_you_mean

MOST_STEPS: Final = 100_000
"""Keywords that one validation may evaluate."""

_DRAFTS: Final = ("Draft4", "Draft6", "Draft7", "Draft201909", "Draft202012")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_DATA: Final = frozenset({"const", "enum", "default", "examples", "$comment", "$vocabulary"})
_NAMED: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_SHOWN: Final = 200


def compile_schema(schema: Any) -> Validate:
    """Compile; `TestSetError` with a path inside the schema if it is not a schema that can be used."""
    text = jsontext.encode(schema)
    if jsontext.decode(text) != schema:
        raise TestSetError("expected a JSON Schema made of JSON values: finite numbers, lists, keys that are strings")
    return _compiled(text)


@functools.lru_cache(maxsize=1024)
def _compiled(text: bytes) -> Validate:
    """By the text, so that a test set that repeats a schema compiles it once."""
    schema = jsontext.decode(text)
    base = _draft(schema)
    _check(schema, base)
    # A subschema that is evaluated again must not lead back to the library's own class.
    bare = {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema
    return _Validator(bare, base)


def _draft(schema: Any) -> Any:
    from jsonschema import validators

    named = schema.get("$schema") if isinstance(schema, dict) else None
    if named is None:
        return validators.Draft202012Validator
    for name in _DRAFTS:
        draft = getattr(validators, f"{name}Validator")
        if isinstance(named, str) and named.rstrip("#") == _identity(draft).rstrip("#"):
            return draft
    message = f"{display(named)} is no draft of JSON Schema that is known here; they are 4, 6, 7, 2019-09 and 2020-12"
    raise TestSetError(message, Where(path="$schema"))


def _check(schema: Any, draft: Any) -> None:
    """Refuse what is no schema, what cannot be resolved, and what could not be checked."""
    from jsonschema.exceptions import best_match

    try:
        error = best_match(draft(draft.META_SCHEMA).iter_errors(schema))
    except RecursionError:
        raise TestSetError("the schema is nested too deeply") from None
    if error is not None:
        raise TestSetError(f"not a JSON Schema: {_message(error)}", Where(path=_path(error.absolute_path)))
    parts = [(path, part) for path, part in _parts(schema) if isinstance(part, dict)]
    patterned = any("patternProperties" in part for _, part in parts)
    ids = [part for path, part in parts if path and ("$id" in part or "id" in part)]
    for path, part in parts:
        _check_part(part, path, has_patterns=patterned)
        for word in _REFERENCES if not ids else ():
            if isinstance(part.get(word), str):
                _check_reference(schema, draft, part[word], member(path, word))


def _check_part(part: Mapping[str, Any], path: str, *, has_patterns: bool) -> None:
    if path and "$schema" in part:
        raise TestSetError("a part of a schema cannot be of another draft", Where(path=member(path, "$schema")))
    if has_patterns and "unevaluatedProperties" in part:
        message = "`unevaluatedProperties` cannot be used together with `patternProperties` here"
        raise TestSetError(message, Where(path=member(path, "unevaluatedProperties")))
    for pattern, at in [(part.get("pattern"), "pattern"), *((key, "patternProperties") for key in _patterns(part))]:
        if pattern is not None:
            try:
                compile_regex(pattern, "u")
            except ValueError as error:
                message = f"not a regular expression: {error}"
                raise TestSetError(message, Where(path=member(path, at))) from None
    _check_format(part, path)


def _check_format(part: Mapping[str, Any], path: str) -> None:
    from rightcall.app.schema_formats import FORMATS

    form = part.get("format")
    if form is not None and form not in FORMATS:
        message = f"the format {display(form)} cannot be checked{did_you_mean(str(form), FORMATS)}"
        raise TestSetError(f"{message}; the formats are {', '.join(FORMATS)}", Where(path=member(path, "format")))


def _patterns(part: Mapping[str, Any]) -> list[str]:
    patterns = part.get("patternProperties")
    return list(patterns) if isinstance(patterns, dict) else []


def _check_reference(schema: Any, draft: Any, reference: str, path: str) -> None:
    from referencing.exceptions import Unresolvable

    try:
        _resolver(schema, draft).lookup(reference)
    except (Unresolvable, ValueError):
        message = f"{display(reference)} leads to nothing in the schema; nothing is fetched"
        raise TestSetError(message, Where(path=path)) from None


def _resolver(schema: Any, draft: Any) -> Any:
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it has no types
    from referencing.jsonschema import specification_with

    return REGISTRY.resolver_with_root(specification_with(_identity(draft)).create_resource(schema))


def _identity(draft: Any) -> str:
    """The URI by which a draft is named, which Draft 4 keeps under another key."""
    return str(draft.META_SCHEMA.get("$id", draft.META_SCHEMA.get("id")))


def _parts(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every subschema with its path, told from data and from names of properties by where it stands."""
    waiting: list[tuple[str, Any]] = [("", schema)]
    for path, part in waiting:
        yield path, part
        for key, value in part.items() if isinstance(part, dict) else ():
            at = member(path, key)
            if key in _NAMED and isinstance(value, dict):
                waiting += [(member(at, name), inner) for name, inner in value.items()]
            elif key not in _DATA and isinstance(value, dict):
                waiting.append((at, value))
            elif key not in _DATA and isinstance(value, list):
                waiting += [(f"{at}[{index}]", inner) for index, inner in enumerate(value)]


class _Validator:
    """One schema with a validator of its own, which counts its steps. Threads count apart."""

    def __init__(self, schema: Any, draft: Any) -> None:
        from jsonschema import FormatChecker, validators
        from referencing import Registry

        from rightcall.app.schema_formats import FORMATS

        self._steps = threading.local()
        ours = {name: each for name, each in _KEYWORDS.items() if name in draft.VALIDATORS}
        counted = {name: self._counted(each) for name, each in {**draft.VALIDATORS, **ours}.items()}
        checker = FormatChecker(formats=())
        checker.checkers = {name: (accepts, ()) for name, accepts in FORMATS.items()}
        extend: Any = validators.extend
        kind = extend(draft, validators=counted)
        registry: Any = Registry()
        self._validator = kind(schema, format_checker=checker, registry=registry)

    def __call__(self, value: Any) -> Iterator[Violation]:
        """How the value violates the schema; `CannotJudge` at a limit."""
        from referencing.exceptions import Unresolvable

        self._steps.left = MOST_STEPS
        try:
            for error in self._validator.iter_errors(value):
                yield Violation(_path(error.absolute_path), _message(error))
        except RecursionError:
            raise CannotJudge("limit", "Validating by a JSON Schema went round without an end.") from None
        except Unresolvable as error:
            raise CannotJudge("schema", f"A JSON Schema leads to what it does not hold: {error}") from None

    def _counted(self, keyword: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(keyword)
        def evaluate(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
            self._steps.left -= 1
            if self._steps.left < 0:
                raise CannotJudge(
                    "limit", f"Validating by a JSON Schema took more than {MOST_STEPS:,} steps, the limit."
                )
            return keyword(validator, value, instance, schema)

        return evaluate


def _message(error: Any) -> str:
    return cut(visible(str(error.message)), _SHOWN)


def _path(steps: Any) -> str:
    path = ""
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) else member(path, str(step))
    return path


def _found(pattern: str, text: str) -> bool:
    return compile_regex(pattern, "u")(text)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{display(instance)} does not match /{pattern}/")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    for pattern, inner in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if _found(pattern, key):
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional_properties(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    named = schema.get("properties", {})
    for key, value in instance.items():
        if key not in named and not any(_found(pattern, key) for pattern in _patterns(schema)):
            yield from _additional(validator, inner, key, value)


def _additional(validator: Any, inner: Any, key: str, value: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if inner is False:
        yield ValidationError(f"the property {display(key)} is not allowed")
    else:
        yield from validator.descend(value, inner, path=key)


def _multiple_of(validator: Any, divisor: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    is_number = isinstance(instance, int | float) and not isinstance(instance, bool)
    if is_number and (_exact(instance) / _exact(divisor)).denominator != 1:
        yield ValidationError(f"{display(instance)} is not a multiple of {display(divisor)}")


def _exact(number: Any) -> Fraction:
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if wanted and isinstance(instance, list | tuple) and len({freeze(item) for item in instance}) != len(instance):
        yield ValidationError("the items are not unique")


def _const(validator: Any, const: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not equal(const, instance):
        yield ValidationError(f"{display(instance)} is not {display(const)}")


def _enum(validator: Any, values: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not any(equal(value, instance) for value in values):
        yield ValidationError(f"{display(instance)} is none of {display(values)}")


_KEYWORDS: Final[dict[str, Callable[..., Iterator[Any]]]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
    "const": _const,
    "enum": _enum,
}
