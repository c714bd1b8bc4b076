"""Secrets by the names of environment variables: `${NAME}` in a text, or `{env: NAME}` in place of one.

A secret is looked up when an endpoint is opened. It is in no description of the endpoint, and `hide` takes it out of
whatever is shown or kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Final
from urllib.parse import quote, quote_plus

import msgspec
from msgspec import Meta

from rightcall.core.redaction.forms import forms
from rightcall.errors import UsageError, did_you_mean

SHORTEST: Final = 6
"""Letters that a secret must have to be looked for in other texts: a shorter one would be found where it is not."""

NAME: Final = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A name in a text, after one more `$` if it is not meant as one."""


class FromEnvironment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value of an environment variable."""

    env: Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_]*$", description="The environment variable's name.")]


Text = str | FromEnvironment
"""A text in which `${NAME}` is the value of an environment variable, or nothing but that."""


def source(text: Text) -> str:
    """The text with its secrets by name."""
    return text if isinstance(text, str) else shown(text.env)


class Secrets:
    """The secrets that one endpoint uses."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._used: dict[str, str] = {}
        self._written: list[tuple[str, str]] = []

    def value(self, name: str) -> str:
        """The secret of that name; `UsageError` if there is none."""
        value = self._environment.get(name, "")
        if not value:
            near = did_you_mean(name, self._environment, 0.8)
            raise UsageError(f"the endpoint needs the environment variable `{name}`, which is not set{near}")
        if self._used.get(name) != value:
            self._used[name] = value
            self._written = _ways(self._used)
        return value

    def filled(self, text: Text) -> str:
        """The text with its secrets in it."""
        return replaced(source(text), self.value)

    def all_filled(self, texts: Mapping[str, Text]) -> dict[str, str]:
        """The same for texts by their names."""
        return {name: self.filled(text) for name, text in texts.items()}

    @property
    def are_sought(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._written)

    def hide(self, text: str) -> str:
        """The text with the names of the secrets in place of them."""
        for way, name in self._written:
            text = text.replace(way, name)
        return text

    def hide_bytes(self, data: bytes) -> bytes:
        """The same for bytes."""
        for way, name in self._written:
            data = data.replace(way.encode("utf-8", "surrogateescape"), name.encode())
        return data


def _ways(used: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each way of writing each secret, with its name; longer ones first."""
    known = {
        way: shown(name)
        for name, value in used.items()
        if len(value) >= SHORTEST
        for way in (*forms(value), quote(value, safe=""), quote_plus(value))
    }
    return sorted(known.items(), key=lambda item: (-len(item[0]), item[0]))


def replaced(text: str, value: Callable[[str], str]) -> str:
    """The text with what `value` gives for each name; `$${NAME}` is `${NAME}` itself."""
    return NAME.sub(lambda found: found[0][1:] if found[1] else value(found[2]), text)


def shown(name: str) -> str:
    """A secret as it is shown."""
    return f"${{{name}}}"
