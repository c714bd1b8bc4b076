"""Time limits of turns: what takes too long is trouble that may pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from rightcall.errors import EndpointError

LIMIT: Final = "`timeout` sets the limit"


@asynccontextmanager
async def within(seconds: float | None, missed: str, advice: str = LIMIT) -> AsyncIterator[None]:
    """A block that may take so long, any time for `None`; `EndpointError` with what was missed if it takes longer.

    Time-outs of what happens inside are left as they are.
    """
    try:
        async with asyncio.timeout(seconds) as timer:
            yield
    except TimeoutError:
        if not timer.expired():
            raise
        raise EndpointError(f"{missed} within {seconds or 0:g} s; {advice}", is_passing=True) from None
