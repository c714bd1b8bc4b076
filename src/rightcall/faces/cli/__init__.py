"""The command line: `rightcall COMMAND …`, one module a command, imported when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rightcall.faces.cli.streams import prepare_streams


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code."""
    prepare_streams()
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code (G39), whatever goes wrong."""
    from rightcall.faces.cli.guard import guarded
    from rightcall.faces.cli.root import root

    return guarded(lambda: root.main(list(arguments), prog_name="rightcall", standalone_mode=False))
