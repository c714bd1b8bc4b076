"""The pytest plugin: test sets and record files as tests."""

from __future__ import annotations

import json
import re

import pytest

from support.inner_pytest import BAD, GOOD, LOOKUP, REFUND, TEST_SET, lines, run, write

PASSED = {"late-order": "PASSED", "opening-hours": "PASSED", "[gate]": "PASSED"}
FAILED = {"late-order": "FAILED", "opening-hours": "PASSED", "[gate]": "FAILED"}
ERRORS = {"late-order": "ERROR", "opening-hours": "ERROR", "[gate]": "FAILED"}


@pytest.mark.parametrize(
    ("traces", "expected", "code"), [(GOOD, PASSED, 0), (BAD, FAILED, 1), ("", ERRORS, 1)], ids=["good", "bad", "empty"]
)
def test_each_test_of_a_set_is_an_item(
    pytester: pytest.Pytester, traces: str, expected: dict[str, str], code: int
) -> None:
    """A test passes, fails or is an error as its trajectory is; the gate decides as the command line does (G36)."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=traces)
    result, words = run(pytester)
    assert (expected, code) == (words, result.ret)


def test_a_failure_shows_the_reason_and_the_alignment_and_no_traceback(pytester: pytest.Pytester) -> None:
    """What is shown is what the command line shows, with the reason in the first line (G4)."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=BAD)
    result, _ = run(pytester, "-k", "late")
    text = result.stdout.str()
    assert "✗ tool_call_trajectory: Expected issue_refund; it was never called.\n" in text
    assert re.search(r"^ *- 2 issue_refund\(…\)$", text, re.MULTILINE)
    assert [word for word in ("Traceback", ".py:", "During handling") if word in text] == []


def test_the_summary_of_pytest_has_the_reason_and_not_a_verdict_that_passed(pytester: pytest.Pytester) -> None:
    """The first line is why the test failed, whichever verdict comes first; it is told once (G4)."""
    test_set = TEST_SET.replace("  - id: opening-hours", "    forbidden_tools: [lookup_order]\n  - id: opening-hours")
    write(pytester, refund__rightcall__yaml=test_set, refund__traces__jsonl=GOOD)
    result, words = run(pytester, "-k", "late")
    assert words["late-order"] == "FAILED"
    reason = "`lookup_order` was called (call 1), which is forbidden."
    result.stdout.fnmatch_lines(["__* late-order *__", reason, "", "✓ tool_call_trajectory"], consecutive=True)


def test_any_id_has_a_name_that_pytest_can_keep(pytester: pytest.Pytester) -> None:
    """What no file or screen could take is written as escapes, and no test is called as another or as the gate is."""
    ids = ["\ud800", "two\nlines", "two\\nlines", "[gate]"]
    write(pytester, odd__rightcall__json=json.dumps({"tests": [{"id": one, "expected_tool_calls": []} for one in ids]}))
    write(pytester, odd__traces__jsonl=lines(*({"id": one, "tool_calls": []} for one in ids)))
    result = pytester.runpytest("-v", "-o", "rightcall_files=*.rightcall.json")
    result.assert_outcomes(passed=5)
    kept = json.loads(pytester.path.joinpath(".pytest_cache/v/cache/nodeids").read_text())
    names = ["\\ud800", "two\\nlines", "two\\nlines (2)", "[gate] (2)", "[gate]"]
    assert sorted(kept) == sorted(f"odd.rightcall.json::{name}" for name in names)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"id": "other", "tool_calls": []}, "could not be judged: no trajectory for test `late-order`"),
        ({"id": "late-order", "tool_calls": None}, "could not be judged: No tool calls were recorded"),
    ],
    ids=["no trajectory", "nothing recorded"],
)
def test_what_cannot_be_judged_is_an_error(pytester: pytest.Pytester, record: dict[str, object], reason: str) -> None:
    """No evidence is never green and never skipped (G3)."""
    write(pytester, refund__rightcall__yaml=TEST_SET)
    write(pytester, refund__traces__jsonl=lines(record, {"id": "opening-hours", "tool_calls": []}))
    result, words = run(pytester)
    assert words == {"late-order": "ERROR", "opening-hours": "PASSED", "[gate]": "FAILED"}
    assert reason in result.stdout.str()


def test_a_test_set_without_traces_is_an_error_that_says_what_to_do(pytester: pytest.Pytester) -> None:
    """Every place where traces are looked for is named."""
    write(pytester, refund__rightcall__yaml=TEST_SET)
    result, words = run(pytester)
    assert words == ERRORS
    text = result.stdout.str()
    named = ("refund.traces.jsonl", "--rightcall-traces", "RIGHTCALL_TRACES", "rightcall_traces")
    assert [name for name in named if name not in text] == []
    assert "passed 0, failed 0, errors 2, inconclusive 0, total 2" in text


