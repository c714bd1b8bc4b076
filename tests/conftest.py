"""Settings of the whole suite."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from support.staged.reading import recorder

if TYPE_CHECKING:
    from rightcall.store.engine import Org, Store
    from support.command_line import Run
    from support.databases import Maker

pytest_plugins = ["pytester"]  # the tests of the pytest plugin run pytest

UNUSED = "-p no:langsmith_plugin -p no:schemathesis"
"""Plugins of pytest that came with libraries: each process and each inner run would take seconds to start them."""
os.environ["PYTEST_ADDOPTS"] = UNUSED

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("long", settings.get_profile("default"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))


@pytest.fixture
def in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty directory, without colours asked for."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs a command in this process."""
    from support.command_line import run_here

    return lambda *arguments: run_here(capfdbinary, *arguments)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a run of real libraries; workers of one session share what was recorded."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "recorded"
    folder.mkdir(exist_ok=True)
    return recorder(folder)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def databases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    """What makes databases of one kind: a test that asks for it is run for each kind."""
    from support import databases  # it loads the libraries of databases

    if request.param == "sqlite":
        yield databases.sqlite(tmp_path_factory.mktemp("databases"))
    else:
        with databases.postgresql() as maker:
            yield maker


@pytest.fixture(scope="session")
def store(databases: Maker) -> Iterator[Store]:
    """An open database that tests share; each has an organization of its own."""
    from rightcall.store import migrating

    with migrating.open_store(databases()) as opened:
        yield opened


@pytest.fixture
def org(store: Store) -> Org:
    """A new organization."""
    from support.databases import new_organization

    return new_organization(store)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The folder in which pytest is run by a test, without the plugins that are not used."""
    monkeypatch.setenv("PYTEST_ADDOPTS", UNUSED)
    return pytester
