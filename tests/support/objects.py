"""What the tests of objects in memory share: what was read in few words, and the law of dumps."""

from __future__ import annotations

import json
from typing import Any

import msgspec

import rightcall
from support.staged.scripts import SCRIPTS, Call

RETRY = SCRIPTS["retry"]
"""Two calls at once, then one that fails, then the same again, then a text."""

PARALLEL: tuple[Call, ...] = RETRY.turns[0][0]
ASKED = [(call.name, json.loads(call.text)) for call in PARALLEL]
"""What the first answer of that script asks for."""


def asked(value: Any) -> list[tuple[str, Any]]:
    """The names and the arguments of the calls in a value; why not, for arguments that are not known."""
    calls = rightcall.read(value).tool_calls
    assert calls is not None
    return [(call.name, call.arguments if call.arguments_state == "ok" else call.arguments_state) for call in calls]


def became(value: Any) -> list[tuple[str, str]]:
    """The names of the calls and what became of each."""
    return [(call.name, call.status) for call in rightcall.read(value).tool_calls or ()]


def assert_reads_like(value: Any, *dumps: Any) -> None:
    """The law: an object reads as the text does that its library writes of it. Dumps are text, or JSON values.

    Only the messages that are kept for showing may differ, in members that are null.
    """
    for dump in dumps:
        text = dump if isinstance(dump, str | bytes) else json.dumps(dump)
        read, dumped = rightcall.read(value), rightcall.read(text)
        assert msgspec.structs.replace(dumped, messages=None) == msgspec.structs.replace(read, messages=None)
