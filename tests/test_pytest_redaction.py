"""What the pytest plugin tells of test sets hides what it is asked to hide."""

from __future__ import annotations

import json

import pytest

from support.inner_pytest import lines, run, write

SECRETS = ("p-one", "p-two", "CUST-4711")


def _test_set(identity: str) -> str:
    expected = [{"name": "login", "arguments": {"password": "p-one"}}]
    warned = {"kind": "required_tool", "tool": "call_CUST-4711", "severity": "warn"}
    test = {"id": identity, "expected_tool_calls": expected, "assertions": [warned]}
    return json.dumps({"version": 1, "tests": [test, {"id": f"other {identity}", "allowed_tools": ["login"]}]})


def _made(identity: str) -> str:
    call = {"name": "login", "arguments": {"password": "p-two"}}
    return lines(*({"id": name, "tool_calls": [call]} for name in (identity, f"other {identity}")))


@pytest.mark.parametrize("way", ["option", "setting"])
def test_nothing_that_is_printed_or_written_tells_a_secret(pytester: pytest.Pytester, way: str) -> None:
    """Names, reasons, notes and properties are without it; each test keeps its verdict (G5)."""
    write(pytester, a__rightcall__json=_test_set("of CUST-4711"), a__traces__jsonl=_made("of CUST-4711"))
    rules = ["password", "/CUST-[0-9]+/"]
    options = [f"--rightcall-redact={rule}" for rule in rules]
    if way == "setting":
        write(pytester, pytest__ini=f"[pytest]\nrightcall_redact = {' '.join(rules)}\n")
        options = []
    result, words = run(pytester, "--junitxml=out.xml", *options)
    told = result.stdout.str() + result.stderr.str() + pytester.path.joinpath("out.xml").read_text("utf-8")
    assert [secret for secret in SECRETS if secret in told] == []
    assert [line for line in result.outlines if "::" in line and "FAILED" in line and "of [redacted]" in line]
    assert "call 1 had password = [redacted]" in result.stdout.str()
    assert "call_[redacted]" in result.stdout.str()
    assert words
    result.assert_outcomes(passed=1, failed=2)


def test_tests_are_found_by_what_they_are_called(pytester: pytest.Pytester) -> None:
    """Tests whose names are the same once they are hidden are numbered, and each is graded for itself."""
    tests = [{"id": f"CUST-{number}", "expected_tool_calls": [f"tool_{number}"]} for number in (1, 2)]
    write(pytester, a__rightcall__json=json.dumps({"version": 1, "tests": tests}))
    write(pytester, a__traces__jsonl=lines({"id": "CUST-1", "tool_calls": [{"name": "tool_1"}]}))
    result, _ = run(pytester, "--rightcall-redact=/CUST-[0-9]+/")
    assert [line.split(" [ ")[0].strip() for line in result.outlines if "::[redacted]" in line and "%" in line] == [
        "a.rightcall.json::[redacted] PASSED",
        "a.rightcall.json::[redacted] (2) ERROR",
    ]


def test_a_rule_that_is_none_is_an_error_of_collecting(pytester: pytest.Pytester) -> None:
    """A mistake in a rule is told in one sentence."""
    write(pytester, a__rightcall__json=_test_set("t"), a__traces__jsonl=_made("t"))
    result, _ = run(pytester, "--rightcall-redact=@secret")
    result.assert_outcomes(errors=1)
    assert "--redact @secret: expected @secrets or @emails (did you mean `@secrets`?)" in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_errors_of_files_are_without_secrets(pytester: pytest.Pytester) -> None:
    """A test set that cannot be used is told without what is hidden."""
    write(pytester, a__rightcall__json=json.dumps({"version": 1, "tests": [{"id": "CUST-1"}, {"id": "CUST-1"}]}))
    result, _ = run(pytester, "--rightcall-redact=/CUST-[0-9]+/")
    assert "the id `[redacted]` is repeated" in result.stdout.str()
    assert "CUST-1" not in result.stdout.str()
