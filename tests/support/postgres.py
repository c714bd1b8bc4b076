"""PostgreSQL for tests: a cluster in a folder of its own that is thrown away, behind a socket of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Final

import psycopg
import pytest

MISSING: Final = "there is no PostgreSQL: neither is `initdb` on the path nor in /usr/lib/postgresql"

_USER: Final = "postgres"
"""Who runs the server where the tests are run by root, whom it refuses."""

_SETTINGS: Final = (
    "autovacuum=off",
    "deadlock_timeout=10ms",
    "fsync=off",
    "full_page_writes=off",
    "listen_addresses=",
    "log_checkpoints=off",
    "log_min_messages=log",
    "max_connections=60",
    "shared_buffers=32MB",
    "wal_level=minimal",
    "max_wal_senders=0",
)


def programs() -> Path | None:
    """The folder of the programs of the newest PostgreSQL that is installed."""
    found = glob("/usr/lib/postgresql/*/bin/initdb")
    if found:
        return Path(max(found, key=lambda name: int(Path(name).parts[-3]))).parent
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).resolve().parent


@contextmanager
def cluster() -> Iterator[str]:
    """A server with one database; yields its URL. Without PostgreSQL the test is skipped, and fails in CI."""
    found = programs()
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="rightcall-pg-", dir="/tmp"))  # the path of a socket has to be short
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, _USER, _USER)
        with _running(found, folder):
            yield f"postgresql://{_USER}@/postgres?host={folder}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(found: Path, folder: Path) -> Iterator[None]:
    data = folder / "data"
    made = [
        str(found / "initdb"),
        "--no-sync",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        f"--username={_USER}",
    ]
    subprocess.run([*_as_user(), *made, "-D", str(data)], check=True, capture_output=True, cwd=folder)
    settings = [word for setting in (*_SETTINGS, f"unix_socket_directories={folder}") for word in ("-c", setting)]
    command = [*_as_user(), str(found / "postgres"), "-D", str(data), *settings]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as server:
        assert server.stderr is not None
        said = next((line for line in server.stderr if "ready to accept connections" in line), None)
        assert said is not None, "the server did not start"
        try:
            yield
        finally:
            server.send_signal(3)  # SIGQUIT: at once; nothing of it is kept
            server.communicate()


def _as_user() -> list[str]:
    """Run as somebody who may be served, and end with this process however it ends."""
    if shutil.which("setpriv") is None:
        return []
    user = [f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"] if os.geteuid() == 0 else []
    return ["setpriv", *user, "--pdeathsig=QUIT"]


def execute(url: str, statement: str) -> None:
    """Run one statement outside of any transaction."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())