@pytest.mark.parametrize("place", ["option", "environment", "beside", "directory", "setting"])
def test_traces_are_found_in_each_place(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Traces are named by an option, by the environment, by where they stand, or by a setting."""
    write(pytester, refund__rightcall__yaml=TEST_SET)
    folder = pytester.mkdir("refund.traces" if place == "directory" else "logs")
    folder.joinpath("log.jsonl").write_text(GOOD)
    arguments = ["--rightcall-traces", "logs"] if place == "option" else []
    match place:
        case "environment":
            monkeypatch.setenv("RIGHTCALL_TRACES", "logs/*.jsonl")
        case "beside":
            write(pytester, refund__traces__jsonl=GOOD)
        case "setting":
            pytester.makeini("[pytest]\nrightcall_traces = logs\n")
    assert run(pytester, *arguments)[1] == PASSED


def test_an_environment_that_cannot_be_split_is_an_error(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Traces that stand beside the test set do not take the place of what was meant."""
    monkeypatch.setenv("RIGHTCALL_TRACES", "'logs")
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=GOOD)
    result, words = run(pytester)
    assert words == ERRORS
    assert "RIGHTCALL_TRACES: expected names as a shell splits them, found `'logs`" in result.stdout.str()


def test_the_nearest_traces_are_taken(pytester: pytest.Pytester) -> None:
    """Those of the command stand before those beside the test set, and these before those of the project."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=GOOD, bad__jsonl=BAD)
    pytester.makeini("[pytest]\nrightcall_traces = bad.jsonl\n")
    assert run(pytester)[1] == PASSED
    assert run(pytester, "--rightcall-traces=bad.jsonl")[1] == FAILED


def test_records_are_tests_by_themselves(pytester: pytest.Pytester) -> None:
    """Each record that carries what it expects is a test; one that cannot be read is an error."""
    good = {"id": "good", "tool_calls": [LOOKUP], "expected_tool_calls": ["lookup_order"]}
    bad = {"id": "bad", "tool_calls": [REFUND], "forbidden_tools": ["issue_refund"]}
    write(pytester, records__rightcall__jsonl=lines(good, bad) + '{"id": "torn", "tool_calls": [\n')
    _, words = run(pytester)
    assert list(words.values()) == ["PASSED", "FAILED", "ERROR", "FAILED"]
    assert list(words)[:2] == ["good", "bad"]


@pytest.mark.parametrize("text", ["", '{"id": "plain", "tool_calls": []}\n'], ids=["empty", "nothing expected"])
def test_records_of_which_none_can_be_graded_are_not_green(pytester: pytest.Pytester, text: str) -> None:
    """Nothing graded blocks (G36, G39)."""
    write(pytester, records__rightcall__jsonl=text)
    result, _ = run(pytester)
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)


def test_a_file_that_cannot_be_used_is_one_error_with_its_place(pytester: pytest.Pytester) -> None:
    """A mistake in a test set is told with file, line and path, and no traceback (G27)."""
    write(pytester, refund__rightcall__yaml=TEST_SET.replace("[]", "[]\n    match: inorder"))
    result, _ = run(pytester)
    text = result.stdout.str()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "refund.rightcall.yaml:8:12: tests[1].match: expected" in text
    assert "Traceback" not in text


def test_traces_that_cannot_be_read_are_told_once_a_test(pytester: pytest.Pytester) -> None:
    """A document that is no trace at all makes every test an error, never green (G39)."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__json='{"hello": ')
    result, words = run(pytester)
    assert words == ERRORS
    assert "could not be judged: refund.traces.json" in result.stdout.str()


def test_a_record_that_no_test_can_claim_blocks_the_gate(pytester: pytest.Pytester) -> None:
    """A torn record may have been any test's; all tests pass, and the gate does not (G36, G39)."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=GOOD + '{"tool_calls": [\n')
    result, words = run(pytester)
    assert words == {**PASSED, "[gate]": "FAILED"}
    assert "Blocked: 1 test could not be judged" in result.stdout.str()
    assert "The record cannot be read" in result.stdout.str()


GATED = TEST_SET + "gate: {min_pass_rate: 50%}\n"


def test_a_gate_that_allows_failures_makes_them_expected(pytester: pytest.Pytester) -> None:
    """Within the gate, a failed test is shown and does not fail the run, as on the command line (G36)."""
    write(pytester, refund__rightcall__yaml=GATED, refund__traces__jsonl=BAD)
    result, words = run(pytester, "-rx")
    assert words == {"late-order": "XFAIL", "opening-hours": "PASSED", "[gate]": "PASSED"}
    assert result.ret == 0
    assert "within the gate of the file" in result.stdout.str()


@pytest.mark.parametrize("arguments", [["-k", "late"], ["--runxfail"]], ids=" ".join)
def test_without_the_gate_a_failure_is_a_failure(pytester: pytest.Pytester, arguments: list[str]) -> None:
    """Nothing forgives a test where the gate is not run, or where expected failures count."""
    write(pytester, refund__rightcall__yaml=GATED, refund__traces__jsonl=BAD)
    result, words = run(pytester, *arguments)
    assert (words["late-order"], result.ret) == ("FAILED", 1)


def test_the_gate_judges_the_whole_file_whatever_is_selected(pytester: pytest.Pytester) -> None:
    """Selected alone, the gate still knows of the test that failed."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=BAD)
    assert run(pytester, "-k", "gate")[1] == {"[gate]": "FAILED"}


