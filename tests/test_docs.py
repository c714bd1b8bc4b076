"""The documentation is run, and nothing that users can name goes without a page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from rightcall.assertions import KINDS
from rightcall.faces.cli.root import COMMANDS, root
from rightcall.reports import REPORTS
from rightcall.testsets import DIALECTS
from rightcall.traces import FORMATS
from support.processes import unmeasured

PROJECT = Path(__file__).parents[1]
PAGES = sorted([*PROJECT.joinpath("docs").rglob("*.md"), PROJECT / "README.md"])
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = [(name, option) for name in COMMANDS for option in root.get_command(click.Context(root), name).params]  # type: ignore[union-attr]  # every command is there


class Example(NamedTuple):
    """A command of a page, the line it stands in, and the lines that it should print."""

    line: int
    command: str
    expected: list[str]


def examples(page: Path) -> Iterator[Example]:
    """Every command in the console blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        current: Example | None = None
        first = text.count("\n", 0, block.start(1)) + 1
        for number, line in enumerate(block[1].splitlines(), first):
            if line.startswith("$ "):
                if current is not None:
                    yield current
                current = Example(number, line[2:], [])
            elif current is not None:
                current.expected.append(line)
        if current is not None:
            yield current


def matches(expected: list[str], printed: list[str]) -> bool:
    """Whether the lines are the expected ones, where a line `...` stands for any number of lines."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(matches(expected[1:], printed[index:]) for index in range(len(printed) + 1))
    return bool(printed) and expected[0] == printed[0] and matches(expected[1:], printed[1:])


class Shell:
    """Runs the commands of one page in a copy of the examples."""

    def __init__(self, directory: Path) -> None:
        programs = directory / "bin"
        programs.mkdir()
        for name, start in (("rightcall", "-m rightcall"), ("pytest", "-m pytest"), ("python3", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {start} "$@"\n')
            program.chmod(0o755)
        self.place = directory / "examples"
        shutil.copytree(PROJECT / "examples", self.place)
        path = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"
        given = unmeasured(PATH=path, PYTHONIOENCODING="utf-8")
        self.environment = {key: value for key, value in given.items() if key not in ("COLUMNS", "FORCE_COLOR")}
        self.code = 0

    def run(self, command: str) -> list[str]:
        """Run one command and return what it printed on both streams, without empty lines at the end."""
        if command == "echo $?":
            return [str(self.code)]
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.place,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self.code = done.returncode
        return done.stdout.decode("utf-8").rstrip("\n").split("\n") if done.stdout else []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(examples(page))], ids=lambda page: str(page.relative_to(PROJECT))
)
def test_examples_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    """Each command in a console block prints exactly the lines after it."""
    shell = Shell(tmp_path)
    for example in examples(page):
        printed = shell.run(example.command)
        expected = "\n".join(example.expected).rstrip("\n").split("\n") if example.expected else []
        place = f"{page.relative_to(PROJECT)}:{example.line}: $ {example.command}"
        assert matches(expected, printed), "\n".join([place, "printed:", *printed, "expected:", *expected])


@pytest.mark.parametrize(
    ("expected", "printed", "answer"),
    [
        (["a"], ["a"], True),
        (["a"], ["b"], False),
        (["a"], ["a", "b"], False),
        (["...", "b"], ["a", "a", "b"], True),
        (["...", "b"], ["b"], True),
        (["a", "..."], ["b", "a"], False),
        ([], ["a"], False),
    ],
)
def test_lines_are_compared_strictly(expected: list[str], printed: list[str], answer: bool) -> None:
    """The comparison itself tells a difference."""
    assert answer == matches(expected, printed)


def test_pages_have_examples() -> None:
    """The commands of the pages are found: the command line's own page has several."""
    assert len(list(examples(PROJECT / "docs" / "cli.md"))) > 4


@pytest.mark.parametrize(
    "name", [*REPORTS, *FORMATS, *(kind.replace("_", "-") for kind in KINDS)], ids=lambda name: name
)
def test_everything_with_a_name_has_its_page(name: str) -> None:
    """Each report, format and kind of assertion has a page of its name."""
    found = [page for page in PAGES if page.stem.replace("_", "-") == name]
    assert found, f"there is no page {name}.md in docs"


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_is_described(name: str) -> None:
    """Each dialect is named on some page."""
    assert any(f"`{name}`" in page.read_text("utf-8") for page in PAGES)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_described(name: str) -> None:
    """Each command has its section on the page of the command line."""
    assert f"\n## rightcall {name}\n" in PROJECT.joinpath("docs", "cli.md").read_text("utf-8")


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=lambda value: getattr(value, "name", value))
def test_every_option_is_described(name: str, option: click.Parameter) -> None:
    """Each option of a command is described in that command's section."""
    page = PROJECT.joinpath("docs", "cli.md").read_text("utf-8")
    section = page.partition(f"\n## rightcall {name}\n")[2].partition("\n## ")[0]
    words = option.opts if isinstance(option, click.Option) else [str(option.make_metavar(click.Context(root)))]
    assert [word for word in words if f"`{word}" not in section and f"{word}`" not in section] == []
