"""The one check script: format, lint, types, floors, programs, tests (with documentation), oldest pytest, coverage.

    python scripts/check.py            everything
    python scripts/check.py types      only the named steps

All steps run even when one fails; the exit code is 1 if any did.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
COVERAGE = [PYTHON, "-m", "coverage"]
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
"""Of every step. The tests start hundreds of processes; each would compile all that it imports again."""
STEPS: dict[str, list[list[str]]] = {
    "format": [[PYTHON, "-m", "ruff", "format", "--check", "."]],
    "lint": [[PYTHON, "-m", "ruff", "check", "."]],
    "types": [[PYTHON, "-m", "mypy"]],
    "floors": [[PYTHON, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-logo"]],
    "programs": [[PYTHON, "scripts/programs.py"]],
    "tests": [[*COVERAGE, "erase"], [*COVERAGE, "run", "-m", "pytest", "--numprocesses=auto", "--dist=worksteal"]],
    "oldest-pytest": [[PYTHON, "scripts/oldest_pytest.py"]],
    "coverage": [[*COVERAGE, "combine", "--quiet"], [*COVERAGE, "report"]],
}


def main(names: list[str]) -> int:
    """Run the steps in order, all of them even after a failure, and name those that failed."""
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        print(f"unknown step {unknown[0]}; the steps are {', '.join(STEPS)}", file=sys.stderr)
        return 2
    failed = [name for name in names or STEPS if not passes(name)]
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall checks passed", flush=True)
    return 1 if failed else 0


def passes(name: str) -> bool:
    """Run one step, print its time, and tell whether all its commands succeeded."""
    print(f"\n== {name}", flush=True)
    started = time.perf_counter()
    succeeded = all(map(_succeeds, STEPS[name]))
    print(f"== {name}: {'ok' if succeeded else 'FAILED'} in {time.perf_counter() - started:.1f} s", flush=True)
    return succeeded


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
