"""The one check script: format, lint, types, floors, tests with branch coverage, docs examples.

    python scripts/check.py            everything
    python scripts/check.py types      only the named steps
"""

from __future__ import annotations

import subprocess
import sys
import time

PYTHON = sys.executable
STEPS: dict[str, list[str]] = {
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "types": [PYTHON, "-m", "mypy"],
    "floors": [PYTHON, "-c", "from importlinter.cli import lint_imports_command as run; run()"],
    "tests": [PYTHON, "-m", "coverage", "run", "-m", "pytest"],
    "coverage": [PYTHON, "scripts/coverage_report.py"],
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
    """Run one step, print its time, and tell whether it passed."""
    print(f"\n== {name}", flush=True)
    started = time.perf_counter()
    code = subprocess.run(STEPS[name], check=False).returncode
    print(f"== {name}: {'ok' if code == 0 else 'FAILED'} in {time.perf_counter() - started:.1f} s", flush=True)
    return code == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
