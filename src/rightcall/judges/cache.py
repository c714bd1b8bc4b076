"""Answers that are kept in a directory, so that the same question need not be paid for again.

An answer is kept by who was asked and every word that was told. A question that is asked several times (of several
attempts that did the same, or for several samples) has an entry each time, so that attempts never share one (G37): the
second time of this run finds what was answered the second time of an earlier one. Only answers that can be used are
kept. A file that cannot be read, or does not hold an answer, is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from typing import Final

import msgspec

from rightcall.core import jsontext
from rightcall.core.asking import Answer, Question
from rightcall.core.judging import CannotJudge
from rightcall.errors import UsageError, Where
from rightcall.judges.prompts import prompt

VERSION: Final = 1
"""Part of every key: it changes when entries of before must not be used any more."""

_decode = msgspec.json.Decoder(Answer).decode


class Cache:
    """A directory of answers. May be used by several threads and processes at once: an entry is there whole, or not."""

    def __init__(self, directory: str) -> None:
        """Make the directory where there is none; `UsageError` if nothing can be kept there."""
        self.directory = directory
        try:
            os.makedirs(directory, exist_ok=True)
            if not os.access(directory, os.W_OK | os.X_OK):
                raise PermissionError(0, "Permission denied")
        except OSError as error:
            message = f"no answers of a judge can be kept here: {error.strerror}"
            raise UsageError(message, Where(file=directory)) from None

    def get(self, key: str) -> Answer | None:
        """The answer that is kept under a key."""
        try:
            with open(self._path(key), "rb") as file:
                return msgspec.structs.replace(_decode(file.read()), is_cached=True)
        except (OSError, msgspec.DecodeError):
            return None

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer; `OSError` if it cannot be."""
        path = self._path(key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, name = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(jsontext.encode(answer))
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def _path(self, key: str) -> str:
        return os.path.join(self.directory, key[:2], f"{key}.json")


class Remembering:
    """An asker that looks into a cache first. `who` says who is asked: the model, and where it is reached."""

    def __init__(self, ask: Callable[[Question], Answer], cache: Cache, who: str) -> None:
        self.is_slow: bool = getattr(ask, "is_slow", False)
        self._ask = ask
        self._cache = cache
        self._who = who
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, question: Question) -> Answer:
        """The answer that is kept, or a new one, which is kept if it can be used."""
        key = self._key(question)
        kept = self._cache.get(key)
        if kept is not None and question.takes(kept.text):
            return kept
        answer = self._ask(question)
        if question.takes(answer.text):
            self._keep(key, answer)
        return answer

    def _keep(self, key: str, answer: Answer) -> None:
        try:
            self._cache.put(key, answer)
        except OSError as error:
            reason = f"The judge's answer could not be kept in {self._cache.directory}: {error.strerror}."
            raise CannotJudge("judge_failed", reason) from None

    def _key(self, question: Question) -> str:
        """A key of its own for each time that the same is asked."""
        words = prompt(question)
        asked = _hash([VERSION, self._who, words.instructions, words.content])
        with self._lock:
            self._times[asked] += 1
            time = self._times[asked]
        return _hash([asked, time])


def _hash(parts: list[str | int]) -> str:
    return hashlib.sha256(jsontext.encode(parts)).hexdigest()
