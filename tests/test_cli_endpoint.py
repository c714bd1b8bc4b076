"""`rightcall endpoint try`: one exchange shown, secrets by name, and a mapping proposed where none reads the calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.command_line import Ran, run_apart, run_here
from support.loopback import answer, in_background, serving, stream

CALL = {"name": "lookup_order", "arguments": {"order_id": 42}}
TOOLS = [{"name": "delete_order", "input_schema": {"type": "object"}}]

SENT = """\
sent
  request: POST {url}/chat
  headers:
    {{
      "Content-Type": "application/json",
      "Accept": "application/json, text/event-stream",
      "Authorization": "Bearer ${{KEY}}"
    }}
  body:
    {{
      "say": "Where is it?"
    }}
came
  status: 200 OK
  content type: application/json
  body:
"""
TEST_SET = """\
endpoint:
  http:
    url: {url}/chat
    headers: {{Authorization: "Bearer ${{KEY}}"}}
    body: {{say: "{{{{ input }}}}"}}
    {response}
tests:
  - {{id: late, prompt: "Where is it?", allowed_tools: []}}
"""


@pytest.fixture
def run(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Tries an agent that answers so, described in a file with this mapping."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEY", "sk-planted-secret")

    def command(answered: Any, response: str = "", *options: str) -> tuple[Ran, str]:
        with in_background(serving(answered if isinstance(answered, bytes) else answer(answered))) as server:
            (tmp_path / "refund.rightcall.yaml").write_text(TEST_SET.format(url=server.url, response=response), "utf-8")
            return run_here(capfdbinary, "endpoint", "try", "refund.rightcall.yaml", *options), server.url

    return command


def test_the_request_and_the_reply_are_shown_with_a_mapping_to_try(run: Any) -> None:
    """What the first test says is said; the tools there are, are never proposed as calls."""
    ran, url = run({"answer": "Late.", "key": "sk-planted-secret", "steps": [{"call": CALL}], "tools": TOOLS})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(SENT.format(url=url))
    assert ran.out.endswith(
        """\
  tool calls: nothing is said of calls
  note: "what looks like calls at `steps[0].call` is not read: no mapping names it; see `rightcall endpoint try`"
a mapping to try
  response:
    output: "$.answer"
    tool_calls: "$.steps[*].call"
note: `$.tools` defines tools that could be called; these are no calls that were made
"""
    )
    assert "planted" not in ran.out


def test_what_the_mapping_found_is_shown_field_by_field(run: Any) -> None:
    """And what it came to; nothing is proposed."""
    mapping = 'response: {output: $.answer, tool_calls: "$.steps[*].call", conversation_id: $.session}'
    ran, _ = run({"answer": "Late.", "steps": [{"call": CALL}]}, mapping)
    assert ran.out.endswith(
        """\
mapping
  output: "Late."
  tool_calls: [{"name":"lookup_order","arguments":{"order_id":42}}]
  conversation_id: nothing
reply
  output: "Late."
  tool calls: 1
    "lookup_order" {"order_id":42}
