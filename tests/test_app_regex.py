"""JavaScript regular expressions: dialect, refusals and limits."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rightcall.app.regex import MOST_PATTERNS, JavaScriptRegex
from rightcall.core.assertion import CannotJudge

LINES = Path(__file__).with_name("conformance").joinpath("regex.jsonl").read_text("utf-8").split("\n")
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LINES if line]
GOOD = [row for row in ROWS if "test" in row]
BAD = [row for row in ROWS if row.get("refused")]
CATASTROPHE = ("(a+)+$", "a" * 40 + "b")


@contextmanager
def busy_threads(number: int) -> Iterator[None]:
    """Threads that compute all the while, without the interpreter lock."""
    stop, data = threading.Event(), bytes(1_000_000)

    def compute() -> None:
        while not stop.is_set():
            hashlib.sha256(data).digest()

    threads = [threading.Thread(target=compute) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("row", GOOD, ids=lambda row: repr(row["pattern"]))
def test_pattern_matches_as_in_javascript(row: dict[str, Any]) -> None:
    """G28: patterns are ECMAScript's, unanchored, with its flags."""
    assert row["test"] == JavaScriptRegex()(row["pattern"], row["flags"])(row["text"])


@pytest.mark.parametrize("row", BAD, ids=lambda row: repr(row["pattern"]))
def test_bad_pattern_or_flag_is_refused_when_compiled(row: dict[str, Any]) -> None:
    """G27: a pattern that does not compile is refused at once, in plain words without the engine's stack."""
    with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
        JavaScriptRegex()(row["pattern"], row["flags"])
    assert "native" not in str(caught.value)
    assert "SyntaxError" not in str(caught.value)


def test_refusal_says_what_is_wrong() -> None:
    """The engine's reason is kept, and a bad flag is named."""
    with pytest.raises(ValueError, match=r"^expecting '\)'$"):
        JavaScriptRegex()("(", "")
    with pytest.raises(ValueError, match="flags `q`"):
        JavaScriptRegex()("a", "q")


@pytest.mark.parametrize("flags", ["g", "y", "gy", "d"])
def test_search_keeps_no_state(flags: str) -> None:
    """G28: a sticky or global pattern gives the same answer every time."""
    is_found = JavaScriptRegex()("a", flags)
    assert [is_found("ab") for _ in range(3)] == [True] * 3


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^\ud800$", "\ud800", True),
        ("^\ud800$", "\udbff", False),
        ("x", "x\udfff", True),
        ("^.$", "\ud83d\ude80", False),
        ("^..$", "\ud83d\ude80", True),
        ("\ud800", "plain", False),
    ],
)
def test_lone_surrogates_are_searched(pattern: str, text: str, expected: bool) -> None:
    """G7: lone surrogates are read like any other code unit, in the pattern and in the text."""
    assert expected == JavaScriptRegex()(pattern, "")(text)


def test_runaway_pattern_cannot_be_judged() -> None:
    """G28: running out of time is no answer, and says which pattern, which limit and which text."""
    pattern, text = CATASTROPHE
    with pytest.raises(CannotJudge) as caught:
        JavaScriptRegex(time_limit=0.02)(pattern, "")(text)
    assert caught.value.code == "timeout"
    expected = f"The pattern `(a+)+$` ran out of its time limit of 20 ms on the text `{text}` of 41 characters."
    assert expected == caught.value.reason


def test_engine_works_on_after_a_timeout() -> None:
    """A runaway pattern spoils neither itself nor another pattern for the next text."""
    regex = JavaScriptRegex(time_limit=0.02)
    runaway, other = regex(CATASTROPHE[0], ""), regex("b$", "")
    for _ in range(2):
        with pytest.raises(CannotJudge):
            runaway(CATASTROPHE[1])
        assert [runaway("aaa"), other("ab"), other("ba")] == [True, True, False]


def test_pattern_out_of_memory_cannot_be_judged() -> None:
    """The memory of a match is limited, and the engine works on afterwards."""
    regex = JavaScriptRegex(time_limit=5, memory_limit=16 * 1024 * 1024)
    is_found = regex("((a)|(b))*d", "")
    with pytest.raises(CannotJudge, match="memory limit of 16 MiB") as caught:
        is_found("ab" * 1_000_000)
    assert caught.value.code == "memory_limit"
    assert is_found("abd")


