"""The Markdown report is what GitHub shows as a step summary."""

from __future__ import annotations

import html
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rightcall.core.results import Result
from rightcall.reports.markdown import LIMIT, MarkdownReport
from support.reporting import (
    EMPTY,
    FAILED,
    FLAKY,
    HOSTILE,
    PASSED,
    RUN,
    UNJUDGED,
    attempt,
    heavy,
    report,
    result,
    results,
    verdict,
)

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OURS = {"<code>", "</code>", "<!-- -->"}


def written(*made: Result, **end: Any) -> str:
    return report(MarkdownReport(), made, **end).decode("utf-8")


def tokens(text: str) -> list[Token]:
    found = READER.parse(text)
    return [part for token in found for part in (token, *(token.children or ()))]


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_whole_run() -> None:
    """The decision, the counts, a row a test with those that did not pass first, a row a verdict, explanations."""
    found = written(*RUN, warnings=("no ids",), unused=("t-9",), counted="all calls")
    expected = """\
## ❌ Blocked: <code>Refund flow</code>

<code>pass rate 1/3 = 0.3333 &#60; 1.0000; 1 test could not be judged</code>

| passed | failed | errors | inconclusive | total | pass rate (95 % interval) | coverage |
|---|---|---|---|---|---|---|
| 1 | 2 | 1 | 1 | 5 | 1/3 = 0.3333 (0.0615 to 0.7923) | 0.6000 |

|  | test | outcome | attempts | verdicts |
|---|---|---|---|---|
| ❌ | <code>damaged</code> | fail | 1 | <code>tool_sequence</code> fail, <code>no_unexpected_tool</code> pass |
| ⚠️ | <code>gone</code> | error | n/a | n/a |
| ➖ | <code>empty</code> | inconclusive | 1 | <code>tool_sequence</code> n/a |
| ❌ | <code>flaky</code> | fail | 1 of 2 passed, flaky; 1/2 = 0.5000 (0.0945 to 0.9055) | \
<code>tool_sequence</code> 1× pass 1× fail |
| ✅ | <code>late-order</code> <code>Late order</code> | pass | 1 | <code>tool_sequence</code> pass |

| verdict | pass | fail | error | n/a | pass rate (95 % interval) |
|---|---|---|---|---|---|
| <code>no_unexpected_tool</code> | 1 | 0 | 0 | 0 | 1/1 = 1.0000 (0.2065 to 1.0000) |
| <code>tool_sequence</code> | 2 | 2 | 0 | 1 | 2/4 = 0.5000 (0.1500 to 0.8500) |

### ❌ <code>damaged</code>

<code>Expected check_policy; it was never called.</code>

Stands at <code>refund.rightcall.yaml&#58;12</code>

```text
fail tool_sequence: Expected check_policy; it was never called.
    Expected amount = 19.5.
"""
    assert expected == found[: len(expected)]
    notes = "### Notes\n\n- <code>no test for trajectory t-9</code>\n- <code>no ids</code>\n\n"
    assert found.endswith(f"{notes}Counted: <code>all calls</code>\n")


def test_failure_shows_expected_beside_made() -> None:
    """The block of a failure has the columns as the terminal shows them."""
    blocks = [token.content for token in tokens(written(FAILED)) if token.type == "fence"]
    assert "    - 2 check_policy(…)\n".strip() in blocks[0]
    assert "≠ 3 issue_refund(amount=19.5)   2 issue_refund(amount=195)" in blocks[0]


@heavy
@given(st.lists(results(), max_size=4))
def test_content_is_never_markup(made: list[Result]) -> None:
    """Whatever was recorded, a reader finds our tables, fences and `<code>`, and nothing else."""
    text = written(*made, unused=(HOSTILE,), warnings=(HOSTILE,), test_set=HOSTILE)
    found = tokens(text)
    kinds = {token.type for token in found}
    assert kinds <= {
        *(f"{name}_{end}" for name in ("heading", "paragraph", "table", "thead", "tbody", "tr", "th", "td")
          for end in ("open", "close")),
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
        *("inline", "text", "html_inline", "fence"),
    }  # fmt: skip
    assert {token.content for token in found if token.type == "html_inline"} <= OURS
    assert sum(token.type == "fence" for token in found) <= sum(one.outcome != "pass" for one in made)


