"""The pytest plugin: `--rightcall-update` rewrites the lists of calls that traces do not match."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.inner_pytest import BAD, GOOD, LOOKUP, REFUND, TEST_SET, lines, run, write

UPDATE = "--rightcall-update"
REVISED = TEST_SET.replace("[lookup_order, issue_refund]", "[{name: lookup_order, arguments: {order_id: 42}}]")


def now(pytester: pytest.Pytester) -> str:
    """The test set as it is now."""
    return pytester.path.joinpath("refund.rightcall.yaml").read_text("utf-8")


def test_what_failed_is_rewritten_and_shown(pytester: pytest.Pytester) -> None:
    """The test fails in this run, its list of calls becomes what was recorded, and passes in the next."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=BAD)
    result, words = run(pytester, UPDATE)
    assert (words["late-order"], result.ret, now(pytester)) == ("FAILED", 1, REVISED)
    result.stdout.fnmatch_lines(
        [
            "*= rightcall --rightcall-update =*",
            "refund.rightcall.yaml: rewritten: late-order; review the difference, and run the tests again",
            "--- refund.rightcall.yaml",
            "-    expected_tool_calls: [[]lookup_order, issue_refund]",
            "+    expected_tool_calls: [[]{name: lookup_order, arguments: {order_id: 42}}]",
        ]
    )
    assert run(pytester)[0].ret == 0


def test_nothing_is_rewritten_unless_that_is_asked_for(pytester: pytest.Pytester) -> None:
    """Without the option a failing test changes nothing."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=BAD)
    result, _ = run(pytester)
    assert (now(pytester), UPDATE in result.stdout.str()) == (TEST_SET, False)


def test_what_passes_is_left_alone(pytester: pytest.Pytester) -> None:
    """With the option, tests that pass tell nothing and change nothing."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=GOOD)
    result, _ = run(pytester, UPDATE)
    assert (now(pytester), result.ret, UPDATE in result.stdout.str()) == (TEST_SET, 0, False)


@pytest.mark.parametrize(("selected", "expected"), [("late", REVISED), ("opening", TEST_SET)])
def test_only_tests_that_were_run_are_rewritten(pytester: pytest.Pytester, selected: str, expected: str) -> None:
    """What `-k` leaves out stays as it is."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=BAD)
    run(pytester, UPDATE, "-k", selected)
    assert expected == now(pytester)


def test_what_is_no_list_of_calls_stays_and_is_told(pytester: pytest.Pytester) -> None:
    """A run that breaks a ban rewrites nothing."""
    banned = TEST_SET.replace("[lookup_order, issue_refund]\n", "[issue_refund]\n    forbidden_tools: [lookup_order]\n")
    write(pytester, refund__rightcall__yaml=banned, refund__traces__jsonl=BAD)
    result, _ = run(pytester, UPDATE)
    assert (now(pytester), result.ret) == (banned, 1)
    result.stdout.fnmatch_lines(["refund.rightcall.yaml: late-order: was left as it is: `no_forbidden_tool` fails*"])


def test_several_files_are_each_rewritten_once(pytester: pytest.Pytester) -> None:
    """All failing tests of a file are rewritten together."""
    both = TEST_SET.replace("expected_tool_calls: []", "expected_tool_calls: [issue_refund]")
    write(pytester, refund__rightcall__yaml=both, refund__traces__jsonl=BAD)
    write(pytester, other__rightcall__yaml=TEST_SET, other__traces__jsonl=BAD)
    run(pytester, UPDATE)
    assert now(pytester) == REVISED
    assert pytester.path.joinpath("other.rightcall.yaml").read_text("utf-8") == REVISED


def test_attempts_that_differ_rewrite_nothing(pytester: pytest.Pytester) -> None:
    """Which attempt is right nobody has said."""
    records = lines({"id": "late-order", "tool_calls": [LOOKUP]}, {"id": "late-order", "tool_calls": [REFUND]})
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=records)
    result, _ = run(pytester, UPDATE, "-k", "late")
    assert now(pytester) == TEST_SET
    result.stdout.fnmatch_lines(["*its 2 runs differ; `rightcall promote --learn` finds what they share"])


def test_records_with_their_own_expectations_are_not_rewritten(pytester: pytest.Pytester) -> None:
    """What records expect stands beside what was recorded; that is told."""
    records = lines({"id": "a", "tool_calls": [LOOKUP], "expected_tool_calls": ["issue_refund"]})
    write(pytester, refund__rightcall__jsonl=records)
    result, _ = run(pytester, UPDATE)
    assert pytester.path.joinpath("refund.rightcall.jsonl").read_text("utf-8") == records
    result.stdout.fnmatch_lines(["refund.rightcall.jsonl: records carry what they expect themselves*"])


def test_a_file_that_cannot_be_changed_in_place_is_told(pytester: pytest.Pytester) -> None:
    """What an alias repeats is refused with its place; the test stays failed."""
    shared = TEST_SET.replace("[lookup_order, issue_refund]", "&calls [lookup_order, issue_refund]\n    x-same: *calls")
    write(pytester, refund__rightcall__yaml=shared, refund__traces__jsonl=BAD)
    result, _ = run(pytester, UPDATE)
    assert (now(pytester), result.ret) == (shared, 1)
    result.stdout.fnmatch_lines(["*is repeated by the alias `[*]calls`, which would change with it*"])


def test_several_processes_are_refused(tmp_path: Path) -> None:
    """Under `-n` nothing is run, and what to leave out is told."""
    tmp_path.joinpath("refund.rightcall.yaml").write_text(TEST_SET, "utf-8")
    tmp_path.joinpath("refund.traces.jsonl").write_text(BAD, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n2", UPDATE]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--rightcall-update rewrites files, so it runs in one process: leave out -n" in ran.stdout + ran.stderr
    assert tmp_path.joinpath("refund.rightcall.yaml").read_text("utf-8") == TEST_SET


AGENT = 'def answer(text):\n    return {"output": "ok", "tool_calls": [{"name": "issue_refund", "arguments": {}}]}\n'


def test_traces_of_the_past_rewrite_nothing_after_an_agent_was_driven(pytester: pytest.Pytester) -> None:
    """What failed is not what was recorded: the file stays, and what to do is told."""
    driven = TEST_SET.replace("tests:\n", 'endpoint: {python: "agent.py:answer"}\ntests:\n').replace(
        "    exp", "    prompt: x\n    exp"
    )
    write(pytester, refund__rightcall__yaml=driven, refund__traces__jsonl=BAD, agent__py=AGENT)
    result, words = run(pytester, UPDATE, "--rightcall-live")
    assert (words["late-order"], now(pytester)) == ("FAILED", driven)
    result.stdout.fnmatch_lines(["refund.rightcall.yaml: its agent was driven, and nothing was recorded*"])
