"""Test sets and record files as collectors: each test an item, and one more for the gate of the file."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from rightcall.app import service, suites
from rightcall.app.judging import JudgeOptions, beneath
from rightcall.app.redaction import Redaction
from rightcall.core.results import Outcome
from rightcall.core.story import reason
from rightcall.core.values import visible
from rightcall.core.wording import numbered
from rightcall.errors import RightcallError
from rightcall.faces.pytest_plugin import locating, marker, telling

GATE: Final = "[gate]"

_RECORDS: Final = (".jsonl", ".ndjson")


def collector(parent: pytest.Collector, path: Path) -> pytest.Collector:
    """What collects a file: records that carry what they expect, one a line, or else a test set."""
    kind = RecordsFile if path.suffix in _RECORDS else TestSetFile
    return kind.from_parent(parent, path=path)


def note_gates(session: pytest.Session) -> None:
    """Remember which tests of each file are run, and whether its gate is too: only there may it forgive a test."""
    for item in session.items:
        if isinstance(item, GateItem):
            item.suite_file.is_gated = True
        elif isinstance(item, SuiteItem):
            item.suite_file.selected |= {item.identity}


class SuiteFile(pytest.File):
    """A file that is graded once, as a whole, when the first of its tests is run."""

    is_gated = False
    selected: frozenset[str] = frozenset()

    @functools.cached_property
    def suite(self) -> suites.Suite | RightcallError:
        """All results of the file, or why it cannot be graded."""
        try:
            return self.graded()
        except RightcallError as error:
            return error

    @property
    def reason_to_skip(self) -> str | None:
        """Why its tests are not run, if they are not."""
        return None

    def graded(self) -> suites.Suite:
        """Grade all of it; `RightcallError` if that is not possible."""
        return suites.grade(self.request())

    @functools.cached_property
    def redaction(self) -> Redaction:
        """What is hidden in everything that is told of the file."""
        asked = (*self.config.getoption("--rightcall-redact"), *self.config.getini("rightcall_redact"))
        return Redaction(rules=asked, key_variable=self.config.getini("rightcall_redact_key_env") or None)

    @functools.cached_property
    def judge(self) -> JudgeOptions:
        """What the settings say of the judge."""
        names = {field: f"rightcall_judge_{field}".removesuffix("_model") for field in JudgeOptions.__struct_fields__}
        return beneath({field: self.config.getini(name) for field, name in names.items()})

    def shown(self, text: object) -> str:
        """A text without what is hidden."""
        redactor = self.redaction.asked
        return str(text) if redactor is None else redactor.text(str(text))

    def request(self) -> service.GradeRequest:
        """What to grade."""
        raise NotImplementedError

    def named(self) -> list[tuple[str, int | None]]:
        """The tests of the file by id, each with its line, counted from 1."""
        raise NotImplementedError

    def collect(self) -> Iterator[pytest.Item]:
        """One item a test, then the gate; a mistake in the file is told with its place and nothing else."""
        self._check_redaction()
        try:
            tests = self.named()
        except RightcallError as error:
            raise self.CollectError(self.shown(error)) from None
        for name, (identity, line) in zip(self._names(identity for identity, _ in tests), tests, strict=True):
            yield SuiteItem.from_parent(self, name=name, identity=identity, line=line, nodeid=self._nodeid_of(name))
        yield GateItem.from_parent(self, name=GATE, line=None, nodeid=self._nodeid_of(GATE))

    def _check_redaction(self) -> None:
        """Refuse a rule that is none before anything is shown."""
        try:
            self.shown("")
        except RightcallError as error:
            raise self.CollectError(str(error)) from None

    def _names(self, identities: Iterable[str]) -> Iterator[str]:
        """What the tests are called where ids are shown: what pytest could not keep or show is written as escapes."""
        yield from numbered((visible(self.shown(identity)) for identity in identities), taken=[GATE])

    def _nodeid_of(self, name: str) -> str:
        """Given as a text, a node id with brackets or colons is found again by `--lf`."""
        return f"{self.nodeid}::{name}"


class TestSetFile(SuiteFile):
    """A test set, graded on the traces that `locating` finds for it, or on what its agent does."""

    __test__ = False
    has_agent = False

    def named(self) -> list[tuple[str, int | None]]:
        """The tests as they stand in the file; `TestSetError` if it is bad."""
        test_set, _ = service.validate(locating.shown(self.path))
        self.has_agent = test_set.endpoint is not None
        return [(test.id, test.where.line) for test in test_set.tests]

    @functools.cached_property
    def reason_to_skip(self) -> str | None:
        """It would drive an agent, which was not asked for, and there are no traces to grade instead."""
        try:
            is_graded = not self.has_agent or marker.is_live(self.config) or locating.found(self.config, self.path)
        except RightcallError:
            return None  # it is told where it is graded
        return None if is_graded else "drives an agent: run it with --rightcall-live"

    @property
    def is_driven(self) -> bool:
        """Whether its agent is driven, and no trace is read."""
        return self.has_agent and marker.is_live(self.config)

    def graded(self) -> suites.Suite:
        """Grade the traces, or drive the agent: on all tests if the gate is run, else on those that are."""
        if not self.is_driven:
            return super().graded()
        from rightcall.faces.pytest_plugin import live

        tests = None if self.is_gated else self.selected
        return live.run(locating.shown(self.path), tests, self.redaction, self.judge)

    def request(self) -> service.GradeRequest:
        """Grade the traces that belong to the test set; `UsageError` if there are none."""
        traces = locating.traces(self.config, self.path)
        tests = (locating.shown(self.path),)
        return service.GradeRequest(traces=traces, tests=tests, redaction=self.redaction, judge=self.judge)


class RecordsFile(SuiteFile):
    """Records that carry what they expect: they are graded when they are collected, since their ids are in them."""

    def named(self) -> list[tuple[str, int | None]]:
        """The ids of the records; `RightcallError` if they cannot be graded."""
        if isinstance(self.suite, RightcallError):
            raise self.suite
        return [(identity, None) for identity in self.suite.results]

    def request(self) -> service.GradeRequest:
        """Grade the records themselves."""
        return service.GradeRequest(traces=(locating.shown(self.path),), redaction=self.redaction, judge=self.judge)


class _Item(pytest.Item):
    def __init__(self, *, line: int | None, **names: object) -> None:
        super().__init__(**names)  # type: ignore[arg-type]  # pytest knows what it gives
        self._line = line

    @property
    def suite_file(self) -> SuiteFile:
        """The file that the item is of."""
        assert isinstance(self.parent, SuiteFile)
        return self.parent

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Where the test stands."""
        return self.path, None if self._line is None else self._line - 1, self.name

    def graded(self) -> suites.Suite:
        """All results of the file; the item fails with one sentence if it cannot be graded."""
        if self.suite_file.reason_to_skip is not None:
            pytest.skip(self.suite_file.reason_to_skip)
        suite = self.suite_file.suite
        if isinstance(suite, RightcallError):
            pytest.fail(f"could not be judged: {self.suite_file.shown(suite)}", pytrace=False)
        return suite

    def tell(self, properties: Sequence[tuple[str, object]]) -> None:
        """Write properties to the report of the item."""
        self.user_properties.extend(properties)


