"""Which recorded conversations are asked for, and which of them are runs of one test."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from rightcall.app.matching import names_of
from rightcall.core.calls import FAILED_STATUSES, Trajectory
from rightcall.core.stringify import stringify
from rightcall.core.values import freeze
from rightcall.errors import UsageError
from rightcall.testsets.promotion import Conceal, Draft, Recorded, asked, slug

Calls = Literal["ok", "failed"]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What a conversation must be like; each of these that is given must hold, of several patterns one.

    `ids` are globs of its id, its conversation's or its test's, `tools` of a tool that was called, `metadata` are keys
    with values, and `calls` says that none failed, or that one did.
    """

    ids: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    calls: Calls | None = None

    def takes(self, trajectory: Trajectory) -> bool:
        """Whether the conversation is asked for."""
        made = trajectory.tool_calls or ()
        names = [name for name in (trajectory.id, trajectory.conversation_id, trajectory.test_id) if name]
        return (
            (not self.ids or _matches(names, self.ids))
            and (not self.tools or _matches([call.name for call in made], self.tools))
            and all(_text(trajectory.metadata.get(key, msgspec.UNSET)) == value for key, value in self.metadata)
            and (self.calls is None or any(call.status in FAILED_STATUSES for call in made) is (self.calls == "failed"))
        )


def _matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _text(value: Any) -> str | None:
    """A value of metadata as it is written on the command line: text as it is, all else as JSON."""
    if value is msgspec.UNSET:
        return None
    return value if isinstance(value, str) else stringify(value)


def metadata(text: str) -> tuple[str, str]:
    """The key and value of `KEY=VALUE`; `UsageError` without a key."""
    key, separator, value = text.partition("=")
    if not key or not separator:
        raise UsageError(f"--metadata: expected KEY=VALUE, such as env=production; found {text!r}")
    return key, value


def identity(runs: Sequence[Recorded], id_key: str | None, conceal: Conceal) -> str:
    """The id of the test that runs make: what all of them are called, else, or for a secret, one made of the prompt."""
    each = [_names(run, id_key) for run in runs]
    shared = (name for name in each[0] if all(name in names for names in each) and conceal(name) == name)
    return next(shared, None) or slug([conceal(prompt) for prompt in asked(runs[0].trajectory).prompts])


def _names(run: Recorded, id_key: str | None) -> list[str]:
    return [name for name in names_of(run.trajectory, id_key) if name]


def together(runs: Sequence[Recorded], id_key: str | None, *, by_prompt: bool) -> list[list[Recorded]]:
    """The runs of each test, in the order of their first: those that share a name, or also a prompt."""
    groups: dict[int, list[int]] = {}
    group_of: dict[Any, int] = {}
    for index, run in enumerate(runs):
        keys = list(_keys(run, id_key, by_prompt))
        met = sorted({group_of[key] for key in keys if key in group_of})
        home = met[0] if met else index
        groups.setdefault(home, []).append(index)
        for other in met[1:]:
            groups[home] += groups.pop(other)
            group_of = {key: home if at == other else at for key, at in group_of.items()}
        group_of |= dict.fromkeys(keys, home)
    return [[runs[index] for index in sorted(members)] for members in groups.values()]


def _keys(run: Recorded, id_key: str | None, by_prompt: bool) -> Iterator[Any]:
    """What a run shares with others of its test."""
    yield from (("name", name) for name in _names(run, id_key)[:1])
    prompts = asked(run.trajectory).prompts if by_prompt else ()
    if prompts:
        yield ("prompts", freeze(list(prompts)))


def renamed(drafts: Sequence[Draft], taken: Collection[str]) -> tuple[Draft, ...]:
    """The tests with ids that no other has: the second of one name has `-2` after it."""
    known = set(taken)
    done: list[Draft] = []
    for draft in drafts:
        name, number = draft.id, 1
        while name in known:
            number += 1
            name = f"{draft.id}-{number}"
        known.add(name)
        done.append(replace(draft, id=name, keys={**draft.keys, "id": name}))
    return tuple(done)