"""
    )


@pytest.mark.parametrize(
    ("answered", "words"),
    [
        ({"output": "x", "tool_calls": []}, "tool calls: none was made"),
        ({"output": "x", "tool_calls": None}, "tool calls: no calls were recorded"),
        (
            {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "x"}]},
            "tool calls: none was made",
        ),
    ],
)
def test_a_reply_that_needs_no_mapping_gets_none_proposed(run: Any, answered: Any, words: str) -> None:
    """An object of a reply, or a format that is known."""
    ran, _ = run(answered)
    assert (ran.code, words in ran.out, "a mapping to try" in ran.out) == (0, True, False)


def test_a_mapping_is_proposed_for_streams_too(run: Any) -> None:
    """Each event is looked at."""
    ran, _ = run(stream({"delta": "La"}, {"made": [CALL]}, {"delta": "te"}), "response: {error: $.failure}")
    assert ran.out.endswith('a mapping to try\n  response:\n    output: "$.delta"\n    tool_calls: "$.made"\n')


def test_where_nothing_looks_like_calls_that_is_said(run: Any) -> None:
    """With what can be done about it."""
    ran, _ = run({"reply": "Late."}, "", "--input", "Hello?")
    assert '"say": "Hello?"' in ran.out
    assert "note: nothing in the reply looks like tool calls; let the agent report them" in ran.out


def test_trouble_and_failures_have_their_exit_codes(run: Any) -> None:
    """3 for trouble on the way, 1 for an agent that says that it failed, 2 for what cannot be tried."""
    ran, _ = run({}, "query: {q: '{{ inptu }}'}")
    assert (ran.code, ran.out) == (3, "sent: nothing\ncame: nothing\n")
    ran, _ = run(answer(b"sk-planted-secret", "403 Forbidden"))
    assert (ran.code, ran.err) == (3, 'error: status 403 Forbidden: "${KEY}"\n')
    ran, _ = run({"error": {"message": "no stock"}})
    assert (ran.code, 'the agent failed: "no stock"' in ran.out) == (1, True)
    ran, _ = run({}, "respons: {}")
    assert (ran.code, ran.err) == (
        2,
        "error: refund.rightcall.yaml:6:5: endpoint.http.respons: unknown key `respons` (did you mean `response`?)\n",
    )
    ran, _ = run({}, "response: {output: answer}")
    assert ran.err.startswith("error: refund.rightcall.yaml:6:16: endpoint.http.response.output: expected a JSONPath")


def test_what_an_agent_answers_cannot_steer_the_terminal_or_a_runner(run: Any) -> None:
    """Control characters and commands of CI are shown as escapes."""
    ran, _ = run({"answer": "\x1b[2J", "calls": "::error::x"}, "response: {output: $.answer, context: $.calls}")
    assert "\x1b" not in ran.out
    assert not any(line.lstrip().startswith("::") for line in ran.out.splitlines())


def test_an_agent_need_not_stand_in_a_file(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """By `--url`, or by `--endpoint` as for `rightcall run`."""
    (tmp_path / "my_agent.py").write_text(
        "def answer(text):\n    print('thinking')\n    return text.upper()\n", "utf-8"
    )
    ran = run_apart("endpoint", "try", "--endpoint", "python:my_agent.py:answer", "--input", "hi", cwd=tmp_path)
    assert (ran.code, 'output: "HI"' in ran.out, "thinking" in ran.out, ran.err) == (0, True, False, "thinking\n")
    with in_background(serving(answer({"output": "x"}))) as server:
        assert run_here(capfdbinary, "endpoint", "try", "--url", server.url).code == 0
        both = run_here(capfdbinary, "endpoint", "try", "--url", server.url, "--endpoint", "python:a.py:b")
    assert (both.code, "leave one out" in both.err) == (2, True)
    none = run_here(capfdbinary, "endpoint", "try")
    assert (none.code, "name a test set with an `endpoint`" in none.err) == (2, True)


def test_help_shows_the_command_and_imports_nothing_of_it(tmp_path: Path) -> None:
    """`rightcall endpoint` lists what it can do."""
    ran = run_apart("endpoint", "--help", cwd=tmp_path)
    assert (ran.code, "try" in ran.out, ran.err) == (0, True, "")
    ran = run_apart("endpoint", "try", "--help", cwd=tmp_path)
    assert (ran.code, "Examples:" in ran.out) == (0, True)


def test_a_broken_endpoint_is_found_before_anything_is_run(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`rightcall validate` looks at it, without a secret and without a server."""
    monkeypatch.chdir(tmp_path)
    Path("good.rightcall.yaml").write_text(TEST_SET.format(url="http://127.0.0.1:9", response=""), "utf-8")
    Path("bad.rightcall.yaml").write_text(TEST_SET.format(url="127.0.0.1:9", response=""), "utf-8")
    Path("word.rightcall.yaml").write_text("endpoint: pythn:a.py:b\ntests: [{prompt: x, allowed_tools: []}]\n", "utf-8")
    word = run_here(capfdbinary, "validate", "word.rightcall.yaml")
    assert word.err.startswith("error: word.rightcall.yaml:1:1: endpoint: expected a URL or one of `python:…`")
    ran = run_here(capfdbinary, "validate", "good.rightcall.yaml", "bad.rightcall.yaml")
    assert (ran.code, "good.rightcall.yaml: ok" in ran.out) == (2, True)
    assert ran.err.startswith("error: bad.rightcall.yaml:3:5: endpoint.http.url: expected an address that begins with")