def test_busy_threads_do_not_shorten_the_limit() -> None:
    """A pattern within its limit is judged, however much other threads of the process compute meanwhile."""
    pattern, text = "^(?:a|a)*$", "a" * 17 + "b"
    started = time.thread_time()
    JavaScriptRegex(time_limit=60)(pattern, "")(text)
    needed = time.thread_time() - started
    is_found = JavaScriptRegex(time_limit=3 * needed)(pattern, "")
    with busy_threads(8):
        answers = [is_found(text) for _ in range(2)]
    assert answers == [False] * 2


def test_one_pattern_serves_many_threads() -> None:
    """A matcher that one thread compiled may be used by all, at the same time."""
    is_found = JavaScriptRegex()("b+c", "")
    answers: list[bool] = []

    def search() -> None:
        answers.extend(is_found("abbbc") and not is_found("abbb") for _ in range(200))

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 800


def test_other_threads_go_on_during_a_match() -> None:
    """A match leaves the interpreter to other threads."""
    counted = 0
    done = threading.Event()

    def run_away() -> None:
        with pytest.raises(CannotJudge):
            JavaScriptRegex(time_limit=0.1)(CATASTROPHE[0], "")(CATASTROPHE[1])
        done.set()

    thread = threading.Thread(target=run_away)
    thread.start()
    while not done.is_set():
        counted += 1
    thread.join()
    assert counted > 10


def test_more_patterns_than_are_kept_still_work() -> None:
    """The patterns that a thread keeps are bounded; the bound is not noticed."""
    regex, number = JavaScriptRegex(), MOST_PATTERNS + 100
    matchers = [regex(f"^{one}$", "") for one in range(number)]
    assert [matcher(str(one)) for one, matcher in enumerate(matchers)] == [True] * number


def test_patterns_that_need_more_memory_than_there_is_still_work() -> None:
    """Patterns whose compiled forms do not fit together are no invalid patterns: room is made for them."""
    regex = JavaScriptRegex(memory_limit=2 * 1024 * 1024)
    matchers = [regex(rf"^[\p{{L}}\p{{N}}]{one}$", "iv") for one in range(500)]
    assert [matcher(f"é{one}") for one, matcher in enumerate(matchers)] == [True] * 500


def test_kept_patterns_take_no_memory_from_a_match() -> None:
    """Whether a match has memory enough does not depend on the patterns that were compiled before."""
    limit, text = 4 * 1024 * 1024, "ab" * 6_000
    assert not JavaScriptRegex(memory_limit=limit)("^((a)|(b))*d", "")(text)
    regex = JavaScriptRegex(memory_limit=limit)
    for one in range(200):
        regex(rf"^[\p{{L}}\p{{N}}]{one}$", "iv")
    assert not regex("^((a)|(b))*d", "")(text)


class Engine:
    """A fake of the engine whose every match is ended for its time, after so many seconds by the thread's clock."""

    JSException = RuntimeError

    def __init__(self, cost: float) -> None:
        self.cost = cost
        self.clock = 0.0
        self.tries = 0

    def Context(self) -> Engine:  # noqa: N802  # the engine's name for it
        """Return the engine itself."""
        return self

    def set_memory_limit(self, limit: int) -> None:
        """Take a limit."""

    def set_time_limit(self, limit: float) -> None:
        """Take a limit."""

    def eval(self, _: str) -> Any:
        """Return what compiles a pattern to a search."""
        return lambda pattern, flags: self.search

    def search(self, *_: object) -> bool:
        """Search until the time is up."""
        self.tries += 1
        self.clock += self.cost
        raise RuntimeError("InternalError: interrupted")


@pytest.mark.parametrize(("cost", "tries"), [(0.3, 1), (0.1, 1), (0.0999, 1), (0.05, 8)])
def test_used_up_limit_is_not_granted_again(monkeypatch: pytest.MonkeyPatch, cost: float, tries: int) -> None:
    """G28: a match that used up its limit at the first try is ended; only one cut short is tried again."""
    engine = Engine(cost)
    monkeypatch.setitem(sys.modules, "quickjs", engine)
    monkeypatch.setattr(time, "thread_time", lambda: engine.clock)
    with pytest.raises(CannotJudge, match="time limit of 100 ms"):
        JavaScriptRegex(time_limit=0.1)("a", "")("a")
    assert tries == engine.tries
