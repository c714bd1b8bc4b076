"""What the HTML report leaves out, and that it says so."""

from __future__ import annotations

import re

from lxml import html
from msgspec.structs import replace

from rightcall.core.calls import ToolCall, Transcript
from rightcall.reports.html import HTMLReport
from support.html_pages import article, found, heard, page, text, texts
from support.reporting import FAILED, PASSED, attempt, report, result, verdict


def test_rarest_verdicts_share_a_column() -> None:
    """Of more than twelve names the most frequent have a column; what the others came to is counted in one more."""
    many = [verdict(f"v{n}", "pass") for n in range(13)]
    tree = page(result("a", attempt(*many, verdict("v13", "fail", "No."))), result("b", attempt(*many[:12])))
    rows = found(tree, "#grid", "tr")
    assert [text(cell) for cell in rows[0]][3:] == [*(f"v{n}" for n in range(12)), "other verdicts"]
    assert [text(row[-1]) for row in rows[1:]] == ["✗ 1× fail, 1× pass", "none"]


def test_what_is_left_out_is_counted() -> None:
    """Beyond the room for details and rows the page says how much is missing; failures have room of their own."""
    passed = [replace(PASSED, id=f"p{number}") for number in range(20)]
    size = len(html.tostring(article(page(PASSED))))
    tree = page(*passed, FAILED, room=2 * 10 * size, rows=19)
    told = texts(tree, "section[@aria-labelledby='results']/p")
    assert told[0] == "Left out for want of room: 1 row of tests that passed."
    assert re.fullmatch(r"Left out for want of room: the details of 1[01] tests that passed\.", told[1])
    assert told[2] == "-o results.json keeps everything."
    assert texts(tree, "article")[0].startswith("✗ fail damaged")
    assert len(found(tree, "tr[@data-outcome]")) == 20
    assert len(found(tree, "#grid", "a")) == len(found(tree, "article"))


def test_conversations_of_one_test_do_not_take_all_room() -> None:
    """Where the details of one test are too many, its conversations are left out, and that is said."""
    long = Transcript(calls=tuple(ToolCall(name=f"t{n}", arguments={"x": "y" * 19_000}) for n in range(200)))
    one = article(page(heard(PASSED, long), room=8_000_000))
    assert "The transcripts are too long and left out." in text(one)
    assert found(one, ".transcript") == []


def test_parts_beyond_limits_are_counted() -> None:
    """Attempts, verdicts, findings, warnings, calls and messages are shown up to a number; the others are counted."""
    findings = [f"No {number}." for number in range(60)]
    verdicts = [verdict("v", "fail", *findings), *(verdict(f"v{n}", "pass") for n in range(200))]
    calls = Transcript(calls=(ToolCall(name="t"),) * 501, messages=[{"role": "user"}] * 502)
    one = heard(result("a", attempt(*verdicts, warnings=("w",) * 60)), calls)
    assert texts(article(page(one)), ".left-out") == [
        "10 findings left out.",
        "1 verdict left out.",
        "10 warnings left out.",
        "1 call left out.",
        "2 messages left out.",
    ]
    assert texts(article(page(result("a", *[attempt(verdict("v", "pass"))] * 51))), ".left-out") == [
        "1 attempt left out."
    ]


def test_values_that_cannot_be_chosen_are_told() -> None:
    """Of one label so many values can be filtered by; that there are more is said."""
    many = [replace(PASSED, id=f"t{number}", labels={"topic": f"topic {number}"}) for number in range(501)]
    tree = page(*many, rows=1000)
    assert len(found(tree, "option")) == 501  # with one for any of them
    assert texts(tree, "section[@aria-labelledby='results']/p") == [
        "Only the first 500 values of `topic` can be chosen below."
    ]


def test_long_names_do_not_fill_the_page() -> None:
    """Names and places of any length are cut, and say how much there is more."""
    long = "x" * 100_000
    failed = replace(verdict("v", "fail", long), id=long, name=long)
    one = result(long, attempt(failed, trajectory=long, place=long), name=f"{long}y", place=long, labels={long: long})
    size = len(report(HTMLReport(), [one], test_set=long, counted=long)) - len(report(HTMLReport(), []))
    assert 50_000 < size < 150_000  # texts that open hold 20,000 characters each
