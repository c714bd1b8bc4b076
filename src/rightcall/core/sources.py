"""Where the values in arguments come from: the words of the user, results of earlier calls, the system's words.

A value of a result is a source as it is (G7), and each string and number in it as text, too, so that `"42"` may come
from `42`; what stands in a text is decided by `searching`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.heard import Text, heard
from rightcall.core.leaves import leaves
from rightcall.core.masking import is_masked
from rightcall.core.provenance import NO_RESULT, Results, Undecided, result_of, unknown
from rightcall.core.provenance import UNKNOWN_RESULT as HIDDEN
from rightcall.core.searching import numbers, plain, stands_in
from rightcall.core.stringify import stringify
from rightcall.core.values import freeze

SourceName = Literal["user", "results", "system"]
LetterCase = Literal["exact", "ignored"]

_BETWEEN: Final = "\n"
"""Stands between texts that are searched as one, and in none of them."""

_LOOKED_AT: Final = 50


class Found(msgspec.Struct, frozen=True):
    """Where a value comes from: a message or an earlier call, by its number."""

    source: SourceName
    number: int


class Sources:
    """What could be known in one trajectory, searched for the values of its calls."""

    def __init__(self, trajectory: Trajectory, names: tuple[SourceName, ...], letter_case: LetterCase) -> None:
        self.results = Results(trajectory)
        self._names = names
        self._letter_case = letter_case
        self._messages = trajectory.messages
        self._heard = heard(trajectory.messages or ())
        self._words = [(text, self._searchable(text.text)) for text in self._heard.texts if text.speaker in names]
        self._by_value: dict[Any, list[int]] = {}
        self._texts: list[tuple[int, str]] = []
        for at, call in enumerate(self.results.calls if "results" in names else ()):
            self._add(at, call)
        self._all_text = _BETWEEN.join(text for _, text in self._texts)

    def _add(self, at: int, call: ToolCall) -> None:
        texts = []
        for value in _told(call):
            if isinstance(value, str):
                texts.append(self._searchable(value))
                values = [value, *numbers(value)]
            else:
                texts.append(stringify(value))
                values = [value]
            for each in values:
                self._by_value.setdefault(freeze(each), []).append(at)
        if texts:
            self._texts.append((at, _BETWEEN.join(texts)))

    def _searchable(self, text: str) -> str:
        return plain(text).casefold() if self._letter_case == "ignored" else plain(text)

    def find(self, index: int, value: str | float) -> Found | None:
        """Where a value in the arguments of the call at an index comes from, `None` for nowhere.

        Raises `Undecided` where what is not recorded could be the source.
        """
        found = self._in_words(index, value) or self._in_results(index, value)
        if found is None:
            self._refuse_doubt(index, value)
        return found

    def _in_words(self, index: int, value: str | float) -> Found | None:
        """In a message up to the turn of the call; where that is not recorded, up to the first."""
        turn = self.results.calls[index].turn or 0
        return next(
            (_found(text) for text, words in self._words if text.turn <= turn and self._has(words, value)), None
        )

    def _has(self, words: str, value: str | float) -> bool:
        if isinstance(value, str):
            return stands_in(self._searchable(value), words)
        return any(number == value for number in numbers(words))

    def _in_results(self, index: int, value: str | float) -> Found | None:
        for at in self._by_value.get(freeze(value), ()):
            if self.results.sees(index, at):
                return Found("results", at + 1)
        if not isinstance(value, str):
            return None
        wanted = self._searchable(value)
        if wanted not in self._all_text:
            return None
        seen = ((at, text) for at, text in self._texts if at < index and self.results.sees(index, at))
        return next((Found("results", at + 1) for at, text in seen if stands_in(wanted, text)), None)

    def _refuse_doubt(self, index: int, value: str | float) -> None:
        if "results" in self._names:
            for at in self.results.unknown:
                if self.results.sees(index, at):
                    raise unknown(at + 1, self.results.calls[at])
        if gap := self.results.gap():
            raise gap
        if "user" in self._names or "system" in self._names:
            self._refuse_unheard(index, value)

    def _refuse_unheard(self, index: int, value: str | float) -> None:
        if "user" in self._names and all(text.speaker != "user" for text in self._heard.texts):
            raise Undecided("messages_not_recorded", "No message of the user is recorded; the verdict depends on it.")
        for number in self._heard.unread:
            reason = f"Message {number} has a part that cannot be read as text; the verdict depends on it."
            raise Undecided("message_unread", reason)
        if self.results.calls[index].turn is None and any(self._has(words, value) for _, words in self._words):
            reason = f"The turn of call {index + 1} is not recorded; the verdict depends on it."
            raise Undecided("turn_not_recorded", reason)

    def alike(self, index: int, key: str) -> tuple[int, Any] | None:
        """The latest earlier result that has a value under the same key: the number of the call, and the value.

        Only the latest calls are looked at: it is a hint.
        """
        for at in range(index - 1, max(index - 1 - _LOOKED_AT, -1), -1):
            if not self.results.sees(index, at):
                continue
            for leaf in leaves(_shown(self.results.calls[at])):
                if leaf.steps and leaf.steps[-1] == key:
                    return at + 1, leaf.value
        return None


def _found(text: Text) -> Found:
    return Found("user" if text.speaker == "user" else "system", text.number)


def _shown(call: ToolCall) -> Any:
    """The result as far as it is shown."""
    result = result_of(call)
    return call.result if result is NO_RESULT else None if result is HIDDEN else result


def _told(call: ToolCall) -> Iterator[str | float]:
    """The strings and numbers that a call told the agent, those of a failure too."""
    if call.error is not None:
        yield call.error
    for leaf in leaves(_shown(call)):
        if isinstance(leaf.value, str | int | float) and not isinstance(leaf.value, bool) and not is_masked(leaf.value):
            yield leaf.value
