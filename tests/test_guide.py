"""The guide: each sentence is said by its expectation, passes where it should, and fails for the reason shown."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from rightcall.testsets.keys import EXPECTATIONS
from support.command_line import run_here
from support.guide import GUIDE, SENTENCES
from support.pages import PROJECT, section, slug

EXAMPLES: Final = PROJECT / "examples" / "guide"
TESTS: Final = EXAMPLES / "sentences.rightcall.yaml"


def records(name: str) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in (EXAMPLES / name).read_text("utf-8").splitlines()]
    return {record["id"]: record for record in found}


def told(record: dict[str, Any]) -> str:
    """A recorded trajectory as the guide tells it, in one line."""
    heard = [f"user: {json.dumps(said['content'])}" for said in record.get("messages", ()) if said["role"] == "user"]
    answer = [f"answer: {json.dumps(record['output'])}"] if "output" in record else []
    return ", ".join([*heard, *map(told_call, record["tool_calls"]), *answer]) or "no call"


def told_call(call: dict[str, Any]) -> str:
    arguments = ", ".join(f"{key}={json.dumps(value)}" for key, value in call.get("arguments", {}).items())
    return "".join([*_before(call), f"{call['name']}({arguments})", *_after(call)])


def _before(call: dict[str, Any]) -> Iterator[str]:
    if agent := call.get("agent"):
        yield f"{agent}: "
    for key in ("turn", "message"):
        if key in call:
            yield f"{key} {call[key] + 1}: "


def _after(call: dict[str, Any]) -> Iterator[str]:
    if "result" in call:
        yield f" gave {json.dumps(call['result'])}"
    if call.get("status") == "error":
        yield " failed"


def graded(name: str, capture: pytest.CaptureFixture[bytes]) -> dict[str, list[tuple[str, str]]]:
    """The status and the reason of every verdict, by test."""
    report = json.loads(run_here(capture, "grade", EXAMPLES / name, "--tests", TESTS, "--json").out)
    return {
        result["id"]: [(verdict["status"], verdict["reason"]) for verdict in result["attempts"][0]["verdicts"]]
        for result in report["results"]
    }


def test_every_heading_of_a_sentence_is_an_example() -> None:
    """The page, the tests and both recordings have the same sentences in the same order, and no entry is overlooked."""
    headings = [slug(heading) for heading in re.findall(r"^### (.+)$", GUIDE.read_text("utf-8"), re.MULTILINE)]
    ids = re.findall(r"^  - id: (.+)$", TESTS.read_text("utf-8"), re.MULTILINE)
    assert [headings] * 4 == [list(SENTENCES), ids, list(records("good.jsonl")), list(records("bad.jsonl"))]


@pytest.mark.parametrize("name", SENTENCES)
def test_the_page_shows_what_the_example_has(name: str) -> None:
    """The expectation as it stands in the test, and the calls as they were recorded."""
    said = SENTENCES[name]
    assert f"  - id: {name}\n{textwrap.indent(said.expectation, '    ')}" in TESTS.read_text("utf-8")
    assert (said.good, said.bad) == (told(records("good.jsonl")[name]), told(records("bad.jsonl")[name]))


def test_good_calls_pass(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Every verdict of every sentence is a pass."""
    found = graded("good.jsonl", capfdbinary)
    assert {name: {"pass"} for name in SENTENCES} == {name: {of[0] for of in found[name]} for name in found}


def test_bad_calls_fail_for_the_reason_shown(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Nothing errs, and the first failed verdict of each says what the page says."""
    found = graded("bad.jsonl", capfdbinary)
    reasons = {name: next(reason for status, reason in found[name] if status != "pass") for name in found}
    assert {name: said.reason for name, said in SENTENCES.items()} == reasons
    assert {status for verdicts in found.values() for status, _ in verdicts} == {"pass", "fail"}


@pytest.mark.parametrize("key", EXPECTATIONS)
def test_the_table_of_keys_has_every_key(key: str) -> None:
    """Whoever looks for the key of a sentence finds each that expects something."""
    assert f"`{key}`" in section(GUIDE, "#which-key")


def test_the_guide_looks_for_unknown_parallel_calls(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Its function of Python passes nothing that was not seen: a trace without messages cannot be judged."""
    calls = [{"name": "lookup_order", "arguments": {"order_id": number}} for number in (41, 42)]
    trace = tmp_path / "trace.jsonl"
    trace.write_text(json.dumps({"id": "look-both-orders-up-at-once", "tool_calls": calls}))
    report = json.loads(run_here(capfdbinary, "grade", trace, "--tests", TESTS, "--json").out)
    results = {result["id"]: result["outcome"] for result in report["results"]}
    assert results["look-both-orders-up-at-once"] == "error"
