"""Recorded conversations as the keys of a test, with comments that say where they come from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.calls import FAILED_STATUSES, Trajectory
from rightcall.core.counting import Count, select
from rightcall.core.lining import Mode
from rightcall.core.values import cut, display, equal, visible
from rightcall.core.wording import amount
from rightcall.errors import TestSetError
from rightcall.testsets.promotion.calls import Arguments
from rightcall.testsets.promotion.concealing import Conceal
from rightcall.testsets.promotion.learning import learn
from rightcall.testsets.promotion.prompts import Asked, asked

_SHOWN: Final = 5
_SLUG: Final = 40
_DIGITS: Final = 8
_WORDS: Final = re.compile(r"[a-z0-9]+")


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """How expectations are drawn from runs: their `match` and `arguments`, and whether with the tools' schemas.

    `conceal` takes secrets out of what is written.
    """

    conceal: Conceal
    match: Mode = "exact"
    arguments: Arguments = "exact"
    schemas: bool = False


class Recorded(msgspec.Struct, frozen=True):
    """A conversation, and the file it was read from."""

    trajectory: Trajectory
    file: str

    @property
    def shown(self) -> str:
        """How messages name it."""
        known = self.trajectory
        return visible(known.id or known.conversation_id or self.file)


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A test: its keys in a native file, where it comes from, and what a reviewer should know, in sentences."""

    id: str
    keys: dict[str, Any]
    source: str
    notes: tuple[str, ...] = ()

    @property
    def comments(self) -> list[str]:
        """The lines that stand above it."""
        return [self.source, *self.notes]


def draft(identity: str, runs: Sequence[Recorded], drawing: Drawing) -> Draft:
    """The test that runs of one prompt make, of which there is at least one.

    `TestSetError` says why there can be none: calls may be missing, or nothing was recorded.
    """
    for run in runs:
        check_whole(run)
    learned = _learned(runs, drawing)
    prompts = _asked(runs, drawing.conceal)
    schemas, about_schemas = _schemas(runs, drawing)
    settings = {"match": drawing.match, "arguments": drawing.arguments}
    beside = settings if learned.key == "expected_tool_calls" else {}
    keys = {"id": identity, **prompts.keys, learned.key: learned.value, **beside, **schemas}
    notes = (*_about_runs(runs), *prompts.notes, *learned.reasons, *about_schemas)
    return _draft(identity, keys, runs, notes, drawing.conceal)


def _draft(
    identity: str, keys: dict[str, Any], runs: Sequence[Recorded], notes: Sequence[str], conceal: Conceal
) -> Draft:
    """The test, with comments in which no secret stands either."""
    return Draft(id=identity, keys=keys, source=conceal(_source(runs)), notes=tuple(map(conceal, notes)))


def failed_draft(identity: str, run: Recorded, expected: dict[str, Any], why: Sequence[str], conceal: Conceal) -> Draft:
    """The test that a conversation makes which failed: its prompt, and what it was to do, which it has not done.

    `expected` are the keys of the test that it failed, and `why` the reasons.
    """
    prompts = _asked([run], conceal)
    calls = [f"{call.name}({display(conceal(call.arguments), 120)})" for call in run.trajectory.tool_calls or ()]
    made = [f"call {number} was {visible(call)}" for number, call in enumerate(calls, 1)]
    reasons = [f"it failed: {reason}" for reason in why]
    notes = (*reasons, *(made or ["no call was made"]), *prompts.notes)
    return _draft(identity, {"id": identity, **prompts.keys, **expected}, [run], notes, conceal)


def check_whole(run: Recorded) -> None:
    """Refuse a conversation of which not all calls are known: what it did is then not what it shows."""
    known = run.trajectory
    if known.tool_calls is None:
        why = f": {known.warnings[0]}" if known.warnings else ""
        raise TestSetError(f"`{run.shown}` has no recorded tool calls{why}")
    if known.gaps:
        raise TestSetError(f"`{run.shown}` is not whole, so it shows no more than some of the calls: {known.gaps[0]}")
    for number, call in enumerate(known.tool_calls, 1):
        if not call.name:
            raise TestSetError(f"call {number} of `{run.shown}` has no name, so nothing can be expected of it")


