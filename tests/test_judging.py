"""A judge is asked and its answers become verdicts: by rubrics, and by the choice of tools (G5, G33)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rightcall
from rightcall.assertions import Rubric, ToolSelect
from rightcall.core.asking import Answer, Question
from rightcall.core.judging import CannotJudge
from rightcall.core.recounting import MOST_BYTES
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.core.verdicts import Status, Verdict
from rightcall.errors import TestSetError
from support.grading import call, hidden, judge
from support.judging import TALK, Scripted, choosing, saying, talk, tools

POLITE = Rubric(criteria="The agent says sorry.")
CHOICE = ToolSelect()


def code(verdict: Verdict) -> str:
    return verdict.findings[0].code


@pytest.mark.parametrize(("word", "status"), [("pass", Status.PASS), ("fail", Status.FAIL)])
def test_the_judge_decides(word: str, status: Status) -> None:
    """Its word is the verdict, its reason the reason, also on a pass (G4)."""
    verdict = judge(POLITE, talk(call("a")), judge=Scripted(saying(word, "it says so")))
    assert (verdict.status, verdict.score, verdict.details["reason"].endswith("it says so")) == (
        status,
        int(word == "pass"),
        True,
    )


def test_a_judge_that_cannot_tell_is_an_error() -> None:
    """It is neither a pass nor a failure, and has no score (G1, G6)."""
    verdict = judge(POLITE, talk(call("a")), judge=Scripted(saying("cannot_tell", "nothing is shown")))
    assert (verdict.status, verdict.score, code(verdict)) == (Status.ERROR, None, "judge_undecided")
    assert verdict.reason == "The judge cannot tell: nothing is shown"


@pytest.mark.parametrize("assertion", [POLITE, CHOICE], ids=["rubric", "selection"])
def test_without_a_judge_nothing_is_judged(assertion: Any) -> None:
    """The reason says what to do (G33)."""
    verdict = judge(assertion, talk(call("a"), available_tools=tools("a")))
    assert (verdict.status, code(verdict), "--judge" in verdict.reason) == (Status.ERROR, "no_judge", True)
    assert attempt_outcome([verdict]) is Outcome.ERROR


BROKEN: dict[str, Any] = {
    "no JSON": "pass",
    "words around it": f"Sure! {saying('pass')}",
    "another word": saying("great"),
    "a field too few": {"verdict": "pass"},
    "a field too many": {**saying("pass"), "score": 1},
    "an empty reason": saying("pass", ""),
    "another type": {"reason": 1, "verdict": "pass"},
    "a list": [saying("pass")],
    "two answers": '{"reason": "x", "verdict": "pass"}{"reason": "x", "verdict": "pass"}',
    "a key twice": '{"reason": "x", "verdict": "fail", "verdict": "pass"}',
    "nothing": "",
    "deep": "[" * 100_000,
    "a number that is none": '{"reason": "x", "verdict": NaN}',
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_an_answer_that_is_none_is_asked_for_once_more(answer: Any) -> None:
    """The judge is told what was wrong, in words of ours, and the second answer counts."""
    ask = Scripted(answer, saying("fail"))
    assert judge(POLITE, talk(call("a")), judge=ask).status is Status.FAIL
    first, second = ask.asked
    assert (first.problem, bool(second.problem), "great" in second.problem) == ("", True, False)
    assert first.data == second.data


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_two_answers_that_are_none_are_an_error(answer: Any) -> None:
    """A verdict is never made up, and a third time is not asked (G33)."""
    ask = Scripted(answer)
    verdict = judge(POLITE, talk(call("a")), judge=ask)
    assert (verdict.status, verdict.score, code(verdict), len(ask.asked)) == (Status.ERROR, None, "judge_invalid", 2)


def test_a_fence_around_an_answer_says_nothing() -> None:
    """Models put one there whatever they are told."""
    fenced = '```json\n{"reason": "x", "verdict": "pass"}\n```'
    assert judge(POLITE, talk(call("a")), judge=Scripted(fenced)).status is Status.PASS


def test_a_judge_that_raises_is_an_error_with_what_was_spent() -> None:
    """Here it is the second sample that does not come."""

    def failing(question: Question) -> Answer:
        if asked:
            raise CannotJudge("judge_failed", "The judge gave no answer.")
        asked.append(question)
        return Answer(text='{"reason": "x", "verdict": "pass"}', model="m", input_tokens=5, output_tokens=1)

    asked: list[Question] = []
    verdict = judge(Rubric(criteria="x", samples=3), talk(call("a")), judge=failing)
    assert (verdict.status, code(verdict)) == (Status.ERROR, "judge_failed")
    assert verdict.details["judge"]["answers"] == 1


@pytest.mark.parametrize(
    ("words", "status", "votes"),
    [
        (("pass", "fail", "pass"), Status.PASS, {"pass": 2, "fail": 1}),
        (("fail", "pass", "fail"), Status.FAIL, {"fail": 2, "pass": 1}),
        (("pass", "fail", "cannot_tell"), Status.ERROR, {"pass": 1, "fail": 1, "cannot_tell": 1}),
        (("pass", "cannot_tell", "cannot_tell"), Status.ERROR, {"pass": 1, "cannot_tell": 2}),
    ],
)
def test_of_several_samples_the_majority_decides(words: tuple[str, ...], status: Status, votes: dict[str, int]) -> None:
    """More than half; what cannot tell counts for neither side."""
    ask = Scripted(*map(saying, words))
    verdict = judge(Rubric(criteria="x", samples=3), talk(call("a")), judge=ask)
    assert (verdict.status, verdict.details["votes"]) == (status, votes)


@given(
    st.lists(st.sampled_from(["pass", "fail", "cannot_tell"]), min_size=1, max_size=9).filter(
        lambda words: len(words) % 2
    )
)
def test_a_pass_has_more_votes_than_all_others(words: list[str]) -> None:
    """And a failure too; everything else is an error."""
    verdict = judge(Rubric(criteria="x", samples=len(words)), talk(call("a")), judge=Scripted(*map(saying, words)))
    counts = Counter(words)
    wanted = next((word for word in ("pass", "fail") if 2 * counts[word] > len(words)), "error")
    assert verdict.status == wanted


def test_samples_without_a_majority_are_refused() -> None:
    """An even number may end in a tie (G27)."""
    with pytest.raises(TestSetError, match="odd number"):
        judge(Rubric(criteria="x", samples=2), talk())


def test_the_judge_reads_what_was_recorded() -> None:
    """Messages, calls with what came of them, and the final answer; the criterion is data too."""
    made = call("refund", {"order": 42}, result={"ok": True}, status="ok"), hidden("mail")
    ask = Scripted(saying("pass"))
    judge(POLITE, talk(*made, output="In 3 days."), judge=ask)
    assert ask.asked[0].data == {
        "Criterion": "The agent says sorry.",
        "Transcript": {
            "messages": TALK,
            "final_answer": "In 3 days.",
            "tool_calls": [
                {"number": 1, "name": "refund", "arguments": {"order": 42}, "status": "ok", "result": {"ok": True}},
                {"number": 2, "name": "mail", "arguments_are": "redacted", "status": "requested"},
            ],
        },
    }


def test_calls_that_were_not_recorded_are_said_to_be_so() -> None:
    """A rubric about words can be judged without them; the judge knows that it does not see them (G3)."""
    ask = Scripted(saying("pass"))
    assert judge(POLITE, talk(tool_calls=None), judge=ask).status is Status.PASS
    assert ask.asked[0].data["Transcript"]["tool_calls"] == "not recorded"


UNREADABLE: dict[str, tuple[Any, str]] = {
    "no words": (talk(call("a"), messages=None), "no_transcript"),
    "empty messages": (talk(call("a"), messages=[]), "no_transcript"),
    "a gap": (talk(call("a"), gaps=("a line is broken",)), "gap"),
    "too long": (talk(call("a"), output="x" * MOST_BYTES), "too_long"),
}


@pytest.mark.parametrize(("made", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_not_recorded_is_not_judged(made: Any, reason: str) -> None:
    """No evidence is never a pass: the judge is not even asked (G3, G12)."""
    ask = Scripted(saying("pass"))
    verdict = judge(POLITE, made, judge=ask)
    assert (verdict.status, code(verdict), ask.asked) == (Status.ERROR, reason, [])


TURNS: list[Any] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "first"},
    {"role": "tool", "content": "result"},
    {"role": "user", "content": "two"},
    {"role": "assistant", "content": "second"},
    {"role": "user", "content": "three"},
    {"role": "assistant", "content": "third"},
]


def test_of_one_turn_the_judge_reads_that_turn_and_what_came_before() -> None:
    """What comes after is not shown; calls are those of the turn, with their numbers in all of it."""
    ask = Scripted(saying("pass"))
    made = talk(call("a", turn=0), call("b", turn=1), call("c", turn=2), messages=TURNS)
    verdict = judge(Rubric(criteria="x", turn=2), made, judge=ask)
    (question,) = ask.asked
    assert (verdict.name, question.data["Part to judge"]) == ("rubric@turn:2", {"turn": 2})
    assert question.data["Transcript"] == {
        "messages_before": TURNS[:4],
        "messages": TURNS[4:6],
        "tool_calls": [{"number": 2, "name": "b", "arguments": {}, "status": "requested"}],
    }


def test_of_one_agent_the_judge_reads_its_calls() -> None:
    """And all messages, which do not say whose they are."""
    ask = Scripted(saying("fail"))
    made = talk(call("a", agent="desk"), call("b", agent="billing"))
    verdict = judge(Rubric(criteria="x", agent="billing"), made, judge=ask)
    assert (verdict.name, verdict.status) == ("rubric@agent:billing", Status.FAIL)
    data = ask.asked[0].data
    assert (data["Part to judge"], [one["name"] for one in data["Transcript"]["tool_calls"]]) == (
        {"agent": "billing"},
        ["b"],
    )


def test_a_turn_that_no_message_shows_is_not_judged() -> None:
    """A call says that there was a second turn, and no message was recorded of it."""
    verdict = judge(Rubric(criteria="x", turn=2), talk(call("a", turn=1)), judge=Scripted(saying("pass")))
    assert (verdict.status, code(verdict)) == (Status.ERROR, "no_transcript")


def test_keys_of_a_test_are_rubrics() -> None:
    """A text, a mapping or a list of them, each with a verdict of its own and its severity."""
    keys = {"rubric": ["a", {"criteria": "b", "severity": "warn", "name": "tone"}]}
    verdicts = rightcall.grade({"tool_calls": [], "messages": TALK}, keys, judge=lambda _: saying("fail"))
    assert [(one.id, one.severity, one.status) for one in verdicts] == [
        ("rubric", "block", "fail"),
        ("tone", "warn", "fail"),
    ]


def test_what_was_spent_stands_in_the_details() -> None:
    """Over all answers for the verdict; what is not known of one is not known of all."""
    known = Scripted(saying("pass"), model="m-2026", input_tokens=10, output_tokens=2, cost=0.25)
    verdict = judge(Rubric(criteria="x", samples=3), talk(), judge=known)
    assert verdict.details["judge"] == {
        "models": ["m-2026"],
        "answers": 3,
        "cached": 0,
        "input_tokens": 30,
        "output_tokens": 6,
        "cost": 0.75,
    }
    unknown = judge(POLITE, talk(), judge=Scripted(saying("pass"))).details["judge"]
    assert (unknown["models"], unknown["input_tokens"], unknown["cost"]) == ([], None, None)


CHOICES: dict[str, tuple[Any, ...]] = {
    "all right": (("a", "b"), choosing("correct", "correct"), 100, []),
    "one redundant": (("a", "a"), choosing("correct", "redundant"), 50, [("a", "redundant")]),
    "one incorrect": (("a", "b", "a"), choosing("correct", "incorrect", "correct"), 66.67, [("b", "incorrect")]),
    "one missing": (("a",), choosing("correct", missing=["b"]), 50, [("b", "missing")]),
    "nothing called": ((), choosing(), 100, []),
    "nothing called, one missing": ((), choosing(missing=["b"]), 0, [("b", "missing")]),
    "not available": (("x",), choosing(), 0, [("x", "incorrect")]),
    "no name": (("", "b"), choosing("correct", first=2), 50, [("", "incorrect")]),
    "both": (
        ("x", "a", "x"),
        choosing("redundant", first=2, missing=["b"]),
        0,
        [("x", "incorrect"), ("a", "redundant"), ("x", "incorrect"), ("b", "missing")],
    ),
}


@pytest.mark.parametrize(("names", "answer", "score", "wrong"), CHOICES.values(), ids=CHOICES)
def test_the_choice_is_scored(names: tuple[str, ...], answer: Any, score: float, wrong: Any) -> None:
    """`100 · correct ÷ (called + missing)`; what was not available is incorrect without asking (G33)."""
    ask = Scripted(answer)
    made = talk(*map(call, names), available_tools=tools("a", "b"))
    verdict = judge(CHOICE, made, judge=ask)
    assert (verdict.score, [(one["name"], one["verdict"]) for one in verdict.details["incorrect_tools"]]) == (
        score,
        wrong,
    )
    assert verdict.status == ("pass" if score == 100 else "fail")
    asked = [one["name"] for one in ask.asked[0].data["Calls"]]
    assert (len(ask.asked), asked) == (1, [name for name in names if name in ("a", "b")])


INVALID: dict[str, Any] = {
    "too few": choosing("correct"),
    "too many": choosing("correct", "correct", "correct"),
    "doubled": {"calls": [choosing("correct")["calls"][0]] * 2, "missing": []},
    "one twice": {
        "calls": [*choosing("correct", "correct")["calls"], choosing("redundant")["calls"][0]],
        "missing": [],
    },
    "a number as text": {
        "calls": [{"number": str(n), "reason": "x", "verdict": "correct"} for n in (1, 2)],
        "missing": [],
    },
    "another number": choosing("correct", "correct", first=2),
    "another word": choosing("correct", "fine"),
    "a tool that is not there": choosing("correct", "correct", missing=["x"]),
    "a tool that was called": choosing("correct", "correct", missing=["a"]),
    "a tool twice": choosing("correct", "correct", missing=["b", "b"]),
    "a number that is none": {"calls": [{"number": True, "reason": "x", "verdict": "correct"}], "missing": []},
    "no list": {"calls": []},
}


@pytest.mark.parametrize("answer", INVALID.values(), ids=INVALID)
def test_an_answer_about_other_calls_is_none(answer: Any) -> None:
    """It is asked for once more; then the evaluation fails, and no score is made up (G33)."""
    made = talk(call("a"), call("a"), available_tools=tools("a", "b"))
    again = Scripted(answer, choosing("correct", "correct"))
    assert judge(CHOICE, made, judge=again).score == 100
    assert again.asked[1].problem
    verdict = judge(CHOICE, made, judge=Scripted(answer))
    assert (verdict.status, verdict.score, code(verdict)) == (Status.ERROR, None, "judge_invalid")


answers = st.fixed_dictionaries(
    {
        "calls": st.lists(
            st.fixed_dictionaries(
                {
                    "number": st.integers(0, 4),
                    "reason": st.text(max_size=3),
                    "verdict": st.sampled_from(["correct", "redundant", "incorrect", "missing", "x"]),
                }
            ),
            max_size=4,
        ),
        "missing": st.lists(
            st.fixed_dictionaries({"name": st.sampled_from("abcx"), "reason": st.just("r")}), max_size=2
        ),
    }
)


@given(st.lists(st.sampled_from("abx"), max_size=3), answers)
def test_every_call_has_one_verdict_or_there_is_no_score(names: list[str], answer: Any) -> None:
    """Whatever a judge answers: the score is that of the verdicts it gave, or an error (G33)."""
    made = talk(*map(call, names), available_tools=tools("a", "b", "c"))
    verdict = judge(CHOICE, made, judge=Scripted(answer))
    if verdict.status is Status.ERROR:
        assert verdict.score is None
        return
    judged = Counter(one["number"] for one in answer["calls"])
    assert judged == Counter(number for number, name in enumerate(names, 1) if name != "x")
    correct = sum(one["verdict"] == "correct" for one in answer["calls"])
    total = len(names) + len(answer["missing"])
    assert verdict.score == pytest.approx(100 * correct / total if total else 100, abs=0.005)
    assert (verdict.score == 100, verdict.score == 0) == (correct == total, correct == 0 < total)


UNDECIDABLE: dict[str, tuple[Any, str]] = {
    "no tools": (talk(call("a")), "no_tools"),
    "no messages": (talk(call("a"), messages=None, available_tools=tools("a")), "no_transcript"),
    "a gap": (talk(call("a"), gaps=("cut",), available_tools=tools("a")), "gap"),
    "no calls recorded": (talk(tool_calls=None, available_tools=tools("a")), "not_recorded"),
    "too long": (talk(call("a", {"x": "y" * MOST_BYTES}), available_tools=tools("a")), "too_long"),
}


@pytest.mark.parametrize(("made", "reason"), UNDECIDABLE.values(), ids=UNDECIDABLE)
def test_a_choice_that_cannot_be_seen_is_not_judged(made: Any, reason: str) -> None:
    """The judge is not asked, and the reason says what is missing (G3, G12, G33)."""
    ask = Scripted(choosing("correct"))
    verdict = judge(CHOICE, made, judge=ask)
    assert (verdict.status, code(verdict), ask.asked) == (Status.ERROR, reason, [])


def test_the_tools_of_the_test_set_hold_where_the_trace_has_none() -> None:
    """Under the names that expectations use."""
    ask = Scripted(choosing("correct"))
    setting = {"tool_schemas": {"look-up": {"type": "object"}}, "tool_aliases": {"look-up": "lookup"}}
    assert judge(CHOICE, talk(call("look-up")), judge=ask, **setting).score == 100
    assert [tool.name for tool in ask.asked[0].data["Available tools"]] == ["lookup"]


def test_a_threshold_below_100_forgives() -> None:
    """The score counts, and what is wrong is told on a pass too (G34)."""
    made = talk(call("a"), call("b"), available_tools=tools("a", "b"))
    verdict = judge(ToolSelect(threshold=50), made, judge=Scripted(choosing("correct", "incorrect")))
    assert (verdict.status, verdict.score, len(verdict.details["incorrect_tools"])) == (Status.PASS, 50, 1)
