"""The HTML report in a real browser: offline, by keyboard, for screen readers, without scripts, in colours, printed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from rightcall.core.calls import ToolCall, Transcript
from rightcall.core.results import Result
from rightcall.reports.html import HTMLReport
from support import browser as browsers
from support.hostile import TEXTS, hostile
from support.reporting import ROWS, RUN, attempt, report, result, verdict

TRANSCRIPT: Final = Transcript(
    calls=(
        ToolCall(name="lookup_order", arguments={"order_id": 7}, status="ok", result={"note": "x" * 500}, turn=0),
        ToolCall(name="ask", kind="agent", status="ok", turn=0),
        ToolCall(name="inner", arguments={"q": "deep"}, parent=1, error="no route", status="error", turn=0),
        ToolCall(name="issue_refund", arguments=None, arguments_state="malformed", arguments_text='{"a": ', turn=1),
    ),
    messages=[{"role": "user", "content": "Where is\nmy order?"}, {"role": "assistant", "tool_calls": []}],
    gaps=("the trace was cut off",),
)
FLAKY: Final = result(
    "sometimes", *(attempt(verdict("tool_sequence", "fail" if n == 2 else "pass", "No b.")) for n in range(4))
)


def full(one: Result, **labels: Any) -> Result:
    """The result with a conversation in every attempt, a warning and labels."""
    attempts = tuple(replace(each, transcript=TRANSCRIPT, warnings=("a span is odd",)) for each in one.attempts)
    return replace(one, attempts=attempts, labels=labels)


MIB: Final = 1024 * 1024
LINE: Final = 24
"""Pixels; what stands in one line of the page differs by less in its top."""

WHOLE: Final = (
    *(full(one, requirement="REQ-7", tags=["smoke", "slow"], category="refunds") for one in RUN),
    full(FLAKY, category="orders"),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests here. It must be gone before other tests run a loop of their own."""
    with browsers.browser() as opened:
        yield opened


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A report with everything that one can show."""
    return written(tmp_path, WHOLE)


def written(folder: Path, made: Iterable[Result]) -> Path:
    file = folder / "report.html"
    file.write_bytes(report(HTMLReport(), made, unused=("lonely",), warnings=("odd",), counted="calls"))
    return file


def open_all(page: Page) -> None:
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(browser: Browser, whole: Path, dark: bool) -> None:
    """With everything opened no rule of axe-core is violated, and in the dark none about contrast."""
    with browsers.page(browser, whole, dark=dark) as page:
        open_all(page)
        rules = {"runOnly": ["color-contrast"]} if dark else {}
        found = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
        assert [(one["id"], one["impact"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_keyboard_alone_reads_everything(browser: Browser, whole: Path) -> None:
    """Tab begins at a link past the head, filters and rows follow in the order of the page, Enter opens details."""
    with browsers.page(browser, whole) as page:
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("Skip to the results")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_id("show-pass")
        page.keyboard.press("Space")
        expect(page.get_by_role("link", name="late-order")).to_be_hidden()
        page.get_by_role("link", name="sometimes").focus()
        page.keyboard.press("Enter")
        expect(page.locator("article:has-text('sometimes') .body").first).to_be_focused()
        transcript = page.locator(":focus summary", has_text="Transcript: 4 calls").first
        transcript.focus()
        expect(page.get_by_text("no route").locator("visible=true")).to_have_count(0)
        page.keyboard.press("Enter")
        expect(page.get_by_text("no route").locator("visible=true")).to_have_count(1)


def test_tab_goes_down_the_page(browser: Browser, whole: Path) -> None:
    """The order of focus is that of the lines on the page, and what has it is on the screen."""
    with browsers.page(browser, whole) as page:
        tops = []
        for _ in range(25):
            page.keyboard.press("Tab")
            expect(page.locator(":focus")).to_be_in_viewport()
            tops.append(page.evaluate("document.activeElement.getBoundingClientRect().top + scrollY"))
        steps = [after - before for before, after in itertools.pairwise(tops)]
        assert min(steps) > -LINE


def shown_rows(page: Page) -> list[str]:
    """The ids in the rows that can be seen."""
    seen = "[...document.querySelectorAll('#grid tbody th')].filter(head => head.checkVisibility())"
    names: list[str] = page.evaluate(f"{seen}.map(head => head.firstChild.textContent)")
    return names


def test_filters_narrow_what_is_shown(browser: Browser, whole: Path) -> None:
    """By words, by label, by outcome, together; details go with their rows; how many are shown is told."""
    with browsers.page(browser, whole) as page:
        assert len(shown_rows(page)) == len(WHOLE)
        page.get_by_label("Text").fill("CHECK_policy never")
        expect(page.locator("#found")).to_have_text("1 of 6 shown")
        assert shown_rows(page) == ["damaged"]
        expect(page.locator("article").locator("visible=true")).to_have_count(1)
        page.get_by_role("button", name="Clear").click()
        page.get_by_label("Category").select_option("orders")
        expect(page.locator("#found")).to_have_text("1 of 6 shown")
        assert shown_rows(page) == ["sometimes"]
        page.get_by_label("Category").select_option("any")
        page.get_by_label("Tag").select_option("smoke")
        page.get_by_role("checkbox", name="fail").uncheck()
        expect(page.locator("#found")).to_have_text("3 of 6 shown")
        assert shown_rows(page) == ["gone", "empty", "late-order"]


def test_works_without_scripts(browser: Browser, whole: Path) -> None:
    """Outcomes are filtered, details open, links lead into closed details, and no dead control is shown."""
    with browsers.page(browser, whole, scripts=False) as page:
        expect(page.get_by_label("Text")).to_be_hidden()
        page.get_by_role("checkbox", name="fail").uncheck()
        assert shown_rows(page) == ["gone", "empty", "late-order"]
        body = page.locator("article", has_text="late-order").locator(".body")
        expect(body).to_be_hidden()
        page.get_by_role("link", name="late-order").click()
        expect(body).to_be_visible()


def test_colours_follow_the_system_unless_chosen(browser: Browser, whole: Path) -> None:
    """Dark and light each differ, and a choice holds against the system."""
    grounds = {}
    for dark in (False, True):
        with browsers.page(browser, whole, dark=dark, scripts=False) as page:
            for choice in ("as the system", "light", "dark"):
                page.get_by_label(choice, exact=True).check()
                body = page.locator("body")
                grounds[dark, choice] = body.evaluate("element => getComputedStyle(element).backgroundColor")
    light, dark_ground = grounds[False, "as the system"], grounds[True, "as the system"]
    assert light != dark_ground
    assert (light, dark_ground) == (grounds[True, "light"], grounds[False, "dark"])


def test_fits_a_phone(browser: Browser, whole: Path) -> None:
    """The page itself never scrolls sideways; tables do within it."""
    with browsers.page(browser, whole, width=360) as page:
        open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("scripts", [False, True])
def test_prints_all_details(browser: Browser, whole: Path, scripts: bool) -> None:
    """On paper there are no controls, and what is closed on the screen is there, but for conversations."""
    with browsers.page(browser, whole, scripts=scripts, dark=True) as page:
        page.emulate_media(media="print")
        expect(page.locator("#filters")).to_be_hidden()
        expect(page.locator("article", has_text="late-order").locator(".verdict").first).to_be_visible()
        expect(page.get_by_text("Transcript: 4 calls").first).to_be_hidden()
        assert page.pdf().startswith(b"%PDF")


def attacked(kind: str) -> list[Result]:
    """Tests with a text wherever text can stand, which would make the page say which text it was."""
    code = f"pwned='{kind}'"
    attack = f"{TEXTS[kind]}<script>{code}</script>\"' onfocus={code} autofocus x='<img src=x onerror={code}>"
    calls = (ToolCall(name=attack, arguments={attack: attack}, result=attack, error=attack, agent=attack),)
    transcript = Transcript(calls=calls, messages=[{"role": attack, "content": attack, attack: attack}], gaps=(attack,))
    made = [full(one, tags=[attack], category=attack) for one in hostile(attack)]
    return [replace(one, attempts=tuple(replace(each, transcript=transcript) for each in one.attempts)) for one in made]


def test_hostile_text_stays_text(browser: Browser, tmp_path: Path) -> None:
    """Whatever text stands wherever text can stand, the browser finds no element, attribute or script of it."""
    kinds = [kind for kind in TEXTS if kind != "long"]
    made = [one for kind in kinds for one in attacked(kind)]
    told = tuple(one.id for one in made)
    file = tmp_path / "report.html"
    file.write_bytes(report(HTMLReport(), made, unused=told, warnings=told, counted=told[0], test_set=told[0]))
    with browsers.page(browser, file) as page:
        open_all(page)
        page.get_by_label("Text").fill("pwned")
        expect(page.locator("#found")).to_have_text(f"{2 * len(kinds)} of {2 * len(kinds)} shown")
        assert page.evaluate("window.pwned") is None
        assert page.locator("script, img, [onerror], [onfocus], iframe, object, link:not([rel=icon])").count() == 1
        names = page.evaluate("[...new Set([...document.all].flatMap(e => e.getAttributeNames()))]")
        assert [name for name in names if not re.fullmatch(r"[a-z-]+|viewBox|http-equiv", name)] == []


def test_policy_stops_what_comes_in_by_other_ways(browser: Browser, whole: Path) -> None:
    """Were there a hole, the policy of the page itself would let no script of another run."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(whole.as_uri())
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned=1\">')")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'pwned = 1'}))")
    page.wait_for_function("document.images[0].complete")
    assert page.evaluate("window.pwned") is None
    context.close()


