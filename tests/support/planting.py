"""A record and a test with a place for a secret wherever they can hold text, and every output that could tell it."""

from __future__ import annotations

import csv
import html
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from pyarrow import parquet

from rightcall.app import service
from rightcall.app.redaction import Redaction
from rightcall.app.sinks import to_file
from rightcall.core.values import visible
from rightcall.reports import REPORTS
from rightcall.reports.terminal import Detail, Look, TerminalReport


def slot(name: str) -> str:
    """A place, by a name that says which."""
    return f"<{name}>"


_CALL: Final = {
    "name": slot("call name"),
    "arguments": {
        "password": slot("argument"),
        "list": [1, slot("item"), {"deep": {"deeper": slot("deep argument")}}],
        slot("argument key"): 1,
        "body": slot("json text"),
    },
    "id": slot("call id"),
    "result": {"answer": slot("result"), "password": slot("result password")},
    "error": slot("call error"),
    "agent": slot("agent"),
    "status": "error",
}
RECORD: Final[dict[str, Any]] = {
    "id": slot("trajectory id"),
    "test_id": "t",
    "conversation_id": slot("conversation"),
    "tool_calls": [
        {"name": "login", "arguments": {"password": slot("login password"), "user": slot("user"), "n": 1}},
        _CALL,
        {"name": "broken", "arguments_state": "malformed", "arguments_text": slot("broken arguments")},
        {"name": "danger", "arguments": {"target": slot("target")}},
        {"name": "fetch", "arguments": {"url": slot("url")}, "turn": 0, "message": 0},
    ],
    "gaps": [slot("gap")],
    "warnings": [slot("warning")],
    "available_tools": [{"name": "login", "description": slot("tool description")}],
    "messages": [{"role": "user", "content": slot("message")}, {"role": "assistant", "content": slot("answer")}],
    "output": slot("reply"),
    "metadata": {"note": slot("metadata"), slot("metadata key"): 1, "password": slot("metadata password")},
}
TEST: Final[dict[str, Any]] = {
    "id": "t",
    "name": slot("test name"),
    "requirement": slot("requirement"),
    "category": slot("category"),
    "tags": [slot("tag")],
    "metadata": {"owner": slot("test metadata"), "password": slot("test metadata password")},
    "x-note": slot("x key"),
    "prompt": slot("prompt"),
    "match": "exact",
    "expected_tool_calls": [
        {"name": "login", "arguments": {"password": slot("expected password"), "user": slot("expected user")}},
        {"name": slot("expected name"), "arguments": {"a": {"b": [slot("expected deep")]}}},
        {"name": "fetch", "arguments": {"url": {"$starts_with": slot("operator")}, "n": {"$one_of": [slot("choice")]}}},
    ],
    "required_tools": [slot("required tool")],
    "tool_call_args": [
        {
            "tool": "fetch",
            "match": {"mode": "subset", "args": {"url": slot("pinned"), "password": slot("pinned password")}},
        }
    ],
    "forbidden_tools": [
        {"tool": "danger", "match": {"mode": "partial", "args": {"target": slot("forbidden target")}}},
        slot("forbidden tool"),
    ],
    "allowed_tools": ["login", slot("allowed tool")],
    "text": {"must_include": [slot("phrase")], "must_not_include": [slot("reply")], "regex": slot("pattern")},
    "rules": [{"precedence": [slot("rule tool"), "login"]}, {"existence": slot("rule name")}],
    "grounding": {"tools": ["fetch", "login"], "sources": ["user"]},
}


def slots(value: Any) -> Iterator[str]:
    """The names of all places in a value."""
    if isinstance(value, str) and value.startswith("<"):
        yield value[1:-1]
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from slots(key)
            yield from slots(item)
    elif isinstance(value, list):
        for item in value:
            yield from slots(item)


WINDOW: Final = 8
"""Characters in a row of a secret that nobody must find."""

PLACES: Final = [*dict.fromkeys((*slots(RECORD), *slots(TEST))), "test set"]
"""The names of all places."""


def token(place: str, length: int) -> str:
    """Letters of which no other token has a piece, and no hash either."""
    return "".join(random.Random(place).choices("BCDFGHJKLMNPQRSTVWXZbcdfghjklmnpqrstvwxz", k=length))


