"""`--rightcall-update`: the lists of calls of tests that failed are rewritten after what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from rightcall.app import updating
from rightcall.core.inert import inert_line
from rightcall.core.values import visible
from rightcall.errors import RightcallError
from rightcall.faces.pytest_plugin.files import SuiteFile, SuiteItem, TestSetFile

_TOLD: pytest.StashKey[list[str]] = pytest.StashKey()


def finish(session: pytest.Session) -> None:
    """Rewrite the files of the tests that failed, each once, and keep what is to be told."""
    failed: dict[SuiteFile, list[str]] = {}
    for item in session.items:
        if isinstance(item, SuiteItem) and item.has_failed:
            failed.setdefault(item.suite_file, []).append(item.identity)
    told = [file.shown(line) for file, ids in failed.items() for line in _rewritten(file, ids)]
    session.config.stash[_TOLD] = told


def _rewritten(file: SuiteFile, ids: Sequence[str]) -> Iterator[str]:
    if not isinstance(file, TestSetFile):
        yield f"{file.name}: records carry what they expect themselves, so nothing is rewritten"
        return
    if file.is_driven:
        yield f"{file.name}: its agent was driven, and nothing was recorded to rewrite it after; promote a recorded run"
        return
    try:
        found = updating.update(file.request(), ids, lambda runs: updating.concealing(file.redaction, runs))
        found.write()
    except RightcallError as error:
        yield f"not updated: {error}"
        return
    yield from (f"{file.name}: {one}" for one in found.refused)
    if found.diff:
        yield f"{file.name}: rewritten: {', '.join(found.changed)}; review the difference, and run the tests again"
        yield from found.diff


def tell(terminalreporter: Any) -> None:
    """Say at the end what was rewritten."""
    lines = terminalreporter.config.stash.get(_TOLD, [])
    if lines:
        terminalreporter.section("rightcall --rightcall-update")
    for line in lines:
        terminalreporter.write_line(inert_line(visible(line)))