def test_long_values_open_to_more(browser: Browser, tmp_path: Path) -> None:
    """A long value shows its beginning and how much more there is; all of it, up to a limit, when opened."""
    arguments = {"text": "abc " * 300, "more": list(range(100))}
    rows = (replace(ROWS[3], made={"name": "send", "arguments": arguments}),)
    failed = attempt(verdict("v", "fail", "No."), alignments={"v": rows}, output="é" * 30_000)
    with browsers.page(browser, written(tmp_path, [result("a", failed)])) as page:
        reply = page.locator(".reply")
        expect(reply.locator("pre")).to_be_hidden()
        expect(reply.locator("summary")).to_contain_text("(29700 more characters)")
        reply.locator("summary").click()
        expect(reply.locator("pre")).to_contain_text("(10000 more characters)")
        page.get_by_text("all arguments").click()
        expect(page.locator(".alignment pre")).to_contain_text('"text": "abc abc')


def test_thousands_of_results_stay_usable(browser: Browser, tmp_path: Path) -> None:
    """A large run is a page of a size that browsers bear, in which filters still find the one that failed."""
    passed = [full(result(f"order-{n}", attempt(verdict("tool_sequence", "pass")))) for n in range(1_999)]
    failed = result("odd-one", attempt(verdict("tool_sequence", "fail", "Expected refund.")))
    file = tmp_path / "report.html"
    file.write_bytes(report(HTMLReport(room=2 * MIB), [*passed, failed]))
    assert file.stat().st_size < 4 * MIB
    with browsers.page(browser, file) as page:
        told = page.locator("main > section > .left-out").all_inner_texts()
        assert re.fullmatch(r"Left out for want of room: the details of [0-9],[0-9]{3} tests that passed.", told[0])
        page.get_by_label("Text").fill("odd-one")
        expect(page.locator("#found")).to_have_text("1 of 2000 shown")
        assert shown_rows(page) == ["odd-one"]
