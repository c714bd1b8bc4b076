"""Public bug reports about what is fed in: encodings, huge inputs, unusable entries, interleaved traces."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.verdicts import Verdict
from support.bug_reports import Case, document, json_lines, judge, names, report
from support.command_line import run_apart, run_here
from support.openinference import request, span, tool

BAD_ESCAPE = '{"t":"\\ubn12"}'


def _grade_lines(folder: Path, capture: pytest.CaptureFixture[bytes], *records: Any) -> tuple[int, dict[str, Any]]:
    """The exit code and the report of records that carry their expectations."""
    (folder / "records.jsonl").write_text(json_lines(records), encoding="utf-8")
    ran = run_here(capture, "grade", folder / "records.jsonl", "--json")
    return ran.code, json.loads(ran.out)


@report("B089")
def test_encoding_and_unicode_of_test_sets(case: Case, tmp_path: Path) -> None:
    """A test set is UTF-8 whatever the machine's encoding, and its text comes out as it went in."""
    identity = case["input"]["text"]
    (tmp_path / "s.yaml").write_bytes(f"tests:\n  - id: {identity}\n    required_tools: [{identity}]\n".encode())
    (tmp_path / "t.json").write_bytes(json.dumps({"id": identity, "tool_calls": [{"name": identity}]}).encode())
    ran = run_apart("grade", "t.json", "-t", "s.yaml", "--json", cwd=tmp_path, env=_ASCII)
    (result,) = json.loads(ran.out)["results"]
    assert (result["id"], result["outcome"], ran.code) == (identity, "pass", 0)


_ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}


@report("B090")
def test_encoding_and_unicode_of_traces(case: Case, tmp_path: Path) -> None:
    """Traces are UTF-8 whatever the machine's encoding, with or without a byte order mark."""
    call = case["input"]["file_bytes_utf8"]
    data = f'{{"id": "one", "tool_calls": [{call}], "required_tools": ["naïve_search"]}}'.encode()
    for start in (b"", b"\xef\xbb\xbf"):
        (tmp_path / "t.json").write_bytes(start + data)
        assert run_apart("grade", "t.json", cwd=tmp_path, env=_ASCII).code == 0


