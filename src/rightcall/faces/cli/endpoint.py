"""`rightcall endpoint`: how an agent is reached, tried out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.root import Command, Group

if TYPE_CHECKING:
    from rightcall.agents.exchange import Reply
    from rightcall.agents.proposing import Proposal
    from rightcall.app.running.trying import Part, Tried

_SHOWN: Final = 4000
"""Letters of one part that are shown."""

_BRIEF: Final = 200
"""Letters of what has been shown before."""

_EPILOG = """\
\b
Examples:
  rightcall endpoint try refund.rightcall.yaml
  rightcall endpoint try --url http://127.0.0.1:8000/chat --input "Where is order 42?"
  rightcall endpoint try --endpoint python:agent.py:answer
"""


@click.group("endpoint", cls=Group, epilog=_EPILOG)
def command() -> None:
    """Try how an agent is reached."""


@command.command("try", cls=Command, epilog=_EPILOG)
@click.argument("file", required=False)
@click.option("--url", metavar="URL", help="Where the agent is, by http, https, ws or wss.")
@click.option("--endpoint", metavar="AGENT", help="How it is reached: python:FILE:FUNCTION, command:…, a URL.")
@click.option("--input", "said", metavar="TEXT", help="What is said. Without it, what the first test of FILE says.")
@click.option("--dialect", metavar="NAME", help="Whose words the tests are written in, if not ours.")
def attempt(file: str | None, url: str | None, endpoint: str | None, said: str | None, dialect: str | None) -> int:
    """Say one thing to the agent of FILE, and show what was sent, what came back and what was made of it.

    Secrets are shown by their names. Where no mapping reads the calls, one to try is proposed. Exit code 1 if the agent
    says that it failed, 3 if there was trouble on the way.
    """
    from rightcall.app.running import trying

    if url is not None and endpoint is not None:
        raise click.UsageError("--url and --endpoint both name an agent; leave one out")
    request = trying.TryRequest(file=file, endpoint=url or endpoint, said=said, dialect=dialect)
    tried = trying.attempt(request, os.environ)
    for line in _lines(tried):
        streams.say(line)
    if tried.trouble is not None:
        streams.note(f"error: {tried.trouble}")
    return tried.exit_code


def _lines(tried: Tried) -> Iterator[str]:
    yield from _parts("sent", tried.sent)
    yield from _parts("came", [part for part in tried.came if not part.name.startswith("mapped ")])
    if tried.reply is not None:
        yield from _reply(tried.reply, [part for part in tried.came if part.name.startswith("mapped ")])
    if tried.proposal is not None:
        yield from _proposed(tried.proposal)


def _parts(head: str, parts: Iterable[Part]) -> Iterator[str]:
    parts = list(parts)
    yield head if parts else f"{head}: nothing"
    for part in parts:
        lines = _shown(part.value)
        if len(lines) == 1:
            yield f"  {part.name}: {lines[0]}"
        else:
            yield f"  {part.name}:"
            yield from (f"    {line}" for line in lines)


def _shown(value: Any) -> list[str]:
    """A value in lines that a terminal can show: headers one a line, JSON laid out, text as it is."""
    import msgspec

    from rightcall.core import jsontext
    from rightcall.core.inert import inert_line
    from rightcall.core.values import visible

    text = value if isinstance(value, str) else repr(value)
    try:
        plain = jsontext.decode(value) if isinstance(value, str) else value
        if isinstance(plain, dict | list):
            text = msgspec.json.format(jsontext.encode(plain)).decode()
    except (jsontext.JSONError, TypeError, ValueError):
        pass
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} … {len(text) - _SHOWN:,} more letters"
    return [inert_line(visible(line)) for line in cut.rstrip("\n").split("\n")]


def _reply(reply: Reply, mapped: list[Part]) -> Iterator[str]:
    from msgspec import UNSET

    from rightcall.app.running.trying import calls_of
    from rightcall.core.values import display

    if mapped:
        yield "mapping"
        for part in mapped:
            found = "nothing" if part.value is UNSET else display(part.value, _SHOWN)
            yield f"  {part.name.removeprefix('mapped ')}: {found}"
    yield "reply"
    if reply.error is not None:
        yield f"  the agent failed: {display(reply.error, _SHOWN)}"
    yield f"  output: {display(reply.output, _BRIEF)}"
    words, calls = calls_of(reply)
    yield f"  tool calls: {words}"
    for name, arguments in calls:
        yield f"    {display(name)} {display(arguments, _SHOWN)}"
    told = {"conversation_id": reply.conversation_id, "context": reply.context, "metadata": reply.metadata or None}
    for field, value in told.items():
        if value is not None:
            yield f"  {field}: {display(value, _SHOWN)}"
    gaps = () if reply.trajectory is None else (*reply.trajectory.gaps, *reply.trajectory.warnings)
    for note in dict.fromkeys([*reply.warnings, *gaps]):
        yield f"  note: {display(note, _SHOWN)}"


def _proposed(proposal: Proposal) -> Iterator[str]:
    from rightcall.core.values import display

    if proposal.response:
        yield "a mapping to try"
        yield "  response:"
        yield from (f"    {name}: {display(path, _SHOWN)}" for name, path in proposal.response.items())
    yield from (f"note: {note}" for note in proposal.notes)
