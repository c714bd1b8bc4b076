"""Types of columns that hold the same on SQLite and PostgreSQL, and columns that most tables have.

What a column cannot hold on one of the two is refused on both, before it is sent (`RefusedRowError`).
"""

from __future__ import annotations

import datetime
import zlib
from typing import Any, ClassVar, Final

from sqlalchemy import BigInteger, Column, ForeignKey, ForeignKeyConstraint, Integer, LargeBinary, MetaData, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.types import TypeDecorator, TypeEngine

from rightcall.core import jsontext
from rightcall.errors import RefusedRowError

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""All tables; constraints have names, so that a migration can change them."""

EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MICROSECOND: Final = datetime.timedelta(microseconds=1)

_PLAIN, _DEFLATED = b"\0", b"\1"
"""The first byte of what is packed: how the others are written."""


class Refused(RefusedRowError, DontWrapMixin):
    """A value that no column can hold, told as it is instead of inside an error about the statement."""


class Words(TypeDecorator[str]):
    """Text, ordered by its bytes on both databases. PostgreSQL holds no NUL, and neither half a surrogate pair."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return text that is compared byte by byte."""
        return dialect.type_descriptor(Text(collation="C" if dialect.name == "postgresql" else None))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Refuse what cannot be held."""
        if value is None or (value.isascii() and "\0" not in value):
            return value
        if "\0" in value:
            raise Refused("text with the character NUL (U+0000) cannot be kept; leave it out")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise Refused("text with half of a surrogate pair cannot be kept; it is no Unicode text")
        return value


class _Number(TypeDecorator[int]):
    """An integer that fits into `bits`: what does not is refused on both databases, by name of the limit."""

    bits: ClassVar[int]

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        """Refuse what cannot be held."""
        limit = 1 << self.bits - 1
        if value is not None and not -limit <= value < limit:
            raise Refused(f"the number {value} cannot be kept: it does not fit into {self.bits} bits")
        return value


class Small(_Number):
    """A count or a position."""

    impl = Integer
    cache_ok = True
    bits = 32


class Large(_Number):
    """A number that others give, such as a time in nanoseconds."""

    impl = BigInteger
    cache_ok = True
    bits = 64


class Document(TypeDecorator[Any]):
    """A JSON value, kept as its text: keys stay in order, and numbers and the nulls inside it as they were written.

    None is no value: the column is NULL.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Write the value as JSON."""
        if value is None:
            return None
        try:
            return jsontext.encode(value).decode()
        except jsontext.JSONError as error:
            raise Refused(f"a value that is not JSON cannot be kept: {error}") from None

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read the JSON."""
        return None if value is None else jsontext.decode(value)


class Moment(TypeDecorator[datetime.datetime]):
    """A time in UTC, kept as microseconds since 1970."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime.datetime | None, dialect: Dialect) -> int | None:
        """Count the microseconds; a time without its zone is a mistake of ours."""
        if value is None:
            return None
        assert value.tzinfo is not None, "a time without its zone"
        return (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime.datetime | None:
        """Return the time in UTC."""
        return None if value is None else EPOCH + value * MICROSECOND


class Packed(TypeDecorator[bytes]):
    """Bytes, deflated where that makes them fewer."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """Deflate."""
        if value is None:
            return None
        deflated = zlib.compress(value)
        return _DEFLATED + deflated if len(deflated) < len(value) else _PLAIN + value

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """Return the bytes as they came."""
        if value is None:
            return None
        return zlib.decompress(value[1:]) if value[:1] == _DEFLATED else bytes(value[1:])


def organization() -> Column[str]:
    """Return the column that says whose a row is: the first of every key."""
    return Column("organization_id", Words, ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)


def identity() -> Column[str]:
    """Return the column of the id."""
    return Column("id", Words, primary_key=True)


def history() -> tuple[Column[Any], ...]:
    """Return the columns that change with every change: the version counts from 1."""
    return (
        Column("version", Small, nullable=False),
        Column("created_at", Moment, nullable=False),
        Column("updated_at", Moment, nullable=False),
    )


def part_of(table: str, *columns: str, key: tuple[str, ...] = ("id",), goes_with: bool = True) -> ForeignKeyConstraint:
    """Tie columns to the key of a table within the same organization: a row can never point into another one.

    A row that `goes_with` what it points at is deleted with it; otherwise what is pointed at cannot be deleted.
    """
    ours = ["organization_id", *columns]
    theirs = [f"{table}.{name}" for name in ("organization_id", *key)]
    return ForeignKeyConstraint(ours, theirs, ondelete="CASCADE" if goes_with else None)
