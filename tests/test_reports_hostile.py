"""Whatever an agent writes, every report keeps its format, and nothing that reads or shows it obeys the text."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Final
from xml.etree import ElementTree

import pyarrow
import pytest
from markdown_it import MarkdownIt
from pyarrow import parquet

from rightcall.core.inert import is_command
from rightcall.reports import REPORTS
from rightcall.reports.html import HTMLReport
from support.hostile import TEXTS, hostile
from support.reporting import report

SHOWN: Final = ("terminal", "junit", "markdown", "github", "html", "csv")
"""Reports that people look at as text: no character in them steers what shows them."""


def written(name: str, text: str) -> bytes:
    return report(REPORTS[name].make(), hostile(text), test_set=text, unused=(text,), warnings=(text,), counted=text)


def _terminal(data: bytes) -> int:
    found = re.search(r"^passed 1, failed 1, errors 0, inconclusive 0, total (\d)", data.decode("utf-8"), re.MULTILINE)
    return int(found[1]) if found else 0


def _junit(data: bytes) -> int:
    return len(ElementTree.fromstring(data).findall(".//testcase"))


def _markdown(data: bytes) -> int:
    found = MarkdownIt("commonmark").enable("table").parse(data.decode("utf-8"))
    parts = [part for token in found for part in token.children or ()]
    assert {part.type for part in parts} <= {"text", "html_inline"}
    assert {part.content for part in parts if part.type == "html_inline"} <= {"<code>", "</code>", "<!-- -->"}
    assert {token.type for token in found} & {"html_block", "code_block", "blockquote_open", "hr"} == set()
    # Of the rows of three tables with a header each, one has the counts and one is of the verdict name.
    return sum(token.type == "tr_open" for token in found) - 5


def _github(data: bytes) -> int:
    lines = data.decode("utf-8").removesuffix("\n").split("\n")
    assert [re.match(r"::error (file=[^,:]+,)line=7,title=[^,:]+::.", line) is not None for line in lines] == [True]
    return 2


def _gitlab(data: bytes) -> int:
    (one,) = json.loads(data)
    assert one["location"]["lines"] == {"begin": 7}
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl") for c in set(one["description"] + one["check_name"]))
    return 2


def _csv(data: bytes) -> int:
    before = csv.field_size_limit(10_000_000)
    try:
        return len(list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))) - 1
    finally:
        csv.field_size_limit(before)


_OF_LONG_TEXTS: Final = {("details", frozenset({"class"})), ("pre", frozenset[str]()), ("summary", frozenset[str]())}


class _Tags(HTMLParser):
    """The elements and attributes of a page, as a tokenizer of HTML finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, frozenset[str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, frozenset(name for name, _ in attributes)))


def _html(data: bytes) -> int:
    found = _Tags(data.decode("utf-8")).found
    ours = _Tags(report(HTMLReport(), hostile("x")).decode("utf-8")).found
    assert {*found} <= {*ours, *_OF_LONG_TEXTS}
    assert [tag for tag, _ in found].count("script") == 1
    return sum(tag == "tr" and "data-outcome" in names for tag, names in found)


READERS: Final[dict[str, Callable[[bytes], int]]] = {
    "terminal": _terminal,
    "json": lambda data: len(json.loads(data)["results"]),
    "jsonl": lambda data: len([json.loads(line) for line in data.splitlines()]),
    "junit": _junit,
    "markdown": _markdown,
    "github": _github,
    "gitlab": _gitlab,
    "html": _html,
    "csv": _csv,
    "parquet": lambda data: parquet.read_table(pyarrow.BufferReader(data)).num_rows,
}
"""How many results a real reader of each report finds; it fails where the format is broken."""


def test_every_report_is_held_against_hostile_text() -> None:
    """A new report needs a reader here."""
    assert set(READERS) == set(REPORTS)


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", READERS)
def test_format_holds(name: str, kind: str) -> None:
    """A real reader finds the two results that there are, no more, no fewer, and no part that is not ours."""
    assert READERS[name](written(name, TEXTS[kind])) == 2


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", SHOWN)
def test_nothing_steers_what_shows_it(name: str, kind: str) -> None:
    """No control character, change of direction or separator of lines comes through, but for line ends."""
    text = written(name, TEXTS[kind]).decode("utf-8").replace("\r\n", "\n")
    assert {c for c in set(text) if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} <= {"\n", "\u200d"}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", ["terminal", "json", "jsonl", "gitlab"])
def test_printed_reports_are_no_commands(name: str, kind: str) -> None:
    """Reports that go to the log of a CI job hold no line that its runner takes for a command."""
    assert [line for line in written(name, TEXTS[kind]).decode("utf-8").split("\n") if is_command(line)] == []


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_data_is_what_was_recorded(name: str, kind: str) -> None:
    """Reports for programs give every text back as it was, lone surrogates included."""
    text = TEXTS[kind]
    data = written(name, text)
    found = json.loads(data)["results"] if name == "json" else [json.loads(line) for line in data.splitlines()]
    assert [one["id"] for one in found] == [f"p{text}", f"f{text}"]
    assert found[1]["attempts"][0]["output"] == {text: text}
