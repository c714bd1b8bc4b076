"""The pytest plugin: test sets collected as tests, the marker `rightcall`, the fixture `rightcall`, `== expected(…)`.

pytest imports this module in every project of an environment in which rightcall is installed. Therefore it imports
nothing but pytest; the modules beside it are imported by the first test that needs them.
"""

from __future__ import annotations

import fnmatch
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rightcall.faces.pytest_plugin.fixture import Rightcall

_FILES = ["*.rightcall.yaml", "*.rightcall.yml", "*.rightcall.json", "*.rightcall.jsonl"]

_JUDGE = {
    "": "--judge",
    "_base_url": "--judge-base-url",
    "_api_key_env": "--judge-api-key-env",
    "_cache": "--judge-cache",
}

_MARKER = (
    "rightcall(repeat=1, min_pass_rate=1, live=False): run the test `repeat` times and give one verdict, which passes"
    " if the share of attempts that passed reaches `min_pass_rate`, such as 4/5; `live` tests call a model and run only"
    " with --rightcall-live"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options, and the settings that stand for them in the configuration file."""
    group = parser.getgroup("rightcall", "tool calls of LLM agents")
    group.addoption(
        "--rightcall-traces",
        action="append",
        default=[],
        metavar="NAME",
        help="a file, directory or pattern of traces that test sets are graded on; may be repeated",
    )
    group.addoption(
        "--rightcall-redact",
        action="append",
        default=[],
        metavar="RULE",
        help="hide values in what is told of test sets, as --redact of the command line does; may be repeated; "
        "a group of rules is written --rightcall-redact=@secrets",
    )
    group.addoption(
        "--rightcall-update",
        action="store_true",
        help="rewrite the lists of expected calls of test sets that the traces do not match, in place",
    )
    group.addoption("--rightcall-live", action="store_true", help="run the tests that call a model")
    parser.addini("rightcall_files", "patterns of the names of test sets and record files", "args", default=_FILES)
    parser.addini("rightcall_traces", "as --rightcall-traces; relative to the configuration file", "args", default=[])
    parser.addini("rightcall_redact", "as --rightcall-redact", "args", default=[])
    parser.addini("rightcall_redact_key_env", "the environment variable with the key of the marks", default="")
    for end, option in _JUDGE.items():
        parser.addini(
            f"rightcall_judge{end}", f"as {option} of the command line, if the environment is silent", default=""
        )
    parser.addini("rightcall_live", "as --rightcall-live", "bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and refuse to rewrite files from several processes."""
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("--rightcall-update") and (config.getoption("tx", None) or hasattr(config, "workerinput")):
        raise pytest.UsageError("--rightcall-update rewrites files, so it runs in one process: leave out -n")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect test sets, and records that carry what they expect."""
    if not any(fnmatch.fnmatch(file_path.name, pattern) for pattern in parent.config.getini("rightcall_files")):
        return None
    from rightcall.faces.pytest_plugin import files

    return files.collector(parent, file_path)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of an agent that is driven in one process."""
    from rightcall.faces.pytest_plugin import scheduling

    return scheduling.scheduler(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tell each test whether the gate of its test set is run too."""
    if f"{__name__}.files" in sys.modules:
        from rightcall.faces.pytest_plugin import files

        files.note_gates(session)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that call a model, unless that was asked for."""
    marked = [item for item in items if item.get_closest_marker("rightcall") is not None]
    if marked:
        from rightcall.faces.pytest_plugin import marker

        marker.skip_live(marked)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marker that cannot be used."""
    if item.get_closest_marker("rightcall") is not None:
        from rightcall.faces.pytest_plugin import marker

        marker.admit(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run what is marked to be repeated several times, as one test."""
    if item.get_closest_marker("rightcall") is None or item.config.getoption("setuponly", False):
        return None
    from rightcall.faces.pytest_plugin import marker, repeating

    asked = marker.asked(item)
    return None if asked is None or asked.repeat == 1 else repeating.run(item, nextitem, asked)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Show why a trajectory is not as expected."""
    if "rightcall.app.expecting" not in sys.modules:
        return None
    from rightcall.faces.pytest_plugin import comparing

    return comparing.explained(op, left, right)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Rewrite what did not match, if that was asked for and all tests were run that were to be."""
    if exitstatus == pytest.ExitCode.TESTS_FAILED and session.config.getoption("--rightcall-update"):
        from rightcall.faces.pytest_plugin import updating

        updating.finish(session)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Count what was graded, if anything was."""
    kept = (report for reports in terminalreporter.stats.values() for report in reports)
    reports = [report for report in kept if isinstance(report, pytest.TestReport) and _is_ours(report)]
    if reports:
        from rightcall.faces.pytest_plugin import summary

        summary.write(terminalreporter, reports)
    if f"{__name__}.updating" in sys.modules:
        from rightcall.faces.pytest_plugin import updating

        updating.tell(terminalreporter)


def _is_ours(report: pytest.TestReport) -> bool:
    return any(name in ("rightcall.outcome", "rightcall.note") for name, _ in report.user_properties)


@pytest.fixture(name="rightcall")
def _rightcall(request: pytest.FixtureRequest) -> Rightcall:
    """`rightcall.capture`, `check`, `grade`, `read` and `expected`; what `check` measures goes to the JUnit report."""
    from rightcall.faces.pytest_plugin.fixture import Rightcall

    return Rightcall(request.node.user_properties)
