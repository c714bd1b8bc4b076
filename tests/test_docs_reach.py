"""Whoever begins at the index of the documentation, or at the README, gets everywhere and finds examples there."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

import rightcall
from rightcall import errors, match, metrics
from rightcall.assertions import KINDS
from rightcall.faces.cli.root import COMMANDS
from rightcall.reports import REPORTS
from rightcall.testsets import DIALECTS
from rightcall.testsets.keys import EXPECTATIONS
from support.pages import DOCS, PAGES, PROJECT, links, section

INDEX: Final = DOCS / "index.md"
README: Final = PROJECT / "README.md"
RUN: Final = ("```python\n", "```console\n")
PROSE: Final = {DOCS / "index.md", DOCS / "performance.md", *(DOCS / "decisions").glob("*.md")}
MODULES: Final = (rightcall, match, metrics)


def linked(page: Path) -> set[Path]:
    return {target for target, _ in links(page.read_text("utf-8"), page)}


def reached(start: Path) -> set[Path]:
    """The pages that a reader gets to from this one, by links alone."""
    seen, waiting = {start}, [start]
    while waiting:
        new = {page for page in linked(waiting.pop()) if page.suffix == ".md" and page.is_file()} - seen
        seen |= new
        waiting += new
    return seen


def public(module: ModuleType) -> list[str]:
    names: list[str] = getattr(module, "__all__", [])
    return [name for name in names if not name.startswith("__")]


@pytest.mark.parametrize("start", [INDEX, README], ids=lambda page: page.name)
def test_links_lead_to_every_page(start: Path) -> None:
    """No page is an island."""
    assert sorted(set(PAGES) - reached(start)) == []


@pytest.mark.parametrize("name", [*KINDS, *REPORTS], ids=lambda name: name)
def test_the_index_itself_links_every_kind_and_report(name: str) -> None:
    """They are what people choose from."""
    stems = {page.stem.replace("_", "-") for page in linked(INDEX)}
    assert name.replace("_", "-") in stems


@pytest.mark.parametrize("name", DIALECTS)
def test_the_overview_of_dialects_links_each(name: str) -> None:
    """Ours has the page of test sets."""
    page = DOCS / "test-sets.md" if name == "native" else DOCS / "dialects" / f"{name}.md"
    assert page in linked(DOCS / "dialects" / "README.md")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if DOCS in page.parents and page not in PROSE], ids=lambda page: page.stem
)
def test_a_page_has_an_example_that_is_run(page: Path) -> None:
    """Only the index, decisions and measurements do without."""
    assert any(fence in page.read_text("utf-8") for fence in RUN)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    """In its section, run by the tests of the documentation."""
    assert "```console\n" in section(DOCS / "cli.md", f"#rightcall-{name}")


@pytest.mark.parametrize("key", EXPECTATIONS)
def test_every_key_is_shown_on_a_page_of_its_own(key: str) -> None:
    """The page of its assertion says that it is the key, and shows it."""
    pages = [page.read_text("utf-8") for page in (DOCS / "assertions").glob("*.md")]
    assert [text for text in pages if f"Key `{key}`" in text and f"{key}:" in text]


@pytest.mark.parametrize("key", EXPECTATIONS)
def test_the_readme_names_every_key(key: str) -> None:
    """With a link to the page of its assertion."""
    assert f"[`{key}`](docs/assertions/" in README.read_text("utf-8")


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module in MODULES for name in public(module)], ids=lambda value: str(value)
)
def test_every_public_name_is_on_some_page(module: ModuleType, name: str) -> None:
    """As it is imported or called."""
    told = re.compile(rf"\b{module.__name__.split('.')[-1]}\.{name}\b|`{name}`|import [\w, ]*\b{name}\b")
    assert any(told.search(page.read_text("utf-8")) for page in DOCS.rglob("*.md"))


@pytest.mark.parametrize("name", [name for name in vars(errors) if name.endswith("Error") and name != "RightcallError"])
def test_every_error_is_in_the_table_of_errors(name: str) -> None:
    """With when it is raised."""
    assert f"| `{name}` |" in section(DOCS / "python.md", "#errors")
