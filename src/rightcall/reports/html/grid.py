"""The grid of tests and verdict names as a table, and what filters it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rightcall.core.values import cut
from rightcall.reports.html.markup import NOTHING, Html, join, tag, void
from rightcall.reports.html.pieces import header_row, hidden, scrolling, status
from rightcall.reports.html.rows import Cell, Labels, Row, cell, columns, other_cell

SHOWN_COLUMN: Final = 60

_FACET_WORDS: Final = {"requirement": "Requirement", "category": "Category", "topic": "Topic", "tags": "Tag"}


def grid(rows: Sequence[Row]) -> Html:
    """All rows, with a column for each of the most frequent verdict names and one for all others together."""
    names = columns(rows)
    has_others = any(not row.statuses.keys() <= set(names) for row in rows)
    heads = [
        "Test",
        "Outcome",
        "Attempts",
        *(cut(name, SHOWN_COLUMN) for name in names),
        *(["other verdicts"] if has_others else []),
    ]
    body = tag("tbody", join([_row(row, names, has_others=has_others) for row in rows]))
    caption = tag("caption", "Tests and what their verdicts came to", class_="hidden")
    return scrolling("Table of results", tag("table", caption, header_row(heads), body, id="grid"))


def _row(row: Row, names: Sequence[str], *, has_others: bool) -> Html:
    cells = [cell(row, name) for name in names] + ([other_cell(row, names)] if has_others else [])
    return tag(
        "tr",
        _title(row),
        tag("td", status(row.outcome)),
        tag("td", row.attempts),
        join(map(_cell, cells)),
        data_outcome=row.outcome,
        data_labels=" ".join(map(str, row.labels)) or None,
        data_of=row.anchor or None,
    )


def _title(row: Row) -> Html:
    title = tag("a", row.id, href=f"#{row.anchor}") if row.anchor else tag("span", row.id)
    name = tag("span", row.name, class_="name") if row.name else NOTHING
    reason = tag("span", row.reason, class_="reason") if row.reason else NOTHING
    return tag("th", title, name, reason, scope="row")


def _cell(shown: Cell) -> Html:
    if shown.status is None:
        return tag("td", hidden("none"))
    return tag("td", status(shown.status, shown.words))


def filters(counts: Iterable[tuple[str, int]], labels: Labels) -> Html:
    """What is shown: by outcome without a script, by words and labels with one."""
    boxes = [_box(outcome, number) for outcome, number in counts]
    outcomes = tag("fieldset", tag("legend", "Show"), join(boxes))
    search = tag("label", "Text ", void("input", type="search", id="words", autocomplete="off"))
    facets = join([_facet(name, values.items()) for name, values in labels.values.items()])
    clear = tag("button", "Clear", type="button", id="clear")
    found = tag("output", id="found", role="status")
    scripted = tag("div", search, facets, clear, found, id="scripted", hidden="")
    return tag("form", outcomes, scripted, id="filters", role="search", aria_label="Filter results")


def _box(outcome: str, number: int) -> Html:
    box = void("input", type="checkbox", id=f"show-{outcome}", value=outcome, checked="")
    return tag("label", box, " ", status(outcome), f" {number}")


def _facet(name: str, values: Iterable[tuple[str, int]]) -> Html:
    options = [tag("option", "any", value=" "), *_options(values)]
    return tag("label", f"{_FACET_WORDS[name]} ", tag("select", join(options), class_="facet"))


def _options(values: Iterable[tuple[str, int]]) -> Iterator[Html]:
    for value, number in sorted(values):
        yield tag("option", value or "(empty)", value=str(number))
