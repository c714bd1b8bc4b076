"""The page as a whole: one file that asks for nothing else.

Its policy (`Content-Security-Policy`) lets nothing run or be loaded but the one style and the one script that it
holds itself, known by their hashes (www.w3.org/TR/CSP3).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from rightcall.reports.html.compared import comparison
from rightcall.reports.html.grid import filters, grid
from rightcall.reports.html.markup import Html, join, tag, text, void
from rightcall.reports.html.pieces import facts, header_row, left_out, long, scrolling, status
from rightcall.reports.html.plots import interval, shares
from rightcall.reports.html.rows import Labels, Row
from rightcall.reports.html.run import RunView, VerdictRow

_THEMES: Final = (("auto", "as the system"), ("light", "light"), ("dark", "dark"))
_DECISIONS: Final = {0: "pass", 1: "fail", 3: "error"}


@cache
def _asset(name: str) -> Html:
    """A file of this package, as it is."""
    import pkgutil

    data = pkgutil.get_data(__package__, name)
    assert data is not None
    return Html(data.decode("utf-8"))


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _policy() -> str:
    style, script = _hash(_asset("page.css")), _hash(_asset("page.js"))
    own = f"style-src {style}; script-src {script}; img-src data:"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def before(view: RunView, rows: Sequence[Row], labels: Labels, remarks: Sequence[str]) -> Html:
    """Everything down to the details of the results. `remarks` say what was left out."""
    return join(
        [
            Html("<!doctype html>\n"),
            Html('<html lang="en">'),
            _head(view),
            Html("<body>"),
            tag("a", "Skip to the results", href="#results", class_="skip"),
            _header(view),
            Html("<main>"),
            *_sections(view, rows, labels, remarks),
            Html('<section aria-labelledby="details"><h2 id="details">Details</h2>'),
        ],
    )


def after() -> Html:
    """What closes it."""
    return join([Html("</section></main>"), tag("script", _asset("page.js")), Html("</body></html>\n")])


def _head(view: RunView) -> Html:
    title = f"{view.decision}: {view.title}" if view.title else view.decision
    return tag(
        "head",
        void("meta", charset="utf-8"),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{text(_policy())}">'),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        void("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title} · rightcall"),
        void("link", rel="icon", href="data:,"),
        tag("style", _asset("page.css")),
    )


def _header(view: RunView) -> Html:
    decision = tag("h1", status(_DECISIONS[view.exit_code], view.decision), " ", tag("span", view.title, class_="text"))
    reasons = [tag("p", long(reason)) for reason in view.reasons]
    counts = [tag("li", status(name, f"{number} {_outcome(name, number)}")) for name, number in view.counts]
    rates = (
        ("Pass rate", join([view.rate.words, " ", interval(view.rate)])),
        ("Coverage", view.coverage),
        *((("Shadow", view.shadow),) if view.shadow else ()),
    )
    return tag(
        "header",
        _themes(),
        decision,
        *reasons,
        tag("ul", join(counts), tag("li", f"{view.total} in total"), class_="counts"),
        shares(view.counts),
        facts(rates),
        tag("details", tag("summary", "What it was graded with"), facts(view.facts)),
    )


def _outcome(name: str, number: int) -> str:
    words = {"pass": "passed", "fail": "failed", "error": "error" if number == 1 else "errors"}
    return words.get(name, name)


def _themes() -> Html:
    choices = [
        tag("label", void("input", type="radio", name="theme", id=f"theme-{name}", checked=_checked(name)), f" {words}")
        for name, words in _THEMES
    ]
    return tag("fieldset", tag("legend", "Colours"), join(choices), class_="themes")


def _checked(theme: str) -> str | None:
    return "" if theme == "auto" else None


def _sections(view: RunView, rows: Sequence[Row], labels: Labels, remarks: Sequence[str]) -> Iterator[Html]:
    yield Html('<section aria-labelledby="results"><h2 id="results">Results</h2>')
    yield join([tag("p", remark, class_="left-out") for remark in remarks])
    if rows:
        yield join([filters(view.counts, labels), grid(rows)])
    else:
        yield tag("p", "There are none.")
    yield Html("</section>")
    if view.comparison is not None:
        yield comparison(view.comparison)
    if view.verdicts:
        yield _verdicts(view)
    if view.notes:
        notes = [tag("li", long(note)) for note in view.notes]
        more = left_out(view.notes_left_out, "note")
        yield tag("section", tag("h2", "Notes", id="notes"), tag("ul", *notes), more, aria_labelledby="notes")


def _verdicts(view: RunView) -> Html:
    head = header_row(["Verdict", "pass", "fail", "error", "n/a", "Pass rate", "Needed"])
    table = tag("table", head, tag("tbody", join(map(_verdict, view.verdicts))))
    more = left_out(view.verdicts_left_out, "verdict name")
    title = tag("h2", "Verdicts", id="verdicts")
    return tag("section", title, scrolling("Table of verdicts", table), more, aria_labelledby="verdicts")


def _verdict(row: VerdictRow) -> Html:
    numbers = [tag("td", str(number)) for number in row.counts]
    rate = tag("td", row.rate.words, " ", interval(row.rate))
    return tag("tr", tag("th", row.name, scope="row"), join(numbers), rate, tag("td", row.threshold or "–"))
