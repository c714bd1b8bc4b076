"""Two lists of calls side by side, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from rightcall.core.sidebyside import UNICODE_MARKS
from rightcall.reports.html.markup import NOTHING, Html, block, join, tag
from rightcall.reports.html.pieces import header_row, hidden, left_out, scrolling
from rightcall.reports.html.story import AlignmentView, CallView


def alignment(view: AlignmentView, label: str) -> Html:
    """The table, which scrolls where it is too wide; nothing without rows."""
    if not view.rows:
        return NOTHING
    head = header_row([hidden("compared"), *view.sides.heads])
    table = tag("table", head, tag("tbody", join(_rows(view))), class_="alignment")
    return join([scrolling(label, table), left_out(view.left_out, "row")])


def _rows(view: AlignmentView) -> Iterator[Html]:
    for row in view.rows:
        if row.mark != "note":
            sign = tag("span", UNICODE_MARKS[row.mark], aria_hidden="true")
            mark = tag("td", sign, hidden(view.sides.words[row.mark]))
            yield tag("tr", mark, tag("td", _call(row.expected)), tag("td", _call(row.made)), class_=row.mark)
        yield from (tag("tr", tag("td"), tag("td", remark, colspan=2), class_="note") for remark in row.remarks)


def _call(view: CallView | None) -> Html:
    if view is None:
        return hidden("nothing")
    words = tag("code", view.words)
    if not view.arguments:
        return words
    return join([words, tag("details", tag("summary", "all arguments"), tag("pre", block(view.arguments)))])
