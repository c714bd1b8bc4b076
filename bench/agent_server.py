"""An agent behind HTTP that answers at once, and says of each benchmark how many attempts it saw and how fast.

`python -m bench.agent_server` prints its port. `POST /chat` is a turn; `POST /seen` tells what was seen since the last
time it was asked, and forgets it.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from typing import Any

_REPLY = {"output": "Done.", "tool_calls": [{"name": "lookup_order", "arguments": {"order_id": 42}}]}
_LENGTH = re.compile(rb"(?i)content-length: *(\d+)")


def _answer(value: Any) -> bytes:
    body = json.dumps(value).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


_DONE = _answer(_REPLY)


class Seen:
    """The attempts that were seen, and when the first and the last of them was."""

    def __init__(self) -> None:
        self.tests: Counter[str] = Counter()
        self.times: list[float] = []

    def note(self, body: bytes) -> None:
        """A turn came."""
        self.tests[json.loads(body)["test"]] += 1
        self.times = [*self.times[:1], time.perf_counter()]

    def told(self) -> dict[str, float]:
        """What was seen, which is then forgotten."""
        tests, times = self.tests, self.times or [0.0]
        self.tests, self.times = Counter(), []
        return {"turns": tests.total(), "tests": len(tests), "seconds": times[-1] - times[0]}


async def _serve(seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            found = _LENGTH.search(head)
            body = await reader.readexactly(int(found[1]) if found else 0)
            if head.startswith(b"POST /seen"):
                writer.write(_answer(seen.told()))
            else:
                seen.note(body)
                writer.write(_DONE)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Serve until the program is ended."""
    seen = Seen()
    server = await asyncio.start_server(lambda *streams: _serve(seen, *streams), "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
