"""Record every script in every run of one source: `python -m support.staged.recording SOURCE FOLDER`.

A process of its own each, because instrumentations change the libraries they watch.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from support.staged.catalogue import played
from support.staged.server import Run, serving


def record(source: str, folder: Path) -> None:
    """Write all files, as `run/script/file`. A source is a module that offers `runs`, and what that is given."""
    module, *given = source.split(":")
    runs: dict[str, Run] = importlib.import_module(f"support.staged.{module}").runs(*given)
    with serving() as server:
        for name, run in runs.items():
            for script in played(name):
                for file, data in run(script, server.play(script)).items():
                    path = folder / name / script.name / file
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)


if __name__ == "__main__":
    record(sys.argv[1], Path(sys.argv[2]))
