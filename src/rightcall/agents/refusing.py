"""Answers over the web that are no replies: by their status, or by their size."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from rightcall.core.values import display
from rightcall.errors import EndpointError

_PASSING: Final = frozenset({408, 425, 429})
"""Statuses below 500 that may be others a moment later."""

_SECONDS: Final = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")
_SHOWN: Final = 200


def too_large(most: int) -> EndpointError:
    """The trouble that a reply has more bytes than it may."""
    return EndpointError(f"the reply has more than {most:,} bytes; `max_bytes` sets the limit")


def refused(status: int, phrase: str, body: str, headers: Mapping[str, str]) -> EndpointError:
    """The trouble that an answer's status says there is (RFC 9110, 15)."""
    text = body.strip()
    told = f": {display(text, _SHOWN)}" if text else ""
    return EndpointError(
        f"status {status} {phrase}".rstrip() + told,
        is_passing=status >= 500 or status in _PASSING,
        after=_after(headers),
    )


def _after(headers: Mapping[str, str]) -> float | None:
    """How long the other side asks to wait, in seconds (RFC 9110, 10.2.3): a number, or a date."""
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    moment = _moment(text)
    if moment is None:
        return None
    return max(0.0, (moment - (_moment(headers.get("date", "")) or datetime.now(UTC))).total_seconds())


def _moment(text: str) -> datetime | None:
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for a time zone of many digits
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
