"""Secrets in what was recorded: a test expects the type of each, never the secret."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rightcall.core.values import equal
from rightcall.testsets.promotion.common import type_name

Conceal = Callable[[Any], Any]
"""Gives a JSON value without the secrets in it; an equal value where there are none."""

Path = tuple[str | int, ...]


def secrets(value: Any, conceal: Conceal) -> Iterator[tuple[Path, str]]:
    """The places of the secrets in a value, each with the JSON type of what is to be left out there."""
    yield from _differing(value, conceal(value), ())


def _differing(value: Any, shown: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if equal(value, shown):
        return
    if isinstance(value, dict) and isinstance(shown, dict) and value.keys() == shown.keys():
        for key, item in value.items():
            yield from _differing(item, shown[key], (*path, key))
    elif isinstance(value, list) and isinstance(shown, list) and len(value) == len(shown):
        for index, (item, other) in enumerate(zip(value, shown, strict=True)):
            yield from _differing(item, other, (*path, index))
    else:
        yield path, type_name(value)


def hidden_in(form: Any, values: Iterable[Any], conceal: Conceal) -> Any:
    """An expected value that stands for these values, with only the types of the secrets in them."""
    for path, kind in dict.fromkeys(place for value in values for place in secrets(value, conceal)):
        form = typed(form, path, kind)
    return form


def typed(form: Any, path: Path, kind: str) -> Any:
    """An expected value in which only the type is expected at a path, or of what is said of the values around it."""
    if isinstance(form, dict) and "$optional" in form:
        return {"$optional": typed(form["$optional"], path, kind)}
    if isinstance(form, dict) and "$literal" in form:
        return {"$type": "object"}
    if isinstance(form, dict) and "$one_of" in form:
        return {"$one_of": [one if _is_type(one) else {"$type": type_name(one)} for one in form["$one_of"]]}
    if _is_type(form):
        return form
    if not path:
        return {"$type": kind}
    key, *rest = path
    if isinstance(form, dict):
        return {name: typed(item, tuple(rest), kind) if name == key else item for name, item in form.items()}
    return [typed(item, tuple(rest), kind) if index == key else item for index, item in enumerate(form)]


def _is_type(form: Any) -> bool:
    return form is None or (isinstance(form, dict) and ("$type" in form or "$any" in form))
