"""Test sets brought up to date in place: what is rewritten, what never is, and what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rightcall.app.promoting import PromoteRequest, Promotion, promote
from rightcall.app.service import GradeRequest
from rightcall.app.suites import grade
from rightcall.errors import TestSetError, UsageError
from support.stories import write

TESTS = "version: 1  # ours\ntests:\n"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A call as it is recorded."""
    return {"name": name, "arguments": arguments}


def update(folder: Path, tests: str, *runs: list[dict[str, Any]], **how: Any) -> Promotion:
    """Promote runs of the test `a` into a file, and write it."""
    records = [{"id": "a", "tool_calls": calls} for calls in runs]
    write(folder, {"t.rightcall.yaml": TESTS + tests, "t.jsonl": records})
    traces, file = (str(folder / "t.jsonl"),), str(folder / "t.rightcall.yaml")
    done = promote(PromoteRequest(traces=traces, update=file, **how))
    assert done.updated is not None
    done.updated.write()
    return done


def written(folder: Path) -> str:
    """The tests of the file, after its first lines."""
    return (folder / "t.rightcall.yaml").read_text().removeprefix(TESTS)


def outcome(folder: Path) -> str:
    """What the test `a` comes to on its runs now."""
    request = GradeRequest(traces=(str(folder / "t.jsonl"),), tests=(str(folder / "t.rightcall.yaml"),))
    return str(grade(request).results["a"].outcome)


REVISED = [
    pytest.param(
        "  - id: a\n    expected_tool_calls:\n      - {name: f, arguments: {x: 1, y: {$gt: 0}}}  # ours\n      - g\n",
        [call("f", x=2, y=5, z=1), call("log"), call("g", q=1)],
        "  - id: a\n    expected_tool_calls:\n      - {name: f, arguments: {x: 2, y: {$gt: 0}}}  # ours\n      - g\n",
        id="only the argument that differs, under in_order and partial",
    ),
    pytest.param(
        "  - {id: a, match: exact, arguments: exact, expected_tool_calls: [{name: f, arguments: {x: 1, y: 2}}]}\n",
        [call("f", x=1, z=3)],
        "  - {id: a, match: exact, arguments: exact, expected_tool_calls: [{name: f, arguments: {x: 1, z: 3}}]}\n",
        id="arguments that go and come, under exact",
    ),
    pytest.param(
        "  - id: a\n    expected_tool_calls: [{name: f, arguments: {x: {$type: string}}}]\n",
        [call("f", x=5)],
        "  - id: a\n    expected_tool_calls: [{name: f, arguments: {x: 5}}]\n",
        id="an operator that does not accept what was made",
    ),
    pytest.param(
        "  - id: a\n    expected_tool_calls: [{name: f, match: {mode: regex, pattern: q}}, g]\n",
        [call("f", x=5), call("g")],
        "  - id: a\n    expected_tool_calls: [{name: f, arguments: {x: 5}}, g]\n",
        id="a match of its own that does not accept what was made",
    ),
    pytest.param(
        "  - id: a\n    expected_tool_calls: [f, g]  # two\n    tags: [x]\n",
        [call("g", x=1), call("h")],
        "  - id: a\n    expected_tool_calls: [{name: g, arguments: {x: 1}}, {name: h, arguments: {}}]  # two\n"
        "    tags: [x]\n",
        id="other tools: the list is that of all calls",
    ),
    pytest.param(
        "  - id: a\n    match: any_order\n    expected_tool_calls: [f]\n",
        [call("g")],
        "  - id: a\n    match: any_order\n    expected_tool_calls: [{name: g, arguments: {}}]\n",
        id="a mode without order",
    ),
    pytest.param(
        "  - id: a\n    expected_tool_calls: []\n    forbidden_tools: [delete]\n",
        [call("f")],
        "  - id: a\n    expected_tool_calls: [{name: f, arguments: {}}]\n    forbidden_tools: [delete]\n",
        id="a ban beside the list stays",
    ),
    pytest.param(
        "  - id: a\n    expected_tool_calls: [{name: f, arguments: {x: 1}}, {name: f, arguments: {x: 2}}]\n",
        [call("f", x=9), call("f", x=1), call("f", x=3)],
        "  - id: a\n    expected_tool_calls: [{name: f, arguments: {x: 1}}, {name: f, arguments: {x: 3}}]\n",
        id="what is accepted as it is keeps its call",
    ),
]


@pytest.mark.parametrize(("tests", "run", "expected"), REVISED)
def test_a_list_of_calls_that_fails_is_revised(
    tmp_path: Path, tests: str, run: list[dict[str, Any]], expected: str
) -> None:
    """As little as possible changes, operators that hold stay, and the test passes afterwards."""
    done = update(tmp_path, tests, run)
    assert (done.refused, done.exit_code) == ((), 0)
    assert done.updated is not None
    assert done.updated.changed == ("a",)
    assert expected == written(tmp_path)
    assert outcome(tmp_path) == "pass"