def test_attempts_at_a_test_are_one_item(pytester: pytest.Pytester) -> None:
    """Several trajectories for one test are its attempts, with one verdict over all of them (G37)."""
    attempts = [{"id": "late-order", "tool_calls": [LOOKUP, REFUND]}] * 4 + [{"id": "late-order", "tool_calls": []}]
    test_set = TEST_SET.partition("  - id: opening")[0] + "    min_pass_rate: RATE\n"
    for rate, expected in (("4/5", "PASSED"), ("1", "FAILED")):
        write(pytester, refund__rightcall__yaml=test_set.replace("RATE", rate), refund__traces__jsonl=lines(*attempts))
        result, words = run(pytester)
        assert words["late-order"] == expected
    assert "4 of 5 attempts passed; rate 0.80, 95 % interval 0.38 to 0.96; flaky" in result.stdout.str()


def test_severities_that_do_not_block_are_told_in_the_summary(pytester: pytest.Pytester) -> None:
    """A warning fails nothing, also where warnings are errors, and is not lost (G2)."""
    assertion = "{kind: forbidden_tools, tools: [issue_refund], severity: warn}"
    test_set = TEST_SET.partition("  - id: opening")[0] + f"    assertions: [{assertion}]\n"
    write(pytester, refund__rightcall__yaml=test_set, refund__traces__jsonl=GOOD.splitlines()[0])
    result, words = run(pytester)
    assert (words["late-order"], result.ret) == ("PASSED", 0)
    assert "late-order: warn no_forbidden_tool: `issue_refund` was called" in result.stdout.str()


def test_a_test_that_expects_nothing_that_blocks_is_not_green(pytester: pytest.Pytester) -> None:
    """An inconclusive test fails: nothing was decided (G36)."""
    test_set = "version: 1\ntests:\n  - id: only-a-warning\n    assertions:\n"
    test_set += "      - {kind: forbidden_tools, tools: [issue_refund], severity: warn}\n"
    write(pytester, refund__rightcall__yaml=test_set, refund__traces__jsonl=lines({"tool_calls": []}))
    assert run(pytester)[1] == {"only-a-warning": "FAILED", "[gate]": "FAILED"}


def test_the_junit_report_has_what_was_measured(pytester: pytest.Pytester) -> None:
    """Precision, recall and the number of attempts are properties; errors are errors there too."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=BAD.splitlines()[0] + "\n")
    run(pytester, "--junitxml=junit.xml")
    text = pytester.path.joinpath("junit.xml").read_text("utf-8")
    for name, value in (("precision", "1.0"), ("recall", "0.5")):
        assert f'<property name="tool_call_trajectory.{name}" value="{value}" />' in text
    assert '<property name="rightcall.attempts" value="1" />' in text
    assert 'errors="1" failures="2"' in text


def test_only_files_of_the_patterns_are_collected(pytester: pytest.Pytester) -> None:
    """`rightcall_files` says which files are test sets."""
    write(pytester, refund__rightcall__yaml=TEST_SET, mine__eval__yaml=TEST_SET, mine__traces__jsonl=GOOD)
    pytester.makeini("[pytest]\nrightcall_files = *.eval.yaml\n")
    write(pytester, **{"mine.eval__traces__jsonl": GOOD})
    result, words = run(pytester)
    assert (words, "refund" in result.stdout.str()) == (PASSED, False)


def test_collecting_only_needs_no_traces(pytester: pytest.Pytester) -> None:
    """`--collect-only` lists the tests of a set that could not be graded yet."""
    write(pytester, refund__rightcall__yaml=TEST_SET)
    result = pytester.runpytest("--collect-only", "-q")
    expected = [f"refund.rightcall.yaml::{name}" for name in PASSED]
    assert (expected, 0) == (result.outlines[:3], result.ret)


def test_last_failed_runs_what_failed(pytester: pytest.Pytester) -> None:
    """`--lf` selects by the ids of tests."""
    write(pytester, refund__rightcall__yaml=TEST_SET, refund__traces__jsonl=BAD)
    pytester.runpytest("-q")
    result = pytester.runpytest("-q", "--lf")
    result.assert_outcomes(failed=2)
