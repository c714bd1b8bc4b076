"""Calls to make small trajectories of: those that a test mentions, one that it does not, and variations of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, combinations, islice
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.assertion import CannotJudge
from rightcall.core.calls import ToolCall
from rightcall.core.counting import Scope
from rightcall.core.mutants import NEW_ARGUMENT, UNKNOWN_TOOL
from rightcall.core.operators import Making
from rightcall.core.values import MISSING, freeze, is_json
from rightcall.testsets.linting.samples import COMMON, accepted, refused
from rightcall.testsets.linting.subject import Expectation, Mention, Subject

MOST_VARIANTS: Final = 80
"""Arguments that are tried for one tool at most."""

LONGEST: Final = 5_000
"""Calls in one trajectory."""

MOST_EACH: Final = 8
"""Arguments that are tried for one expected call at most."""

MOST_TOGETHER: Final = 5
"""Expected arguments of one tool that are put together in every way; of more, only the first ones."""

OTHER_AGENT: Final = "unknown_agent"


class Vocabulary(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The calls that the trajectories of one test are made of."""

    subject: Subject
    expectations: tuple[Expectation, ...]

    @cached_property
    def stranger(self) -> str:
        """A tool that nobody mentions."""
        taken = {mention.tool for expectation in self.subject.expectations for mention in expectation.mentions}
        taken |= {*self.subject.setting.tool_aliases, *self.subject.setting.tool_aliases.values()}
        name = UNKNOWN_TOOL
        while name in taken:
            name += "_"
        return name

    @cached_property
    def by_tool(self) -> dict[str, list[Mention]]:
        """What is said of each tool."""
        found: dict[str, list[Mention]] = {}
        for mention in chain.from_iterable(expectation.mentions for expectation in self.expectations):
            found.setdefault(mention.tool, []).append(mention)
        return found

    @cached_property
    def arguments(self) -> dict[str, list[Any]]:
        """The arguments to try for each tool."""
        return {tool: self._variants(mentions) for tool, mentions in self.by_tool.items()}

    @cached_property
    def scopes(self) -> tuple[Scope | None, ...]:
        """The parts of a conversation that are spoken of."""
        return tuple({expectation.assertion.scope: None for expectation in self.expectations} or {None: None})

    @cached_property
    def calls(self) -> list[ToolCall]:
        """Every call, in each part of the conversation; failed ones too where failures matter."""
        variants = [(tool, arguments) for tool, each in self.arguments.items() for arguments in each]
        made = [self.call(tool, arguments, scope) for tool, arguments in variants for scope in self.scopes]
        made += [self.call(self.stranger, {}, scope) for scope in self.scopes]
        failed = [msgspec.structs.replace(call, status="error") for call in made] if self._tells_failures else []
        return [*made, *failed]

    @property
    def _tells_failures(self) -> bool:
        return any(
            getattr(expectation.assertion, "only_successful", False)
            or getattr(expectation.assertion, "max_errors", UNSET) is not UNSET
            for expectation in self.expectations
        )

    def call(self, tool: str, arguments: Any, scope: Scope | None) -> ToolCall:
        """A call that counts, in one part of the conversation."""
        count = self.subject.setting.count
        turn = scope.turn - 1 if scope is not None and scope.turn is not None else 0
        agent = scope.agent if scope is not None and scope.agent is not None else None
        named = count.agents[0] if count.agents else OTHER_AGENT
        return ToolCall(
            name=tool,
            arguments=arguments,
            status="ok",
            kind=count.kinds[0] if count.kinds and "client" not in count.kinds else "client",
            requestor="user" if count.requestor == "user" else "assistant",
            turn=turn,
            message=0 if self.is_parallel else None,
            agent=agent or named,
        )

    @cached_property
    def is_parallel(self) -> bool:
        """Whether calls of one message may stand in any order somewhere; all calls are then of one."""
        assertions = (expectation.assertion for expectation in self.expectations)
        is_said = any(getattr(assertion, "parallel", "ordered") == "unordered" for assertion in assertions)
        return is_said or self.subject.setting.parallel_unordered

    def matching(self, mention: Mention) -> list[Any]:
        """Arguments that a mention accepts; none if none was found."""
        return [item for item in self.arguments[mention.tool] if _matches(mention, item)]

    def wanted(self, expectation: Expectation) -> list[ToolCall]:
        """The calls that an expectation asks for, in its order, as they were written; none where it only forbids."""
        calls: list[ToolCall] = []
        for each in expectation.mentions if not expectation.compiled.ban else ():
            call = self.call(each.tool, next(iter(self.matching(each)), {}), expectation.assertion.scope)
            calls += [call] * min(each.times, LONGEST - len(calls))
        return calls

    def _variants(self, mentions: Sequence[Mention]) -> list[Any]:
        """Expected arguments, alone and put together, with and without one more; none, and one that nobody lists.

        That is one of each sort, where expected arguments are plain values that are compared as `exact` or `partial`.
        """
        if all(mention.pattern.matches is None for mention in mentions):
            return [{}]
        making = Making(regex=self.subject.setting.regex, schema=self.subject.setting.schema)
        own = [list(islice(each, MOST_EACH)) for mention in mentions for each in _own(mention, making)]
        heads = [each[0] for each in own if each and isinstance(each[0], dict)][:MOST_TOGETHER]
        sets = [some for size in range(1, len(heads) + 1) for some in combinations(heads, size)]
        objects = [{}, *(merged for merged in map(_together, sets) if merged is not None)]
        more = [{**each, NEW_ARGUMENT: 1} for each in objects]
        return _distinct([*chain.from_iterable(each[:1] for each in own), *objects, *more, *chain.from_iterable(own)])


def _own(mention: Mention, making: Making) -> Iterator[Iterator[Any]]:
    """Arguments that a mention accepts, and some that it speaks of only to refuse them."""
    if mention.pattern.mode == "regex":
        yield (item for item in _texts(mention.pattern.text) if _matches(mention, item))
    elif mention.arguments is not UNSET and mention.pattern.matches is not None:
        values = (value for value in accepted(mention.arguments, making) if value is not MISSING)
        yield (value for value in values if _matches(mention, value))
        yield refused(mention.arguments, making)


def _texts(pattern: str) -> Iterator[Any]:
    """Arguments whose text may hold what a pattern looks for."""
    words = pattern.strip("/").replace("\\", "").replace("^", "").replace("$", "")
    yield from ({"a": value} for value in (words, *COMMON))
    key, separator, value = words.partition(":")
    if separator:
        name = key.strip('"{ ')
        yield from ({name: each} for each in (value.strip('" }'), *COMMON))
        yield from ({name: number} for number in (-1, 1, 10, 100))


def _matches(mention: Mention, arguments: Any) -> bool:
    try:
        return mention.pattern.matches is None or mention.pattern.matches(arguments)
    except CannotJudge:
        return False


def _together(parts: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """One object with the members of all; `None` where they contradict one another."""
    merged: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            if key in merged and not _same(merged[key], value):
                return None
            merged[key] = value
    return merged


def _same(one: Any, other: Any) -> bool:
    return bool(freeze(one) == freeze(other))


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(islice({freeze(value): value for value in values if is_json(value)}.values(), MOST_VARIANTS))