@report("B090")
def test_encoding_and_unicode_of_invalid_bytes(case: Case, tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are one error with file, line and column."""
    good = b'{"id": "one", "tool_calls": [], "expected_tool_calls": []}\n'
    (tmp_path / "t.jsonl").write_bytes(good + b'{"id": "two", "tool_calls": [{"name": "\xff"}]}\n')
    ran = run_apart("grade", "t.jsonl", "--json", cwd=tmp_path)
    results = json.loads(ran.out)["results"]
    assert [(one["id"], one["outcome"]) for one in results] == [("one", "pass"), ("two", "error")]
    assert (ran.code, results[1]["place"]) == (3, "t.jsonl:2:40")


@report("B091", "B093")
def test_encoding_and_unicode(case: Case) -> None:
    """Escapes are decoded, and nothing is normalised (G7)."""
    assert case["expect"]["verdict"] == judge(case["input"]).status


@report("B092")
def test_encoding_and_unicode_of_escapes(case: Case) -> None:
    """Surrogate pairs are one character; a broken escape makes the arguments malformed, and no call less."""
    calls = [{"name": "f", **variant} for variant in case["input"]["variants"]]
    good, broken = rightcall.read({"tool_calls": calls}).tool_calls or ()
    assert good.arguments == {"t": "한글 🚀"}
    assert (broken.arguments_state, broken.arguments_text) == ("malformed", BAD_ESCAPE)


@report("B093")
def test_encoding_and_unicode_of_equal_looks(case: Case) -> None:
    """Two spellings of the same letter differ, and the reason says how; `$text` takes them for one (G7, G14)."""
    assert "normal" in judge(case["input"]).reason
    dish = case["input"]["expected"][0]["arguments"]["dish"]
    either = [{"name": "find", "arguments": {"dish": {"$text": {"value": dish, "normalize": "NFC"}}}}]
    assert judge({**case["input"], "expected": either}).status == case["expect"]["verdict_with_option"]


@report("B095")
def test_encoding_and_unicode_of_output(case: Case, tmp_path: Path) -> None:
    """A terminal that knows only ASCII changes neither verdict nor exit code."""
    record = {"id": case["input"]["text"], "tool_calls": [], "required_tools": [case["input"]["text"]]}
    (tmp_path / "t.json").write_text(json.dumps(record), encoding="utf-8")
    ran = run_apart("grade", "t.json", cwd=tmp_path, env={**_ASCII, "PYTHONIOENCODING": "ascii"})
    assert (ran.code, ran.err) == (1, "")
    assert "failed 1" in ran.out


@report("B104")
def test_huge_inputs_of_depth(case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Arguments nested too deeply are an error of their own, with the limit; others are graded (G8)."""
    depth = case["input"]["generate"]["depth"]
    deep = '{"k":' * depth + "1" + "}" * depth
    test = '"expected_tool_calls": [{"name": "f"}], "match": "exact", "arguments": "ignore"'
    good = f'{{"id": "flat", "tool_calls": [{{"name": "f"}}], {test}}}'
    bad = f'{{"id": "deep", "tool_calls": [{{"name": "f", "arguments": {deep}}}], {test}}}'
    (tmp_path / "t.jsonl").write_text(f"{bad}\n{good}\n", encoding="utf-8")
    ran = run_here(capfdbinary, "grade", tmp_path / "t.jsonl", "--json")
    results = {one["id"]: one for one in json.loads(ran.out)["results"]}
    assert {name: one["outcome"] for name, one in results.items()} == {"deep": "error", "flat": "pass"}
    assert "limit of 200" in results["deep"]["reason"]
    assert ran.code == 3


@report("B105")
def test_huge_inputs_of_spans_inside_spans(case: Case) -> None:
    """However deep a span stands in its trace, its call is found."""
    depth = case["input"]["generate"]["depth"]
    chain = [span("CHAIN", f"s{number}", parent=f"s{number - 1}", start=number) for number in range(depth)]
    leaf = tool("leaf", "f", parent=f"s{depth - 1}", start=depth)
    assert case["expect"]["extracted_count"] == len(names(request(*chain, leaf)))


@report("B106")
def test_huge_inputs_of_calls(case: Case) -> None:
    """A long run gets a verdict like a short one."""
    verdict = _judge_made(_many(case), {"expected_tool_calls": [{"name": "f0", "arguments": {"n": -1}}]})
    assert verdict.status in case["expect"]["verdict_in"]
    assert verdict.reason == "Expected f0 with n = -1; call 1 had n = 0."


@report("B106")
def test_huge_inputs_beyond_the_limit(case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A record beyond the limit is an error that names it, and blocks; the others are graded (G8, G39)."""
    huge = {"id": "huge", "tool_calls": _many(case), "required_tools": ["f0"]}
    small = {"id": "small", "tool_calls": [{"name": "f0"}], "required_tools": ["f0"]}
    code, report_ = _grade_lines(tmp_path, capfdbinary, huge, small)
    results = {one["id"]: one for one in report_["results"]}
    assert {name: one["outcome"] for name, one in results.items()} == {"huge": "error", "small": "pass"}
    assert (code, "limit of 10 MiB" in results["huge"]["reason"]) == (3, True)


def _judge_made(calls: list[dict[str, Any]], keys: dict[str, Any]) -> Verdict:
    (verdict,) = rightcall.grade(Trajectory(tool_calls=tuple(ToolCall(**call) for call in calls)), keys)
    return verdict


def _many(case: Case) -> list[dict[str, Any]]:
    count, size = (case["input"]["generate"][key] for key in ("count", "payload_bytes_each"))
    return [{"name": f"f{number % 7}", "arguments": {"n": number, "text": "x" * size}} for number in range(count)]


@report("B108")
def test_huge_inputs_of_spans_in_any_order(case: Case) -> None:
    """All spans are read, then sorted; none is cut off."""
    count = case["input"]["generate"]["count"]
    spans = [tool(f"s{number}", f"f{number}", start=number + 1) for number in range(count)]
    random.Random(108).shuffle(spans)
    found = names(request(*spans))
    assert case["expect"]["extracted_count"] == len(found)
    assert found == [f"f{number}" for number in range(count)]


@report("B114")
def test_error_handling_of_unusable_entries(case: Case) -> None:
    """What is no call counts as one without a name and is named in a warning; the rest is read (G9)."""
    assert judge(case["input"]).status == "pass"
    assert judge(case["input"], match="exact").status == "fail"
    assert len(rightcall.read(document(case["input"])).warnings) == 2


@report("B147")
def test_concurrency_of_traces(case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Spans of cases that ran side by side go to the case that their trace names, in whatever order they come."""
    spans = [
        part
        for number, name in enumerate(case["input"]["cases"])
        for part in (
            span("CHAIN", f"r{number}", trace=f"t{number}", start=1, rightcall__test_id=name),
            tool(f"c{number}", "a", parent=f"r{number}", trace=f"t{number}", start=2),
        )
    ]
    tests = [
        {"id": name, "match": "exact", "expected_tool_calls": case["input"]["each_calls"]}
        for name in case["input"]["cases"]
    ]
    (tmp_path / "t.json").write_text(json.dumps(request(*spans[::2], *spans[1::2])), encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps({"version": 1, "tests": tests}), encoding="utf-8")
    ran = run_here(capfdbinary, "grade", tmp_path / "t.json", "-t", tmp_path / "s.json", "--json")
    attempts = [attempt for result in json.loads(ran.out)["results"] for attempt in result["attempts"]]
    assert case["expect"]["calls_per_case"] == [attempt["calls"] for attempt in attempts]
    assert (ran.code, [attempt["outcome"] for attempt in attempts]) == (0, ["pass", "pass"])
