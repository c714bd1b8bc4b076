"""What is taken out of all that leaves: rules as options write them, and a redactor for each sort of report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rightcall.core import paths
from rightcall.core.calls import Trajectory
from rightcall.core.results import Attempt
from rightcall.errors import TraceError, UsageError, did_you_mean
from rightcall.testsets import CompiledTest

if TYPE_CHECKING:
    from rightcall.app.matching import Grade, Reading
    from rightcall.app.reading import Source
    from rightcall.core.redaction.redactor import Mask, Redactor
    from rightcall.core.redaction.rules import Group, Rules
    from rightcall.core.redaction.runs import Told

_GROUPS: Final[tuple[Group, ...]] = ("secrets", "emails")
_DIGITS: Final = 12


class Redaction(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is taken out: what `rules` hide, of every output, and secrets, of those reports that are shown around.

    Each rule is a key or a glob, `$.path`, `/regex/` or `@group`. `by_default` is whether reports that hide secrets do
    so without being asked to. `key_variable` names the environment variable with the key by which secrets are hashed,
    where not all of them should be the same word. Nothing is imported for it while nothing is taken out.
    """

    rules: tuple[str, ...] = ()
    by_default: bool = True
    key_variable: str | None = None

    @cached_property
    def asked(self) -> Redactor | None:
        """For every output: takes out what was asked for; nothing was if there is none. `UsageError` for a bad rule."""
        return self._redactor("asked", parsed(self.rules)) if self.rules else None

    @cached_property
    def shared(self) -> Redactor | None:
        """For reports that hide secrets: takes out these too."""
        return self._redactor("shared", parsed(self.rules).and_secrets()) if self.by_default else self.asked

    def check(self) -> None:
        """Refuse a rule that is none, and a key that is not there, before anything is read (`UsageError`)."""
        if self.rules:
            parsed(self.rules)
        if self.key_variable is not None:
            _hashing(self.key_variable)

    def redactor(self, *, hides_secrets: bool) -> Redactor | None:
        """What a report is looked through with, if it is."""
        return self.shared if hides_secrets else self.asked

    def redactors(self, hiding: Iterable[bool]) -> list[Redactor]:
        """The different ones for reports that do or do not hide secrets."""
        found = [self.redactor(hides_secrets=hides_secrets) for hides_secrets in hiding]
        return list({redactor.name: redactor for redactor in found if redactor is not None}.values())

    def _redactor(self, name: str, rules: Rules) -> Redactor:
        from rightcall.core.redaction.redactor import Redactor, plain_mask

        return Redactor(rules, plain_mask if self.key_variable is None else _hashing(self.key_variable), name)


def parsed(texts: Sequence[str]) -> Rules:
    """The rules that texts write; `UsageError` for one that does not."""
    from rightcall.core.redaction.rules import Rules

    if "" in texts:
        raise UsageError("--redact: expected a key, a path, a pattern or a group; found nothing")
    return Rules(
        keys=tuple(text for text in texts if text[:1] not in ("$", "@", "/")),
        paths=tuple(_path(text) for text in texts if text.startswith("$")),
        patterns=tuple(_pattern(text) for text in texts if text.startswith("/")),
        groups=frozenset(_group(text) for text in texts if text.startswith("@")),
    )


def _path(text: str) -> tuple[paths.Step, ...]:
    try:
        steps = paths.parse(text[1:].removeprefix("."))
    except ValueError as error:
        raise UsageError(f"--redact {text}: {error}") from None
    if not steps:
        raise UsageError("--redact $: expected a path such as $.card.number; `*` hides the values of all keys")
    return steps


def _pattern(text: str) -> str:
    import re

    if len(text) < 3 or not text.endswith("/"):
        raise UsageError(f"--redact {text}: expected a regular expression between slashes, such as /CUST-[0-9]+/")
    try:
        re.compile(text[1:-1])
    except re.error as error:
        raise UsageError(f"--redact {text}: not a regular expression: {error}") from None
    return text[1:-1]


def _group(text: str) -> Group:
    for group in _GROUPS:
        if text == f"@{group}":
            return group
    known = [f"@{group}" for group in _GROUPS]
    raise UsageError(f"--redact {text}: expected {' or '.join(known)}{did_you_mean(text, known)}")


