"""One result as markup: the reason, its attempts, their verdicts with the evidence, and expected beside made."""

from __future__ import annotations

from collections.abc import Iterator

from rightcall.core.verdicts import Status
from rightcall.core.wording import amount
from rightcall.reports.html.aligned import alignment
from rightcall.reports.html.conversation import conversation
from rightcall.reports.html.markup import NOTHING, Html, join, tag
from rightcall.reports.html.pieces import facts, header_row, left_out, long, status
from rightcall.reports.html.plots import curves, interval
from rightcall.reports.html.story import (
    AttemptView,
    FindingView,
    FlakinessView,
    ResultView,
    VerdictView,
)


def article(view: ResultView, *, is_open: bool) -> Html:
    """A result that opens to everything that is known of it."""
    name = tag("span", view.name, class_="name") if view.name else NOTHING
    title = tag("h3", status(view.outcome), " ", tag("code", view.id), " ", name)
    body = tag("div", *_body(view), id=view.anchor, class_="body", tabindex=-1)
    opened = "" if is_open else None
    return tag("article", tag("details", tag("summary", title), body, open=opened), data_outcome=view.outcome)


def _body(view: ResultView) -> Iterator[Html]:
    if view.reason is not None:
        yield tag("p", long(view.reason), class_="reason")
    place = (("Stands at", view.place),) if view.place else ()
    yield facts((*place, *view.labels))
    if view.flakiness is not None:
        yield _flakiness(view.flakiness)
    many = len(view.attempts) + view.attempts_left_out > 1
    for number, attempt in enumerate(view.attempts, 1):
        yield tag("section", _numbered(number, attempt) if many else NOTHING, *_attempt(attempt), class_="attempt")
    yield left_out(view.attempts_left_out, "attempt")
    if view.transcripts_left_out:
        yield tag("p", "The transcripts are too long and left out.", class_="left-out")


def _numbered(number: int, attempt: AttemptView) -> Html:
    return tag("h4", f"Attempt {number} ", status(attempt.outcome))


def _flakiness(view: FlakinessView) -> Html:
    strip = join([tag("li", status(outcome)) for outcome in view.outcomes])
    chances = [
        tag("tr", tag("th", str(k), scope="row"), tag("td", f"{one:.4f}"), tag("td", f"{every:.4f}"))
        for k, one, every in view.chances
    ]
    table = tag(
        "table",
        tag("caption", "The chance that one of k attempts passes (rising), and that all do (falling)"),
        header_row(["k", "pass@k", "pass^k"]),
        tag("tbody", join(chances)),
    )
    return tag(
        "section",
        tag("h4", view.words),
        tag("p", f"Pass rate {view.rate.words} ", interval(view.rate)),
        tag("ol", strip, class_="strip", aria_label="Outcomes of the attempts"),
        tag("details", tag("summary", "pass@k and pass^k"), table, curves(view.chances)) if chances else NOTHING,
        class_="flakiness",
    )


def _attempt(view: AttemptView) -> Iterator[Html]:
    if view.reason is not None:
        yield tag("p", long(view.reason))
    yield join(map(_verdict, view.verdicts))
    yield left_out(view.verdicts_left_out, "verdict")
    if view.reply is not None:
        yield tag("div", tag("strong", "The agent replied: "), long(view.reply), class_="reply")
    yield _warnings(view)
    yield facts(view.facts)
    if view.transcript is not None:
        yield conversation(view.transcript)


def _warnings(view: AttemptView) -> Html:
    warnings = [tag("li", long(warning)) for warning in view.warnings]
    more = left_out(view.warnings_left_out, "warning")
    return tag("div", tag("strong", "Warnings"), tag("ul", *warnings), more, class_="notes") if warnings else NOTHING


def _verdict(view: VerdictView) -> Html:
    counts = "" if view.severity == "block" else f" {view.severity}: does not count"
    measures = ", ".join(f"{name} {value}" for name, value in view.measures)
    title = tag("p", status(view.status, view.status.short), " ", tag("code", view.id), tag("small", counts))
    reason = tag("div", long(view.reason), class_="reason") if view.reason.beginning else NOTHING
    findings = _findings(view) if view.status in (Status.FAIL, Status.ERROR) else NOTHING
    trace = tag("div", long(view.traceback)) if view.traceback is not None else NOTHING
    small = tag("p", tag("small", measures)) if measures else NOTHING
    return tag(
        "div",
        title,
        reason,
        alignment(view.alignment, f"Expected beside made: {view.id}"),
        findings,
        trace,
        small,
        class_=f"verdict {view.status}",
    )


def _findings(view: VerdictView) -> Html:
    shown = tag("ol", join(map(_finding, view.findings)), class_="findings")
    title = tag("summary", amount(len(view.findings) + view.left_out, "finding"))
    return tag("details", title, shown, left_out(view.left_out, "finding")) if view.findings else NOTHING


def _finding(view: FindingView) -> Html:
    path = (("path", view.path),) if view.path else ()
    return tag("li", tag("code", view.code), " ", long(view.message), facts((*path, *view.values)))
