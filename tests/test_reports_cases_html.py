"""Public bug reports about recorded text in HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from rightcall.core.results import Result
from rightcall.core.rows import Row
from rightcall.reports.html import HTMLReport
from support.bug_reports import Case, report
from support.reporting import attempt, result, verdict
from support.reporting import report as written


class Page(HTMLParser):
    """Elements with their attributes, and all text outside of style and script."""

    def __init__(self, made: Result) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.text = ""
        self.feed(written(HTMLReport(), [made]).decode("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Keep what begins here."""
        self.elements.append((tag, tuple(name for name, _ in attributes)))

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self.text += data


def failing(reason: str, tool: str) -> Result:
    """A test that fails for this reason, with this tool in a label, in a call and in the name of a verdict."""
    rows = (Row(mark="unexpected", made_index=0, made={"name": tool, "arguments": {tool: reason}}),)
    failed = attempt(verdict(tool, "fail", reason), alignments={tool: rows})
    return result(tool, failed, labels={"category": reason, "tags": [tool, reason]})


@report("B154")
def test_security_quotes_in_a_reason_stay_in_it(case: Case) -> None:
    """The page has the elements and attributes that it has with plain text, and shows the text as it is."""
    for reason in (case["input"]["reason_text"], case["input"]["also"]):
        page = Page(failing(reason, "tool"))
        assert page.elements == Page(failing("plain", "tool")).elements
        assert reason in page.text


@report("B156")
def test_security_closing_script_in_a_name_closes_none(case: Case) -> None:
    """There is one script, our own, and the name of the tool is text."""
    name = case["input"]["tool_name"]
    page = Page(failing("No.", name))
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert page.elements == Page(failing("No.", "tool")).elements
    assert name in page.text
