"""What is imported to describe and drive agents: nothing that the way at hand does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIBRARIES = {"httpx", "jinja2", "jsonpath", "websockets", "mcp", "opentelemetry", "pydantic"}
READ = "from rightcall.agents import endpoints; endpoints.read({description!r}); {more}"
TEMPLATE = {"http": {"url": "http://h", "body": {"a": "{{ input }}"}}}
PATH = {"http": {"url": "http://h", "response": {"output": "$.a"}}}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import rightcall", set()),
        ("from rightcall.agents import endpoints", set()),
        (READ.format(description={"http": "http://h"}, more=""), set()),
        (READ.format(description={"python": "json:loads"}, more=""), set()),
        (READ.format(description=TEMPLATE, more=""), {"jinja2"}),
        (READ.format(description=PATH, more=""), {"jsonpath"}),
        (READ.format(description={"mcp": {"tool": "t", "url": "http://h"}}, more=""), {"jinja2"}),
    ],
)
def test_only_what_is_needed_is_imported(code: str, expected: set[str]) -> None:
    """Describing an agent needs no client; templates and paths need what compiles them."""
    told = f"{code}\nimport sys\nprint(*sorted({LIBRARIES!r} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == expected


@pytest.mark.parametrize(
    ("library", "description", "message"),
    [
        ("httpx", {"http": "http://h"}, "an agent behind HTTP needs the extra `run`: pip install 'rightcall[run]'"),
        ("httpx", {"openai": {"url": "http://h", "model": "m"}}, "an agent behind HTTP needs the extra `run`"),
        ("jinja2", TEMPLATE, "a template needs the extra `run`"),
        ("jsonpath", PATH, "a JSONPath needs the extra `run`"),
        ("websockets", {"websocket": "ws://h"}, "an agent behind a WebSocket needs the extra `run`"),
        ("mcp", {"mcp": {"tool": "t", "url": "http://h"}}, "an agent that serves MCP needs the extra `mcp`"),
    ],
)
def test_what_is_missing_is_told_in_one_sentence(library: str, description: object, message: str) -> None:
    """With the command that installs it."""
    code = f"""
import sys
sys.modules[{library!r}] = None
from rightcall.agents import endpoints
from rightcall.errors import MissingExtraError
try:
    endpoints.open(endpoints.read({description!r}), {{}}, "")
except MissingExtraError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith(message)
