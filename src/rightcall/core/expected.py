"""Expected calls as data: what a file writes (G13 to G16)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

ArgumentsMode = Literal["partial", "exact", "ignore", "subset", "regex", "deep"]


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the arguments of one call must match, whatever the test's default.

    `mode` `exact`, `subset`, `partial` and `deep` need `args`; `regex` needs `pattern`, a JavaScript regular
    expression with optional `flags`, which is searched in `JSON.stringify(arguments)`; `ignore` needs neither.
    """

    mode: ArgumentsMode
    args: Any = UNSET
    pattern: str | UnsetType = UNSET
    flags: str = ""


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool call that a test expects.

    Without `arguments` any arguments are accepted. `match` overrides the test's argument mode for this call;
    `ignore_arguments` names arguments, or globs of them, that are not compared; `defaults` maps an argument to
    the value that it may have, or be absent; `fill_defaults` takes such values from the tool's JSON Schema.
    """

    name: str
    arguments: Any = UNSET
    match: Match | UnsetType = UNSET
    ignore_arguments: tuple[str, ...] = ()
    defaults: dict[str, Any] = {}
    fill_defaults: bool = False