@pytest.mark.parametrize(
    "tests",
    [
        "  - id: a\n    expected_tool_calls: [{name: f, arguments: {x: {$gt: 0}}}]  # any positive\n",
        "  - id: a\n    allowed_tools: [f, g]\n",
        "  - {id: a, expected_tool_sequence: [{tool: f}]}\n",
    ],
)
def test_what_passes_is_left_alone(tmp_path: Path, tests: str) -> None:
    """Nothing of a test that passes changes, however loose it is."""
    done = update(tmp_path, tests, [call("f", x=1)])
    assert (written(tmp_path), done.exit_code) == (tests, 0)
    assert done.updated is not None
    assert done.updated.diff == []


def test_a_test_that_passes_by_its_rate_is_left_alone(tmp_path: Path) -> None:
    """Where enough attempts pass, one that fails revises nothing (G37)."""
    tests = "  - {id: a, min_pass_rate: 1/2, expected_tool_calls: [f]}\n"
    done = update(tmp_path, tests, [call("f")], [call("g")])
    assert (written(tmp_path), done.exit_code, done.refused) == (tests, 0, ())


LEFT = [
    (
        "  - id: a\n    expected_tool_calls: [g]\n    forbidden_tools: [f]\n",
        "a: was left as it is: `no_forbidden_tool` fails, and only a test's own list of calls is ever rewritten",
    ),
    ("  - id: a\n    allowed_tools: []\n", "`no_unexpected_tool` fails, and only a test's own list"),
    ("  - id: a\n    budget: {max_calls: 0}\n", "`budget:max_calls` fails, and only a test's own list"),
    ("  - id: a\n    required_tools: [g]\n", "`tool_called:g` fails, and only a test's own list"),
    ("  - id: a\n    assertions: [{kind: trajectory, expected_tool_calls: [g]}]\n", "only a test's own list of calls"),
    ("  - id: a\n    turns: [{prompt: q, expected_tool_calls: [g]}]\n", "it could not be judged"),
    ("  - id: a\n    match: subset\n    expected_tool_calls: [g]\n", "`match: subset` says what may be called"),
    ("  - id: a\n    expected_tool_sequence: [{tool: g}]\n", "one run cannot tell which steps"),
    ("  - id: a\n    only_successful: true\n    expected_tool_calls: [g]\n", "it would still not pass: Call 1 is not"),
]


@pytest.mark.parametrize(("tests", "why"), LEFT)
def test_what_is_no_list_of_calls_is_never_rewritten(tmp_path: Path, tests: str, why: str) -> None:
    """Bans, rules, budgets and what could not be judged stay as they are, with the reason, and the code is 3 (G39)."""
    done = update(tmp_path, tests, [call("f", x=1)])
    assert (written(tmp_path), done.exit_code) == (tests, 3)
    (refused,) = done.refused
    assert why in str(refused)


def test_a_run_with_gaps_revises_nothing(tmp_path: Path) -> None:
    """Calls may be missing from it, so that it does not show what the test should expect (G12)."""
    write(tmp_path, {"t.yaml": "tests: [{id: a, expected_tool_calls: [g, f]}]\n"})
    write(tmp_path, {"t.jsonl": [{"id": "a", "tool_calls": [call("f")], "gaps": ["cut off"]}]})
    done = promote(PromoteRequest(traces=(str(tmp_path / "t.jsonl"),), update=str(tmp_path / "t.yaml")))
    assert [str(one) for one in done.refused] == [
        "a: was left as it is: `a` is not whole, so it shows no more than some of the calls: cut off"
    ]


def test_runs_that_differ_are_learned_from_only_if_that_is_asked_for(tmp_path: Path) -> None:
    """Without `learn` nobody has said which run is right; with it the test takes what they share."""
    tests = "  - id: a\n    expected_tool_calls: [h]\n    match: exact  # all\n    tags: [x]\n"
    runs = [[call("f", x=1), call("g")], [call("f", x=2)]]
    done = update(tmp_path, tests, *runs)
    assert "its 2 runs differ; `rightcall promote --learn` finds what they share" in str(done.refused[0])
    assert written(tmp_path) == tests
    update(tmp_path, tests, *runs, learn=True)
    assert written(tmp_path) == (
        "  - id: a\n    expected_tool_sequence:\n      strict: true\n      steps:\n"
        "        - {tool: f, match: {mode: exact, args: {x: {$type: integer}}}}\n"
        "        - {optional: {tool: g, match: {mode: exact, args: {}}}}\n    tags: [x]\n"
    )
    assert outcome(tmp_path) == "pass"


