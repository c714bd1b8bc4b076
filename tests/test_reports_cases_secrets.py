"""Public bug reports about secrets: the comparison uses them, and nothing that is written tells them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rightcall.reports import REPORTS as FORMATS
from support.bug_reports import Case, expectations, report
from support.command_line import Ran, run_here


def _run(case: Case, folder: Path, capfdbinary: pytest.CaptureFixture[bytes], *options: str) -> tuple[Ran, str]:
    """Grade the case, write every report there is, and return what was printed and all that was written."""
    given = case["input"]
    keys = expectations({**given, "config": {key: word for key, word in given["config"].items() if key != "redact"}})
    tests, traces = folder / "t.rightcall.json", folder / "traces.jsonl"
    tests.write_text(json.dumps({"tests": [{"id": "t", **keys}]}), "utf-8")
    traces.write_text(json.dumps({"id": "t", "tool_calls": given["actual"]}) + "\n", "utf-8")
    outputs = [folder / f"out{suffix}" for kind in FORMATS.values() for suffix in kind.suffixes if suffix[0] == "."]
    named = [text for output in outputs for text in ("-o", str(output))]
    ran = run_here(capfdbinary, "grade", traces, "-t", tests, *named, *options)
    written = "".join(output.read_bytes().decode("utf-8", "replace") for output in outputs)
    return ran, ran.out + ran.err + written


@report("B152")
def test_security_tokens_in_headers_are_in_no_output(
    case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The call fails for its URL; the token is in nothing that is printed or written (G5)."""
    ran, told = _run(case, tmp_path, capfdbinary, "--redact", "@secrets", "--github")
    assert (ran.code, case["expect"]["verdict"]) == (1, "fail")
    assert 'Expected http_get with url = "v"; call 1 had url = "u".' in ran.out
    assert [secret for secret in case["expect"]["must_not_print"] if secret in told] == []
    assert '"Authorization":"[redacted]"' in told.replace(" ", "")


@report("B153")
def test_security_a_password_that_differs_is_compared_and_not_told(
    case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The true values are compared; the reason says that the password differs, and neither value (G4, G5)."""
    rules = [text for rule in case["input"]["config"]["redact"] for text in ("--redact", rule)]
    ran, told = _run(case, tmp_path, capfdbinary, *rules)
    assert (ran.code, case["expect"]["verdict"]) == (1, "fail")
    assert "Expected login with password = [redacted]; call 1 had password = [redacted]." in ran.out
    assert [secret for secret in case["expect"]["must_not_print"] if secret in told] == []
