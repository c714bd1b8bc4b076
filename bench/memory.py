"""The most memory that `rightcall grade` ever holds, for files of three sizes: does it grow with the file?"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench import recording
from bench.calls import TOOLS, arguments, sentence
from bench.measure import Run, process, show_table
from bench.scale import Scale

MEGABYTE = 1_000_000
COLUMNS = ("file", "size", "peak memory", "times the first", "CPU s", "wall s")
DISTINCT = 2_000
"""Records, and traces, that are made; then they come again under other ids."""

AT_ONCE = 50
"""Traces whose spans lie interleaved."""

TESTS = {"version": 1, "tests": [{"id": "t", "forbidden_tools": ["drop_table"], "required_tools": ["lookup_order"]}]}

_encode = msgspec.json.Encoder().encode


def run(scale: Scale) -> bool:
    """Measure and print. Spans take a fifth of the size, since each takes longer."""
    print("memory: the files are made, graded and deleted in the directory for temporary files", flush=True)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        tests = directory / "tests.rightcall.json"
        tests.write_bytes(_encode(TESTS))
        rows = _rows(directory, "records", records(), scale.megabytes, [])
        rows += _rows(directory, "spans", spans(), scale.megabytes / 5, ["--tests", str(tests), "--apply-all"])
    show_table("Memory: one process a file, `rightcall grade -o results.jsonl`", COLUMNS, rows)
    return True


def _rows(
    directory: Path, name: str, lines: Callable[[], Iterator[bytes]], largest: float, options: list[str]
) -> list[tuple[str, ...]]:
    sizes = [largest * MEGABYTE / factor for factor in (100, 10, 1)]
    runs = [_graded(directory / f"{name}.jsonl", lines(), size, options) for size in sizes]
    return [
        (
            name,
            f"{size / MEGABYTE:,.2f} MB" if size < 10 * MEGABYTE else f"{size / MEGABYTE:,.0f} MB",
            f"{took.peak:,.0f} MB",
            f"{took.peak / runs[0].peak:.2f}",
            f"{took.cpu:,.1f}",
            f"{took.wall:,.1f}",
        )
        for size, took in zip(sizes, runs, strict=True)
    ]


def _graded(path: Path, lines: Iterator[bytes], size: float, options: list[str]) -> Run:
    """Make a file of at least that size, grade it in a process of its own, and delete it."""
    written = 0
    with path.open("wb") as file:
        while written < size:
            written += file.write(next(lines))
    start = "import sys; from rightcall.faces.cli import main; main(sys.argv[1:])"
    results = path.with_name("results.jsonl")
    took = process([sys.executable, "-c", start, "grade", str(path), "--quiet", "-o", str(results), *options])
    print(f"{path.stem} of {written / MEGABYTE:,.2f} MB: {took.peak:,.0f} MB of memory", flush=True)
    path.unlink()
    results.unlink()
    return took


def records() -> Callable[[], Iterator[bytes]]:
    """Native records without end, each with an id of its own and with its expectations."""
    rng = random.Random(7)
    made = [_encode(recording.record(rng, number)).partition(b",")[2] for number in range(DISTINCT)]

    def lines() -> Iterator[bytes]:
        number = 0
        while True:
            yield b'{"id":"record-%d",%s\n' % (number, made[number % DISTINCT])
            number += 1

    return lines


def spans() -> Callable[[], Iterator[bytes]]:
    """Requests of OTLP without end: the spans of many traces at once, children before their parents."""
    rng = random.Random(7)
    made = [_trace(rng) for _ in range(DISTINCT)]

    def lines() -> Iterator[bytes]:
        first = 0
        while True:
            together = [made[number % DISTINCT] for number in range(first, first + AT_ONCE)]
            for place in range(len(together[0])):
                for at, trace in enumerate(together):
                    yield trace[place].replace(b"@" * 32, b"%032x" % (first + at + 1))
            first += AT_ONCE

    return lines


def _trace(rng: random.Random) -> list[bytes]:
    """The requests of one trace, a span each: two model calls, what they asked for, and the agent around them."""
    children = [span for turn in range(2) for span in _turn(rng, 2 + turn * 2)]
    agent = _span(1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}, parent=False)
    return [_request(span) for span in [*children, agent]]


def _turn(rng: random.Random, number: int) -> list[dict[str, Any]]:
    name, given = rng.choice(TOOLS), arguments(rng, 4)
    part = {"type": "tool_call", "id": f"call-{number}", "name": name, "arguments": given}
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": _text([{"role": "user", "parts": [{"type": "text", "content": sentence(rng, 60)}]}]),
        "gen_ai.output.messages": _text([{"role": "assistant", "parts": [part]}]),
    }
    ran = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": f"call-{number}",
        "gen_ai.tool.call.result": sentence(rng, 20),
    }
    return [_span(number + 1, ran), _span(number, asked)]


def _text(value: Any) -> str:
    return _encode(value).decode()


def _span(number: int, attributes: dict[str, str], parent: bool = True) -> dict[str, Any]:
    return {
        "traceId": "@" * 32,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{1:016x}" if parent else "",
        "name": attributes["gen_ai.operation.name"],
        "startTimeUnixNano": str(number * 1_000_000),
        "endTimeUnixNano": str((number + 20) * 1_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def _request(span: dict[str, Any]) -> bytes:
    return _encode({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}) + b"\n"
