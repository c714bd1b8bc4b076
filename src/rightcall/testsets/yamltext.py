"""YAML 1.2 restricted to JSON: the core schema, no tags, no merge keys, one document."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from rightcall.errors import TestSetError, Where
from rightcall.testsets.building import Built, Event, build, refuse

if TYPE_CHECKING:
    from ruamel.yaml.events import Event as YAMLEvent

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_HEXADECIMAL: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def read_yaml(text: str) -> Built | None:
    """The value and marks of a YAML text, `None` if it is empty. `TestSetError` with line and column."""
    return build(events(text), resolve)


def resolve(event: Event) -> Any:
    """A scalar's value by the core schema of YAML 1.2: everything that is no JSON word or number is a string."""
    text = event.text
    if not event.plain:
        return _joined(text)
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _NOT_FINITE.fullmatch(text):
        refuse(f"`{text}` is not a JSON number; write it in quotes if it is text", event)
    return _number(text, event) if text[0] in "+-.0123456789" else _joined(text)


def _number(text: str, event: Event) -> Any:
    try:
        if _INTEGER.fullmatch(text):
            return int(text)
    except ValueError:
        refuse(f"an integer of {len(text)} digits is out of range", event)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    if not _FLOAT.fullmatch(text):
        return _joined(text)
    number = float(text)
    if not math.isfinite(number):
        refuse(f"the number `{text[:40]}` is out of range", event)
    return number


def _joined(text: str) -> str:
    """A character that was escaped as two surrogates is one character, as in JSON."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def events(text: str) -> Iterator[Event]:
    """The events of the one document in a text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    if "\x85" in text:
        line, column = _position(text, text.index("\x85"))
        raise TestSetError("write the character U+0085 as `\\N` in double quotes", Where(line=line, column=column))
    try:
        for number, event in enumerate(YAML(typ="safe", pure=True).parse(text)):
            yield from _translate(event, number, text)
    except ReaderError as error:
        code = error.character if isinstance(error.character, int) else ord(error.character)
        line, column = _position(text, error.position)
        raise TestSetError(
            f"not YAML: the character U+{code:04X} is not allowed", Where(line=line, column=column)
        ) from None
    except (ValueError, OverflowError) as error:
        raise TestSetError(f"not YAML: an escape stands for no character ({error})") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Where(line=mark.line + 1, column=mark.column + 1) if mark else Where()
        raise TestSetError(f"not YAML: {error.problem or error.context}", where) from None


def _position(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _translate(event: YAMLEvent, number: int, text: str) -> Iterator[Event]:
    from ruamel.yaml import events as yaml

    line, column, at = event.start_mark.line + 1, event.start_mark.column + 1, event.start_mark.index
    if isinstance(event, yaml.NodeEvent) and text[at - 1 : at] == "?":
        # The library takes `?` in brackets for the sign of a key even without the blank that YAML 1.2 asks for.
        refuse("a `?` without a blank after it; quote the text that begins with it", Event("scalar", line, column - 1))
    match event:
        case yaml.ScalarEvent():
            plain = event.style is None
            yield _untagged(event.tag, Event("scalar", line, column, event.value, plain, event.anchor))
        case yaml.SequenceStartEvent():
            yield _untagged(event.tag, Event("list", line, column, anchor=event.anchor))
        case yaml.MappingStartEvent():
            yield _untagged(event.tag, Event("mapping", line, column, anchor=event.anchor))
        case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
            yield Event("end", line, column)
        case yaml.AliasEvent():
            yield Event("alias", line, column, event.anchor)
        case yaml.DocumentStartEvent():
            _check_document(event.version, number, Event("scalar", line, column))
        case _:
            pass


def _untagged(tag: str | None, event: Event) -> Event:
    if tag is not None:
        refuse(f"tags such as `{_short_tag(tag)}` are refused; quote text, and write numbers plainly", event)
    return event


def _short_tag(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


def _check_document(version: tuple[int, int] | None, number: int, place: Event) -> None:
    if version is not None and tuple(version) != (1, 2):
        refuse(f"expected YAML 1.2, found a `%YAML {version[0]}.{version[1]}` directive", place)
    if number > 1:
        refuse("expected one document, found a second one (`---`)", place)
