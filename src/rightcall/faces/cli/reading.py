"""What commands that read traces, and those that find the test of each, are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rightcall.faces.cli import streams

if TYPE_CHECKING:
    from rightcall.app.redaction import Redaction

Function = TypeVar("Function", bound=Callable[..., Any])

config_option = click.option(
    "--config", metavar="FILE", help="Keys for the whole test set, for one that has none, such as JSON Lines."
)
"""Adds the option `config` to a command that reads test sets."""


def trace_options(function: Function) -> Function:
    """Add the options `trace_format`, `group_by`, `tool_name_at` and `tool_arguments_at` to a command."""
    format_ = click.option(
        "--format", "trace_format", metavar="NAME", help="The format of the traces, if it should not be detected."
    )
    group_by = click.option(
        "--group-by",
        metavar="WHAT",
        help="What of a file is one trajectory: conversation, trace, file, or attribute:KEY. By default each format's "
        "own way: spans by conversation, records as they stand.",
    )
    name_at = click.option(
        "--tool-name-at",
        metavar="PATH",
        help="Where spans of wrappers name the tool that was called: a path such as inputs.call.tool_name.",
    )
    arguments_at = click.option(
        "--tool-arguments-at",
        metavar="PATH",
        help="Where these spans hold the arguments of the tool, such as inputs.call.args. By default all of inputs.",
    )
    return format_(group_by(name_at(arguments_at(function))))


def test_options(function: Function) -> Function:
    """Add the options `dialect`, `config`, `apply_all` and `test_id_key` to a command that has those of traces."""
    dialect = click.option("--dialect", metavar="NAME", help="Whose words the tests are written in, if not ours.")
    apply_all = click.option("--apply-all", is_flag=True, help="Take every trajectory for every test, each by itself.")
    id_key = click.option(
        "--test-id-key", metavar="KEY", help="The metadata key or span attribute that names a trajectory's test."
    )
    return dialect(config_option(apply_all(id_key(function))))


def redact_options(function: Function) -> Function:
    """Add the options `redact` and `redact_key_env` to a command that shows what was recorded."""
    redact = click.option(
        "--redact",
        multiple=True,
        metavar="RULE",
        help="Hide values in every output: a key or glob (password, *_token), a path ($.card.number), /REGEX/, "
        "@secrets or @emails; may be repeated.",
    )
    key = click.option(
        "--redact-key-env",
        metavar="NAME",
        help="The environment variable with a key: equal values are then hidden by equal marks.",
    )
    return redact(key(function))


def redaction(options: dict[str, Any]) -> Redaction:
    """What these options say; from now on, messages are looked through as outputs are."""
    from rightcall.app.redaction import Redaction

    asked = Redaction(
        rules=options["redact"],
        by_default=not options.get("no_redact", False),
        key_variable=options["redact_key_env"],
    )
    asked.check()
    if asked.asked is not None:
        streams.hide(asked.asked.text)
    return asked


def how(options: dict[str, Any]) -> dict[str, Any]:
    """What the options on traces say, by the names that requests have for it."""
    same = {name: options[name] for name in ("group_by", "tool_name_at", "tool_arguments_at")}
    return {"format": options["trace_format"], **same}


def shared(options: dict[str, Any]) -> dict[str, Any]:
    """What all these options say, by the names that requests have for it."""
    return {
        **how(options),
        "dialect": options["dialect"],
        "config": options["config"],
        "apply_all": options["apply_all"],
        "id_key": options["test_id_key"],
    }
