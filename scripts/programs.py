"""Are the programs there that some tests need: a browser, PostgreSQL? In CI, Debian's are installed if they are not.

    python scripts/programs.py

The exit code is 1 if one is missing where `CI` is set; elsewhere tests that need it are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support import browser, postgres


class Needed(NamedTuple):
    """A program, how it is found, what is said where it is missing, and Debian's package of it."""

    find: Callable[[], str | Path | None]
    missing: str
    package: str


NEEDED = (
    Needed(browser.program, browser.MISSING, "chromium"),
    Needed(postgres.programs, postgres.MISSING, "postgresql"),
)


def main() -> int:
    """Say which programs there are, after installing those that are missing if that is wanted and possible."""
    is_ci = bool(os.environ.get("CI"))
    missing = [needed.package for needed in NEEDED if needed.find() is None]
    if missing and is_ci and shutil.which("apt-get") is not None and os.geteuid() == 0:
        install(missing)
    found = [(needed.find(), needed.missing) for needed in NEEDED]
    print(*(program or words for program, words in found), sep="\n")
    return 1 if is_ci and None in (program for program, _ in found) else 0


def install(packages: list[str]) -> None:
    """Install packages of Debian."""
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "--quiet", *command], check=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
