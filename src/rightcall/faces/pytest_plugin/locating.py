"""Which traces a test set is graded on."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

import pytest

from rightcall.errors import UsageError


def traces(config: pytest.Config, path: Path) -> tuple[str, ...]:
    """The names of traces for a test set: those of the command, else those beside it, else those of the project.

    Of the command are `--rightcall-traces` and `RIGHTCALL_TRACES`; beside `refund.rightcall.yaml` stand
    `refund.traces.jsonl`, or any other suffix, and the directory `refund.traces`; of the project is the setting
    `rightcall_traces`. `UsageError` if there are none.
    """
    names = found(config, path)
    if not names:
        stem = _stem(path)
        raise UsageError(
            f"there are no traces for `{path.name}`: expected `{stem}.traces.jsonl` (or another suffix), or the"
            f" directory `{stem}.traces`, beside it, or names given with --rightcall-traces, RIGHTCALL_TRACES or the"
            " setting `rightcall_traces`"
        )
    return names


def found(config: pytest.Config, path: Path) -> tuple[str, ...]:
    """The same names, or none."""
    here = config.invocation_params.dir
    home = config.rootpath if config.inipath is None else config.inipath.parent
    return (
        _in(here, config.getoption("--rightcall-traces"))
        or _in(here, _named())
        or tuple(map(shown, _beside(path)))
        or _in(home, config.getini("rightcall_traces"))
    )


def _named() -> list[str]:
    """What the environment names."""
    told = os.environ.get("RIGHTCALL_TRACES", "")
    try:
        return shlex.split(told)
    except ValueError as error:
        raise UsageError(f"RIGHTCALL_TRACES: expected names as a shell splits them, found `{told}`: {error}") from None


def _stem(path: Path) -> str:
    stem, marked, _ = path.name.partition(".rightcall.")
    return stem if marked else path.stem


def _beside(path: Path) -> Iterable[Path]:
    start = f"{_stem(path)}.traces"
    return sorted(one for one in path.parent.iterdir() if one.name == start or one.name.startswith(f"{start}."))


def _in(directory: Path, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name if "://" in name else shown(directory / name) for name in names)


def shown(path: Path) -> str:
    """The name of a file as it is opened and shown: relative to where the program is, if it is below."""
    name = os.path.relpath(path)
    return str(path) if name.startswith("..") else name
