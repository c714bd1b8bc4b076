"""Where a text holds what must not be shown: by the keys that stand before it, by patterns, by shapes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from rightcall.core import paths
from rightcall.core.redaction import shapes
from rightcall.core.redaction.rules import Rules
from rightcall.core.redaction.shapes import CUT, Span

MOST_REMEMBERED: Final = 80
REMEMBERED: Final = 10_000
"""So many texts of so many characters are remembered with what was found in them: names and keys come again."""

MARK: Final = "[redacted"
"""How everything begins that stands in the place of what was taken out."""

_KEY: Final = re.compile(
    r"""(?P<quote>\\{0,7}["'])(?P<quoted>[^"'\\\n]{1,200})(?P=quote)\s{0,3}[:=]\s{0,3}"""
    # A colon right before the next word is one of a place, such as `tests.yaml:12`.
    r"""|(?<![\w.$\]-])(?P<bare>[A-Za-z_$][\w.$\[\]"-]{0,200})\s{0,3}(?:=\s{0,3}|:\s{1,3}|:(?=[\\"'{\[]))"""
)
_QUOTE: Final = re.compile(r"""\\*["']""")
_WORD: Final = re.compile(r"""[^\s,;&"'<>()\[\]{}]+""")
_SCHEME: Final = re.compile(r"(?:bearer|basic|digest|token|negotiate)\s+(?=\S)", re.IGNORECASE)
_LINE: Final = re.compile(r"[^\"'\r\n]+")
_HEADERS: Final = frozenset({"cookie", "set-cookie", "authorization", "proxy-authorization"})
_TOLD: Final = re.compile(r"expected [^\n]*?\bfound ")
"""What stands between a place and the value there, where an error says that another was expected."""

_OPEN: Final = "{["
_CLOSE: Final = "}]"


def spans(text: str, rules: Rules) -> Collection[Span]:
    """Each place that the rules hide, in no order; places may overlap."""
    known = rules.remembered.get(text)
    if known is None:
        known = tuple(_spans(text, rules))
        if len(text) <= MOST_REMEMBERED and len(rules.remembered) < REMEMBERED:
            rules.remembered[text] = known
    return known


def _spans(text: str, rules: Rules) -> Iterator[Span]:
    if "secrets" in rules.groups:
        yield from shapes.secrets(text)
        yield from shapes.begun(text)
    if "emails" in rules.groups:
        yield from shapes.emails(text)
    for pattern in rules.compiled:
        yield from (found.span() for found in pattern.finditer(text) if found[0])
    if rules.has_keys and ("=" in text or ":" in text):
        yield from _of_keys(text, rules)


def _of_keys(text: str, rules: Rules) -> Iterator[Span]:
    """The values that follow a hidden key and `=` or `:`, as sentences, JSON, headers and settings write them."""
    at = 0
    while found := _KEY.search(text, at):
        key, at = found["quoted"] or found["bare"], found.end()
        if is_hidden(key, rules):
            told = _TOLD.match(text, at)
            start = at if told is None else told.end()
            at = start if text.startswith(MARK, start) else _end_of_value(text, start, key)
            if at > start:
                yield start, at


def is_hidden(key: str, rules: Rules) -> bool:
    """Whether a key as a text writes it, which may be a path, is hidden, or one that it leads through."""
    if rules.hides_key(key):
        return True
    try:
        steps = paths.parse(key)
    except ValueError:
        return False
    return any(rules.hides(steps[: length + 1]) for length in range(len(steps)))


def _end_of_value(text: str, start: int, key: str) -> int:
    """Where the value ends that begins there: at the end of the text if it was cut off."""
    quote = _QUOTE.match(text, start)
    if quote is not None:
        return _end_of_quoted(text, quote)
    if text[start : start + 1] in _OPEN and start < len(text):
        return _end_of_container(text, start)
    if key.lower() in _HEADERS:
        return _end(_LINE.match(text, start), start)
    scheme = _SCHEME.match(text, start)
    end = _end(_WORD.match(text, start if scheme is None else scheme.end()), start)
    while end > start and text[end - 1] in ".:!?":
        end -= 1
    return end


def _end(found: re.Match[str] | None, otherwise: int) -> int:
    return otherwise if found is None else found.end()


def _end_of_quoted(text: str, quote: re.Match[str]) -> int:
    """After the next quote that has as many backslashes before it as the first one."""
    found = re.compile(rf"(?<!\\){re.escape(quote[0])}").search(text, quote.end())
    return _cut_off(text, quote.end()) if found is None else found.end()


def _end_of_container(text: str, start: int) -> int:
    """After the bracket that closes the first one; brackets in strings are rare, and hide more rather than less."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        if depth == 0:
            return at + 1
    return _cut_off(text, start)


def _cut_off(text: str, start: int) -> int:
    """Where what was cut off ends: before the words that say so, else with the text."""
    cut = CUT.search(text, start)
    return len(text) if cut is None else cut.start()
