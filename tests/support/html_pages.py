"""HTML reports as trees of elements, and what is found in them."""

from __future__ import annotations

from typing import Any

from lxml import html
from msgspec.structs import replace

from rightcall.core.calls import Transcript
from rightcall.core.results import Attempt, Result
from rightcall.reports.html import HTMLReport
from support.reporting import report


def page(*made: Result, room: int = 1_000_000, rows: int = 100, **end: Any) -> Any:
    """The page of a run as a tree of elements."""
    return html.document_fromstring(report(HTMLReport(rows, room), made, **end).decode("utf-8"))


def text(element: Any) -> str:
    return " ".join(" ".join(element.itertext()).split())


def found(tree: Any, *steps: str) -> list[Any]:
    """The elements that steps lead to, each at any depth: `.name` is a class, `#name` an id, else a path of XPath."""
    elements: list[Any] = tree.xpath(
        "".join(f"//{_step(step)}" if index else f".//{_step(step)}" for index, step in enumerate(steps))
    )
    return elements


def _step(step: str) -> str:
    if step.startswith("."):
        name, slash, child = step[1:].partition("/")
        return f"*[contains(concat(' ', @class, ' '), ' {name} ')]{slash}{child}"
    return f"*[@id='{step[1:]}']" if step.startswith("#") else step


def texts(tree: Any, *steps: str) -> list[str]:
    return [text(element) for element in found(tree, *steps)]


def article(tree: Any) -> Any:
    (one,) = found(tree, "article")
    return one


def heard(one: Result, transcript: Transcript) -> Result:
    """The result with a conversation."""
    attempts: tuple[Attempt, ...] = tuple(replace(each, transcript=transcript) for each in one.attempts)
    return replace(one, attempts=attempts)