class SuiteItem(_Item):
    """One test: passed, failed, or an error of its set-up where it could not be judged."""

    has_failed = False

    def __init__(self, *, identity: str, **names: object) -> None:
        super().__init__(**names)  # type: ignore[arg-type]  # pytest knows what it gives
        self.identity = identity

    def setup(self) -> None:
        """Grade; what could not be judged never gets as far as being called."""
        if self.suite_file.reason_to_skip is None:
            self.tell([(telling.OUTCOME, str(Outcome.ERROR))])  # until more is known
        suite = self.graded()
        self.user_properties.clear()
        self.tell(telling.properties(suite.results[self.identity]))
        self._block(suite, (Outcome.ERROR,))

    def runtest(self) -> None:
        """Fail with every reason unless the test passed."""
        self.has_failed = self.graded().results[self.identity].outcome is Outcome.FAIL
        self._block(self.graded(), (Outcome.FAIL, Outcome.INCONCLUSIVE))

    def _block(self, suite: suites.Suite, outcomes: Sequence[Outcome]) -> None:
        """Fail if the test came to one of these; where the gate of the file lets it pass, that is no failure."""
        result = suite.results[self.identity]
        if result.outcome in outcomes:
            if suite.end.decision.passed and self.suite_file.is_gated:
                pytest.xfail(f"{reason(result)} (within the gate of the file)")
            pytest.fail(telling.text(result), pytrace=False)


class GateItem(_Item):
    """The decision on the whole file, which `rightcall grade` gives by its exit code.

    It is made of all tests of the file, whichever of them are selected.
    """

    def runtest(self) -> None:
        """Fail unless the gate lets the file pass."""
        suite = self.graded()
        self.tell(telling.notes(suite.end))
        if not suite.end.decision.passed:
            tests = {item for item, _ in self.suite_file.named()}
            unread = [result for identity, result in suite.results.items() if identity not in tests]
            pytest.fail(telling.blocked(unread, suite.end), pytrace=False)
