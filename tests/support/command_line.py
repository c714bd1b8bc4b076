"""Running the command line in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from rightcall.faces import cli


class Ran(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


def run_here(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str | Path) -> Ran:
    """Run a command in this process."""
    capfdbinary.readouterr()
    code = cli.execute([str(argument) for argument in arguments])
    out, err = capfdbinary.readouterr()
    return Ran(code, out.decode("utf-8"), err.decode("utf-8"))


def run_apart(*arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> Ran:
    """Run a command in a process of its own."""
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    done = subprocess.run(
        [sys.executable, "-c", "from rightcall.faces.cli import main; main()", *map(str, arguments)],
        cwd=cwd,
        env={**environment, **(env or {})},
        input=stdin,
        capture_output=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
