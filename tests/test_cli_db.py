"""`rightcall db`: making, bringing up to date, checking and copying a database."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rightcall.store import migrating, versions
from support.command_line import Ran, run_here
from support.databases import Maker, empty

Capture = pytest.CaptureFixture[bytes]

NEWEST = versions.known()[-1]


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def change(statement: str) -> None:
    """Change `rightcall.db` with the standard library alone."""
    with closing(sqlite3.connect("rightcall.db")) as connection, connection:
        connection.execute(statement)


def test_a_database_is_made_once(capfdbinary: Capture) -> None:
    """Upgrading makes `rightcall.db` where there is none, only for its owner, and does nothing the second time."""
    assert run_here(capfdbinary, "db", "upgrade") == Ran(0, f"rightcall.db: version {NEWEST} (made)\n", "")
    assert run_here(capfdbinary, "db", "upgrade") == Ran(0, f"rightcall.db: is up to date, version {NEWEST}\n", "")
    assert run_here(capfdbinary, "db", "check") == Ran(0, "rightcall.db: nothing is wrong\n", "")
    assert Path("rightcall.db").stat().st_mode & 0o777 == 0o600


def test_both_kinds_of_database_can_be_made(capfdbinary: Capture, databases: Maker) -> None:
    """The same commands serve SQLite and PostgreSQL."""
    database = empty(databases)
    assert run_here(capfdbinary, "db", "upgrade", "--database", database).out.endswith(f": version {NEWEST} (made)\n")
    assert run_here(capfdbinary, "db", "check", "--database", database).out.endswith(": nothing is wrong\n")


@pytest.mark.parametrize("command", [["check"], ["backup", "copy.db"]])
def test_a_database_that_is_not_there_is_not_made_by_accident(capfdbinary: Capture, command: list[str]) -> None:
    """Checking and copying say how to make a database, and make none."""
    ran = run_here(capfdbinary, "db", *command)
    told = "there is no database; make one: rightcall db upgrade --database rightcall.db"
    assert (ran.code, ran.err) == (3, f"error: rightcall.db: {told}\n")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("change_it", "words"),
    [
        ("UPDATE rightcall_version SET version_num = '0000'", "is of a newer version (0000, this program needs"),
        ("UPDATE rightcall_version SET version_num = '9999'", "use the version of rightcall that made it, or a later"),
        ("DROP TABLE rightcall_version", "holds tables of another program; use a database of its own for rightcall"),
    ],
)
def test_a_database_of_another_version_says_what_to_do(capfdbinary: Capture, change_it: str, words: str) -> None:
    """A newer database, or one of another program, is left alone by every command, and it says what to do."""
    migrating.upgrade("rightcall.db")
    change(change_it)
    before = Path("rightcall.db").read_bytes()
    for command in (["upgrade"], ["check"], ["backup", "copy.db"]):
        ran = run_here(capfdbinary, "db", *command)
        assert (ran.code, words in ran.err) == (3, True), ran
    assert Path("rightcall.db").read_bytes() == before


def test_an_older_database_says_what_to_do(capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database of an older version is not opened, and says how it is brought up to date."""
    migrating.upgrade("rightcall.db")
    monkeypatch.setattr(versions, "known", lambda: [NEWEST, "9999"])
    ran = run_here(capfdbinary, "db", "check")
    assert f"is of an older version ({NEWEST}, this program needs 9999)" in ran.err
    assert "keep a copy and bring it up to date: rightcall db upgrade --database rightcall.db" in ran.err


@pytest.mark.parametrize("content", [b"not a database, but a text that somebody wrote\n" * 100, b"SQLite"])
def test_a_file_that_is_no_database_is_refused(capfdbinary: Capture, content: bytes) -> None:
    """A file of another kind is told to be none, and stays as it is."""
    Path("rightcall.db").write_bytes(content)
    ran = run_here(capfdbinary, "db", "upgrade")
    assert (ran.code, ran.err) == (3, "error: rightcall.db: is no SQLite database\n")
    assert Path("rightcall.db").read_bytes() == content


