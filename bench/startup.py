"""How long it takes to begin, on the clock: help, grading one record, and pytest, beside an idle interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import Run, process, ratios, show_table, spread
from bench.scale import Scale

NOTHING = "python -c pass"
COLUMNS = ("command", "wall ms", "times doing nothing", "CPU ms", "modules")

RECORD = {"id": "refund", "tool_calls": [{"name": "lookup_order", "arguments": {"order_id": 42}}]}
TESTS = {"tests": [{"id": "refund", "expected_tool_calls": [{"name": "lookup_order", "arguments": {"order_id": 42}}]}]}

_START = "import sys; from rightcall.faces.cli import main; main(sys.argv[1:])"
_PYTEST = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
_COUNT = "import atexit, sys; atexit.register(lambda: sys.stderr.write('modules %d' % len(sys.modules))); "


def run(scale: Scale) -> bool:
    """Measure and print. There is nothing to agree on."""
    with tempfile.TemporaryDirectory() as directory:
        commands = _commands(Path(directory))
        runs: dict[str, list[Run]] = {name: [] for name in commands}
        for number in range(scale.rounds):
            names = list(commands)
            start = number % len(names)
            for name in names[start:] + names[:start]:
                code, arguments = commands[name]
                runs[name].append(process([sys.executable, "-c", code, *arguments]))
        rows = [_row(name, runs, *commands[name]) for name in commands]
    show_table(f"Start-up: {scale.rounds} rounds", COLUMNS, rows)
    return True


def _commands(directory: Path) -> dict[str, tuple[str, list[str]]]:
    """What is started: a program and its arguments."""
    record, tests = directory / "trace.json", directory / "tests.json"
    record.write_text(json.dumps(RECORD), encoding="utf-8")
    tests.write_text(json.dumps(TESTS), encoding="utf-8")
    unrelated = directory / "test_unrelated.py"
    unrelated.write_text("def test_unrelated():\n    pass\n", encoding="utf-8")
    pytest = ["-q", "-p", "no:cacheprovider", "--disable-plugin-autoload", str(unrelated)]
    return {
        NOTHING: ("pass", []),
        "rightcall --help": (_START, ["--help"]),
        "rightcall grade trace.json -t tests.json": (_START, ["grade", str(record), "-t", str(tests)]),
        "pytest of a project that does not use it": (_PYTEST, pytest),
        "the same with the plugin": (_PYTEST, [*pytest, "-p", "rightcall.faces.pytest_plugin"]),
    }


def _row(name: str, runs: dict[str, list[Run]], code: str, arguments: list[str]) -> tuple[str, ...]:
    wall = [each.wall for each in runs[name]]
    base = [each.wall for each in runs[NOTHING]]
    return (
        name,
        spread(value * 1e3 for value in wall).show(0),
        ratios(wall, base).show(),
        spread(each.cpu * 1e3 for each in runs[name]).show(0),
        _modules(code, arguments),
    )


def _modules(code: str, arguments: list[str]) -> str:
    """How many modules are imported when the program ends."""
    ended = subprocess.run(
        [sys.executable, "-c", _COUNT + code, *arguments], capture_output=True, text=True, check=False
    )
    return ended.stderr.rpartition("modules ")[2]
