"""What the formats of JSON Schema mean, for strings; other values have none (JSON Schema Validation, section 7.3)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Final

from rightcall.app.regex import compile_regex
from rightcall.core.operators import dates

_LABEL: Final = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME: Final = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*", re.ASCII)
_EMAIL: Final = re.compile(r"[^\s@\"(),:;<>\[\\\]]{1,64}@[^\s@]{1,255}")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*", re.ASCII)
_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_TIME: Final = re.compile(r".*([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_SECONDS: Final = re.compile(r"\d\d:\d\d:\d\d.*", re.ASCII)


def _is_date(text: str) -> bool:
    moment = dates.parse(text)
    return moment is not None and moment.second is None


def _is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _is_time(text[11:]) and dates.parse(text) is not None


def _is_time(text: str) -> bool:
    is_full = _SECONDS.fullmatch(text) and _TIME.fullmatch(text)
    return bool(is_full) and dates.parse(f"2000-01-01T{text}") is not None


def _is_address(kind: Callable[[str], object]) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            kind(text)
        except ValueError:
            return False
        return "%" not in text

    return accepts


def _is_regex(text: str) -> bool:
    try:
        compile_regex(text, "u")
    except ValueError:
        return False
    return True


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _of_strings(accepts: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or accepts(value)


FORMATS: Final[dict[str, Callable[[object], bool]]] = {
    name: _of_strings(accepts)
    for name, accepts in {
        "date": _is_date,
        "date-time": _is_date_time,
        "time": _is_time,
        "email": _matches(_EMAIL),
        "hostname": _matches(_HOSTNAME),
        "ipv4": _is_address(ipaddress.IPv4Address),
        "ipv6": _is_address(ipaddress.IPv6Address),
        "uri": _matches(_URI),
        "uuid": _matches(_UUID),
        "regex": _is_regex,
    }.items()
}
"""Whether a value has a format, for the formats that can be checked."""
