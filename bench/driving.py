"""`rightcall run` beside a bare httpx loop: the same requests to the same local server, as many at once.

One loop shares a client, as httpx's documentation advises, which looks through all its connections for each request;
the other has a client for each of its workers. The server says how long it was from the first turn to the last, and
whether any was lost or came twice.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import Run, process, show_table
from bench.scale import Scale

MOST_AT_ONCE = 200
COLUMNS = ("what", "turns a second", "times the loop's", "CPU s", "peak memory", "lost or doubled")
_REPEATS = 10
"""Tests are fewer than attempts by this: then memory for attempts shows."""

SHARED = """
import asyncio, sys
import httpx

async def main(url, turns, at_once):
    numbers = iter(range(turns))
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:
        async def worker():
            for number in numbers:
                reply = await client.post(url, json={"input": "hi", "number": 1, "test": str(number)})
                assert reply.json()["output"] == "Done."
        await asyncio.gather(*(worker() for _ in range(at_once)))

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""

EACH = """
import asyncio, ssl, sys
import httpx

async def main(url, turns, at_once):
    numbers, trust = iter(range(turns)), ssl.create_default_context()
    async def worker():
        async with httpx.AsyncClient(verify=trust, timeout=60) as client:
            for number in numbers:
                reply = await client.post(url, json={"input": "hi", "number": 1, "test": str(number)})
                assert reply.json()["output"] == "Done."
    await asyncio.gather(*(worker() for _ in range(at_once)))

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


class Measured(NamedTuple):
    """What a process took, and what the server saw of it."""

    run: Run
    turns: int
    tests: int
    seconds: float

    @property
    def rate(self) -> float:
        """Turns a second."""
        return self.turns / self.seconds if self.seconds else 0.0


def run(scale: Scale) -> bool:
    """Measure and print; whether nothing was lost and nothing came twice."""
    at_once = min(MOST_AT_ONCE, max(1, scale.turns // 20))
    with _server() as port, tempfile.TemporaryDirectory() as name:
        place = Path(name)
        loop, each = (
            _measured(port, [sys.executable, "-c", program, _url(port), str(scale.turns), str(at_once)])
            for program in (SHARED, EACH)
        )
        ours = _driven(port, place / "all", scale.turns, 1, at_once)
        few = _driven(port, place / "few", scale.turns // _REPEATS**2, _REPEATS, at_once)
        many = _driven(port, place / "many", scale.turns // _REPEATS, _REPEATS, at_once)
    rows = [
        _row("httpx loop, one client", loop, loop, scale.turns),
        _row("httpx loop, a client each", each, loop, scale.turns),
        _row(f"rightcall run, {scale.turns:,} tests", ours, loop, scale.turns),
        _row("… a tenth of the tests, ten attempts at each", many, loop, scale.turns // _REPEATS),
        _row("… a tenth of that", few, loop, scale.turns // _REPEATS**2),
    ]
    show_table(f"Driving: {scale.turns:,} turns over HTTP, {at_once} at once", COLUMNS, rows)
    return not any(row[-1] != "none" for row in rows)


def _row(what: str, measured: Measured, loop: Measured, tests: int) -> tuple[str, ...]:
    attempts = tests if measured.tests == measured.turns else tests * _REPEATS
    is_whole = measured.tests == tests and measured.turns == attempts
    return (
        what,
        f"{measured.rate:,.0f}",
        f"{measured.rate / loop.rate:.2f}" if loop.rate else "",
        f"{measured.run.cpu:,.1f}",
        f"{measured.run.peak:,.0f} MB",
        "none" if is_whole else f"{measured.turns:,} turns of {measured.tests:,} tests",
    )


def _driven(port: int, place: Path, tests: int, repeat: int, at_once: int) -> Measured:
    place.mkdir()
    made = [{"id": f"t{n}", "prompt": "hi", "expected_tool_calls": ["lookup_order"]} for n in range(tests)]
    whole = {"version": 1, "endpoint": {"http": {"url": _url(port)}}, "tests": made}
    file = place / "tests.rightcall.json"
    file.write_text(json.dumps(whole))
    start = "import sys; from rightcall.faces.cli import main; main(sys.argv[1:])"
    options = ["--quiet", "-j", str(at_once), "--repeat", str(repeat), "--out-dir", str(place / "runs")]
    return _measured(port, [sys.executable, "-c", start, "run", str(file), *options])


def _measured(port: int, command: list[str]) -> Measured:
    took = process(command)
    seen = _asked(port)
    return Measured(took, int(seen["turns"]), int(seen["tests"]), seen["seconds"])


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}/chat"


def _asked(port: int) -> dict[str, Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/seen", data=b"{}")
    with urllib.request.urlopen(request) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


@contextmanager
def _server() -> Iterator[int]:
    serving = subprocess.Popen([sys.executable, "-m", "bench.agent_server"], stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    try:
        yield int(serving.stdout.readline())
    finally:
        serving.kill()
        serving.wait()
        serving.stdout.close()
