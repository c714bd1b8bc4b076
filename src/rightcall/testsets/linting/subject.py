"""What is looked at: one test, compiled, with the place of everything in it and the calls that it mentions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.assertion import Assertion, Compiled, Setting
from rightcall.core.patterns import ExpectedCall, Match, Pattern, compile_call, compile_match
from rightcall.errors import Where
from rightcall.testsets.compiling import CompiledTest
from rightcall.testsets.linting.remarks import Level, Remark
from rightcall.testsets.marks import child
from rightcall.testsets.model import Place
from rightcall.testsets.source import Source
from rightcall.testsets.tools import NAMES

FREE: Final = frozenset({"optional", "one_of"})
"""Fields that hold steps which need not be taken; steps repeated at least 0 times need not be either."""

ALLOWING: Final = frozenset({"allowed_tools", "budget"})
"""Kinds that forbid, though not the calls that they name."""


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that an assertion names, with the path inside it and what is expected of its arguments.

    `arguments` are those as they were written, `UNSET` if there are none, and `args_path` leads to them. `bans` says
    that the call must not be made, `is_free` that it need not; `times` is how often it is spoken of.
    """

    path: str
    tool: str
    pattern: Pattern
    arguments: Any = UNSET
    args_path: str = ""
    bans: bool = False
    is_free: bool = False
    times: int = 1


class Expectation(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One assertion of a test: as data, ready to check, and its place."""

    assertion: Assertion
    compiled: Compiled
    place: Place
    mentions: tuple[Mention, ...]

    @property
    def kind(self) -> str:
        """The name of its kind."""
        return self.compiled.kind

    @cached_property
    def tools(self) -> frozenset[str]:
        """The tools that it mentions."""
        return frozenset(mention.tool for mention in self.mentions)

    @cached_property
    def tools_with_any_arguments(self) -> frozenset[str]:
        """Those that it mentions without saying anything of their arguments."""
        return frozenset(mention.tool for mention in self.mentions if mention.pattern.matches is None)

    @property
    def asks(self) -> bool:
        """Whether only a judge can decide it."""
        return getattr(self.compiled.check, "ask", None) is not None

    @property
    def blocks(self) -> bool:
        """Whether its verdict gates."""
        return self.compiled.severity == "block"


class Subject(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A compiled test and the source of its file."""

    test: CompiledTest
    setting: Setting
    source: Source

    @cached_property
    def expectations(self) -> tuple[Expectation, ...]:
        """Its assertions, in order."""
        test = self.test.test
        zipped = zip(test.assertions, self.test.assertions, test.places, strict=True)
        return tuple(
            Expectation(
                assertion=assertion,
                compiled=compiled,
                place=place,
                mentions=tuple(_mentions(assertion, compiled, self.setting)),
            )
            for assertion, compiled, place in zipped
        )

    def at(self, expectation: Expectation, path: str = "") -> Where:
        """The place in the file of a path inside an assertion."""
        return self.found(expectation.place.path(path), expectation.place.where)

    def key(self, name: str) -> Where:
        """The place of a key of the test, or of the test itself if it does not stand there."""
        where = self.test.test.where
        return self.found(child(where.path, name), where)

    def found(self, path: str, otherwise: Where) -> Where:
        """The place of a path, or as much of it as is known."""
        where = self.source.value(path)
        return where if where.line is not None else msgspec.structs.replace(otherwise, path=path)

    def remark(self, code: str, level: Level, where: Where, message: str, advice: str) -> Remark:
        """A remark on this test."""
        return Remark(code=code, level=level, where=where, message=message, advice=advice, test=self.test.test.id)


def _mentions(assertion: Assertion, compiled: Compiled, setting: Setting) -> Iterator[Mention]:
    mode = getattr(assertion, "arguments", "partial")
    bans = compiled.ban and compiled.kind not in ALLOWING
    for mention in _walk(assertion, "", mode, setting):
        yield msgspec.structs.replace(mention, bans=bans) if bans else mention


def _walk(value: Any, path: str, mode: Any, setting: Setting) -> Iterator[Mention]:
    """Every tool that is named somewhere in an assertion: calls, steps, entries of lists."""
    if isinstance(value, ExpectedCall):
        yield _called(value, path, mode, setting)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _walk(item, child(path, index), mode, setting)
    elif isinstance(value, msgspec.Struct):
        yield from _own(value, path, setting)
        for field in value.__struct_fields__:
            yield from _field(getattr(value, field), field, child(path, field), mode, setting)


def _field(value: Any, field: str, path: str, mode: Any, setting: Setting) -> Iterator[Mention]:
    for at, tool in _names(value, path) if field in NAMES and field != "tool" else ():
        yield Mention(path=at, tool=tool, pattern=compile_match(tool, UNSET, setting))
    if isinstance(value, tuple | msgspec.Struct):
        is_free = field in FREE or getattr(value, "min", 1) == 0
        least = getattr(value, "min", 1)
        for mention in _walk(value, path, mode, setting):
            yield msgspec.structs.replace(
                mention, is_free=mention.is_free or is_free, times=mention.times * max(least, 1)
            )


def _names(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Bare names: one, a list of them, or the keys of a mapping."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, tuple):
        yield from ((child(path, index), item) for index, item in enumerate(value) if isinstance(item, str))
    elif isinstance(value, dict):
        yield from ((child(path, name), name) for name in value)


def _called(call: ExpectedCall, path: str, mode: Any, setting: Setting) -> Mention:
    is_match = isinstance(call.match, Match)
    arguments = call.match.args if isinstance(call.match, Match) else call.arguments
    return Mention(
        path=child(path, "name"),
        tool=call.name,
        pattern=compile_call(call, mode, setting),
        arguments=arguments,
        args_path=_of_match(call.match, path) if is_match else child(path, "arguments"),
    )


def _own(value: msgspec.Struct, path: str, setting: Setting) -> Iterator[Mention]:
    """The tool that a struct itself is about, such as a step."""
    tool, match = getattr(value, "tool", None), getattr(value, "match", UNSET)
    if isinstance(tool, str):
        known = match if isinstance(match, Match) else UNSET
        yield Mention(
            path=child(path, "tool"),
            tool=tool,
            pattern=compile_match(tool, known, setting),
            arguments=known.args if isinstance(known, Match) else UNSET,
            args_path=_of_match(known, path),
            times=_times(value),
        )


def _times(value: msgspec.Struct) -> int:
    number = getattr(value, "n", getattr(value, "call_index", 1))
    return number if isinstance(number, int) else 1


def _of_match(match: Any, path: str) -> str:
    field = "pattern" if isinstance(match, Match) and match.mode == "regex" else "args"
    return child(child(path, "match"), field)
