"""Taking out of values and texts what rules hide.

What is taken out is a whole value, or the whole of what a pattern matches in a text, never a part of it: what was cut
off in between is known by the value that it is the beginning of. Texts that are JSON are looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.core.operators.base import represented
from rightcall.core.redaction import shapes
from rightcall.core.redaction.known import SHORTEST, Known
from rightcall.core.redaction.rules import Rules
from rightcall.core.redaction.spans import spans
from rightcall.core.values import MISSING
from rightcall.core.wording import numbered

Mask = Callable[[str], str]
"""What stands in the place of a secret."""

Path = tuple[Any, ...]
Hit = tuple[int, int, str]

_NOTHING: Final = Known()


def plain_mask(secret: str) -> str:
    """The same words for every secret."""
    return "[redacted]"


class Redactor:
    """Takes out what the rules hide, and what is known to be a secret from elsewhere.

    `name` tells the redactors of one run apart, and with them what attempts say is secret.
    """

    def __init__(self, rules: Rules, mask: Mask = plain_mask, name: str = "", known: Known = _NOTHING) -> None:
        self.rules = rules
        self.name = name
        self._mask = mask
        self._known = known

    def knowing(self, secrets: Iterable[str]) -> Redactor:
        """One that takes out these secrets too, however a text writes them."""
        known = frozenset(secrets) | self._known.values
        return Redactor(self.rules, self._mask, self.name, Known(known)) if known else self

    def text(self, text: str) -> str:
        """A text without secrets."""
        hits = self._hits(text)
        return self._replaced(text, hits) if hits else text

    def value(self, value: Any, path: Path = ()) -> Any:
        """A JSON value without secrets, keys included. `path` are the steps that lead to it."""
        if path and self.rules.hides(path):
            return self.hidden(value)
        if isinstance(value, str):
            return self._text_value(value)
        if isinstance(value, dict):
            return self._object(value, path)
        if isinstance(value, list | tuple):
            return [self.value(item, (*path, index)) for index, item in enumerate(value)]
        return self._number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    def at(self, value: Any, path: Path) -> Any:
        """The value at a path of which nothing else is known: hidden, too, where one is that it is in."""
        is_inside = any(self.rules.hides(path[:length]) for length in range(1, len(path) + 1))
        return self.hidden(value) if is_inside else self.value(value, path)

    def hidden(self, value: Any) -> Any:
        """What stands in the place of a whole value; nothing in the place of nothing."""
        return value if value is None or value is MISSING else self._mask(_written(value))

    def find(self, value: Any, path: Path = ()) -> Iterator[str]:
        """Every secret in a JSON value, as it stands there."""
        if path and self.rules.hides(path):
            yield from inside(value)
        elif isinstance(value, str):
            yield from self._found(value)
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from self._found(str(key))
                yield from self.find(item, (*path, key))
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                yield from self.find(item, (*path, index))
        elif isinstance(value, int | float) and self._number(value) is not value:
            yield _written(value)

    def unique(self, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The members of a mapping under names without secrets; those that are then the same are numbered."""
        shown = (self.text(name) if isinstance(name, str) else name for name in names)
        yield from zip(numbered(shown), names.values(), strict=True)

    def _object(self, value: dict[Any, Any], path: Path) -> dict[Any, Any]:
        shown = {key: self.value(item, (*path, key)) for key, item in value.items()}
        return dict(self.unique(shown))

    def _number(self, value: float) -> Any:
        text = _written(value)
        known = len(text) >= SHORTEST and text in self._known.values
        is_secret = known or any(end - start == len(text) for start, end in spans(text, self.rules))
        return self._mask(text) if is_secret else value

    def _text_value(self, text: str) -> str:
        inner = _json_inside(text)
        if inner is None:
            return self.text(text)
        shown = self.value(inner)
        return text if shown == inner else jsontext.encode(shown).decode("utf-8")

    def _found(self, text: str) -> Iterator[str]:
        inner = _json_inside(text)
        if inner is not None:
            yield from self.find(inner)
        for start, end in spans(text, self.rules):
            yield _unquoted(text[start:end])

    def _hits(self, text: str) -> list[Hit]:
        found = [(start, end, _unquoted(text[start:end])) for start, end in spans(text, self.rules)]
        return sorted([*found, *self._known.spans(text)], key=lambda hit: (hit[0], -hit[1]))

    def _replaced(self, text: str, hits: list[Hit]) -> str:
        parts, at = [], 0
        for start, end, secret in _merged(text, hits):
            parts += [text[at:start], self._mask(secret)]
            at = end
        return "".join([*parts, text[at:]])


def _merged(text: str, hits: list[Hit]) -> Iterator[Hit]:
    """The hits in order, those that overlap as one."""
    start, end, secret = hits[0]
    for next_start, next_end, other in hits[1:]:
        if next_start >= end:
            yield start, end, secret
            start, end, secret = next_start, next_end, other
        elif next_end > end:
            end = next_end
            secret = text[start:end]
    yield start, end, secret


def _json_inside(text: str) -> Any:
    """The object or array that a text is the JSON of, if it is."""
    if text.lstrip()[:1] not in ("{", "[") or text.rstrip()[-1:] not in ("}", "]"):
        return None
    try:
        return jsontext.decode(text)
    except jsontext.JSONError:
        return None


def inside(value: Any) -> Iterator[str]:
    """Every text and number in a value, and what such a text holds if it is JSON."""
    if isinstance(value, dict):
        for key, item in value.items():
            # The name of a type is no value that a secret could be.
            yield from inside(item) if key != "$type" else ()
    elif isinstance(value, list | tuple):
        for item in value:
            yield from inside(item)
    elif isinstance(value, str):
        yield value
        yield from (value[start:end] for start, end in shapes.secrets(value))
        yield from inside(_json_inside(value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _written(value)


def _written(value: Any) -> str:
    """The value as text: as JSON, or as Python writes what is no JSON."""
    if isinstance(value, str):
        return value
    try:
        return jsontext.encode(value).decode("utf-8", "surrogatepass")
    except (TypeError, ValueError):
        return represented(value)


def _unquoted(text: str) -> str:
    """A secret without the quotes that a text has it in."""
    bare = text.strip("\\\"'") if text[:1] in ("\\", '"', "'") else text
    return bare or text
