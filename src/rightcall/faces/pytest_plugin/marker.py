"""The marker `rightcall`: what it asks for, and which tests run only when live calls are wanted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import msgspec
import pytest

from rightcall.core.rates import parse_rate
from rightcall.core.results import ONE
from rightcall.errors import UsageError, did_you_mean

_WORDS: Final = {**dict.fromkeys(("1", "true", "yes", "on"), True), **dict.fromkeys(("0", "false", "no", "off"), False)}

_MOST: Final = 1000


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How often a test is run, the least share of attempts that must pass, and whether it calls a model."""

    repeat: int = 1
    min_pass_rate: Fraction = ONE
    live: bool = False


def asked(item: pytest.Item) -> Asked | None:
    """What the markers of a test ask for, the nearest first; `None` if that cannot be used."""
    try:
        return _read(item)
    except UsageError:
        return None


def skip_live(items: Sequence[pytest.Item]) -> None:
    """Have the tests skipped that call a model, unless live calls are wanted."""
    for item in items:
        if _refusal(item) is None and _read(item).live and not is_live(item.config):
            item.add_marker(pytest.mark.skip(reason="calls a model: run it with --rightcall-live"))


def admit(item: pytest.Item) -> None:
    """Fail the set-up of a test whose marker cannot be used."""
    refusal = _refusal(item)
    if refusal is not None:
        pytest.fail(refusal, pytrace=False)


def _refusal(item: pytest.Item) -> str | None:
    try:
        if _read(item).live:
            is_live(item.config)
    except UsageError as error:
        return str(error)
    return None


def _read(item: pytest.Item) -> Asked:
    keys: dict[str, Any] = {}
    for mark in item.iter_markers("rightcall"):
        if mark.args:
            raise UsageError(f"@pytest.mark.rightcall: expected keywords only, found {mark.args[0]!r}")
        keys = {**mark.kwargs, **keys}
    unknown = sorted(keys.keys() - set(Asked.__struct_fields__))
    if unknown:
        near = did_you_mean(unknown[0], Asked.__struct_fields__)
        known = ", ".join(f"`{name}`" for name in Asked.__struct_fields__)
        raise UsageError(f"@pytest.mark.rightcall: expected {known}, found `{unknown[0]}`{near}")
    return Asked(
        repeat=_repeat(keys.get("repeat", 1)),
        min_pass_rate=_rate(keys.get("min_pass_rate", ONE)),
        live=_live(keys.get("live", False)),
    )


def _repeat(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise UsageError(f"@pytest.mark.rightcall: expected `repeat` from 1 to {_MOST}, found {value!r}")
    return value


def _rate(value: object) -> Fraction:
    try:
        return parse_rate(value)
    except ValueError as error:
        raise UsageError(f"@pytest.mark.rightcall: `min_pass_rate`: {error}") from None


def _live(value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"@pytest.mark.rightcall: expected `live` to be True or False, found {value!r}")
    return value


def is_live(config: pytest.Config) -> bool:
    """Whether live calls are wanted: by the option, else by `RIGHTCALL_LIVE`, else by the configuration file."""
    if config.getoption("--rightcall-live"):
        return True
    told = os.environ.get("RIGHTCALL_LIVE", "")
    if told:
        if told.lower() not in _WORDS:
            raise UsageError(f"RIGHTCALL_LIVE: expected one of {', '.join(_WORDS)}, found `{told}`")
        return _WORDS[told.lower()]
    try:
        return bool(config.getini("rightcall_live"))
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise UsageError(f"rightcall_live in {config.inipath}: {error}") from None
