"""Projects that pytest runs inside a test: what they are made of, and what came of their tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

LOOKUP = {"name": "lookup_order", "arguments": {"order_id": 42}}
REFUND = {"name": "issue_refund", "arguments": {"order_id": 42, "amount": 19.5}}

TEST_SET = """
version: 1
tests:
  - id: late-order
    expected_tool_calls: [lookup_order, issue_refund]
  - id: opening-hours
    expected_tool_calls: []
"""


def lines(*records: dict[str, Any]) -> str:
    """Records as JSON Lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


GOOD = lines({"id": "late-order", "tool_calls": [LOOKUP, REFUND]}, {"id": "opening-hours", "tool_calls": []})
BAD = lines({"id": "late-order", "tool_calls": [LOOKUP]}, {"id": "opening-hours", "tool_calls": []})


def write(pytester: pytest.Pytester, **files: str) -> None:
    """Write files; in their names `__` stands for a dot."""
    for name, text in files.items():
        pytester.path.joinpath(name.replace("__", ".")).write_text(text, "utf-8")


def _warm() -> None:
    """Import what the plugin needs: what is first imported while `pytester` is in use is forgotten after it."""
    from rightcall.app import suites
    from rightcall.app.service import GradeRequest
    from rightcall.faces.pytest_plugin import comparing, files, fixture, live, repeating, summary, updating  # noqa: F401  # for later

    with tempfile.TemporaryDirectory() as folder:
        test_set, traces = Path(folder, "a.yaml"), Path(folder, "a.jsonl")
        test_set.write_text(TEST_SET + "    forbidden_tools: [issue_refund]\n")
        traces.write_text(BAD)
        suites.grade(GradeRequest(traces=(str(traces),), tests=(str(test_set),)))


_warm()


def run(pytester: pytest.Pytester, *arguments: str) -> tuple[pytest.RunResult, dict[str, str]]:
    """Run pytest, with warnings as errors; what it printed, and the word it has for each test that it ran."""
    result = pytester.runpytest("-v", "-W", "error", "-p", "no:cacheprovider", *arguments)
    words = (line.split(" ") for line in result.outlines if "::" in line and line.rstrip().endswith("]"))
    return result, {name.partition("::")[2]: word for name, word, *_ in words}


def run_apart(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as a program."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {key: value for key, value in os.environ.items() if key != "FORCE_COLOR"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