def test_damage_is_told(capfdbinary: Capture) -> None:
    """Rows that point at nothing, a table that is missing and a broken page are each told, with exit code 1."""
    migrating.upgrade("rightcall.db")
    change("INSERT INTO tests VALUES ('org_x', 'test_x', 1, 0, 0, 'a', NULL, '{}', '{}')")
    change("DROP INDEX ix_tests_organization_id_name")
    ran = run_here(capfdbinary, "db", "check")
    assert ran.code == 1
    assert "row 1 of tests points at a row of organizations that is not there" in ran.out
    assert "the tables are not as they have to be" in ran.out
    assert "ix_tests_organization_id_name" in ran.out


def test_a_backup_is_whole_and_never_written_over(capfdbinary: Capture) -> None:
    """A copy of a database in use has all that was committed, and a file that is there stays."""
    migrating.upgrade("rightcall.db")
    with closing(sqlite3.connect("rightcall.db")) as other, other:
        other.execute("INSERT INTO organizations VALUES ('org_a', 1, 0, 0, 'acme')")
        other.commit()
        other.execute("BEGIN IMMEDIATE")  # somebody else is writing
        assert run_here(capfdbinary, "db", "backup", "copy.db") == Ran(0, "copy.db: the copy is whole\n", "")
    with closing(sqlite3.connect("copy.db")) as copy:
        assert copy.execute("SELECT name FROM organizations").fetchall() == [("acme",)]
    assert run_here(capfdbinary, "db", "check", "--database", "copy.db").out == "copy.db: nothing is wrong\n"
    ran = run_here(capfdbinary, "db", "backup", "copy.db")
    assert (ran.code, "there is such a file already" in ran.err) == (2, True)
    assert sorted(path.name for path in Path().iterdir() if ".part" in path.name) == []


def test_a_backup_that_cannot_be_written_says_so(capfdbinary: Capture) -> None:
    """Where there is no folder for the copy, that is what is told."""
    migrating.upgrade("rightcall.db")
    ran = run_here(capfdbinary, "db", "backup", "nowhere/copy.db")
    assert ran == Ran(3, "", "error: nowhere/copy.db.part: the database cannot be made: No such file or directory\n")


@pytest.mark.parametrize(
    ("database", "words"),
    [
        ("mysql://somewhere/x", "there is no way to a database by `mysql`; expected a file such as rightcall.db"),
        ("", "a database has to be kept in a file"),
        ("sqlite://", "a database has to be kept in a file"),
        ("sqlite:///:memory:", "a database has to be kept in a file"),
        ("://", "expected a database: a file such as rightcall.db"),
    ],
)
def test_what_is_no_database_is_refused(capfdbinary: Capture, database: str, words: str) -> None:
    """A database that cannot be one is wrong usage, told with what can be."""
    ran = run_here(capfdbinary, "db", "upgrade", "--database", database)
    assert (ran.code, words in ran.err, ran.out) == (2, True, ""), ran


def test_a_password_is_never_shown(capfdbinary: Capture) -> None:
    """A server that cannot be reached is told without the password."""
    database = "postgresql://somebody:hush-hush@/nothing?host=/nowhere"
    ran = run_here(capfdbinary, "db", "check", "--database", database)
    assert (ran.code, "hush-hush" in ran.err) == (3, False)
    assert "postgresql://somebody:***@/nothing: the database cannot be used:" in ran.err


def test_postgresql_is_backed_up_by_its_own_program(capfdbinary: Capture) -> None:
    """A backup of PostgreSQL is refused with the command that makes one."""
    ran = run_here(capfdbinary, "db", "backup", "copy.dump", "--database", "postgresql://nobody@/nothing")
    assert (ran.code, "pg_dump --format=custom --file=copy.dump" in ran.err) == (2, True)


@pytest.mark.parametrize(("module", "extra"), [("sqlalchemy", "server"), ("psycopg", "postgres")])
def test_missing_libraries_are_told_with_what_brings_them(
    capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    """Without the extra, one sentence says which it is."""
    for name in [name for name in sys.modules if name.startswith("rightcall.store")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    ran = run_here(capfdbinary, "db", "upgrade", "--database", "postgresql://nobody@/nothing")
    assert (ran.code, f"pip install 'rightcall[{extra}]'" in ran.err) == (2, True), ran
