"""Time limits of turns: what takes too long is trouble that may pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rightcall.errors import EndpointError


@asynccontextmanager
async def within(seconds: float, missed: str, advice: str = "") -> AsyncIterator[None]:
    """A block that may take so long; `EndpointError` with what was missed if it takes longer.

    Time-outs of what happens inside are left as they are.
    """
    try:
        async with asyncio.timeout(seconds) as timer:
            yield
    except TimeoutError:
        if not timer.expired():
            raise
        message = f"{missed} within {seconds:g} s; `timeout` sets the limit{advice}"
        raise EndpointError(message, is_passing=True) from None
