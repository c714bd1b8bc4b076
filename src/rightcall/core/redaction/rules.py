"""What is hidden: values of keys, values at paths, what matches a pattern, and what looks like a secret."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final, Literal

import msgspec

from rightcall.core.paths import EVERY, Step
from rightcall.core.redaction import shapes

Group = Literal["secrets", "emails"]

MOST_DECIDED: Final = 10_000
"""Keys for which it is remembered whether they are hidden."""

_ROOTS: Final = frozenset({"arguments", "args", "input", "result", "output", "metadata"})
"""Keys of records, messages and tests that hold what paths begin in."""


class Rules(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is hidden.

    `keys` are names or globs of keys, in any case, whose whole values are hidden wherever they stand. `paths` are
    paths from the arguments of a call, its result, the metadata or the agent's reply. `patterns` are regular
    expressions of Python, for parts of texts. `groups` are what is known here: `secrets` by their shapes and by the
    usual names of keys that hold them, `emails`.
    """

    keys: tuple[str, ...] = ()
    paths: tuple[tuple[Step, ...], ...] = ()
    patterns: tuple[str, ...] = ()
    groups: frozenset[Group] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.keys or self.paths or self.patterns or self.groups)

    def and_secrets(self) -> Rules:
        """These, and secrets."""
        return msgspec.structs.replace(self, groups=self.groups | {"secrets"})

    @cached_property
    def compiled(self) -> tuple[re.Pattern[str], ...]:
        """The patterns, ready to search."""
        return tuple(map(re.compile, self.patterns))

    @cached_property
    def _decided(self) -> dict[str, bool]:
        """Keys that were asked for before."""
        return {}

    @cached_property
    def remembered(self) -> dict[str, tuple[shapes.Span, ...]]:
        """What was found in texts that may come again."""
        return {}

    @cached_property
    def has_keys(self) -> bool:
        """Whether values are hidden by the keys that stand before them."""
        return bool(self.keys or self.paths) or "secrets" in self.groups

    @cached_property
    def _keys(self) -> re.Pattern[str] | None:
        globs = "|".join(fnmatch.translate(key.casefold()) for key in self.keys)
        return re.compile(globs) if globs else None

    def hides_key(self, key: str) -> bool:
        """Whether the value of a key of that name is hidden."""
        known = self._decided.get(key)
        if known is None:
            known = self._matches(key) or ("secrets" in self.groups and shapes.is_credential(key))
            if len(self._decided) < MOST_DECIDED:
                self._decided[key] = known
        return known

    def _matches(self, key: str) -> bool:
        return self._keys is not None and self._keys.match(key.casefold()) is not None

    def names_key(self, key: str) -> bool:
        """Whether that is so by a rule that is about some keys, and not about all of them."""
        globs = [glob for glob in self.keys if glob.strip("*")]
        is_named = any(fnmatch.fnmatchcase(key.casefold(), glob.casefold()) for glob in globs)
        return is_named or ("secrets" in self.groups and shapes.is_credential(key))

    def hides(self, path: Sequence[Any]) -> bool:
        """Whether the value at a path is hidden, where those that it is in are not."""
        if path and isinstance(path[-1], str) and self.hides_key(path[-1]):
            return True
        return bool(self.paths) and any(_leads_to(steps, root) for root in _roots(path) for steps in self.paths)


def _roots(path: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The path, and what of it comes after keys that hold what paths begin in."""
    yield path
    yield from (path[at + 1 :] for at, step in enumerate(path) if step in _ROOTS)


def _leads_to(steps: Sequence[Step], path: Sequence[Any]) -> bool:
    return len(steps) == len(path) and all(map(_is_step, steps, path))


def _is_step(step: Step, taken: Any) -> bool:
    return isinstance(taken, int) if step is EVERY else bool(step == taken)
