"""The Python examples of the documentation run as they stand, and print what they say they print.

Convention: every `python` block of a page runs, from top to bottom, in one namespace and in a copy of `examples/`.
Each line that it prints stands in it as a comment `# -> …`, in order; functions called `test_…` are called.
A page that names `RIGHTCALL_BASE_URL` finds there the address of a server that was started for it.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.served import serving

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"# ->[ ]?(.*)$", re.MULTILINE)


def blocks(page: Path) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the number of the line it starts on."""
    text = page.read_text("utf-8")
    return [(text.count("\n", 0, match.start(1)), match[1]) for match in FENCE.finditer(text)]


def printed_by(code: str, names: dict[str, Any], page: Path, line: int) -> list[str]:
    """Run a block and return the lines it printed. Its own lines show in tracebacks."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * line + code, str(page), "exec"), names)
        for name in re.findall(r"^def (test_\w+)\(\)", code, re.MULTILINE):
            names[name]()
    return [text.rstrip() for text in out.getvalue().splitlines()]


PAGES_WITH_EXAMPLES = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", PAGES_WITH_EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples_print_what_they_say(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block prints exactly the lines that its `# ->` comments announce."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    with served(page, tmp_path) as address:
        monkeypatch.setenv("RIGHTCALL_BASE_URL", address)
        names: dict[str, Any] = {"__name__": "example"}
        for line, code in blocks(page):
            announced = [text.rstrip() for text in PRINTED.findall(code)]
            assert announced == printed_by(code, names, page, line), f"{page.name}, the example at line {line + 1}"


@contextlib.contextmanager
def served(page: Path, directory: Path) -> Iterator[str]:
    """The address of a server, for pages that talk to one; empty for others."""
    if "RIGHTCALL_BASE_URL" not in page.read_text("utf-8"):
        yield ""
        return
    with serving(directory) as started:
        yield started.url


def test_the_pages_that_must_show_python_do() -> None:
    """The README, the rules and the page on Python hold examples that run."""
    shown = {str(page.relative_to(ROOT)) for page in PAGES_WITH_EXAMPLES}
    assert {"README.md", "docs/python.md", "docs/semantics.md"} - shown == set()
