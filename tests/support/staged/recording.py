"""Record every script in every run of one module: `python -m support.staged.recording MODULE FOLDER`.

A process of its own each, because instrumentations change the libraries they watch.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from support.staged.catalogue import played
from support.staged.server import Run, serve


def record(module: str, folder: Path) -> None:
    """Write all files, as `run/script/file`. The module offers its runs by `runs()`."""
    runs: dict[str, Run] = importlib.import_module(f"support.staged.{module}").runs()
    for name, run in runs.items():
        for script in played(name):
            with serve(script) as model:
                files = run(script, model)
            for file, data in files.items():
                path = folder / name / script.name / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


if __name__ == "__main__":
    record(sys.argv[1], Path(sys.argv[2]))