def _hashing(variable: str) -> Mask:
    """A mask that is the same for the same secret, and tells nothing to who has not the key."""
    import hashlib
    import hmac

    key = os.environ.get(variable, "").encode("utf-8", "surrogateescape")
    if not key:
        raise UsageError(f"--redact-key-env {variable}: the environment variable `{variable}` is not set, or empty")

    def mask(secret: str) -> str:
        digest = hmac.new(key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        return f"[redacted:{digest[:_DIGITS]}]"

    return mask


def shown(told: Told, redactor: Redactor | None) -> Told:
    """What a report is told, or a trajectory, without secrets; as it is if nothing is taken out."""
    if redactor is None:
        return told
    from rightcall.core.redaction.runs import redacted

    return redacted(told, redactor)


def noting(grade: Grade, redactors: Iterable[Redactor]) -> Grade:
    """The same grading, with what the redactors find to be secret in the test and all of the trajectory noted.

    Sentences show values cut; what was cut is found by the whole value, which is known only here.
    """
    from rightcall.core.redaction.runs import secrets_in, secrets_of

    using = tuple(redactors)
    of_tests: dict[str, tuple[Any, tuple[str, ...]]] = {}

    def secrets(trajectory: Trajectory, compiled: CompiledTest, redactor: Redactor) -> tuple[str, ...]:
        known = of_tests.get(redactor.name)
        if known is None or known[0] is not compiled:
            known = of_tests[redactor.name] = (compiled, tuple(secrets_in(compiled.test, redactor)))
        return tuple(dict.fromkeys((*known[1], *secrets_of(trajectory, redactor))))

    def graded(trajectory: Trajectory, compiled: CompiledTest, file: str) -> Attempt:
        attempt = grade(trajectory, compiled, file)
        found = {redactor.name: secrets(trajectory, compiled, redactor) for redactor in using}
        return msgspec.structs.replace(attempt, secrets=found)

    return graded


class Seen:
    """What is found to be secret in tests and trajectories, for what is told of all of them at the end."""

    def __init__(self, asked: Redaction) -> None:
        self._redactor = asked.asked
        self._found: dict[str, None] = {}

    def tests(self, tests: Iterable[Any]) -> None:
        """Look through tests."""
        if self._redactor is not None:
            from rightcall.core.redaction.runs import secrets_in

            for test in tests:
                self._found |= dict.fromkeys(secrets_in(test, self._redactor))

    def readings(self, readings: Iterable[Reading]) -> Iterator[Reading]:
        """The same readings, each looked through."""
        if self._redactor is None:
            yield from readings
            return
        from rightcall.core.redaction.runs import secrets_of

        for reading in readings:
            if isinstance(reading.item, Trajectory):
                self._found |= dict.fromkeys(secrets_of(reading.item, self._redactor))
            yield reading

    @property
    def redactor(self) -> Redactor | None:
        """What takes out all that was found, if anything was asked for."""
        return None if self._redactor is None else self._redactor.knowing(self._found)


Sources = Iterable[tuple["Source", Iterable["Reading"]]]


def without_secrets(sources: Sources, asked: Redaction) -> Sources:
    """What is read of trace files, as it may be shown; as it is if nothing was asked for."""
    redactor = asked.asked
    return sources if redactor is None else _looked_through(sources, redactor)


def _looked_through(sources: Sources, redactor: Redactor) -> Iterator[tuple[Source, Iterable[Reading]]]:
    for source, readings in sources:
        shown = (_reading(reading, redactor) for reading in readings)
        yield msgspec.structs.replace(source, file=redactor.text(source.file)), shown


def _reading(reading: Reading, redactor: Redactor) -> Reading:
    from rightcall.core.redaction.runs import redacted

    item: Trajectory | TraceError
    if isinstance(reading.item, TraceError):
        item = TraceError(redactor.text(str(reading.item)))
    else:
        item = redacted(reading.item, redactor)
    return msgspec.structs.replace(reading, item=item, file=redactor.text(reading.file))
