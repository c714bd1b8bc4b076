"""`python -m bench`: run the benchmarks and print their tables."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from collections.abc import Sequence

from bench.scale import FULL, QUICK, Scale

BENCHMARKS = {
    "evaluations": "evaluations per second beside a Python loop and other tools",
    "records": "records per second of the whole `rightcall grade` beside the floor, and its memory",
    "sizes": "trajectories of 100,000 calls, and 10,000 expected calls in any order",
    "rules": "a thousand rules between calls on a trajectory of ten thousand calls",
    "memory": "the memory that `rightcall grade` takes for files of three sizes, of records and of interleaved spans",
    "driving": "turns a second of `rightcall run` over HTTP beside a bare httpx loop, and its memory",
    "startup": "how long it takes to begin",
}
"""Each is one module of this package with a function `run`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 if competitors disagreed on verdicts, so that their times cannot be compared."""
    options = _parser().parse_args(arguments)
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors; processor time unless said otherwise;")
    print("figures are medians over rounds, with (least..greatest)")
    scale = _scale(options)
    names = options.only or BENCHMARKS
    agreed = [importlib.import_module(f"bench.{name}").run(scale) for name in names]
    return 0 if all(agreed) else 1


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:12} {text}" for name, text in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"Measure rightcall.\n\nBenchmarks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help="only this one; repeatable")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything runs")
    parser.add_argument("--records", type=int, metavar="N", help=f"records in the file, {FULL.records:,} by default")
    parser.add_argument(
        "--megabytes", type=int, metavar="N", help=f"size of the largest file for `memory`, {FULL.megabytes} by default"
    )
    return parser


def _scale(options: argparse.Namespace) -> Scale:
    scale = QUICK if options.quick else FULL
    given = {"records": options.records, "megabytes": options.megabytes}
    return scale._replace(**{name: size for name, size in given.items() if size is not None})


if __name__ == "__main__":
    sys.exit(main())