TOKENS: Final = {place: f"sk-7{token(place, 30)}" for place in PLACES}
LONG: Final = {place: f"sk-7{token(place, 700)}" for place in PLACES}
CODES: Final = {place: f"CUST-{token(place, 20)}" for place in PLACES}
EMAILS: Final = {place: f"{token(place, 20)}@{token(place, 9)}.example" for place in PLACES}


def leaks(told: str, secret: str) -> list[str]:
    """The pieces of a secret that stand in a text, as it is or with escapes."""
    forms = {secret, visible(secret), json.dumps(secret)[1:-1], visible(json.dumps(secret, ensure_ascii=False)[1:-1])}
    pieces = {form[at : at + WINDOW] for form in forms for at in range(len(form) - WINDOW + 1)}
    return sorted(piece for piece in pieces if piece in told)


def filled(value: Any, texts: Callable[[str], str]) -> Any:
    """The value with a text in each place."""
    if isinstance(value, dict):
        return {filled(key, texts): filled(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, texts) for item in value]
    return texts(value[1:-1]) if isinstance(value, str) and value.startswith("<") else value


def write(folder: Path, texts: Callable[[str], str]) -> tuple[Path, Path]:
    """The record and the test set as files."""
    traces, tests = folder / "traces.jsonl", folder / "tests.rightcall.json"
    traces.write_text(json.dumps(filled(RECORD, texts)) + "\n", "utf-8")
    tests.write_text(json.dumps({"name": texts("test set"), "tests": [filled(TEST, texts)]}), "utf-8")
    return traces, tests


NAMES: Final = {
    "json": "out.json",
    "jsonl": "out.jsonl",
    "junit": "out.xml",
    "markdown": "out.md",
    "csv": "out.csv",
    "parquet": "out.parquet",
    "gitlab": "gl-code-quality.json",
    "github": "out.github",
    "terminal": "out.txt",
    "html": "out.html",
}


def outputs(folder: Path, traces: Path, tests: Path, redaction: Redaction) -> dict[str, str]:
    """What each report tells, as the text that a reader has of it, all parts of it one a line."""
    paths = {name: folder / NAMES.get(name, f"out.{name}") for name in REPORTS}
    sinks = [to_file(_made(name), str(path)) for name, path in paths.items()]
    request = service.GradeRequest(traces=(str(traces),), tests=(str(tests),), redaction=redaction)
    graded = service.grade(request, sinks)
    assert graded.unwritten == ()
    return {name: "\n".join(_READ.get(name, _plain)(path.read_bytes())) for name, path in paths.items()}


def _made(name: str) -> Any:
    # So wide that nothing is broken into lines in which nobody would find it again.
    return TerminalReport(Look(width=1_000_000, detail=Detail.VERBOSE)) if name == "terminal" else REPORTS[name].make()


def texts_in(value: Any) -> Iterator[str]:
    """Every text and number in a value, keys too, and what is in those that are JSON."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    else:
        yield str(value)
        if isinstance(value, str) and value[:1] in ("{", "["):
            try:
                yield from texts_in(json.loads(value))
            except ValueError:
                return


def _plain(data: bytes) -> Iterator[str]:
    text = data.decode("utf-8")
    yield text
    yield html.unescape(text)


def _xml(data: bytes) -> Iterator[str]:
    for element in ElementTree.fromstring(data).iter():
        yield element.text or ""
        yield from element.attrib.values()


def _lines(data: bytes) -> Iterator[str]:
    for line in data.decode("utf-8").splitlines():
        yield from texts_in(json.loads(line))


def _table(data: bytes) -> Iterator[str]:
    table = parquet.read_table(io.BytesIO(data))
    for row in table.to_pylist():
        yield from texts_in(row)
    yield str(table.schema.metadata)


def _cells(data: bytes) -> Iterator[str]:
    for row in csv.reader(io.StringIO(data.decode("utf-8"))):
        yield from texts_in(row)


_READ: Final[dict[str, Callable[[bytes], Iterator[str]]]] = {
    "json": lambda data: texts_in(json.loads(data)),
    "gitlab": lambda data: texts_in(json.loads(data)),
    "jsonl": _lines,
    "junit": _xml,
    "parquet": _table,
    "csv": _cells,
}
