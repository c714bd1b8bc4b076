"""Malformed input of every sort: one clear message or an error result, and never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import Ran, run_here

A = '"required_tools": ["a"]'
GOOD = f'{{"id": "p", "tool_calls": [{{"name": "a"}}], {A}}}'
TESTS = "version: 1\ntests:\n- {id: p, required_tools: [a]}\n"


pytestmark = pytest.mark.usefixtures("in_tmp")


def grade(capture: pytest.CaptureFixture[bytes], data: bytes | str, *options: str) -> Ran:
    Path("t.jsonl").write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    return run_here(capture, "grade", "t.jsonl", *options)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(f"\ufeff{GOOD}\n", id="byte order mark"),
        pytest.param(f"{GOOD}\r\n\r\n", id="CRLF and empty lines"),
        pytest.param(GOOD, id="no line end"),
        pytest.param(f"[{GOOD}]", id="an array"),
        pytest.param(GOOD.replace('"a"}', '"a", "arguments": {"s": "\\ud800"}}'), id="escaped lone surrogate"),
        pytest.param(GOOD.replace('"a"}', '"a", "arguments": {"s": "\ud800"}}'), id="encoded lone surrogate"),
        pytest.param(GOOD.replace('"a"}', '"a", "arguments": {"n": 9007199254740993}}'), id="large integer"),
        pytest.param(GOOD.replace('"a"}', '"a", "arguments": "{\\"n\\": NaN}"}'), id="malformed arguments"),
        pytest.param(GOOD.replace('"a"}', '"a"}, "a bare string", 5'), id="entries of no known shape"),
    ],
)
def test_odd_but_usable_input_is_graded(capfdbinary: pytest.CaptureFixture[bytes], data: str) -> None:
    """G7, G9: what can be read is read, however odd."""
    ran = grade(capfdbinary, data)
    assert (ran.code, ran.err) == (0, "")
    assert "passed 1, failed 0" in ran.out


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param('{"id": "q", "tool_calls": [', id="truncated"),
        pytest.param('{"id": "q", "tool_calls": 5}', id="wrong type"),
        pytest.param('{"id": "q", "tool_calls": [{"name": "a", "arguments": {"n": NaN}}]}', id="NaN"),
        pytest.param('{"id": "q", "id": "r", "tool_calls": []}', id="repeated key"),
        pytest.param(
            f'{{"id": "q", "tool_calls": [{{"name": "a", "arguments": {"[" * 300}{"]" * 300}}}]}}', id="too deep"
        ),
        pytest.param('{"id": "q", "tool_calls": [], "expected_tool_cals": []}', id="misspelt expectation"),
        pytest.param(
            r'{"id": "q", "tool_calls": [{"name": "a", "requestor": "\ud800"}]}', id="lone surrogate as a word"
        ),
        pytest.param("5", id="a number"),
        pytest.param("nonsense", id="no JSON"),
    ],
)
def test_bad_record_among_good_ones_is_an_error_result(capfdbinary: pytest.CaptureFixture[bytes], bad: str) -> None:
    """G39: a bad record is one listed error with its place; the others are graded."""
    ran = grade(capfdbinary, f"{GOOD}\n{bad}\n", "--json")
    results = json.loads(ran.out)["results"]
    assert (ran.code, ran.err) == (3, "")
    assert [one["outcome"] for one in results] == ["pass", "error"]
    assert results[1]["place"].startswith("t.jsonl:2")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x00\x01\x02\x03" * 10, id="binary"),
        pytest.param(b"PK\x03\x04rest", id="zip"),
        pytest.param(b"\x1f\x8b\x08\x00", id="gzip"),
        pytest.param(GOOD.encode("utf-16"), id="UTF-16"),
        pytest.param(b"\xff\xfe\xfd", id="no UTF-8"),
        pytest.param(b"tests:\n- id: p\n", id="a test set in the place of traces"),
        pytest.param(b'{"what": "is this"}', id="unknown shape"),
    ],
)
def test_document_that_cannot_be_read_is_refused(capfdbinary: pytest.CaptureFixture[bytes], data: bytes) -> None:
    """G39: a document that cannot be read as a whole is one message and code 2."""
    ran = grade(capfdbinary, data)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: t.jsonl")
    assert "Traceback" not in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b"[]"])
def test_empty_file_holds_no_trajectory(capfdbinary: pytest.CaptureFixture[bytes], data: bytes) -> None:
    """G39: nothing graded is incomplete, not passed."""
    ran = grade(capfdbinary, data)
    assert ran.code == 3
    assert "graded 0 of 0, at least 1 needed" in ran.out


@pytest.mark.parametrize(
    "tests",
    [
        pytest.param("tests: [", id="broken YAML"),
        pytest.param("", id="empty"),
        pytest.param("5", id="a number"),
        pytest.param("- a\n- b\n", id="a list"),
        pytest.param(TESTS + "- {id: p, required_tools: [b]}\n", id="repeated id"),
        pytest.param(TESTS.replace("required_tools", "requird_tools"), id="unknown key"),
        pytest.param(TESTS.replace("[a]", "5"), id="wrong type"),
        pytest.param(TESTS.replace("[a]", "null"), id="null"),
        pytest.param(TESTS.replace("required_tools: [a]", "expected_tools: []"), id="empty selection"),
        pytest.param(TESTS + "gate: {min_pass_rate: 2}\n", id="rate out of range"),
        pytest.param(TESTS + "gate: {min_pass_rate: .nan}\n", id="NaN"),
        pytest.param(TESTS + "version: 1\n", id="repeated key"),
        pytest.param("version: 1\ntests: !!python/object:os.system [a]\n", id="a tag"),
        pytest.param("a: &a [*a]\n", id="an alias to itself"),
        pytest.param(
            "version: 1\ntests:\n- id: p\n  tool_call_args: [{tool: a, match: {mode: regex, pattern: '('}}]\n",
            id="a pattern",
        ),
    ],
)
def test_bad_test_set_is_refused(capfdbinary: pytest.CaptureFixture[bytes], tests: str) -> None:
    """G27: a test set that cannot be used is one message with its place, and code 2."""
    Path("t.jsonl").write_text(GOOD)
    Path("x.rightcall.yaml").write_text(tests)
    for ran in (
        run_here(capfdbinary, "grade", "t.jsonl", "--tests", "x.rightcall.yaml"),
        run_here(capfdbinary, "validate", "x.rightcall.yaml"),
    ):
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("error: x.rightcall.yaml")
        assert "Traceback" not in ran.err


def test_a_recording_in_the_place_of_a_test_set_is_known(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """G27: it is told for what it is, and how it is named; a test set with a mistake stays one."""
    said = "not a test set; a trace is named without an option, as in `rightcall grade TRACES --tests FILE`\n"
    messages = '"messages": [{"role": "user", "content": "Hello"}]'
    recorded = '{"id": "p", "tool_calls": [{"name": "a"}]}'
    for text, format_ in ((f'{{"model": "m", {messages}}}', "openai-chat"), (recorded, "native")):
        Path("t.jsonl").write_text(text)
        ran = run_here(capfdbinary, "validate", "t.jsonl")
        message = f"error: t.jsonl: this looks like a trace of the format `{format_}`, {said}"
        assert (ran.code, ran.err) == (2, message)
    Path("t.jsonl").write_text(f'{{"id": "a", {messages}, "required_tools": ["a"]}}')
    ran = run_here(capfdbinary, "validate", "t.jsonl")
    assert ran.err.startswith("error: t.jsonl:1:13: tests[0].messages: unknown key `messages`")


def test_directory_or_dangling_link_in_the_place_of_a_test_set(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A test set that cannot be opened is named with the cause."""
    Path("t.jsonl").write_text(GOOD)
    Path("dir").mkdir()
    Path("link.yaml").symlink_to("gone")
    ran = run_here(capfdbinary, "grade", "t.jsonl", "-t", "dir")
    assert (ran.code, ran.err) == (2, "error: dir: cannot be read: is a directory\n")
    ran = run_here(capfdbinary, "grade", "t.jsonl", "-t", "link.yaml")
    assert (ran.code, ran.err) == (2, "error: link.yaml: cannot be read: no such file or directory\n")
    ran = run_here(capfdbinary, "grade", "link.yaml")
    assert (ran.code, ran.err) == (2, "error: link.yaml: cannot be read: no such file or directory\n")


def test_hostile_text_reaches_neither_stream_raw(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Names and replies that would steer a terminal are shown as escapes, on both streams."""
    hostile = "\x1b]0;x\x07\u202e"
    record = {"id": hostile, "tool_calls": [{"name": hostile}], "output": hostile, "allowed_tools": ["a"]}
    ran = grade(capfdbinary, json.dumps(record))
    assert ran.code == 1
    assert "\\x1b]0;x\\x07\\u202e" in ran.out
    Path("t.jsonl").write_text(json.dumps({**record, "expected_tool_calls": [{hostile: 1}]}))
    other = run_here(capfdbinary, "grade", "t.jsonl")
    assert other.code == 2
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.out + ran.err + other.out + other.err)
