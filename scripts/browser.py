"""Is there a browser for the tests of pages? In CI, Debian's is installed if there is none.

    python scripts/browser.py

The exit code is 1 if there is none where `CI` is set; elsewhere tests that need one are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.browser import MISSING, program

INSTALL = (
    ["apt-get", "update", "--quiet"],
    ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", "chromium"],
)


def main() -> int:
    """Say which browser there is, after installing one if that is wanted and possible."""
    is_ci = bool(os.environ.get("CI"))
    if program() is None and is_ci and shutil.which("apt-get") is not None and os.geteuid() == 0:
        for command in INSTALL:
            subprocess.run(command, check=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    found = program()
    print(found or MISSING)
    return 1 if found is None and is_ci else 0


if __name__ == "__main__":
    sys.exit(main())
