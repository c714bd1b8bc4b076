"""Attributes of a span, flat or nested: `a.b.0.c`, `{"a": {"b": [{"c": …}]}}`, or a mixture, read the same way."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from rightcall.core import jsontext
from rightcall.core.calls import ArgumentsState
from rightcall.core.masking import is_masked
from rightcall.traces import shapes


def child(node: Any, path: str) -> Any:
    """What stands at a dotted path below a node, `UNSET` if nothing does.

    A flattened branch comes back as an object whose keys are the rest of the path.
    """
    if not isinstance(node, dict):
        return UNSET
    found = node.get(path, UNSET)
    if not (found is UNSET or isinstance(found, dict | list)):
        return found
    prefix = path + "."
    branch = {key[len(prefix) :]: value for key, value in node.items() if key.startswith(prefix)}
    return _merged(_nested(node, path) if found is UNSET else found, branch)


def _merged(nested: Any, branch: dict[str, Any]) -> Any:
    """What stands nested and what stands flat, as one: a span may have half of it each way."""
    if not branch:
        return nested
    if isinstance(nested, list):
        nested = {str(index): element for index, element in enumerate(nested)}
    return {**branch, **nested} if isinstance(nested, dict) else branch


def _nested(node: dict[str, Any], path: str) -> Any:
    """The same where the beginning of the path is a key of its own."""
    parts = path.split(".")
    for length in range(1, len(parts)):
        head = ".".join(parts[:length])
        if isinstance(node.get(head), dict):
            return child(node[head], ".".join(parts[length:]))
    return UNSET


def roots(attributes: dict[str, Any]) -> set[str]:
    """The first words of all keys: what none of them begins with need not be looked for."""
    return {key.partition(".")[0] for key in attributes}


def root(path: str) -> str:
    """The first word of a path."""
    return path.partition(".")[0]


def items(node: Any) -> list[Any]:
    """The elements of a list, or of an object whose keys begin with indices, in numeric order.

    Indices may start anywhere and have gaps; a key without an index is no element.
    """
    if isinstance(node, list | tuple):
        return list(node)
    if not isinstance(node, dict):
        return []
    elements: dict[tuple[int, str], Any] = {}
    for key, value in node.items():
        index, dot, rest = key.partition(".")
        if not (index.isascii() and index.isdigit()):
            continue
        digits = index.lstrip("0")
        place = (len(digits), digits)
        elements[place] = _both(elements.get(place), {rest: value} if dot else value)
    return [elements[place] for place in sorted(elements)]


def _both(one: Any, other: Any) -> Any:
    """Two parts of one element: objects are put together, and go before what is none."""
    if isinstance(one, dict) and isinstance(other, dict):
        one.update(other)
        return one
    return dict(other) if isinstance(other, dict) else one if isinstance(one, dict) else other


def text(node: Any, path: str) -> str | None:
    """The non-empty text at a dotted path, `None` if there is none."""
    found = child(node, path)
    return found if isinstance(found, str) and found else None


def decoded(value: Any) -> Any:
    """A value whose JSON may have been written as text."""
    if not isinstance(value, str):
        return value
    try:
        return jsontext.decode(value)
    except jsontext.JSONError:
        return value


def arguments(source: Any, absent: ArgumentsState) -> shapes.Arguments:
    """Arguments of a call as an attribute holds them, which exporters may have masked or cut."""
    if is_masked(source):
        return shapes.Arguments(None, "redacted", source)
    read = shapes.arguments(source, absent)
    if read.state == "malformed" and read.text is not None and is_cut(read.text):
        return shapes.Arguments(None, "truncated", read.text)
    return read


def is_cut(text: str) -> bool:
    """Whether broken text looks cut at a limit of the exporter: by a mark, or by its round length."""
    length = len(text)
    round_number = length >= 64 and (length & (length - 1) == 0 or length % 1000 == 0)
    return round_number or text.endswith(("…", "...", "[truncated]"))
