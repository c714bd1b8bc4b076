"""Standard streams that are closed, broken or full, and interruptions: the exit code says what was decided."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_line import run_apart
from support.runs import lines, record

COMMANDS = {
    "grade bad.jsonl": 1,
    "grade good.jsonl": 0,
    "grade good.jsonl -o no/such/r.json": 3,
    "grade bad.jsonl -o no/such/r.json": 1,
    "grade nosuch": 2,
    "grade": 2,
    "nosuch": 2,
    "show damaged.jsonl": 3,
    "show --json damaged.jsonl": 3,
    "validate nosuch": 2,
    "schema": 0,
    "--help": 0,
    "--version": 0,
    "show --help": 0,
}
"""The exit code of each while somebody listens."""


@pytest.fixture(autouse=True)
def _in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where there is something that passes, that fails and that cannot be read."""
    monkeypatch.chdir(tmp_path)
    lines(Path("good.jsonl"), record("p", "a", required_tools=["a"]))
    lines(Path("bad.jsonl"), record("p", "a", required_tools=["b"]))
    lines(Path("damaged.jsonl"), record("p", "a"), "nonsense")


@contextlib.contextmanager
def broken_pipe() -> Iterator[int]:
    """The writing end of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    try:
        yield write
    finally:
        os.close(write)


def in_shell(command: str) -> tuple[int, str, str]:
    """The exit code of a line of shell in which `rc` stands for the program, and what came on its streams."""
    program = f"rc() {{ '{sys.executable}' -m rightcall \"$@\"; }}; {command}"
    done = subprocess.run(["sh", "-c", program], capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("command", "code"), COMMANDS.items(), ids=COMMANDS)
def test_exit_code_survives_broken_pipes(command: str, code: int) -> None:
    """G39: when nobody reads either stream, the exit code is still the one that was decided."""
    program = [sys.executable, "-m", "rightcall", *command.split()]
    with broken_pipe() as pipe:
        done = subprocess.run(program, stdout=pipe, stderr=pipe, check=False)
    assert code == done.returncode


@pytest.mark.parametrize("command", ["grade bad.jsonl", "grade nosuch", "show --json damaged.jsonl"])
@pytest.mark.parametrize("closing", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_messages_that_cannot_be_told_change_nothing(command: str, closing: str) -> None:
    """G39: without a standard error the exit code and the data are the same, and no message gets among the data."""
    expected = in_shell(f"rc {command}")
    code, out, _ = in_shell(f"rc {command} {closing}")
    assert expected[:2] == (code, out)
    assert expected[0] == COMMANDS[command]


@pytest.mark.parametrize("target", ["&-", "/dev/full"])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("grade good.jsonl", 3),
        ("grade bad.jsonl", 1),
        ("grade nosuch", 2),
        ("show good.jsonl", 3),
        ("schema", 3),
        ("--help", 3),
    ],
)
def test_output_that_cannot_be_written_is_told(command: str, code: int, target: str) -> None:
    """G39: a closed standard output is a report that could not be written, as one that is full: 3 instead of 0."""
    found, _, told = in_shell(f"rc {command} >{target}")
    assert code == found
    assert len(told.splitlines()) == 1
    assert told.startswith("error: nosuch: " if code == 2 else "error: <stdout>: cannot be written: ")


def test_report_is_written_without_any_stream() -> None:
    """A program without streams still writes its reports, and takes none of their files for a stream."""
    code, _, _ = in_shell("rc grade bad.jsonl -o r.json -o r.xml <&- >&- 2>&-")
    assert code == 1
    assert json.loads(Path("r.json").read_bytes())["counts"]["failed"] == 1
    assert Path("r.xml").read_text("utf-8").startswith("<?xml")


def test_closed_standard_input_cannot_be_read() -> None:
    """Traces or tests from a standard input that is closed are refused with the cause."""
    expected = "error: <stdin>: cannot be read: it is closed\n"
    assert in_shell("rc grade - <&-") == (2, "", expected)
    assert in_shell("rc grade good.jsonl -t - <&-") == (2, "", expected)


@pytest.mark.parametrize("command", ["grade - -t -", "grade good.jsonl -t - -t -", "validate - -"])
def test_standard_input_is_read_only_once(command: str) -> None:
    """The standard input cannot be traces and tests at once."""
    expected = "error: `-` is named more than once, but the standard input can be read only once\n"
    assert run_apart(*command.split(), cwd=Path()) == (2, "", expected)


def plugin(text: str) -> Path:
    """Install a package that offers a report, of this text, and return where it is."""
    information = Path("plugin/odd-1.0.dist-info")
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[rightcall.reports]\nodd = odd:REPORT\n")
    Path("plugin/odd.py").write_text(text)
    return Path("plugin").absolute()


@pytest.mark.parametrize("leaving", ["raise SystemExit", "import sys; sys.exit(0)", "raise SystemExit('bye')"])
def test_plugin_that_ends_the_program_is_refused(leaving: str) -> None:
    """G39: a package that ends the program while it is imported is named, and never makes a run pass."""
    path = plugin(leaving)
    ran = run_apart("grade", "bad.jsonl", "-o", "r.odd", cwd=Path(), env={"PYTHONPATH": str(path)})
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: `odd` of `rightcall.reports` (odd:REPORT) cannot be loaded: SystemExit")


REPORT = """
from rightcall.reports import ReportKind
class Report:
    def start(self, head): return b""
    def add(self, result): raise {error}
    def end(self, end): return b""
