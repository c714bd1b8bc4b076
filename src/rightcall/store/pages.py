"""Lists page by page. A cursor says after which row a page begins, so that rows which come and go shift nothing."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Select

from rightcall.errors import UsageError

_T = TypeVar("_T")

MOST: Final = 1000
"""Rows of one page, at most."""

_POSITIONS: Final = 1 << 31
"""More than any position."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A page that is asked for: how many rows, and after which cursor; `None` begins at the first row."""

    limit: int = 50
    cursor: str | None = None


class Page(msgspec.Struct, Generic[_T], frozen=True, kw_only=True):
    """Rows in their order, and the cursor of the next page; `None` if there is none."""

    rows: tuple[_T, ...]
    next: str | None = None


def after(query: Select[Any], wanted: Wanted, key: ColumnElement[Any], type_: type[str | int] = str) -> Select[Any]:
    """The rows of the page, by a key that is unique and in order, and one more that tells whether there is another."""
    if not 1 <= wanted.limit <= MOST:
        raise UsageError(f"a page has 1 to {MOST:,} rows; expected `limit` to be one of these")
    if wanted.cursor is not None:
        query = query.where(key > _read(wanted.cursor, type_))
    return query.order_by(key).limit(wanted.limit + 1)


def page_of(rows: Sequence[_T], wanted: Wanted, key: Callable[[_T], str | int]) -> Page[_T]:
    """The page of what `after` found."""
    shown = tuple(rows[: wanted.limit])
    return Page(rows=shown, next=_written(key(shown[-1])) if len(rows) > wanted.limit else None)


def _written(key: str | int) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def _read(cursor: str, type_: type[Any]) -> Any:
    try:
        key = msgspec.json.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=type_)
    except (binascii.Error, ValueError):
        key = None
    if key is None or not (key.isprintable() if isinstance(key, str) else 0 <= key < _POSITIONS):
        raise UsageError("expected a cursor that an earlier page gave as its `next`")
    return key
