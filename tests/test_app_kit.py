"""What other packages offer is found by name, and a name offered twice is an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from rightcall.app import kit
from rightcall.app.gates import GateOptions
from rightcall.assertions import KINDS
from rightcall.errors import UsageError
from rightcall.reports import REPORTS
from support.runs import grade, lines, record, write_tests

PLUGIN = """
from rightcall.core.assertion import Assertion
from rightcall.reports import REPORTS, ReportKind
from rightcall.traces import FORMATS, Format

report = ReportKind(REPORTS["json"].make, (".special",))
class Crashing(Assertion, frozen=True, kw_only=True, tag="crashing"):
    # A kind with a mistake in it.

    def compile(self, setting):
        def check(trajectory):
            raise ZeroDivisionError("of all things")

        check.name = "crashing"
        return check


form = Format("special", lambda head: False, FORMATS["native"].read)
"""


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of an installed package whose entry points a test writes."""
    info = tmp_path / "special-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: special\nVersion: 1.0\n")
    (tmp_path / "special_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    clear()
    yield info / "entry_points.txt"
    clear()
    sys.modules.pop("special_plugin", None)


def clear() -> None:
    """Forget what was found before."""
    for lookup in (kit.all_kinds, kit.all_formats, kit.all_reports):
        lookup.cache_clear()


def test_report_of_another_package_is_found_by_its_ending(offer: Path) -> None:
    """A file name's ending can mean a report that another package offers."""
    offer.write_text("[rightcall.reports]\nspecial = special_plugin:report\n")
    assert kit.report_for("out.special").suffixes == (".special",)


def test_format_of_another_package_is_found_by_its_name(offer: Path) -> None:
    """`--format` can name a format that another package offers."""
    offer.write_text("[rightcall.traces]\nspecial = special_plugin:form\n")
    format_ = kit.trace_format("special")
    assert format_ is not None
    assert format_.name == "special"


@pytest.mark.parametrize(
    ("group", "name", "thing"),
    [
        ("rightcall.reports", "json", "special_plugin:report"),
        ("rightcall.traces", "native", "special_plugin:form"),
        ("rightcall.assertions", "trajectory", "special_plugin:form"),
    ],
)
def test_name_offered_twice_is_an_error(offer: Path, group: str, name: str, thing: str) -> None:
    """Another package cannot put itself in the place of ours."""
    offer.write_text(f"[{group}]\n{name} = {thing}\n")
    lookup = {"rightcall.reports": kit.all_reports, "rightcall.traces": kit.all_formats}.get(group, kit.all_kinds)
    with pytest.raises(UsageError, match=f"`{name}` is offered twice in `{group}`"):
        lookup()


def test_unknown_format_is_refused_with_the_nearest_name() -> None:
    """A format that there is not is a usage error."""
    with pytest.raises(UsageError, match="did you mean `native`"):
        kit.trace_format("natve")


def test_unknown_ending_is_refused_with_those_that_are_known() -> None:
    """An ending that means no report is a usage error that lists the endings."""
    with pytest.raises(UsageError, match=r"no report .*`out.pdf`; the endings are .*\.json, \.jsonl"):
        kit.report_for("out.pdf")


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_is_found_by_its_endings(name: str) -> None:
    """Each ending of each report means that report, in capitals too."""
    for suffix in REPORTS[name].suffixes:
        assert REPORTS[name] is kit.report_for(f"dir.d/out{suffix.upper()}")


def test_kinds_of_others_are_looked_for_only_where_they_can_be_named() -> None:
    """A test set without the word `kind` can name only the kinds that its keys stand for."""
    assert KINDS is kit.kinds(b"tests: [{allowed_tools: []}]")
    assert set(KINDS) <= set(kit.kinds(b"tests: [{assertions: [{kind: x}]}]"))


def test_crash_in_a_kind_of_another_package_is_never_a_pass(offer: Path, tmp_path: Path) -> None:
    """Kinds of other packages are graded like ours; a crash blocks the run whatever errors are allowed."""
    offer.write_text("[rightcall.assertions]\ncrashing = special_plugin:Crashing\n")
    tests = write_tests(tmp_path / "t.rightcall.json", p={"assertions": [{"kind": "crashing"}]})
    traces = lines(tmp_path / "t.jsonl", record("p", "a"), record("q", "a", test_id="p"))
    kept = grade(traces, tests=[tests], gate=GateOptions(min_pass_rate=Fraction(0), allow_errors=9))
    decision = kept.end_note.decision
    assert kept.outcomes["p"] == "error"
    assert (decision.passed, decision.exit_code) == (False, 3)
    assert "rightcall itself failed on 2 verdicts" in decision.reasons


def test_package_that_cannot_be_loaded_is_named(offer: Path) -> None:
    """A broken package is the user's to mend: the message names it and says why."""
    offer.write_text("[rightcall.reports]\nspecial = special_plugin:gone\n")
    with pytest.raises(
        UsageError, match=r"`special` of `rightcall.reports` \(special_plugin:gone\) cannot be loaded: "
    ):
        kit.all_reports()