def test_a_sequence_becomes_what_runs_share(tmp_path: Path) -> None:
    """Runs of the same calls turn failing steps into a list of expected calls, exactly these."""
    tests = "  - id: a\n    expected_tool_sequence: [{tool: h}]\n"
    update(tmp_path, tests, [call("f", x=1)], [call("f", x=1)], learn=True)
    assert written(tmp_path) == (
        "  - id: a\n    expected_tool_calls:\n      - {name: f, arguments: {x: 1}}\n"
        "    match: exact\n    arguments: exact\n"
    )
    assert outcome(tmp_path) == "pass"


def test_secrets_do_not_get_into_a_file_that_is_updated(tmp_path: Path) -> None:
    """Where a secret was passed, its type is expected."""
    tests = "  - id: a\n    expected_tool_calls: [{name: f, arguments: {key: old}}]\n"
    update(tmp_path, tests, [call("f", key="sk-proj-abcdefghijklmnop1234567890")])
    assert written(tmp_path) == "  - id: a\n    expected_tool_calls: [{name: f, arguments: {key: {$type: string}}}]\n"


def test_new_conversations_are_added_with_ids_of_their_own(tmp_path: Path) -> None:
    """A conversation of no test of the file is a new test at the end, under its comment."""
    write(tmp_path, {"t.yaml": "tests:\n  - id: a\n    expected_tool_calls: [f]\n"})
    write(tmp_path, {"t.jsonl": [{"id": "a", "tool_calls": [call("f")]}, {"id": "b", "tool_calls": []}]})
    done = promote(PromoteRequest(traces=(str(tmp_path / "t.jsonl"),), update=str(tmp_path / "t.yaml")))
    assert done.updated is not None
    done.updated.write()
    assert (tmp_path / "t.yaml").read_text() == (
        "tests:\n  - id: a\n    expected_tool_calls: [f]\n\n"
        f"  # from `b` in {tmp_path / 't.jsonl'}\n"
        "  # what the user asked is not recorded, so the test has no prompt\n"
        "  - id: b\n    expected_tool_calls: []\n    match: exact\n    arguments: exact\n"
    )


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    """A file that only its owner may read stays so."""
    write(tmp_path, {"t.rightcall.yaml": ""})
    (tmp_path / "t.rightcall.yaml").chmod(0o600)
    update(tmp_path, "  - id: a\n    expected_tool_calls: [g]\n", [call("f")])
    assert (tmp_path / "t.rightcall.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("now", ["tests: []  # theirs\n", None])
def test_what_somebody_else_wrote_meanwhile_is_not_lost(tmp_path: Path, now: str | None) -> None:
    """A file that was changed or removed since it was read is left as it is, and that is told."""
    file = tmp_path / "t.rightcall.yaml"
    write(tmp_path, {file.name: TESTS + "  - {id: a, expected_tool_calls: [g]}\n"})
    write(tmp_path, {"t.jsonl": [{"id": "a", "tool_calls": [call("f")]}]})
    done = promote(PromoteRequest(traces=(str(tmp_path / "t.jsonl"),), update=str(file)))
    file.unlink() if now is None else file.write_text(now)
    assert done.updated is not None
    with pytest.raises(UsageError, match=r"t.rightcall.yaml: (was changed by somebody else|cannot be read: no such)"):
        done.updated.write()
    assert (file.read_text() if file.exists() else None) == now


def test_the_words_of_other_tools_are_not_changed_in_place(tmp_path: Path) -> None:
    """A file in another dialect is refused with the way to a native one."""
    write(tmp_path, {"t.yaml": "dialect: orbit\nrows: []\n", "t.jsonl": [{"id": "a", "tool_calls": []}]})
    with pytest.raises(
        TestSetError, match="only native test sets are changed in place; `rightcall convert` writes one"
    ):
        promote(PromoteRequest(traces=(str(tmp_path / "t.jsonl"),), update=str(tmp_path / "t.yaml")))


def test_the_difference_is_a_unified_diff(tmp_path: Path) -> None:
    """The lines that go and come are shown with the lines around them, for a reviewer."""
    done = update(tmp_path, "  - id: a\n    expected_tool_calls: [f]\n", [call("g")])
    file = str(tmp_path / "t.rightcall.yaml")
    assert done.updated is not None
    assert done.updated.diff == [
        f"--- {file}",
        f"+++ {file} (updated)",
        "@@ -1,5 +1,5 @@",
        " version: 1  # ours",
        " tests:",
        "   - id: a",
        "-    expected_tool_calls: [f]",
        "+    expected_tool_calls: [{name: g, arguments: {}}]",
        " ",
    ]
