"""Processes that tests start beside the suite."""

from __future__ import annotations

import os


def unmeasured(**more: str) -> dict[str, str]:
    """The environment of this process, and more, without what measures the coverage of a process that is started.

    For processes that run other people's libraries for minutes: being measured nearly doubles their time, and what they
    use of the package is measured where its own tests run.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_")}
    return {**kept, **more}
