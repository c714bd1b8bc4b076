"""`rightcall show`: calls as a tree, and what was read of each file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Ran, run_apart, run_here
from support.runs import lines, record
from support.spanning import asked, ran, span

Capture = pytest.CaptureFixture[bytes]


pytestmark = pytest.mark.usefixtures("in_tmp")


def shown(folder: Path, *options: str, env: Mapping[str, str] | None = None, **trajectory: Any) -> list[str]:
    """What is shown of one native record, a line each, without what was read of its file."""
    lines(folder / "t.jsonl", {"id": "t", **trajectory})
    told = run_apart("show", "t.jsonl", *options, cwd=folder, env={"LC_ALL": "C.UTF-8", **(env or {})})
    return told.out.partition("\n\n")[0].splitlines()[1:]


def block(run: Ran) -> list[str]:
    """The lines of what was read, after the trajectories."""
    return run.out.partition("\n\n")[2].splitlines()[1:]


def test_calls_of_one_message_are_joined_by_a_bracket(tmp_path: Path) -> None:
    """The first, those between and the last have their mark; calls that stand alone have none."""
    calls = [{"name": name, "message": number} for name, number in zip("abcde", (0, 1, 1, 1, 2), strict=True)]
    assert shown(tmp_path, tool_calls=calls) == [
        "   1   a()  [requested]",
        "   2 ┌ b()  [requested]",
        "   3 │ c()  [requested]",
        "   4 └ d()  [requested]",
        "   5   e()  [requested]",
    ]


def test_brackets_are_ascii_where_the_terminal_knows_no_more(tmp_path: Path) -> None:
    """A locale without UTF-8 gets marks that it has."""
    calls = [{"name": name, "message": 0} for name in "abc"]
    told = shown(tmp_path, env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, tool_calls=calls)
    assert [line[5] for line in told] == ["/", "|", "\\"]


def test_calls_inside_calls_stand_under_them_and_under_their_agent(tmp_path: Path) -> None:
    """Each level is indented, also for calls of two agents inside one another."""
    calls: list[dict[str, Any]] = [
        {"name": "ask", "kind": "agent", "agent": "top", "agent_path": ["top"]},
        {"name": "look", "parent": 0, "agent": "low", "agent_path": ["top", "low"]},
        {"name": "peer", "parent": 1, "agent": "low", "agent_path": ["top", "low"]},
        {"name": "end", "agent": "top", "agent_path": ["top"]},
    ]
    assert shown(tmp_path, tool_calls=calls) == [
        "     agent top",
        "   1 ask()  [requested, agent]",
        "       agent top > low",
        "   2   look()  [requested]",
        "         agent top > low",
        "   3     peer()  [requested]",
        "   4 end()  [requested]",
    ]


def test_turns_have_a_line_where_there_are_several(tmp_path: Path) -> None:
    """One turn needs no saying."""
    one = [{"name": "a", "turn": 0}]
    assert shown(tmp_path, tool_calls=one) == ["   1 a()  [requested]"]
    assert shown(tmp_path, tool_calls=[*one, {"name": "b", "turn": 2}]) == [
        "  turn 1",
        "   1 a()  [requested]",
        "  turn 3",
        "   2 b()  [requested]",
    ]


@pytest.mark.parametrize(
    ("call", "marks"),
    [
        ({"status": "ok"}, "[ok]"),
        ({"status": "refused"}, "[refused]"),
        ({"status": "pending", "kind": "mcp", "server": "docs"}, "[pending, mcp docs]"),
        ({"requestor": "user"}, "[requested, by the user]"),
        ({"started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T00:00:00.0125Z"}, "[requested, 12.5 ms]"),
        ({"started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T01:00:00Z"}, "[requested, 3,600 s]"),
        ({"started_at": "2026-01-01T00:00:01Z", "ended_at": "2026-01-01T00:00:00Z"}, "[requested]"),
        ({"started_at": "soon", "ended_at": "2026-01-01T00:00:00Z"}, "[requested]"),
    ],
)
def test_what_is_known_of_a_call_stands_in_brackets(tmp_path: Path, call: dict[str, Any], marks: str) -> None:
    """Status, kind with server, who asked, and how long it took, where that is known."""
    assert shown(tmp_path, tool_calls=[{"name": "a", **call}]) == [f"   1 a()  {marks}"]


def test_errors_are_always_shown_and_results_when_wanted(tmp_path: Path) -> None:
    """A result is cut after some characters, with how many are left out."""
    calls = [{"name": "a", "status": "error", "error": "no", "result": {"x": "y" * 300}, "sources": ["l 1", "l 2"]}]
    assert shown(tmp_path, tool_calls=calls) == ["   1 a()  [error]", "       error: no"]
    told = shown(tmp_path, "-v", env={"COLUMNS": "400"}, tool_calls=calls)
    assert told[:2] == ["   1 a()  [error, seen 2 times]", "       error: no"]
    assert told[2].startswith('       result: {"x":"yyy')
    assert told[2].endswith("… (108 more characters)")


def test_lines_keep_to_the_width_of_the_terminal(tmp_path: Path) -> None:
    """What does not fit goes on below, indented."""
    calls = [{"name": "look", "arguments": {"first": "x" * 20, "second": "y" * 20}, "error": "word " * 20}]
    told = shown(tmp_path, env={"COLUMNS": "50"}, tool_calls=calls, gaps=["gap " * 30], warnings=["odd " * 30])
    assert max(map(len, told)) <= 50
    assert told[1] == '       second="yyyyyyyyyyyyyyyyyyyy")  [requested]'
    assert sum("gap " in line for line in told) > 1


def test_nothing_in_a_trace_can_steer_the_terminal(tmp_path: Path) -> None:
    """Control characters are written as escapes, wherever they stand."""
    call = {"name": "a\x1b[2J", "arguments": {"k\x07": "v\x1b"}, "error": "e\x1b", "server": "s\x1b", "kind": "mcp"}
    hidden = {**call, "arguments": "{\x1b", "agent": "g\x1b", "agent_path": ["g\x1b"]}
    lines(tmp_path / "t.jsonl", {"id": "i\x1b", "tool_calls": [call, hidden], "gaps": ["g\x1b"], "warnings": ["w\x1b"]})
    told = run_apart("show", "-v", "t.jsonl", cwd=tmp_path)
    assert [char for char in told.out if not char.isprintable() and char != "\n"] == []
    assert "a\\x1b[2J" in told.out


def test_colours_are_used_when_asked_for(tmp_path: Path) -> None:
    """`FORCE_COLOR` colours the status; `--no-color` forbids it."""
    lines(tmp_path / "t.jsonl", record("p", "a"))
    coloured = run_apart("show", "t.jsonl", cwd=tmp_path, env={"FORCE_COLOR": "1"})
    refused = run_apart("show", "t.jsonl", "--no-color", cwd=tmp_path, env={"FORCE_COLOR": "1"})
    assert "\x1b[1mp\x1b[0m" in coloured.out
    assert "\x1b" not in refused.out


def test_several_files_have_their_sums_at_the_end(capfdbinary: Capture) -> None:
    """Each file has a block of its own; names are put together."""
    lines(Path("a.jsonl"), record("p", "a", "b"), record("q"))
    Path("b.json").write_text(json.dumps([span(1, asked(("c", {}))), span(2, {"x": "y"})]))
    ran_ = run_here(capfdbinary, "show", "a.jsonl", "b.json")
    assert ran_.out.split("\n\n")[-1].splitlines() == [
        "read 2 files: 3 trajectories",
        "  spans 2, of models 1, tool-like 0, understood 0, without a call 1",
        "  calls 3",
        "  no convention knows 1 span: `span 2`",
    ]


WITHOUT = {
    "content capture was off": [span(1, asked(("a", None, "1"))), span(2, ran("b"))],
    "the trace does not hold them": [span(1, asked(("a", {"x": 1}))), span(2, ran("b"))],
    "masked": [span(1, {**asked(), **ran("b"), "gen_ai.tool.call.arguments": "[REDACTED]"})],
    "cut off at a limit of the exporter": [
        span(1, {**ran("b"), "gen_ai.tool.call.arguments": ('{"x": "' + "y" * 300)[:128]})
    ],
    "the model wrote no JSON": [span(1, {**ran("b"), "gen_ai.tool.call.arguments": '{"x": '})],
}


@pytest.mark.parametrize(("why", "spans"), WITHOUT.items())
def test_why_calls_have_no_arguments_is_said(
    capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch, why: str, spans: list[Any]
) -> None:
    """Content capture that was off is told from masks, limits, and a trace that just does not hold them."""
    monkeypatch.setenv("COLUMNS", "160")
    Path("t.json").write_text(json.dumps(spans))
    told = block(run_here(capfdbinary, "show", "t.json"))
    assert [line.partition(": ")[2] for line in told if "without arguments that can be read" in line] == [why]


def test_rejects_are_told_in_their_place_and_counted(capfdbinary: Capture) -> None:
    """The exit code is 3."""
    lines(Path("t.jsonl"), record("p", "a"), "nonsense", record("q"))
    told = run_here(capfdbinary, "show", "t.jsonl")
    assert told.code == 3
    assert told.out.splitlines()[2].startswith("! not read: t.jsonl:2")
    assert block(told)[-1] == "  1 record not read"
