"""Commands that need what not everybody installs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Tell that a library is not installed as the extra that brings it; `MissingExtraError`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "rightcall":
            raise
        from rightcall.errors import MissingExtraError

        raise MissingExtraError(what, extra) from None
