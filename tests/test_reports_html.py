"""The HTML report as a document: what it tells, what it leaves out and says so, and that it is one file."""

from __future__ import annotations

import base64
import hashlib
import re
from fractions import Fraction
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rightcall.core.calls import ToolCall, Transcript
from rightcall.core.summary import Gate
from rightcall.core.verdicts import Evidence, Finding, Status, Verdict
from rightcall.reports.html import HTMLReport
from support import comparing as compared
from support.html_pages import article, found, heard, page, text, texts
from support.reporting import FAILED, FLAKY, PASSED, RUN, UNJUDGED, attempt, report, result, verdict


def shown(value: Any) -> str:
    """The words of the only article of a page about one failed verdict whose finding expects the value."""
    finding = Finding(code="missing", message="No.", expected=value)
    failed = Verdict(id="v", name="v", kind="fake", status=Status.FAIL, evidence=Evidence((finding,)))
    return texts(article(page(result("a", attempt(failed)))), ".findings")[0]


def test_head_has_what_decides() -> None:
    """Decision, reasons, counts, rate with its interval, coverage, versions, hash and gate (G6, G35, G36)."""
    head = text(
        page(*RUN, gate=Gate(thresholds={"tool_sequence": Fraction(4, 5)}), counted="all calls").find(".//header")
    )
    for told in (
        "✗ Blocked Refund flow",
        "pass rate 1/3 = 0.3333 < 1.0000",
        "✓ 1 passed ✗ 2 failed ! 1 error ? 1 inconclusive 5 in total",
        "1/3 = 0.3333 (95 % interval 0.0615 to 0.7923)",
        "3/5 = 0.6000 graded",
        "rightcall 0.0, rules 1",
        "Hash of the test set abc",
        "pass rate 1; at least 1 graded; at most 0 errors; tool_sequence 4/5",
        "Counted all calls",
    ):
        assert told in head


def test_grid_tells_four_statuses_apart() -> None:
    """`n/a` is not applicable, `error` could not be judged, empty is no such verdict; attempts are counted (G1)."""
    unsure = result("unsure", attempt(verdict("no_unexpected_tool", "error", "The arguments were redacted.")))
    rows = found(page(*RUN, unsure), "#grid", "tr")
    assert [[text(cell) for cell in row] for row in rows] == [
        ["Test", "Outcome", "Attempts", "tool_sequence", "no_unexpected_tool"],
        ["damaged Expected check_policy; it was never called.", "✗ fail", "1", "✗ fail", "✓ pass"],
        ["gone no trajectory for test `gone`", "! error", "0", "none", "none"],
        ["empty The test is inconclusive.", "? inconclusive", "1", "– n/a", "none"],
        ["flaky No b.", "✗ fail", "1 of 2 passed, flaky", "✗ 1× fail, 1× pass", "none"],
        ["unsure The arguments were redacted.", "! error", "1", "none", "! error"],
        ["late-order Late order", "✓ pass", "1", "✓ pass", "none"],
    ]


def test_verdicts_have_rates_and_thresholds() -> None:
    """Each name with how often it came to each status, its rate with an interval, and what the gate needs of it."""
    gate = Gate(thresholds={"tool_sequence": Fraction(4, 5)})
    rows = page(*RUN, gate=gate).xpath("//section[@aria-labelledby='verdicts']//tbody/tr")
    assert [[text(cell) for cell in row] for row in rows] == [
        ["no_unexpected_tool", "1", "0", "0", "0", "1/1 = 1.0000 (95 % interval 0.2065 to 1.0000)", "–"],
        ["tool_sequence", "2", "2", "0", "1", "2/4 = 0.5000 (95 % interval 0.1500 to 0.8500)", "4/5"],
    ]


def test_failure_has_its_evidence() -> None:
    """Reason, place, findings with codes, expected beside made with remarks, and the reply."""
    one = article(page(FAILED))
    assert texts(one, ".alignment", "tr") == [
        "compared expected made",
        "= as expected 1 lookup_order(order_id=7) 1 lookup_order(order_id=7)",
        "- not made 2 check_policy(…) nothing",
        "≠ other arguments 3 issue_refund(amount=19.5) 2 issue_refund(amount=195)",
        "expected with amount = 19.5; had amount = 195",
        "+ not expected nothing 3 send_email()",
    ]
    assert texts(one, ".findings/li") == [
        "missing Expected check_policy; it was never called.",
        "missing Expected amount = 19.5.",
    ]
    assert texts(one, ".reply") == ["The agent replied: All done, 195 EUR are on their way."]
    assert "Stands at refund.rightcall.yaml:12" in text(one)
    assert "Read from log.jsonl:3" in text(one)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, "5"),
        ("5", '"5"'),
        (None, "null"),
        ("", '""'),
        ({}, "{}"),
        (True, "true"),
        (9007199254740993, "9007199254740993"),
    ],
)
def test_values_are_shown_as_json(value: Any, expected: str) -> None:
    """A string has quotes, so that it is not taken for a number (G7)."""
    assert shown(value) == f"missing No. expected {expected}"


def test_what_does_not_count_says_so() -> None:
    """A verdict of severity `warn` or `shadow` is told with that, and decides nothing (G2)."""
    warned = replace(verdict("v", "fail", "No."), severity="warn")
    tree = page(result("a", attempt(verdict("u", "pass"), warned)))
    assert "✗ fail v warn: does not count" in text(article(tree))
    assert [text(cell) for cell in found(tree, "#grid", "td")] == ["✓ pass", "1", "✓ pass", "✗ fail (warn)"]
    assert text(tree.find(".//h1")).startswith("✓ Passed")


