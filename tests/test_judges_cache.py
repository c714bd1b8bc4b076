"""Answers that are kept: the same is not paid for twice, and no attempt gets the answer of another (G37)."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.assertions import Rubric
from rightcall.core.asking import Answer, Question
from rightcall.core.judging import CannotJudge
from rightcall.errors import UsageError
from rightcall.judges.cache import Cache, Remembering
from support.grading import judge
from support.judging import Scripted, saying, talk


def question(said: str = "Sorry!", criteria: str = "x") -> Question:
    ask = Scripted(saying("pass"))
    judge(Rubric(criteria=criteria), talk(output=said), judge=ask)
    return ask.asked[0]


def remembering(ask: Any, folder: Path, who: str = "openai:m") -> Remembering:
    """A new asker, as a new run has it."""
    return Remembering(ask, Cache(str(folder)), who)


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.json"))


def test_what_was_asked_before_is_not_asked_again(tmp_path: Path) -> None:
    """In another run the same question finds its answer; nothing is spent on it."""
    first, second = Scripted(saying("pass", "one"), model="m", cost=1), Scripted(saying("fail"))
    asked = remembering(first, tmp_path)(question())
    kept = remembering(second, tmp_path)(question())
    assert (kept, len(first.asked), second.asked) == (msgspec.structs.replace(asked, is_cached=True), 1, [])
    verdict = judge(Rubric(criteria="x"), talk(output="Sorry!"), judge=remembering(second, tmp_path))
    assert verdict.details["judge"] == {
        "models": ["m"],
        "answers": 1,
        "cached": 1,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost": 0,
    }


def test_attempts_that_did_the_same_have_answers_of_their_own(tmp_path: Path) -> None:
    """Each time that the same is asked in a run is another entry, found again in the same order (G37)."""
    answers = [saying("pass", "one"), saying("fail", "two"), saying("pass", "three")]
    first = remembering(Scripted(*answers), tmp_path)
    assert [msgspec.json.decode(first(question()).text) for _ in answers] == answers
    silent = Scripted(saying("fail", "none"))
    again = remembering(silent, tmp_path)
    assert [msgspec.json.decode(again(question()).text) for _ in answers] == answers
    assert (silent.asked, len(entries(tmp_path))) == ([], 3)


def test_samples_have_answers_of_their_own(tmp_path: Path) -> None:
    """A majority of one answer, read three times, would be none."""
    rubric = Rubric(criteria="x", samples=3)
    ask = Scripted(saying("pass"), saying("fail"), saying("fail"))
    verdict = judge(rubric, talk(), judge=remembering(ask, tmp_path))
    again = judge(rubric, talk(), judge=remembering(Scripted(saying("pass")), tmp_path))
    assert (verdict.details["votes"], again.details["votes"]) == ({"pass": 1, "fail": 2}, {"pass": 1, "fail": 2})


@pytest.mark.parametrize(
    ("other", "who"),
    [
        (question("Sorry."), "openai:m"),
        (question(criteria="y"), "openai:m"),
        (question(), "openai:other"),
        (question(), "openai:m http://127.0.0.1/v1"),
        (msgspec.structs.replace(question(), problem="it was wrong"), "openai:m"),
        (msgspec.structs.replace(question(), instructions="Others."), "openai:m"),
    ],
    ids=["recording", "criterion", "model", "base URL", "asked once more", "instructions"],
)
def test_another_question_has_another_answer(other: Question, who: str, tmp_path: Path) -> None:
    """Every word that is told counts, and who is asked."""
    remembering(Scripted(saying("pass")), tmp_path)(question())
    ask = Scripted(saying("fail"))
    remembering(ask, tmp_path, who)(other)
    assert len(ask.asked) == 1


BROKEN: dict[str, bytes] = {
    "empty": b"",
    "cut off": b'{"text":"{\\"reason\\": ',
    "no JSON": b"\x00\xff\xfe",
    "another shape": b"[]",
    "another answer": b'{"text":"pass"}',
    "a type that is none": b'{"text":1}',
    "an answer to something else": msgspec.json.encode(Answer(text='{"calls": [], "missing": []}')),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_entry_is_as_good_as_none(data: bytes, tmp_path: Path) -> None:
    """It is asked again, and the entry is whole afterwards."""
    remembering(Scripted(saying("pass")), tmp_path)(question())
    (entry,) = entries(tmp_path)
    entry.write_bytes(data)
    ask = Scripted(saying("fail"))
    assert remembering(ask, tmp_path)(question()).text == '{"reason":"so it is","verdict":"fail"}'
    assert remembering(Scripted("never"), tmp_path)(question()).is_cached


def test_answers_that_cannot_be_used_are_not_kept(tmp_path: Path) -> None:
    """Nor is one for which no answer came."""
    verdict = judge(Rubric(criteria="x"), talk(), judge=remembering(Scripted("no answer"), tmp_path))
    assert (verdict.status, entries(tmp_path)) == ("error", [])
    ask = Scripted("no answer", saying("pass"))
    assert judge(Rubric(criteria="x"), talk(), judge=remembering(ask, tmp_path)).status == "pass"
    assert len(entries(tmp_path)) == 1


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    """An answer takes its name when it is whole."""
    with ThreadPoolExecutor(8) as pool:
        asks = [remembering(Scripted(saying("pass", f"{n}")), tmp_path) for n in range(8)]
        answers = list(pool.map(lambda ask: ask(question()), asks))
    assert (len({answer.text for answer in answers}) >= 1, len(entries(tmp_path))) == (True, 1)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".json"] == []


def test_threads_that_ask_the_same_get_answers_of_their_own(tmp_path: Path) -> None:
    """The count is one for all threads of a run."""
    counted = iter(range(100))

    def numbered(asked: Question) -> Answer:
        return Answer(text=f'{{"reason": "{next(counted)}", "verdict": "pass"}}')

    ask = remembering(numbered, tmp_path)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(question()).text, range(24)))
    assert (len(set(answers)), len(entries(tmp_path))) == (24, 24)


def test_a_place_where_nothing_can_be_kept_is_refused(tmp_path: Path) -> None:
    """Before anything is asked, with the place."""
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(UsageError, match="no answers of a judge can be kept here") as caught:
        Cache(str(file))
    assert caught.value.where.file == str(file)


def test_an_answer_that_cannot_be_kept_is_an_error(tmp_path: Path) -> None:
    """It would be paid for again and again, and nobody would know."""
    ask = remembering(Scripted(saying("pass")), tmp_path)
    for digit in os.listdir(tmp_path):
        os.rmdir(tmp_path / digit)
    tmp_path.rmdir()
    tmp_path.write_text("now it is a file")
    with pytest.raises(CannotJudge, match="could not be kept"):
        ask(question())


@given(st.lists(st.sampled_from("abc"), max_size=8))
def test_a_second_run_spends_nothing(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> None:
    """Whatever was asked, in whatever order, and how often."""
    folder = tmp_path_factory.mktemp("cache")
    counted = iter(range(100))

    def numbered(asked: Question) -> Answer:
        return Answer(text=f'{{"reason": "{next(counted)}", "verdict": "pass"}}')

    first, second = remembering(numbered, folder), remembering(Scripted("never"), folder)
    before = sorted((word, first(question(word)).text) for word in said)
    assert sorted((word, second(question(word)).text) for word in reversed(said)) == before
