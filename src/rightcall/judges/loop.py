"""One event loop in a thread of its own, for all requests of the process, whatever threads and loops ask."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, Final, TypeVar

T = TypeVar("T")
_STARTING: Final = threading.Lock()


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to. Whoever waits and is interrupted ends the work too."""
    with _STARTING:  # a client must never be used in two loops
        loop = _loop()
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="rightcall-judge", daemon=True).start()
    return loop
