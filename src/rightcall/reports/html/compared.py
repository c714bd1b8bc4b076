"""A comparison with a baseline as markup."""

from __future__ import annotations

from rightcall.reports.html.aligned import alignment
from rightcall.reports.html.changes import ChangeView, ComparisonView
from rightcall.reports.html.markup import NOTHING, Html, join, tag
from rightcall.reports.html.pieces import left_out, long


def comparison(view: ComparisonView) -> Html:
    """A section: counts and rates, and each test that changed."""
    lines = [tag("li", long(line)) for line in view.lines]
    return tag(
        "section",
        tag("h2", f"Compared with {view.baseline}", id="comparison"),
        tag("ul", join(lines)),
        left_out(view.lines_left_out, "line"),
        join(map(_change, view.changes)),
        left_out(view.changes_left_out, "test that changed", "tests that changed"),
        aria_labelledby="comparison",
    )


def _change(view: ChangeView) -> Html:
    title = tag("p", long(view.title), class_=view.style)
    lines = tag("ul", join([tag("li", long(line)) for line in view.lines])) if view.lines else NOTHING
    table = alignment(view.calls, f"Calls before and now: {view.title.beginning}")
    calls = tag("details", tag("summary", "Calls before and now"), table) if table else NOTHING
    return tag("div", title, lines, calls, class_=f"verdict {view.style}")
