"""The JUnit report: one test case a test, in the dialect that Jenkins, GitLab and GitHub's reporters read.

The shape is that of the schema by which Jenkins' xUnit plugin refuses reports (junit-10.xsd), the strictest in use. It
has no properties in a test case: what was measured stands in its output as `[[PROPERTY|name=value]]`, line by line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rightcall.core.results import Outcome, Result
from rightcall.core.story import code, reason, story
from rightcall.core.summary import RunEnd, RunHead
from rightcall.core.values import cut, visible
from rightcall.core.wording import shadowed

SHOWN_MESSAGE: Final = 500
MEASURES: Final = ("precision", "recall", "f1")

_ELEMENTS = {Outcome.FAIL: "failure", Outcome.ERROR: "error", Outcome.INCONCLUSIVE: "skipped"}
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;"})
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class JUnitReport:
    """Keeps the test cases, since their counts stand before them, and writes them at the end."""

    def __init__(self) -> None:
        self._head = RunHead(product="")
        self._cases: list[str] = []
        self._elements: Counter[str] = Counter()

    def start(self, head: RunHead) -> bytes:
        """Write nothing yet."""
        self._head = head
        return b""

    def add(self, result: Result) -> bytes:
        """Keep the test case; write nothing yet."""
        self._elements[_ELEMENTS.get(result.outcome, "passed")] += 1
        self._cases.append("".join(_case(result, self._head.test_set or "rightcall")))
        return b""

    def end(self, end: RunEnd) -> bytes:
        """Write the whole document."""
        return "".join(self._document(end)).encode("utf-8")

    def _document(self, end: RunEnd) -> Iterator[str]:
        name = self._head.test_set or "rightcall"
        counts: dict[str, Any] = {
            "tests": len(self._cases),
            "failures": self._elements["failure"],
            "errors": self._elements["error"],
        }
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        yield f"<testsuites{_attributes(name='rightcall', **counts)}>\n"
        yield f"  <testsuite{_attributes(name=name, **counts, skipped=self._elements['skipped'])}>\n"
        yield from _properties(self._run_properties(end), "    ")
        yield from self._cases
        notes = [*(f"no test for trajectory {name}" for name in end.unused), *end.warnings]
        if notes:
            yield f"    <system-out>{_text(map(visible, notes))}</system-out>\n"
        yield "  </testsuite>\n</testsuites>\n"

    def _run_properties(self, end: RunEnd) -> dict[str, Any]:
        shadow = end.summary.shadow
        return {
            "rightcall.version": self._head.product,
            "rightcall.rules": self._head.rules,
            "rightcall.test_set_hash": self._head.test_set_hash,
            "rightcall.counted": end.counted,
            **({"rightcall.shadow": shadowed(shadow.failed, shadow.errors, shadow.total)} if shadow.total else {}),
            "rightcall.passed": str(end.decision.passed).lower(),
            "rightcall.exit_code": end.decision.exit_code,
            "rightcall.reasons": "; ".join(end.decision.reasons),
        }


def _case(result: Result, suite: str) -> Iterator[str]:
    name = result.id if result.name in ("", result.id) else f"{result.id}: {result.name}"
    yield f"    <testcase{_attributes(name=name, classname=suite, time='0')}>\n"
    element = _ELEMENTS.get(result.outcome)
    told = [*story(result), *([visible(f"The test stands at {result.place}")] if result.place else [])]
    output = [visible(f"[[PROPERTY|{name}={value}]]") for name, value in _measures(result).items()]
    if element:
        attributes = _attributes(message=cut(reason(result), SHOWN_MESSAGE), type=code(result))
        yield f"      <{element}{attributes}>{_text(told)}</{element}>\n"
    else:
        output += told
    yield f"      <system-out>{_text(output)}</system-out>\n"
    yield "    </testcase>\n"


def _measures(result: Result) -> dict[str, Any]:
    """Return what was measured: how many attempts, and of a single attempt what its verdicts measured."""
    found: dict[str, Any] = {"outcome": result.outcome, "attempts": len(result.attempts)}
    if result.statistics is not None and len(result.attempts) > 1:
        low, high = result.statistics.interval
        found |= {"attempts_passed": result.statistics.passed, "interval_95": f"{low:.4f} to {high:.4f}"}
    if len(result.attempts) == 1:
        attempt = result.attempts[0]
        found |= {"trajectory": attempt.trajectory, "trajectory_hash": attempt.hash}
        for verdict in attempt.verdicts:
            measured = ((key, verdict.details.get(key)) for key in MEASURES)
            found |= {f"{verdict.id}.{key}": value for key, value in measured if value is not None}
    return found


def _properties(values: dict[str, Any], margin: str) -> Iterable[str]:
    yield f"{margin}<properties>\n"
    for name, value in values.items():
        yield f"{margin}  <property{_attributes(name=name, value=value)}/>\n"
    yield f"{margin}</properties>\n"


def _attributes(**values: Any) -> str:
    return "".join(f' {name}="{visible(str(value)).translate(_MARKUP)}"' for name, value in values.items())


def _text(lines: Iterable[str]) -> str:
    """Escape lines that have been made visible: only the line ends between them are left to keep."""
    return "\n".join(lines).translate(_TEXT)
