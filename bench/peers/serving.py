"""How a peer is measured: it reads the cases, builds its own objects, and then runs a setting whenever it is told.

The process answers on its standard output, one JSON object a line: first what it is, then, for each setting named on
its standard input, the processor seconds of all evaluations and how many of them passed.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import sys
import time
from collections.abc import Callable
from typing import Any

Evaluate = Callable[[Any, Any], bool]
"""Evaluates what was made against what was expected, both as the tool wants them; whether it passes."""

Build = Callable[[list[dict[str, Any]]], Any]


def serve(package: str, answers: str, build: tuple[Build, Build], settings: dict[str, Evaluate]) -> None:
    """Answer until the input ends. `build` makes the tool's objects of expected and of made calls."""
    build_expected, build_made = build
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    pairs = [
        (expected, build_made(made))
        for case in cases
        for expected in [build_expected(case["expected"])]
        for made in case["attempts"]
    ]
    output = sys.stdout
    sys.stdout = sys.stderr
    gc.collect()
    gc.freeze()
    gc.disable()
    say = {"version": importlib.metadata.version(package), "answers": answers, "settings": list(settings)}
    print(json.dumps(say), file=output, flush=True)
    for line in sys.stdin:
        gc.collect()
        print(json.dumps(_timed(settings[line.strip()], pairs)), file=output, flush=True)


def _timed(evaluate: Evaluate, pairs: list[tuple[Any, Any]]) -> dict[str, float]:
    started = time.process_time()
    passed = 0
    for expected, made in pairs:
        passed += evaluate(expected, made)
    return {"seconds": time.process_time() - started, "passed": passed}
