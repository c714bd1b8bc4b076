"""The pytest plugin in whole projects: those that do not use it, and those that run on several processes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import AssertionRewriter

import rightcall
from support.inner_pytest import BAD, TEST_SET, run_apart

PLAIN = """
import sys

def test_modules():
    print(sorted(name for name in sys.modules if name.partition(".")[0] in ("rightcall", "msgspec", "ruamel")))

def test_fails():
    assert [1] == [2]
"""

REPEATED = """
import pytest

@pytest.mark.rightcall(repeat=4, min_pass_rate="1/4")
def test_agent(tmp_path_factory):
    with open(LOG, "a") as log:
        log.write("x")
    assert open(LOG).read() == "xxxx"
"""


def test_a_project_that_does_not_use_it_does_not_notice_it(tmp_path: Path) -> None:
    """It prints the same, and of rightcall nothing is imported but the module that pytest has to import."""
    tmp_path.joinpath("test_plain.py").write_text(PLAIN)
    printed = [run_apart(tmp_path, "-rP", *more).stdout for more in ((), ("-p", "no:rightcall"))]
    imported = [re.findall(r"^\[.*\]$", text, re.MULTILINE) for text in printed]
    assert imported == [["['rightcall', 'rightcall.faces', 'rightcall.faces.pytest_plugin']"], ["[]"]]
    with_it, without = (
        re.sub(r"^(\[.*\]|plugins: .*)$| in [0-9.]+s ", "", text, flags=re.MULTILINE) for text in printed
    )
    assert with_it.strip("=\n").replace("=", "") == without.strip("=\n").replace("=", "")


def test_the_package_may_be_imported_before_pytest_starts() -> None:
    """pytest, which would rewrite packages of plugins, is told not to: else it warns of what is imported already."""
    assert AssertionRewriter.is_rewrite_disabled(rightcall.__doc__ or "")


def test_without_the_plugin_test_sets_are_no_tests(tmp_path: Path) -> None:
    """`-p no:rightcall` turns all of it off."""
    tmp_path.joinpath("refund.rightcall.yaml").write_text(TEST_SET)
    assert run_apart(tmp_path, "-p", "no:rightcall").returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_several_processes_come_to_the_same(tmp_path: Path) -> None:
    """With `-n` each test is run once, all its attempts in one process, and the summary counts them together."""
    pytest.importorskip("xdist")
    tmp_path.joinpath("refund.rightcall.yaml").write_text(TEST_SET + "gate: {min_pass_rate: 50%}\n")
    tmp_path.joinpath("refund.traces.jsonl").write_text(BAD)
    log = tmp_path / "log"
    tmp_path.joinpath("test_agent.py").write_text(REPEATED.replace("LOG", repr(str(log))))
    ran = run_apart(tmp_path, "-n2", "--junitxml=junit.xml")
    assert "3 passed, 1 xfailed" in ran.stdout
    assert "passed 2, failed 1, errors 0, inconclusive 0, total 3" in ran.stdout
    assert (log.read_text(), ran.returncode) == ("xxxx", 0)
    assert '"rightcall.attempts" value="4"' in tmp_path.joinpath("junit.xml").read_text("utf-8")
