"""Functions that answer in the place of a model: of a user's file, or given in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.core.asking import Answer, Question
from rightcall.core.judging import CannotJudge, told
from rightcall.core.values import display
from rightcall.judges.prompts import Prompt, prompt

EXPECTED: Final = "expected a text or a mapping"

Judge = Callable[[Prompt], Any]
"""Takes the question in words and returns the answer: a text, or the JSON value that the text would write."""


class FunctionAsker:
    """Asks a function, under the name by which answers are told to be its."""

    def __init__(self, function: Judge, name: str) -> None:
        self._function = function
        self._name = name

    def __call__(self, question: Question) -> Answer:
        """What the function returns; `CannotJudge` if it raises, or returns nothing that could be an answer."""
        try:
            return Answer(text=_text(self._function(prompt(question))), model=self._name)
        except (CannotJudge, KeyboardInterrupt):
            raise
        except BaseException as error:  # some, such as what stops a test of pytest, are no `Exception`
            raise CannotJudge("judge_failed", f"The model `{self._name}` raised {told(error)}") from None


def _text(returned: Any) -> str:
    if isinstance(returned, str):
        return returned
    if not isinstance(returned, dict):
        raise CannotJudge("judge_failed", f"The function returned {display(returned)}: {EXPECTED}.")
    return jsontext.encode(returned).decode()
