"""Records per second of the whole `rightcall grade`, file in and file out, beside the floor; and its memory."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from itertools import islice
from pathlib import Path

from bench import floor, recording
from bench.measure import Run, Seconds, cpu_seconds, interleave, process, ratios, show_table, spread
from bench.scale import Scale
from rightcall.app import kit, service, sinks
from rightcall.faces import cli

TARGET = 2.0
"""The whole run may take so many times what the floor takes."""

FLOOR = "floor: typed decoding + the same results encoded"
GRADE = "rightcall grade -o results.jsonl"
COLUMNS = ("what", "µs a record", "records a second", "times the floor")


def run(scale: Scale) -> bool:
    """Measure and print. There is nothing to agree on but the counts, which `grade` is held to elsewhere."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        file = directory / "records.jsonl"
        recording.write(file, scale.records)
        slices = _slices(file, scale.slices, scale.records // scale.slices)
        _print(_measure(slices, directory / "results.jsonl"), scale, file)
        _memory(file, scale)
    return True


def _slices(file: Path, count: int, length: int) -> list[Path]:
    """The file cut into as many files as there are rounds, so that every round sees other records."""
    paths = [file.with_name(f"slice-{number}.jsonl") for number in range(count)]
    with file.open("rb") as source:
        for path in paths:
            path.write_bytes(b"".join(islice(source, length)))
    return paths


def _measure(slices: list[Path], results: Path) -> dict[str, Seconds]:
    def floor_seconds(number: int) -> float:
        if not results.exists():
            _serve(slices[number], results)
        return decode_seconds(number) + floor.encode_seconds(results, results.with_name("again.jsonl"))

    def decode_seconds(number: int) -> float:
        return cpu_seconds(lambda: floor.decode(slices[number]))

    variants = {
        FLOOR: floor_seconds,
        "typed decoding alone": decode_seconds,
        "json.loads alone": lambda number: cpu_seconds(lambda: floor.standard_library(slices[number])),
        GRADE: lambda number: cpu_seconds(lambda: _command(slices[number], results)),
        "the same without the report on the terminal": lambda number: cpu_seconds(
            lambda: _serve(slices[number], results)
        ),
    }
    return interleave(variants, len(slices))


def _command(traces: Path, results: Path) -> None:
    """The command as users call it, in this process; what it prints is made and thrown away."""
    with open(os.devnull, "wb") as nowhere, contextlib.redirect_stdout(io.TextIOWrapper(nowhere)):
        cli.execute(["grade", str(traces), "-o", str(results)])


def _serve(traces: Path, results: Path) -> None:
    report = kit.report_for(results.name).make()
    service.grade(service.GradeRequest(traces=(str(traces),)), [sinks.to_file(report, str(results))])


def _print(taken: dict[str, Seconds], scale: Scale, file: Path) -> None:
    length = scale.records // scale.slices
    size = file.stat().st_size / scale.records
    rows = []
    for name, seconds in taken.items():
        micros = spread(value / length * 1e6 for value in seconds)
        rows.append((name, micros.show(1), f"{1e6 / micros.median:,.0f}", ratios(seconds, taken[FLOOR]).show()))
    show_table(f"Records: {scale.slices} rounds of {length:,} records, {size:,.0f} bytes each", COLUMNS, rows)
    whole = ratios(taken[GRADE], taken[FLOOR]).median
    print(f"target {TARGET} times the floor: {'held' if whole <= TARGET else 'missed'} with {whole:.2f}", flush=True)


def _memory(file: Path, scale: Scale) -> None:
    """One process each for a tenth of the file and for all of it."""
    tenth = file.with_name("tenth.jsonl")
    recording.write(tenth, scale.records // 10)
    runs = {path: _grade(path) for path in (tenth, file)}
    rows = [
        (
            f"{count:,}",
            f"{took.peak:,.0f} MB",
            f"{took.peak / runs[tenth].peak:.2f}",
            f"{took.cpu:,.1f}",
            f"{took.wall:,.1f}",
        )
        for count, took in ((scale.records // 10, runs[tenth]), (scale.records, runs[file]))
    ]
    columns = ("records", "peak memory", "times the first", "CPU s", "wall s")
    show_table(f"Records: one process, `{GRADE}`", columns, rows)


def _grade(path: Path) -> Run:
    start = "import sys; from rightcall.faces.cli import main; main(sys.argv[1:])"
    return process([sys.executable, "-c", start, "grade", str(path), "-o", str(path.with_suffix(".out.jsonl"))])
