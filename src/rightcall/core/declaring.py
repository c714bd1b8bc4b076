"""The values that a tool's JSON Schema offers for a place in its arguments: `enum`, `const` and `default`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from rightcall.core.paths import Step
from rightcall.core.values import equal

_MIXES: Final = ("anyOf", "oneOf", "allOf")


def is_offered(schema: Any, steps: Iterable[Step], value: Any) -> bool:
    """Whether the schema names this value for the place that the steps lead to."""
    here = list(_alternatives(schema, schema))
    for step in steps:
        here = [found for node in here for inner in _below(node, step) for found in _alternatives(inner, schema)]
    return any(equal(offered, value) for node in here for offered in _offered(node))


def _alternatives(node: Any, root: Any) -> Iterator[dict[str, Any]]:
    """The schema at a place with all that it is put together of, each once."""
    waiting, seen = [node], set[int]()
    for one in waiting:
        if not isinstance(one, dict) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        for key in _MIXES:
            waiting += one[key] if isinstance(one.get(key), list) else ()
        if isinstance(one.get("$ref"), str):
            waiting.append(_referred(one["$ref"], root))


def _referred(reference: str, root: Any) -> Any:
    """What a reference into the same schema leads to."""
    if not reference.startswith("#"):
        return None
    for part in filter(None, reference.removeprefix("#").split("/")):
        root = root.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(root, dict) else None
    return root


def _below(node: dict[str, Any], step: Step) -> Iterator[Any]:
    if isinstance(step, str):
        properties = node.get("properties")
        known = isinstance(properties, dict) and step in properties
        yield properties[step] if known and isinstance(properties, dict) else node.get("additionalProperties")
        return
    first = node.get("prefixItems")
    if isinstance(step, int) and isinstance(first, list) and step < len(first):
        yield first[step]
    else:
        yield node.get("items")


def _offered(node: dict[str, Any]) -> Iterator[Any]:
    yield from node["enum"] if isinstance(node.get("enum"), list) else ()
    yield from (node[key] for key in ("const", "default") if key in node)
