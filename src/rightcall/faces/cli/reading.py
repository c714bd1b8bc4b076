"""What every command that reads traces is told about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def trace_options(function: Function) -> Function:
    """Add the options `trace_format` and `group_by` to a command."""
    format_ = click.option(
        "--format", "trace_format", metavar="NAME", help="The format of the traces, if it should not be detected."
    )
    group_by = click.option(
        "--group-by",
        metavar="WHAT",
        help="What of a file is one trajectory: conversation, trace, file, or attribute:KEY. By default each format's "
        "own way: spans by conversation, records as they stand.",
    )
    return format_(group_by(function))
