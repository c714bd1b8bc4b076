"""Asking a judge: what is asked, what is answered, and the one way from answers to evidence.

A check that needs a judge is a generator: it yields a `Question`, is sent what the answer holds, and returns its
evidence. So it is written once, whether a model, a function or a script answers, and does no I/O of its own. Its
verdict is a function of the trajectory and the answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final, Protocol, TypeVar

import msgspec

from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.core.judging import CannotJudge
from rightcall.core.spending import USED, Used
from rightcall.core.values import cut, visible
from rightcall.core.verdicts import Evidence

Found = TypeVar("Found")

SHOWN_ANSWER: Final = 500
"""Characters of an answer that could not be used, in the details of a verdict."""

_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)
_AT = re.compile(r" - at `([^`]*)`$")


class InvalidAnswer(Exception):
    """An answer that does not say what was asked: `problem` completes the sentence "Your answer cannot be used: …"."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


def accepted(_: Any) -> str:
    """No problem, whatever the answer says."""
    return ""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge, or whoever answers, is asked.

    `instructions` are words of ours, the same for every trajectory. Everything else that is told stands in `data`, JSON
    values by their titles, and is never an instruction. An answer is JSON text of the type `answer`, for which `check`
    finds no problem. `problem` is what was wrong with the answer before, if the question is asked once more.
    """

    instructions: str
    data: dict[str, Any]
    answer: type[msgspec.Struct]
    check: Callable[[Any], str] = accepted
    problem: str = ""

    def read(self, text: str) -> Any:
        """What an answer holds; `InvalidAnswer` if it is none. A fence of Markdown around it says nothing."""
        fenced = _FENCED.fullmatch(text)
        try:
            value = jsontext.decode(fenced[1] if fenced else text)
        except jsontext.JSONError:
            raise InvalidAnswer("it is not one JSON object and nothing else") from None
        try:
            held = msgspec.convert(value, self.answer)
        except (msgspec.ValidationError, RecursionError) as error:
            # What the answer itself says there is left out: these words may be told to the judge.
            place = _AT.search(str(error))
            raise InvalidAnswer(f"it does not fit the JSON Schema{f' at `{place[1]}`' if place else ''}") from None
        if problem := self.check(held):
            raise InvalidAnswer(problem)
        return held

    def takes(self, text: str) -> bool:
        """Whether an answer can be used."""
        try:
            self.read(text)
        except InvalidAnswer:
            return False
        return True


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The text that came back, and from where: `model` as who answered calls it.

    Tokens, and the `cost` in US dollars, are `None` where they are not known. `is_cached` says that it is an answer
    that was kept: nothing was spent on it now.
    """

    text: str
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    is_cached: bool = False


class Asker(Protocol):
    """Whoever answers, handed in from outside the core. May be called by several threads at once."""

    def __call__(self, question: Question) -> Answer:
        """Answer; `CannotJudge` if no answer can be had."""
        ...


def no_judge(question: Question) -> Answer:
    """The asker where none was handed in."""
    raise CannotJudge(
        "no_judge",
        "No judge is configured: name a model with --judge, RIGHTCALL_JUDGE, `judge` in the test set, or `judge=` in "
        "Python.",
    )


class AskingCheck(Protocol):
    """A compiled assertion that needs answers: see `Check` for the attributes that it may have.

    With `samples` it asks its first question so many times.
    """

    name: str

    def __call__(self, trajectory: Trajectory) -> Generator[Question, Any, Evidence]:
        """Ask, and return the evidence; may raise `CannotJudge`."""
        ...


class JudgedCheck:
    """A check that is called like every other, and asks in turn. What was spent stands in the details."""

    def __init__(self, check: AskingCheck, ask: Asker) -> None:
        self.check = check
        self.ask = ask
        self.name = check.name
        self.needs_calls: bool = getattr(check, "needs_calls", True)
        self.uses_results = False
        self.sees_every_call: bool = getattr(check, "sees_every_call", False)

    def opening(self, trajectory: Trajectory) -> tuple[Question, ...]:
        """What will be asked first of a trajectory, as often as it will be; nothing where nothing will be."""
        try:
            return (next(self.check(trajectory)),) * getattr(self.check, "samples", 1)
        except (CannotJudge, StopIteration):
            return ()

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """The evidence, with every question answered."""
        answers: list[Answer] = []
        try:
            evidence = driven(self.check(trajectory), self.ask, answers)
        except CannotJudge as error:
            raise CannotJudge(error.code, error.reason, {**error.details, **_used(answers)}) from None
        return msgspec.structs.replace(evidence, details={**evidence.details, **_used(answers)})


def driven(asking: Generator[Question, Any, Found], ask: Asker, answers: list[Answer]) -> Found:
    """What is found when every question is answered; every answer that came is added to `answers`."""
    held: Any = None
    while True:
        try:
            question = asking.send(held)
        except StopIteration as stop:
            found: Found = stop.value
            return found
        held = answered(question, ask, answers)


def answered(question: Question, ask: Asker, answers: list[Answer]) -> Any:
    """What the answer to a question holds; every answer that came is added to `answers`.

    One that cannot be used is asked for once more. `CannotJudge` if the second cannot be used either.
    """
    try:
        return _held(question, ask, answers)
    except InvalidAnswer as invalid:
        again = msgspec.structs.replace(question, problem=invalid.problem)
    try:
        return _held(again, ask, answers)
    except InvalidAnswer as invalid:
        reason = f"The model's answer could not be used, twice: {invalid.problem}."
        raise CannotJudge("judge_invalid", reason, {"answer": cut(visible(answers[-1].text), SHOWN_ANSWER)}) from None


def _held(question: Question, ask: Asker, answers: list[Answer]) -> Any:
    answers.append(ask(question))
    return question.read(answers[-1].text)


def used(answers: Sequence[Answer]) -> Used:
    """What answers came from and cost, together."""
    return sum(map(_one, answers), Used())


def _one(answer: Answer) -> Used:
    models = (answer.model,) if answer.model else ()
    if answer.is_cached:
        return Used(models=models, answers=1, cached=1)
    return Used(
        models=models,
        answers=1,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        cost=answer.cost,
    )


def _used(answers: Sequence[Answer]) -> dict[str, Any]:
    return {USED: used(answers).record()} if answers else {}
