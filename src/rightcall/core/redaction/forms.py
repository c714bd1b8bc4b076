"""The ways in which texts write a value: with the escapes of JSON, Python, URLs and HTML, and in Base64 (RFC 4648)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from typing import Final

from rightcall.core.jsontext import encode
from rightcall.core.values import visible

_SHORTEST_CODED: Final = 8
"""Characters of Base64 below which they may well be something else."""

_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_LEFT_ALONE: Final = ("", "/", "!*'()")
"""What else writers of URLs do not escape: Python by default, and JavaScript's `encodeURIComponent`."""


def forms(secret: str) -> frozenset[str]:
    """Every way of writing it that is known here, itself among them; letter case is not told apart by who looks."""
    return frozenset({*_in_text(secret), *_in_base64(secret)})


def _in_text(secret: str) -> set[str]:
    if _UNRESERVED.issuperset(secret):  # nobody escapes anything of it
        return {secret}
    once = _escaped(secret)
    ways = {secret, " ".join(secret.split()), once, _escaped(once), _escaped(_escaped(once)), repr(secret)[1:-1]}
    return ways | {
        *map(visible, ways),
        *_in_ascii(secret),
        once.replace("/", "\\/"),
        *_in_urls(secret),
        *_in_html(secret),
    }


def _escaped(text: str) -> str:
    return encode(text).decode("utf-8", "surrogatepass")[1:-1]


def _in_ascii(secret: str) -> Iterator[str]:
    """As JSON with an escape for whatever is not ASCII, also inside other JSON."""
    once = json.dumps(secret)[1:-1]
    yield once
    yield json.dumps(once)[1:-1]


def _in_urls(secret: str) -> Iterator[str]:
    for alone in _LEFT_ALONE:
        plain = _UNRESERVED.union(alone)
        coded = "".join(one if one in plain else _percent(one) for one in secret)
        yield coded
        yield coded.replace("%20", "+")


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _in_html(secret: str) -> Iterator[str]:
    yield escape(secret, quote=False)
    yield escape(secret)
    yield escape(secret).replace("&#x27;", "&#39;")


def _in_base64(secret: str) -> Iterator[str]:
    """The digits that are the same whatever stands around it, for each of the three places it can begin at."""
    data = secret.encode("utf-8", "surrogatepass")
    for before in range(3):
        digits = b64encode(bytes(before) + data).decode("ascii")
        own = digits[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        for coded in (own, *([] if before else [digits])):
            if len(own) >= _SHORTEST_CODED:
                yield from (coded, coded.replace("+", "-").replace("/", "_"))