def test_flakiness_is_told() -> None:
    """Outcomes of the attempts, how sure their rate is, pass@k and pass^k in words and numbers (G37)."""
    told = texts(article(page(FLAKY)), ".flakiness")[0]
    assert "1 of 2 attempts passed; flaky: some passed, some failed" in told
    assert "1/2 = 0.5000 (95 % interval 0.0945 to 0.9055)" in told
    assert "k pass@k pass^k 1 0.5000 0.5000 2 1.0000 0.0000" in told


def test_conversation_is_told_as_it_was_read() -> None:
    """Calls in their order and inside one another, broken arguments as they are, messages with all that they hold."""
    calls = (
        ToolCall(name="find", arguments={"id": 7}, status="ok", result={"day": "Friday"}, turn=0),
        ToolCall(name="ask", kind="agent", status="requested", turn=1),
        ToolCall(name="", arguments=None, arguments_state="malformed", arguments_text='{"a": ', parent=1, agent="b"),
    )
    messages = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}, {"role": "model", "x": [1]}, "raw"]
    one = article(page(heard(PASSED, Transcript(calls=calls, messages=messages, gaps=("the trace was cut",)))))
    assert texts(one, ".call") == [
        'turn 1 1 find ok arguments {"id":7} result {"day":"Friday"}',
        "turn 2 2 ask requested, agent arguments {}",
        '3 "" requested, agent b arguments malformed: {"a":',
    ]
    assert [element.get("class") for element in found(one, ".call")] == [
        "call depth-0",
        "call depth-0",
        "call depth-1",
    ]
    assert texts(one, ".messages/li") == ["user Hello", 'model beside it {"x":[1]}', "message raw"]
    assert texts(one, ".notes") == ["Calls may be missing the trace was cut"]


def test_notes_have_warnings_and_what_was_unused() -> None:
    """They stand in a section of their own."""
    notes = page(PASSED, unused=("lonely",), warnings=("a test has no `id`",)).xpath(
        "//section[@aria-labelledby='notes']"
    )
    assert texts(notes[0], "li") == ["No test was for trajectory lonely", "a test has no `id`"]


def test_an_empty_run_is_incomplete() -> None:
    """It has a page too, which does not look like a pass (G36)."""
    tree = page()
    assert text(tree.find(".//h1")) == "! Incomplete Refund flow"
    assert "There are none." in text(tree.find(".//main"))
    assert "Pass rate n/a" in text(tree.find(".//header"))


def test_links_lead_to_details_in_every_report() -> None:
    """The address of a test depends on its id alone; of results with one id each has its own."""
    links = found(page(PASSED, FAILED, FAILED), "#grid", "a")
    assert [link.get("href") for link in links] == [
        "#test-e4d43b1d2f",
        "#test-e4d43b1d2f-2",
        "#test-6d7f3d4ce8",
    ] or links
    for tree in (page(PASSED), page(UNJUDGED, PASSED, FAILED, FAILED)):
        anchors = [link.get("href").removeprefix("#") for link in found(tree, "#grid", "a")]
        assert len(set(anchors)) == len(anchors)
        assert [element.get("id") for element in found(tree, ".body")] == anchors
    assert found(page(PASSED), "#grid", "a")[0].get("href") == links[-1].get("href")


POLICY: Final = re.compile(r"default-src 'none'; style-src '(.+?)'; script-src '(.+?)'; img-src data:; .*")


def test_policy_knows_the_style_and_the_script_by_their_hashes() -> None:
    """Nothing else may run or be loaded; there is nothing in attributes that would have to."""
    tree = page(*RUN)
    policy = POLICY.fullmatch(tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0])
    assert policy is not None
    contents = [tree.find(f".//{name}").text_content().encode() for name in ("style", "script")]
    hashes = [f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}" for content in contents]
    assert [*policy.groups()] == hashes
    assert tree.xpath("//@style | //@*[starts-with(name(), 'on')]") == []


def test_page_names_no_other_address() -> None:
    """No link, image, style or script of it leads outside the file."""
    addresses = page(*RUN).xpath("//@href | //@src | //@srcset | //@action | //@data")
    assert {address for address in addresses if not address.startswith("#")} == {"data:,"}
    assert b"http" not in re.sub(rb'http-equiv="', b"", report(HTMLReport(), RUN))


def test_comparison_tells_what_changed() -> None:
    """With a baseline there is a section with counts, rates, and each test that changed with its calls (G36)."""
    before = compared.result("refund", compared.attempt(compared.verdict("v", "pass"), calls=["find", "refund"]))
    after = compared.result("refund", compared.attempt(compared.verdict("v", "fail", "No."), calls=["find", "email"]))
    tree = page(FAILED, comparison=compared.compare([before], [after]))
    (section,) = found(tree, "section[@aria-labelledby='comparison']")
    assert texts(section, "li")[0] == "compared with main.json: 1 regression"
    assert texts(section, ".verdict/p") == ["refund regression: passed before, failed now; calls changed"]
    assert texts(section, ".verdict/ul") == ["v: pass before, fail now: No."]
    assert texts(section, ".alignment", "tr") == [
        "compared before now",
        "= the same 1 find() 1 find()",
        "+ added nothing 2 email()",
        "- removed 2 refund() nothing",
    ]
