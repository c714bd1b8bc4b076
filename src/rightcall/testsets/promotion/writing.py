"""Drafts of tests as a new test set file, with comments where the format has any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.core.values import visible
from rightcall.errors import UsageError, Where
from rightcall.testsets.dumping import to_block, to_json
from rightcall.testsets.promotion.drafting import Draft
from rightcall.testsets.source import Format, named
from rightcall.testsets.template import SCHEMA_FILE

_NOTES: Final = "x-promoted"


def form_of(file: str) -> Format:
    """The format that a file's name asks for; `UsageError` for one that asks for none."""
    form = named(file)
    if form is None:
        raise UsageError("expected a name that ends in .yaml, .yml, .json, .jsonl or .ndjson", Where(file=file))
    return form


def written(drafts: Sequence[Draft], form: Format) -> bytes:
    """The file: in YAML with comments, elsewhere with what they say under `x-promoted` in each test."""
    if form == "yaml":
        return "".join(f"{line}\n" for line in _lines(drafts)).encode("utf-8", "surrogatepass")
    tests = [{**draft.keys, _NOTES: draft.comments} for draft in drafts]
    if form == "jsonl":
        return b"".join(jsontext.encode(test) + b"\n" for test in tests)
    return to_json({"version": 1, "tests": tests})


def _lines(drafts: Sequence[Draft]) -> Iterator[str]:
    yield f"# yaml-language-server: $schema={SCHEMA_FILE}"
    yield "version: 1"
    yield "tests:"
    for index, draft in enumerate(drafts):
        yield from [""] if index else []
        yield from (f"  # {visible(line)}" for line in draft.comments)
        yield from item(draft.keys)


def item(keys: dict[str, Any]) -> Iterator[str]:
    """The lines of a test in the list of a file."""
    first, *others = to_block(keys)
    yield f"  - {first}"
    yield from (f"    {line}" if line else "" for line in others)
