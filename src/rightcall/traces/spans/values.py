"""OTLP in JSON, value by value: any-values, ids, times, and field names in both spellings."""

from __future__ import annotations

import base64
import binascii
import datetime
import re
from typing import Any, Final

_HEX = re.compile(r"[0-9a-f]{16}|[0-9a-f]{32}")
_DEPTH: Final = 64


def field(node: dict[str, Any], name: str) -> Any:
    """A field by its camel-case name or its snake-case one; `None` if absent or null."""
    value = node.get(name)
    return node.get(_snake(name)) if value is None else value


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def attributes(pairs: Any, faults: list[str] | None = None) -> dict[str, Any]:
    """A list of key-value pairs as one mapping; a mapping as it is. What cannot be read is said in `faults`."""
    if isinstance(pairs, dict):
        return pairs
    faults = [] if faults is None else faults
    return _mapping(pairs, 0, faults) if isinstance(pairs, list) else {}


def _mapping(pairs: list[Any], depth: int, faults: list[str]) -> dict[str, Any]:
    """Keys are unique in OTLP: which of two values was meant nobody knows, so the first stays and a fault is told."""
    found: dict[str, Any] = {}
    for pair in pairs:
        if not isinstance(pair, dict) or not isinstance(pair.get("key"), str):
            faults.append("has an attribute without a key")
            continue
        value = any_value(pair.get("value"), depth, faults)
        first = found.setdefault(pair["key"], value)
        if first is not value and first != value:
            faults.append(f"has `{pair['key'][:60]}` twice, with different values")
    return found


def any_value(value: Any, depth: int = 0, faults: list[str] | None = None) -> Any:
    """The plain value of an `AnyValue`; null members of the union count as absent.

    Bytes that are UTF-8 are text, other bytes stay base64. What cannot be read is said in `faults`.
    """
    if not isinstance(value, dict) or depth > _DEPTH:
        return value
    faults = [] if faults is None else faults
    for name in ("stringValue", "boolValue"):
        if (found := field(value, name)) is not None:
            return found
    if (raw := field(value, "bytesValue")) is not None:
        return _bytes(raw)
    if (number := field(value, "intValue")) is not None:
        return _integer(number)
    if (number := field(value, "doubleValue")) is not None:
        return number
    if (array := field(value, "arrayValue")) is not None:
        return [any_value(item, depth + 1, faults) for item in _values(array)]
    if (pairs := field(value, "kvlistValue")) is not None:
        return _mapping(_values(pairs), depth + 1, faults)
    return None


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (TypeError, ValueError):
        return value


def _values(node: Any) -> list[Any]:
    values = node.get("values") if isinstance(node, dict) else None
    return values if isinstance(values, list) else []


def _integer(value: Any) -> Any:
    try:
        return int(value) if isinstance(value, str) else value
    except ValueError:
        return value


def identifier(value: Any) -> str:
    """A trace or span id in lower-case hexadecimal, from hexadecimal, `0x…` or base64.

    Empty if there is none, or if it is zero, which OTLP calls invalid.
    """
    if not isinstance(value, str):
        return ""
    text = value.removeprefix("0x").lower()
    if _HEX.fullmatch(text) or not value:
        return text if text.strip("0") else ""
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return value
    if len(raw) not in (8, 16):
        return value
    return raw.hex() if any(raw) else ""


def nanoseconds(value: Any) -> int | None:
    """A time in nanoseconds since 1970: a number or its text, or RFC 3339."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if abs(value) < 2**63 else None
    if not isinstance(value, str):
        return None
    if value.isdigit() and len(value) < 20:
        return int(value)
    found = _RFC3339.fullmatch(value)
    return None if found is None else _from_parts(found)


_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def _from_parts(found: re.Match[str]) -> int | None:
    date, clock, fraction, zone = found.groups()
    try:
        moment = datetime.datetime.fromisoformat(f"{date}T{clock}{zone or '+00:00'}")
    except ValueError:
        return None
    since = moment - _EPOCH
    return (since.days * 86400 + since.seconds) * 1_000_000_000 + int((fraction or "0").ljust(9, "0"))


def rfc3339(moment: int | None) -> str | None:
    """Nanoseconds since 1970 as RFC 3339 in UTC, with as many decimals as are needed."""
    if moment is None:
        return None
    seconds, rest = divmod(moment, 1_000_000_000)
    try:
        whole = _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return None
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{whole:%Y-%m-%dT%H:%M:%S}{fraction}Z"