def _learned(runs: Sequence[Recorded], drawing: Drawing) -> Any:
    counted = [select(run.trajectory.tool_calls or (), Count(), {}).calls for run in runs]
    try:
        return learn(counted, drawing.arguments, drawing.conceal)
    except ValueError as error:
        raise TestSetError(f"`{runs[0].shown}` and others: {error}; promote one of them") from None


def _asked(runs: Sequence[Recorded], conceal: Conceal) -> Asked:
    """The prompt of the first run, without secrets; what other runs were asked instead is told."""
    each = [asked(run.trajectory) for run in runs]
    first = each[0]
    notes = list(first.notes)
    others = [one for one in each if not equal(list(one.prompts), list(first.prompts))]
    if others:
        notes.append(f"{amount(len(others), 'run')} had another prompt than the first, which is the one here")
    shown = tuple(conceal(prompt) for prompt in first.prompts)
    if not equal(list(shown), list(first.prompts)):
        notes.append("what looks like a secret in the prompt is masked: put something harmless in its place")
    return Asked(shown, tuple(notes))


def _schemas(runs: Sequence[Recorded], drawing: Drawing) -> tuple[dict[str, Any], list[str]]:
    """The schemas of the tools that there were; none if a call names a tool that they lack."""
    if not drawing.schemas:
        return {}, []
    tools = {tool.name: tool for run in runs for tool in run.trajectory.available_tools}
    if not tools:
        return {}, ["the tools that there were are not recorded, so there are no `tool_schemas`"]
    made = {call.name for run in runs for call in run.trajectory.tool_calls or ()}
    unknown = sorted(made - tools.keys())
    if unknown:
        return {}, [f"`{visible(unknown[0])}` was called and is not among the tools that there were: no `tool_schemas`"]
    schemas = {name: _parameters(tool.parameters) for name, tool in tools.items()}
    return {"tool_schemas": _texts_concealed(schemas, drawing.conceal)}, []


def _texts_concealed(value: Any, conceal: Conceal) -> Any:
    """Each text by itself: in a schema, the key `password` names no secret."""
    if isinstance(value, dict):
        return {key: _texts_concealed(item, conceal) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts_concealed(item, conceal) for item in value]
    return conceal(value) if isinstance(value, str) else value


def _parameters(parameters: Any) -> Any:
    return parameters if isinstance(parameters, dict | bool) else {}


def _about_runs(runs: Sequence[Recorded]) -> Iterator[str]:
    if len(runs) > 1:
        yield f"learned from {len(runs)} runs"
    for run in runs:
        failed = [call for call in run.trajectory.tool_calls or () if call.status in FAILED_STATUSES]
        if failed:
            names = ", ".join(dict.fromkeys(visible(call.name) for call in failed))
            yield f"{amount(len(failed), 'call')} of `{run.shown}` failed when it was recorded: {names}"
        if run.trajectory.expectations.keys() - {"prompt"}:
            yield f"what the record of `{run.shown}` itself expects is not taken over"


def _source(runs: Sequence[Recorded]) -> str:
    """The conversations by file, of many only the first."""
    files: dict[str, list[str]] = {}
    for run in runs[:_SHOWN]:
        files.setdefault(visible(run.file), []).append(f"`{run.shown}`")
    told = [f"{', '.join(dict.fromkeys(names))} in {file}" for file, names in files.items()]
    more = f" and {len(runs) - _SHOWN} more" if len(runs) > _SHOWN else ""
    return f"from {'; '.join(told)}{more}"


def slug(prompts: Sequence[Any]) -> str:
    """An id made of the words of a prompt, and of a hash of all of it, so that different prompts have different ids."""
    text = display(list(prompts), 1 << 30)
    words = "-".join(_WORDS.findall(text.lower()))
    front = cut(words, _SLUG).partition("…")[0].strip("-") or "test"
    return f"{front}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"
