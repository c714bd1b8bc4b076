"""The pytest plugin: the marker `rightcall`, its attempts, live tests, and the fixture."""

from __future__ import annotations

import re

import pytest

from support.inner_pytest import run

COUNTING = """
import itertools
import pytest

numbers = itertools.count(1)
torn_down = []

@pytest.fixture(scope="module")
def shared():
    yield object()
    torn_down.append("shared")

@pytest.fixture
def number(shared):
    value = next(numbers)
    yield value
    torn_down.append(value)

@pytest.mark.rightcall(repeat={repeat}, min_pass_rate={rate!r})
def test_agent(number, rightcall):
    {body}

def test_after(shared):
    assert torn_down == list(range(1, {made} + 1))
"""

CHECK = "rightcall.check([{'name': 'a' if number in %s else 'b'}], expected_tool_calls=['a'])"


@pytest.mark.parametrize(
    ("passing", "repeat", "rate", "made", "expected"),
    [
        ((1, 2, 3), 3, 1, 3, "PASSED"),
        ((1, 3), 3, 1, 2, "FAILED"),
        ((1, 3, 4, 5), 5, "4/5", 5, "PASSED"),
        ((1, 2, 3, 4), 5, "4/5", 4, "PASSED"),
        ((1, 4, 5), 5, "80%", 3, "FAILED"),
        ((2,), 5, 0.2, 2, "PASSED"),
        ((), 3, "1/3", 3, "FAILED"),
    ],
)
def test_attempts_are_made_until_the_verdict_is_settled(
    pytester: pytest.Pytester, passing: tuple[int, ...], repeat: int, rate: object, made: int, expected: str
) -> None:
    """One verdict over all attempts, each with fixtures of its own; no attempt that could not change it (G37)."""
    pytester.makepyfile(COUNTING.format(repeat=repeat, rate=rate, made=made, body=CHECK % (passing,)))
    result = pytester.runpytest("-v", "-W", "error", "-p", "no:cacheprovider")
    assert re.findall(r"::(\w+) (\w+)", result.stdout.str())[:2] == [("test_agent", expected), ("test_after", "PASSED")]


@pytest.mark.parametrize(
    ("body", "passed"),
    [
        ("assert number != 1 or rightcall.check({'tool_calls': None}, allowed_tools=[])", True),
        ("if number == 1: raise OSError('the network')", True),
        ("if number in (1, 2): raise OSError('the network')", False),
        ("if number == 2: pytest.skip('no more')", False),
        ("if number in (1, 2): rightcall.check({'tool_calls': None}, allowed_tools=[])", False),
    ],
    ids=["not judged", "one crash", "two crashes", "skipped in between", "two not judged"],
)
def test_an_attempt_that_could_not_be_judged_is_unknown(pytester: pytest.Pytester, body: str, passed: bool) -> None:
    """It is no pass and no failure: it makes an error wherever it could change the verdict (G37)."""
    pytester.makepyfile(COUNTING.format(repeat=5, rate="4/5", made=5, body=body))
    result, _ = run(pytester, "-k", "agent")
    assert (result.ret == 0) == passed
    assert bool(re.search(r"could not be judged: \d of", result.stdout.str())) != passed


def test_a_failure_tells_each_reason_once_with_its_attempts(pytester: pytest.Pytester) -> None:
    """The first line has the counts; under it the reason, and which attempts it is of."""
    pytester.makepyfile(COUNTING.format(repeat=3, rate="2/3", made=2, body=CHECK % "()"))
    result, _ = run(pytester, "--tb=short", "-k", "agent")
    # The summary at the end repeats the whole text where a runner of CI is told to keep its log.
    text, _, _ = result.stdout.str().partition("short test summary info")
    assert "0 of 2 attempts passed, 2/3 of 3 must; 1 more were not made" in text
    assert text.count("attempts 1, 2:") == 1
    assert "tool_call_trajectory: Expected a; it was never called." in text


def test_what_the_attempts_came_to_is_in_the_junit_report(pytester: pytest.Pytester) -> None:
    """One test case, with its attempts, pass@k, pass^k and the interval as properties (G37)."""
    pytester.makepyfile(COUNTING.format(repeat=5, rate="4/5", made=5, body=CHECK % "(1, 3, 4, 5)"))
    run(pytester, "--junitxml=junit.xml", "-k", "agent")
    text = pytester.path.joinpath("junit.xml").read_text("utf-8")
    assert text.count("<testcase") == 1
    found = dict(re.findall(r'<property name="rightcall.(\S+)" value="([^"]*)"', text))
    assert found == {
        "outcome": "pass",
        "attempts": "5",
        "attempts_passed": "4",
        "interval_95": "0.3755 to 0.9638",
        "pass@5": "1.0000",
        "pass^5": "0.0000",
    }


def test_a_teardown_that_fails_in_any_attempt_is_an_error(pytester: pytest.Pytester) -> None:
    """Nothing that went wrong in an attempt is hidden by the attempts after it."""
    body = "request.addfinalizer(lambda: 1 / (number - 1))"
    text = COUNTING.format(repeat=3, rate="2/3", made=3, body=body)
    pytester.makepyfile(text.replace("(number, rightcall)", "(number, request)"))
    result, _ = run(pytester, "-k", "agent")
    assert "ZeroDivisionError" in result.stdout.str()
    assert result.ret == 1


def test_expected_failures_and_asynchronous_tests_are_repeated_too(pytester: pytest.Pytester) -> None:
    """The marker goes with `xfail`, and with whatever runs asynchronous tests."""
    pytester.makepyfile(
        """
        import pytest

        made = []

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.mark.anyio
        @pytest.mark.rightcall(repeat=3)
        async def test_async():
            made.append(1)

        def test_made():
            assert made == [1, 1, 1]

        @pytest.mark.xfail
        @pytest.mark.rightcall(repeat=3)
        def test_expected():
            assert 0
        """
    )
    result, _ = run(pytester)
    result.assert_outcomes(passed=2, xfailed=1)


