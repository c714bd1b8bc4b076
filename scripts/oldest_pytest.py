"""Run the tests of the pytest plugin with the oldest pytest that it supports; all others run with the newest.

The old pytest is installed once, into `build/`, and put in front of the installed one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

OLDEST = "8.0.2"
ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / f"pytest-{OLDEST}"


def main() -> int:
    """Install if need be, run, and return pytest's exit code."""
    if not PLACE.joinpath("pytest").is_dir():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(PLACE), f"pytest=={OLDEST}"]
        subprocess.run(install, check=True)
    tests = sorted(str(path) for path in ROOT.joinpath("tests").glob("test_pytest_*.py"))
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "--numprocesses=auto", *tests]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(PLACE)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