@heavy
@given(st.lists(results(), max_size=4))
def test_each_result_is_one_row(made: list[Result]) -> None:
    """The table of tests has a row of five cells for each, whatever stands in them."""
    lines = written(*made).split("\n")
    rows = [line for line in lines if line.startswith(("| ✅", "| ❌", "| ⚠️", "| ➖"))]
    assert len(made) == len(rows)
    assert {len(cells(row)) for row in rows} <= {5}


@pytest.mark.parametrize(
    "text",
    ["```", "`````\n# no", "~~~", "x ``` y ```` z", "</code><script>alert(1)</script>", "[a](http://b.example) ![c](d)",
     "@org/team #1 :smile: $x$ **b** _i_ ~~s~~ www.a.example a@b.example", "a | b", "\\| c", "<!-- ", "&lt;"],
)  # fmt: skip
def test_text_stays_what_it_is(text: str) -> None:
    """A reader of the report sees the recorded text, character by character, inline and in the block."""
    one = result("a", attempt(verdict("x", "fail", text)))
    found = tokens(written(one))
    shown = text.replace("\n", "\\n").strip()
    inline = [
        part for token in found if token.type == "inline" for part in ["".join(c.content for c in token.children or ())]
    ]
    assert f"<code>{shown}</code>" in [part.replace("<!-- -->", "") for part in inline]
    assert any(f"fail x: {shown}" in token.content for token in found if token.type == "fence")
    assert "http" not in html.unescape("".join(str(token.attrs) for token in found))


def test_summary_keeps_below_the_limit_and_says_what_is_left_out() -> None:
    """A large run is cut: the tests that did not pass come first, and the rest is counted."""
    failed = [result(f"failed-{number}", attempt(verdict("x", "fail", "long " * 150))) for number in range(600)]
    passed = [result(f"passed-{number}-{'n' * 150}", attempt(verdict("x", "pass"))) for number in range(1000)]
    found = written(*passed, *failed)
    assert len(found.encode()) <= LIMIT
    last = found.rstrip("\n").rsplit("\n", 1)[-1]
    assert last.startswith("**Left out for want of room: ")
    rows = sum(line.startswith("| ✅") for line in found.split("\n"))
    explanations = sum(line.startswith("### ❌") for line in found.split("\n"))
    assert f"{1000 - rows:,} rows of tests that passed, {600 - explanations:,} explanations" in last
    assert 0 < explanations < 600
    assert 0 < rows < 1000


def test_nothing_is_said_of_room_where_all_fits() -> None:
    """A run that fits has everything in it."""
    assert "Left out" not in written(*RUN)


def test_huge_explanation_does_not_crowd_out_the_others() -> None:
    """One endless text is cut, with how much of it there was."""
    huge = result("huge", attempt(verdict("x", "fail", "y" * 1_000_000)))
    found = written(huge, FAILED)
    assert "more characters)" in found
    assert "### ❌ <code>damaged</code>" in found


@pytest.mark.parametrize(
    ("made", "title"),
    [
        ((PASSED,), "✅ Passed"),
        ((PASSED, FLAKY), "❌ Blocked"),
        ((PASSED, UNJUDGED), "⚠️ Incomplete"),
        ((EMPTY,), "⚠️ Incomplete"),
        ((), "⚠️ Incomplete"),
    ],
)
def test_title_is_the_decision(made: tuple[Result, ...], title: str) -> None:
    """G36: the first line says what the exit code says."""
    assert written(*made).split("\n")[0] == f"## {title}: <code>Refund flow</code>"


def test_nothing_graded_has_no_rate() -> None:
    """G35: without graded tests there is no rate, and no zero in its place."""
    assert "| 0 | 0 | 0 | 1 | 1 | n/a | 0.0000 |" in written(EMPTY)
    assert "| 0 | 0 | 0 | 0 | 0 | n/a | n/a |" in written()
