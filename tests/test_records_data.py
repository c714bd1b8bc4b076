"""What stands beside the calls of a record and is no expectation says nothing about what is expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rightcall
from rightcall.core.verdicts import Status
from support.command_line import run_here

RECORD = {"id": "r", "tool_calls": [{"name": "delete"}], "forbidden_tools": ["delete"]}


@pytest.mark.parametrize("severity", ["shadow", "warn", "high", 3])
def test_a_severity_in_a_record_softens_nothing(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], severity: object
) -> None:
    """Tickets and logs have a severity too: in a record it is data, which is told, and the ban still blocks (G25)."""
    file = tmp_path / "r.jsonl"
    file.write_text(json.dumps({**RECORD, "severity": severity}))
    ran = run_here(capfdbinary, "grade", file)
    assert ran.code == 1
    assert "unknown key `severity` is not read" in ran.out


def test_an_assertion_of_a_record_may_have_a_severity() -> None:
    """Where it stands on an assertion, it can be nothing else."""
    lenient = {"kind": "forbidden_tools", "tools": ["delete"], "severity": "warn"}
    (verdict,) = rightcall.grade({"tool_calls": [{"name": "delete"}]}, {"assertions": [lenient]})
    assert (verdict.status, verdict.severity) == (Status.FAIL, "warn")
