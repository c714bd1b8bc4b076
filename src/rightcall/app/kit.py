"""What is installed: kinds, formats and reports, ours and those of other packages.

Other packages offer theirs through the entry points `rightcall.assertions`, `rightcall.traces` and
`rightcall.reports`. Looking for them takes a while, so it is done only for a name that is none of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from rightcall import traces
from rightcall.assertions import KINDS
from rightcall.core.assertion import Assertion
from rightcall.errors import UsageError
from rightcall.reports import REPORTS, ReportKind
from rightcall.traces import FORMATS, Format

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Thing = TypeVar("Thing")


def kinds(data: bytes) -> Mapping[str, type[Assertion]]:
    """Return the kinds of assertion that a test set with these bytes could name."""
    return all_kinds() if b"kind" in data else KINDS


@cache
def all_kinds() -> dict[str, type[Assertion]]:
    """Return every kind installed."""
    return _merged("rightcall.assertions", KINDS)


@cache
def all_reports() -> dict[str, ReportKind]:
    """Return every report installed."""
    return _merged("rightcall.reports", REPORTS)


def report_for(path: str) -> ReportKind:
    """Return the report that the ending of a file name means; `UsageError` if none does."""
    found = _by_suffix(path, REPORTS) or _by_suffix(path, all_reports())
    if found is None:
        endings = ", ".join(suffix for kind in all_reports().values() for suffix in kind.suffixes)
        raise UsageError(f"no report has files named like `{path}`; the endings are {endings}")
    return found


def _by_suffix(path: str, reports: Mapping[str, ReportKind]) -> ReportKind | None:
    return next((kind for kind in reports.values() if path.lower().endswith(kind.suffixes)), None)


def trace_format(name: str | None) -> Format | None:
    """Return the format of that name, or `None` for `None`: then it is detected; `UsageError` if unknown."""
    if name is None or name in FORMATS or name not in all_formats():
        return None if name is None else traces.find(name)
    return all_formats()[name]


@cache
def all_formats() -> dict[str, Format]:
    """Return every trace format installed. Those of other packages are used when they are named."""
    return _merged("rightcall.traces", FORMATS)


def _merged(group: str, ours: Mapping[str, Thing]) -> dict[str, Thing]:
    from importlib.metadata import entry_points

    merged: dict[str, Any] = dict(ours)
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        if point.name in merged:
            raise UsageError(f"`{point.name}` is offered twice in `{group}`, once more by `{point.value}`")
        merged[point.name] = _loaded(point)
    return merged


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        what = f"`{point.name}` of `{point.group}` ({point.value})"
        raise UsageError(f"{what} cannot be loaded: {type(error).__name__}: {error}") from error
