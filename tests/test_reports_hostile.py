"""Whatever an agent writes, every report keeps its format, and nothing that reads or shows it obeys the text."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable
from typing import Final
from xml.etree import ElementTree

import pyarrow
import pytest
from markdown_it import MarkdownIt
from pyarrow import parquet

from rightcall.core.inert import is_command
from rightcall.core.results import Result
from rightcall.core.rows import Row
from rightcall.reports import REPORTS
from support.reporting import HOSTILE, attempt, report, result, verdict

TEXTS: Final = {
    "markup": "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "quotes": '"\'`\\ \\" &quot; &#0; &lt;',
    "sections": "]]><![CDATA[ <!-- --> <?php ?>",
    "escapes": "\x1b[2J\x1b]8;;http://a.example\x07link\x1b]8;;\x07\x9b31m",
    "control": "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029",
    "direction": "\u202etxt.exe\u2066\u2069\u200f\ufeff",
    "surrogates": "\ud800 \udfff \udc00\ud800",
    "not characters": "\ufffe\uffff\U0010ffff",
    "fences": "```\n# heading\n````\n~~~\n| a | b |",
    "fence alone": "`````",
    "formula": '=HYPERLINK("http://a.example","x")',
    "tabbed formula": "\t=1+1\r\n@SUM(1)\n+1\n-1",
    "commands": "\n::error file=x::boo\n::stop-commands::x\n##[error]boo\n##vso[task.complete]x",
    "escaped lines": "%0A::error::boo%0D%25",
    "templates": "${{ secrets.TOKEN }} {{7*7}} $(id) `id`",
    "emoji": "👩‍👩‍👧 é e\u0301",
    "mixed": HOSTILE,
    "long": "x" * 1_000_000,
}
SHOWN: Final = ("terminal", "junit", "markdown", "github", "csv")
"""Reports that people look at as text: no character in them steers what shows them."""


def hostile(text: str) -> list[Result]:
    """A test that passes and one that fails, with a text wherever a text can stand."""
    rows = (
        Row(mark="missing", expected_index=0, expected={"name": text, "arguments": {text: text}}),
        Row(mark="unexpected", made_index=0, made={"name": text, "arguments": [text]}, note=text),
    )
    failed = attempt(
        verdict(text, "fail", text, text, details={"precision": text}),
        alignments={text: rows},
        output={text: text},
        warnings=(text,),
        trajectory=text,
        place=text,
    )
    passed = attempt(verdict(text, "pass"), trajectory=text)
    fields = {"name": f"{text} name", "place": f"{text}:7", "labels": {text: text}}
    return [result(f"p{text}", passed, **fields), result(f"f{text}", failed, reason=text, **fields)]


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


READERS: Final[dict[str, Callable[[bytes], int]]] = {
    "terminal": _terminal,
    "json": lambda data: len(json.loads(data)["results"]),
    "jsonl": lambda data: len([json.loads(line) for line in data.splitlines()]),
    "junit": _junit,
    "markdown": _markdown,
    "github": _github,
    "gitlab": _gitlab,
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
