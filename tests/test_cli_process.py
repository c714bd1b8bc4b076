"""The program as a process: what it imports, its locale, its streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import run_apart
from support.runs import lines, record

HEAVY = (
    "rich",
    "ruamel",
    "quickjs",
    "_quickjs",
    "jsonschema",
    "asyncio",
    "sqlite3",
    "http",
    "ssl",
    "importlib.metadata",
    "xml",
    "hypothesis",
    "rightcall.core.redaction",
    "sqlalchemy",
    "alembic",
    "litestar",
)
"""What starts slowly and is not needed for a small JSON file."""

TELL = """
import sys
before = set(sys.modules)
from rightcall.faces.cli import execute
code = execute(sys.argv[1:])
print(code, *sorted(set(sys.modules) - before), file=sys.stderr)
"""
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def imported_by(place: Path, *arguments: str) -> list[str]:
    """The exit code of a command and the modules that it imported, without those that measure coverage."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", TELL, *arguments],
        cwd=place,
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stderr.split()


@pytest.mark.parametrize("arguments", [["--help"], ["grade", "t.jsonl"], ["grade", "t.jsonl", "--json"]])
def test_small_commands_import_little(tmp_path: Path, arguments: list[str]) -> None:
    """The help, and grading a small JSON file, import nothing that takes its time."""
    lines(tmp_path / "t.jsonl", record("p", "a", required_tools=["a"]))
    code, *modules = imported_by(tmp_path, *arguments)
    assert code == "0"
    assert [name for name in HEAVY if name in modules] == []


def test_help_imports_nothing_of_the_engine(tmp_path: Path) -> None:
    """The help needs the command line alone."""
    modules = imported_by(tmp_path, "--help")[1:]
    assert [name for name in modules if name == "msgspec" or name.startswith(("rightcall.core", "rightcall.app"))] == []


@pytest.mark.parametrize("environment", [ASCII, {"LC_ALL": "C"}, {}, {"PYTHONIOENCODING": "latin-1"}])
def test_output_is_utf8_whatever_the_locale(tmp_path: Path, environment: dict[str, str]) -> None:
    """Letters of every script, and lone surrogates, are written under an ASCII locale."""
    name = "Größe漢字🚀"
    traces = lines(
        tmp_path / "t.jsonl",
        {"id": name, "tool_calls": [{"name": name, "arguments": {"s": "\ud800"}}], "required_tools": ["b"]},
    )
    ran = run_apart("grade", traces, "-o", "r.xml", cwd=tmp_path, env=environment)
    assert ran.code == 1
    assert name in ran.out
    assert name in (tmp_path / "r.xml").read_text("utf-8")


def test_symbols_follow_the_locale(tmp_path: Path) -> None:
    """Where the locale has only ASCII, so have the symbols."""
    traces = lines(tmp_path / "t.jsonl", record("p", "a", required_tools=["a"]))
    assert run_apart("grade", traces, cwd=tmp_path, env=ASCII).out.startswith("ok p")
    assert run_apart("grade", traces, cwd=tmp_path, env={"PYTHONIOENCODING": "utf-8"}).out.startswith("✓ p")


def test_names_of_files_may_be_any_bytes(tmp_path: Path) -> None:
    """A file whose name is no UTF-8 can be missing without a crash."""
    ran = run_apart("grade", os.fsdecode(b"\xff\xfe.jsonl"), cwd=tmp_path)
    assert ran.code == 2
    assert "there is no such file or directory" in ran.err


def test_standard_input_is_read(tmp_path: Path) -> None:
    """`-` reads traces from the standard input, and messages say so."""
    data = json.dumps(record("p", "a", required_tools=["a"])).encode()
    ran = run_apart("grade", "-", cwd=tmp_path, stdin=data + b"\nnonsense\n")
    assert ran.code == 3
    assert "✓ p" in ran.out
    assert "<stdin>:2" in ran.out


def test_reader_that_goes_away_is_no_trouble(tmp_path: Path) -> None:
    """When nobody reads on, nothing is complained of, and the reports are still written."""
    traces = lines(tmp_path / "t.jsonl", *(record(f"p{number}", "b", required_tools=["a"]) for number in range(3000)))
    program = [sys.executable, "-c", "from rightcall.faces.cli import main; main()"]
    with subprocess.Popen(
        [*program, "grade", str(traces), "-o", "r.json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaints = process.stderr.read()
        process.wait()
    assert (process.returncode, complaints) == (1, b"")
    assert json.loads((tmp_path / "r.json").read_bytes())["counts"]["failed"] == 3000


def test_text_that_nobody_reads_is_no_trouble(tmp_path: Path) -> None:
    """A command whose reader is gone before it writes ends quietly."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", "from rightcall.faces.cli import main; main()", "schema"],
        cwd=tmp_path,
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_full_disk_is_told(tmp_path: Path) -> None:
    """A standard output that takes nothing is an error with its cause."""
    traces = lines(tmp_path / "t.jsonl", record("p", "a", required_tools=["a"]))
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from rightcall.faces.cli import main; main()", "grade", str(traces)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.decode() == "error: <stdout>: cannot be written: No space left on device\n"


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_bytes_do_not_depend_on_the_hash_seed(tmp_path: Path, seed: str) -> None:
    """G5: the same input gives the same bytes, whatever the hash seed."""
    records = [record(f"p{number}", "a", "b", allowed_tools=["c"], required_tools=["d"]) for number in range(5)]
    traces = lines(tmp_path / "t.jsonl", *records)
    expected = run_apart("grade", traces, "--json", cwd=tmp_path, env={"PYTHONHASHSEED": "7"})
    assert expected == run_apart("grade", traces, "--json", cwd=tmp_path, env={"PYTHONHASHSEED": seed})


def test_module_can_be_run(tmp_path: Path) -> None:
    """`python -m rightcall` is the program, too."""
    done = subprocess.run(
        [sys.executable, "-m", "rightcall", "--version"], cwd=tmp_path, capture_output=True, check=False, text=True
    )
    assert done.stdout.startswith("rightcall ")
