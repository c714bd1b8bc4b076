"""`rightcall serve` in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from support.processes import unmeasured

ADDRESS = re.compile(r"http://\S+")


class Served(NamedTuple):
    """Where it answers, and the process."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def serving(directory: Path, *options: str) -> Iterator[Served]:
    """A server in a process of its own, once it listens."""
    command = [sys.executable, "-m", "rightcall", "serve", "--port", "0", *options]
    started = subprocess.Popen(command, cwd=directory, stderr=subprocess.PIPE, text=True, env=unmeasured())
    assert started.stderr is not None
    try:
        found = ADDRESS.search(started.stderr.readline())
        assert found is not None
        yield Served(found[0], started)
    finally:
        started.kill()
        started.communicate()
