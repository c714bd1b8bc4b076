"""The bytes of a test set file as one JSON value, and the place of everything in it.

YAML, one JSON document, or JSON Lines (one test a line), told apart by the file's name, else by its content.
JSON Lines are read as a document `{"tests": [one item a line]}`, so that paths look alike everywhere.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from rightcall.core.jsontext import JSONError, decode
from rightcall.errors import TestSetError, Where
from rightcall.testsets.explain import found
from rightcall.testsets.jsonmarks import scan_json
from rightcall.testsets.marks import Mark, key_place, steps, value_place
from rightcall.testsets.yamltext import read_yaml

Format = Literal["yaml", "json", "jsonl"]

MAX_BYTES: Final = 10 * 1024 * 1024
"""Size of a document, or of one line of JSON Lines, at most."""

ENDINGS: Final[dict[str, Format]] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


class Line(msgspec.Struct, frozen=True):
    """One line of JSON Lines that is not blank: its number from 1 and its text."""

    number: int
    text: str


class Source(msgspec.Struct, frozen=True):
    """Where a value was read: a file's name, and its text to find places in.

    `marks` are kept where reading makes them anyway, else they are made when a place is asked for. `beside` has the
    sources of the keys for the whole test set that stand in another file.
    """

    file: str | None = None
    format: Format | None = None
    text: str = ""
    lines: tuple[Line, ...] = ()
    marks: Mark | None = None
    beside: dict[str, Source] = {}

    def value(self, path: str) -> Where:
        """The place of the value at a path."""
        if (other := self._other(path)) is not None:
            return other.value(path)
        mark, inner = self._mark(path)
        return self._where(path, value_place(mark, inner) if mark else None)

    def key(self, path: str) -> Where:
        """The place of the last key of a path."""
        if (other := self._other(path)) is not None:
            return other.key(path)
        mark, inner = self._mark(path)
        return self._where(path, key_place(mark, inner) if mark else None)

    def start(self, path: str) -> Where:
        """The place of a key, but only the line where each line is a test: finding a column costs a scan."""
        if self.format != "jsonl" or self._other(path) is not None:
            return self.key(path)
        index = self._index(path)
        return Where(file=self.file, line=None if index is None else self.lines[index].number, path=path)

    def marked(self) -> Source:
        """The same source with its marks made, for who asks for many places."""
        if self.format != "json" or self.marks is not None:
            return self
        built = scan_json(self.text)
        return msgspec.structs.replace(self, marks=built.mark if built else None)

    def _other(self, path: str) -> Source | None:
        """The other file that a path leads into."""
        return next((self.beside.get(str(key)) for key in steps(path)[:1]), None) if self.beside else None

    def _mark(self, path: str) -> tuple[Mark | None, str]:
        """The mark to look for a path in, and what is left of the path there."""
        if self.format != "jsonl":
            return self.marked().marks, path
        index = self._index(path)
        if index is None:
            return None, path
        line, inner = self.lines[index], path.partition("]")[2].removeprefix(".")
        built = scan_json(line.text, line.number)
        return built.mark if built else None, inner

    def _index(self, path: str) -> int | None:
        """Which line of JSON Lines a path leads into."""
        front = steps(path)[1:2]
        index = front[0] if front else None
        return index if isinstance(index, int) and index < len(self.lines) else None

    def _where(self, path: str, place: tuple[int, int] | None) -> Where:
        line, column = place or (None, None)
        return Where(file=self.file, line=line, column=column, path=path)


def load(data: bytes, file: str) -> tuple[Any, Source]:
    """The value of a test set file and its source. `TestSetError` with the place if it cannot be read."""
    try:
        text = _text(data)
        match _format(text, file):
            case "yaml":
                return _load_yaml(text, file)
            case "json":
                return _load_json(text, file), Source(file, "json", text)
            case "jsonl":
                return _load_jsonl(text, file)
    except TestSetError as error:
        raise error.within(file=file) from None


def load_config(data: bytes, file: str) -> tuple[dict[str, Any], Source]:
    """The keys for a whole test set that a file of their own holds, and its source. `TestSetError` if it has tests."""
    value, source = load(data, file)
    if isinstance(value, dict) and "tests" not in value:
        return value, source.marked()
    what = "`tests`" if isinstance(value, dict) else found(value)
    message = f"expected a mapping of keys for the whole test set, without tests, found {what}"
    raise TestSetError(message, source.key("tests" if isinstance(value, dict) else ""))


def named(file: str) -> Format | None:
    """The format that the ending of a file's name means."""
    return next((known for ending, known in ENDINGS.items() if file.lower().endswith(ending)), None)


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"expected UTF-8, found the byte 0x{data[error.start]:02x}; save the file as UTF-8"
        raise TestSetError(message, Where(line=line, column=column)) from None
    return text.removeprefix("\ufeff")


def _format(text: str, file: str) -> Format:
    """By the file's name, else by content: what begins with a bracket is JSON, on several lines each JSON Lines."""
    known = named(file)
    if known is not None:
        return known
    if not text.lstrip().startswith(("{", "[")):
        return "yaml"
    lines = [line for line in text.split("\n") if line.strip()]
    whole = len(lines) > 1 and all(line.startswith("{") and line.rstrip().endswith("}") for line in lines)
    return "jsonl" if whole else "json"


def _load_yaml(text: str, file: str) -> tuple[Any, Source]:
    _check_size(text, 1)
    built = read_yaml(text)
    if built is None:
        raise TestSetError("expected a test set, found an empty file")
    return built.value, Source(file, "yaml", marks=built.mark)


def _load_json(text: str, file: str) -> Any:
    _check_size(text, 1)
    if not text.strip():
        raise TestSetError("expected a test set, found an empty file")
    try:
        return _decode(text, 1)
    except TestSetError as error:
        if named(file) is None:
            error.message += " (what begins with a bracket is read as JSON, unless its name ends in .yaml)"
        raise


def _load_jsonl(text: str, file: str) -> tuple[Any, Source]:
    numbered = enumerate(text.split("\n"), 1)
    lines = tuple(Line(number, line) for number, line in numbered if line.strip())
    for line in lines:
        _check_size(line.text, line.number)
    tests = [_decode(line.text, line.number) for line in lines]
    return {"tests": tests}, Source(file, "jsonl", lines=lines)


def _check_size(text: str, line: int) -> None:
    if len(text) > MAX_BYTES:
        raise TestSetError(f"larger than the limit of {MAX_BYTES // 1024 // 1024} MiB; split it", Where(line=line))


def _decode(text: str, first_line: int) -> Any:
    try:
        return decode(text)
    except JSONError as error:
        if error.line is None:
            scan_json(text, first_line)
        raise TestSetError(error.message, _at(error, first_line)) from None


def _at(error: JSONError, first_line: int) -> Where:
    return Where(line=(error.line or 1) + first_line - 1, column=error.column)
