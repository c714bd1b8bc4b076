"""What the agent's final answer says, and does not say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core import doubt
from rightcall.core.assertion import Assertion, CannotJudge, Check, Matcher, Setting
from rightcall.core.calls import Trajectory
from rightcall.core.scoping import final_text
from rightcall.core.values import cut, display, visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.errors import TestSetError, Where

Phrase = Annotated[str, msgspec.Meta(min_length=1)]
Phrases = Annotated[tuple[Phrase, ...], msgspec.Meta(min_length=1)]


class Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the key `text` holds: the same as the fields of its kind."""

    must_include: (
        Annotated[Phrases, msgspec.Meta(description="Phrases that must each stand in the final answer.")] | UnsetType
    ) = UNSET
    must_not_include: Annotated[Phrases, msgspec.Meta(description="Phrases that must not stand in it.")] | UnsetType = (
        UNSET
    )
    regex: (
        Annotated[Phrase, msgspec.Meta(description="A JavaScript regular expression that must be found in it.")]
        | UnsetType
    ) = UNSET
    flags: Annotated[str, msgspec.Meta(description="Flags of the `regex`.")] | UnsetType = UNSET
    ignore_case: (
        Annotated[bool, msgspec.Meta(description="Whether phrases are compared without regard to case.")] | UnsetType
    ) = UNSET


class Text(Assertion, frozen=True, kw_only=True, tag="text"):
    """The agent's final answer says what it must, and nothing that it must not. Verdict `text`.

    `must_include` and `must_not_include` list phrases, which are looked for as they are written; with `ignore_case`,
    whatever their case. `regex` is a JavaScript regular expression with optional `flags`, which must be found. An
    answer that is data is searched as its JSON text. No rate softens it where it has `must_not_include`.
    """

    must_include: Phrases | UnsetType = UNSET
    must_not_include: Phrases | UnsetType = UNSET
    regex: Phrase | UnsetType = UNSET
    flags: str | UnsetType = UNSET
    ignore_case: bool | UnsetType = UNSET

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` with the path of what has no effect."""
        if self.scope is not None:
            raise TestSetError("`text` looks at the final answer of the whole conversation, not at a turn or an agent")
        phrases = (self.must_include, self.must_not_include)
        if all(value is UNSET for value in (*phrases, self.regex)):
            raise TestSetError("expected `must_include`, `must_not_include` or `regex`, found none of them")
        if self.flags is not UNSET and self.regex is UNSET:
            raise TestSetError("`flags` have no effect without `regex`", Where(path="flags"))
        if self.ignore_case is not UNSET and all(value is UNSET for value in phrases):
            message = "`ignore_case` has no effect without phrases; for a `regex`, write `flags: i`"
            raise TestSetError(message, Where(path="ignore_case"))
        return TextCheck(self, self._matcher(setting))

    def _matcher(self, setting: Setting) -> Matcher | None:
        if isinstance(self.regex, UnsetType):
            return None
        try:
            return setting.regex(self.regex, "" if isinstance(self.flags, UnsetType) else self.flags)
        except ValueError as error:
            raise TestSetError(f"not a regular expression: {error}", Where(path="regex")) from None


class TextCheck:
    """A compiled text assertion."""

    name = "text"
    needs_calls = False
    sees_every_call = True

    def __init__(self, assertion: Text, matcher: Matcher | None) -> None:
        self.wanted: tuple[str, ...] = _phrases(assertion.must_include)
        self.unwanted: tuple[str, ...] = _phrases(assertion.must_not_include)
        self.folds = assertion.ignore_case is True
        self.matcher = matcher
        self.pattern = f"/{assertion.regex}/{_flags(assertion)}"
        self.is_ban = bool(self.unwanted)

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Look for each phrase, and for the pattern; `CannotJudge` if no answer was recorded."""
        text = final_text(trajectory)
        if text is None:
            raise CannotJudge("no_text", "No final answer was recorded.")
        if trajectory.output is None and trajectory.gaps:
            raise doubt.gap(trajectory)
        return Evidence(tuple(self._findings(text)), {"text": text})

    def _findings(self, text: str) -> Iterator[Finding]:
        shown = display(text, 200)
        for phrase in self.wanted:
            if not self._has(text, phrase):
                message = f"The final answer does not include {display(phrase)}: {shown}"
                yield Finding(code="text_missing", message=message, expected=phrase, actual=text)
        for phrase in self.unwanted:
            if self._has(text, phrase):
                message = f"The final answer includes {display(phrase)}, which it must not: {shown}"
                yield Finding(code="text_forbidden", message=message, actual=text)
        if self.matcher is not None and not self.matcher(text):
            message = f"The final answer does not match {cut(visible(self.pattern), 80)}: {shown}"
            yield Finding(code="text_missing", message=message, expected=self.pattern, actual=text)

    def _has(self, text: str, phrase: str) -> bool:
        return phrase.casefold() in text.casefold() if self.folds else phrase in text


def _phrases(phrases: Any) -> tuple[str, ...]:
    return () if isinstance(phrases, UnsetType) else phrases


def _flags(assertion: Text) -> str:
    return "" if isinstance(assertion.flags, UnsetType) else assertion.flags
