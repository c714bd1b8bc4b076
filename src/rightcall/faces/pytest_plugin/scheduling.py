"""Which process of pytest-xdist a test is run in: each test set whose agent is driven stays in one of them.

Every process grades a file as a whole when its first test comes, so that the tests of one file dealt out to several
would have its agent driven by each.
"""

from __future__ import annotations

import fnmatch
from pathlib import PurePath
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling, LoadScopeScheduling

from rightcall.errors import UsageError
from rightcall.faces.pytest_plugin import marker

_DEALING = ("load", "worksteal", "loadscope", "loadgroup")
"""The ways of dealing tests out in which those of one file may come to several processes."""


def scheduler(config: pytest.Config, log: Any) -> Any:
    """What deals the tests out if agents are driven, `None` where it is as it would be without this plugin."""
    way = config.getvalue("dist")
    if way not in _DEALING or not _is_live(config):
        return None
    base: Any = LoadGroupScheduling if way == "loadgroup" else LoadScopeScheduling
    patterns = config.getini("rightcall_files")

    class FilesInOnePlace(base):  # type: ignore[misc]  # xdist has no types
        """Test sets stay together, all else is dealt out as was asked for."""

        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            if any(fnmatch.fnmatch(PurePath(file).name, pattern) for pattern in patterns):
                return file
            return nodeid if way in ("load", "worksteal") else str(super()._split_scope(nodeid))

    return FilesInOnePlace(config, log)


def _is_live(config: pytest.Config) -> bool:
    try:
        return marker.is_live(config)
    except UsageError:
        return False  # each test tells it
