"""Runs of the command line against agents of a file, and what they leave behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

AGENT = '''
import os

async def answer(turn):
    """Call what the user says to call; every conversation is noted where `LOG` says."""
    if os.environ.get("LOG"):
        log = os.open(os.environ["LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"{turn.test} {turn.attempt}\\\\n".encode())
        os.close(log)
    if turn.input == "fail":
        raise ValueError("no stock")
    if turn.input == "flaky" and seen(turn) % 2:
        return {"output": "no", "tool_calls": []}
    calls = [{"name": name, "arguments": {}} for name in turn.input.split() if name.isidentifier()]
    return {"output": "ok", "tool_calls": calls}

SEEN = []

def seen(turn):
    SEEN.append(turn)
    return len(SEEN) - 1
'''.replace("\\\\n", "\\n")


def project(place: Path, *tests: dict[str, Any], **keys: Any) -> Path:
    """A test set with an agent beside it; each test expects the calls that its prompt names, unless it says more."""
    place.joinpath("agent.py").write_text(AGENT)
    whole = {"version": 1, "endpoint": {"python": "agent.py:answer"}, "tests": list(map(_expecting, tests)), **keys}
    path = place / "t.rightcall.json"
    path.write_text(json.dumps(whole))
    return path


def _expecting(test: dict[str, Any]) -> dict[str, Any]:
    stated = {"expected_tool_calls", "forbidden_tools", "required_tools", "turns"} & test.keys()
    return test if stated else {"expected_tool_calls": str(test["prompt"]).split(), **test}


def run_directory(place: Path) -> Path:
    """The only run that is kept there."""
    (found,) = place.joinpath(".rightcall", "runs").glob("2*")
    return found


def attempts(directory: Path) -> list[dict[str, Any]]:
    """The attempts in the journal of a run, in the order in which they ended."""
    return [json.loads(line) for line in directory.joinpath("attempts.jsonl").read_text().splitlines()]


def numbers(directory: Path) -> list[tuple[str, int]]:
    """Which attempts these are."""
    return [(one["test_id"], one["metadata"]["rightcall"]["attempt"]) for one in attempts(directory)]