REPORT = ReportKind(make=Report, suffixes=(".odd",))
"""


@pytest.mark.parametrize(
    "error", ["SystemExit(0)", "BrokenPipeError()", "OSError(28, 'No space left')", "GeneratorExit"]
)
def test_whatever_breaks_a_run_off_is_no_pass(error: str) -> None:
    """G39: a run that did not come to its end is incomplete, whoever ended it and however."""
    path = plugin(REPORT.format(error=error))
    ran = run_apart("grade", "good.jsonl", "-o", "r.odd", cwd=Path(), env={"PYTHONPATH": str(path)})
    assert ran.code == 3
    assert "error: " in ran.err


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_program_that_is_asked_to_end_leaves_nothing_half_written(name: str) -> None:
    """G39: a report that was begun is gone, whoever ends the run: the keyboard, or a CI job that is cancelled."""
    path = plugin(REPORT.format(error=f"__import__('signal').raise_signal(__import__('signal').{name})"))
    before = sorted(os.listdir())
    ran = run_apart("grade", "good.jsonl", "-o", "r.json", "-o", "r.odd", cwd=Path(), env={"PYTHONPATH": str(path)})
    assert (ran.code, ran.err, sorted(os.listdir())) == (130, "interrupted\n", before)


INTERRUPTED = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

from rightcall.faces.cli import main
sys.meta_path.insert(0, Interrupting())
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    "module",
    ["rightcall.faces.cli.streams", "click", "rightcall.faces.cli.grade", "msgspec", "rightcall.app.service"],
)
def test_interruption_while_the_program_starts(module: str) -> None:
    """G39: whatever is being imported, an interruption is one word and 130."""
    program = [sys.executable, "-c", INTERRUPTED, module, "grade", "good.jsonl"]
    done = subprocess.run(program, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")


IGNORED = """
import os, signal
from rightcall.faces import cli

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

def execute(arguments):
    Dropping()
    return 0

cli.execute = execute
cli.main([])
"""


def test_interruption_where_python_ignores_it() -> None:
    """G39: an interruption that falls into a destructor, where exceptions are dropped, is not lost."""
    done = subprocess.run([sys.executable, "-c", IGNORED], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"interrupted\n")


def test_nothing_is_imported_before_an_interruption_can_be_answered() -> None:
    """What stands before the program's first line that can answer is next to nothing."""
    tell = "import sys; before = set(sys.modules); import rightcall.faces.cli; print(*set(sys.modules) - before)"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_")}
    done = subprocess.run([sys.executable, "-c", tell], capture_output=True, check=True, text=True, env=environment)
    assert set(done.stdout.split()) <= {"__future__", "rightcall", "rightcall.faces", "rightcall.faces.cli"}


def test_program_that_is_not_whole_is_incomplete() -> None:
    """G39: a broken installation is no failed test."""
    tell = (
        "import sys; sys.modules['click'] = None; from rightcall.faces.cli import main; main(['grade', 'good.jsonl'])"
    )
    done = subprocess.run([sys.executable, "-c", tell], capture_output=True, check=False, text=True)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError")