def test_what_is_shared_is_set_up_once(pytester: pytest.Pytester) -> None:
    """Fixtures of the module and beyond are those of all attempts, also where no test comes after."""
    pytester.makepyfile(
        """
        import pytest

        told = []

        @pytest.fixture(scope="module")
        def shared():
            told.append("up")
            yield
            told.append("down")

        @pytest.mark.rightcall(repeat=3)
        def test_agent(shared):
            assert told == ["up"]
        """
    )
    run(pytester)[0].assert_outcomes(passed=1)


def test_set_up_alone_runs_no_attempt(pytester: pytest.Pytester) -> None:
    """`--setup-only` runs fixtures and no test, whatever its marker says."""
    pytester.makepyfile(COUNTING.format(repeat=3, rate=1, made=1, body="raise SystemExit"))
    result, _ = run(pytester, "-k", "agent", "--setup-only")
    assert (result.ret, "SETUP    F number" in result.stdout.str()) == (0, True)


def test_classes_of_unittest_are_repeated_too(pytester: pytest.Pytester) -> None:
    """Each attempt is set up and torn down by the class's own methods."""
    pytester.makepyfile(
        """
        import unittest
        import pytest

        told = []

        class TestAgent(unittest.TestCase):
            def setUp(self):
                told.append("up")

            def tearDown(self):
                told.append("down")

            @pytest.mark.rightcall(repeat=2)
            def test_agent(self):
                told.append("call")

        def test_told():
            assert told == ["up", "call", "down"] * 2
        """
    )
    run(pytester)[0].assert_outcomes(passed=2)


LIVE = """
    import pytest

    @pytest.mark.rightcall(live=True)
    def test_live():
        pass
"""


@pytest.mark.parametrize(
    ("arguments", "environment", "setting", "expected"),
    [
        ([], "", "", {"skipped": 1}),
        (["--rightcall-live"], "", "", {"passed": 1}),
        ([], "1", "", {"passed": 1}),
        ([], "", "true", {"passed": 1}),
        ([], "off", "true", {"skipped": 1}),
        (["--rightcall-live"], "off", "false", {"passed": 1}),
        ([], "maybe", "", {"errors": 1}),
        ([], "", "maybe", {"errors": 1}),
    ],
)
def test_live_tests_run_only_when_asked_for(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: str,
    setting: str,
    expected: dict[str, int],
) -> None:
    """The option stands before the environment, and this before the setting; what is neither yes nor no is an error."""
    monkeypatch.setenv("RIGHTCALL_LIVE", environment)
    if setting:
        pytester.makeini(f"[pytest]\nrightcall_live = {setting}\n")
    pytester.makepyfile(LIVE)
    result, _ = run(pytester, "-rs", *arguments)
    result.assert_outcomes(**expected)
    if "skipped" in expected:
        assert "calls a model: run it with --rightcall-live" in result.stdout.str()
    if "errors" in expected:
        assert "maybe" in result.stdout.str()


@pytest.mark.parametrize(
    ("marker", "told"),
    [
        ("repeats=3", "found `repeats` (did you mean `repeat`?)"),
        ("repeat=0", "expected `repeat` from 1 to 1000, found 0"),
        ("repeat=True", "found True"),
        ("min_pass_rate='often'", "`min_pass_rate`: expected a rate such as 0.8, 4/5 or 80%, found 'often'"),
        ("5", "expected keywords only, found 5"),
        ("live='yes'", "expected `live` to be True or False, found 'yes'"),
    ],
)
def test_a_marker_that_cannot_be_used_is_an_error(pytester: pytest.Pytester, marker: str, told: str) -> None:
    """What was expected and what was found is said, and the test does not run."""
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.rightcall({marker})\ndef test_it():\n    pass\n")
    result, _ = run(pytester)
    result.assert_outcomes(errors=1)
    assert told in result.stdout.str()


def test_the_nearest_marker_decides(pytester: pytest.Pytester) -> None:
    """Keywords of a class hold for its tests unless these say otherwise."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.rightcall(repeat=2, live=True)
        class TestAgent:
            made = []

            @pytest.mark.rightcall(live=False)
            def test_twice(self):
                self.made.append(1)

            def test_live(self):
                pass

            @pytest.mark.rightcall(repeat=1, live=False)
            def test_once(self):
                assert self.made == [1, 1]
        """
    )
    run(pytester)[0].assert_outcomes(passed=2, skipped=1)


def test_the_fixture_has_the_functions_of_the_package(pytester: pytest.Pytester) -> None:
    """`capture`, `read`, `grade`, `check` and `expected`, with what `check` measured in the JUnit report."""
    pytester.makepyfile(
        """
        def test_it(rightcall):
            with rightcall.capture() as trajectory:
                pass
            assert trajectory.tool_calls is None
            made = rightcall.read([{"name": "a"}])
            assert made == rightcall.expected(["a"])
            assert [verdict.status for verdict in rightcall.grade(made, {"allowed_tools": []})] == ["fail"]
            rightcall.check(made, {"expected_tool_calls": ["a"]}, allowed_tools=["a"])
        """
    )
    result, _ = run(pytester, "--junitxml=junit.xml")
    result.assert_outcomes(passed=1)
    text = pytester.path.joinpath("junit.xml").read_text("utf-8")
    assert '<property name="tool_call_trajectory.recall" value="1.0" />' in text
