"""Cassettes in YAML 1.1, which VCR writes in Python and in Ruby, into plain values."""

from __future__ import annotations

import math
from typing import Any

from rightcall.errors import TraceError, Where
from rightcall.traces import documents


def decoded(data: bytes) -> Any:
    """The values of a cassette; `TraceError` with its place if it is broken, too large, or has other values."""
    if len(data) > documents.MAX_RECORD:
        raise TraceError(f"a cassette in YAML may have {documents.MAX_RECORD // 2**20} MiB; record it in JSON")
    value = _loaded(data)
    _check(value, len(data))
    return value


def _loaded(data: bytes) -> Any:
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return _reader().load(data)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = Where() if mark is None else Where(line=mark.line + 1, column=mark.column + 1)
        raise TraceError(f"not YAML of plain values: {error.problem}", where) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise TraceError(f"not YAML of plain values: {str(error).partition(chr(10))[0]}") from None


def _reader() -> Any:
    """What reads a cassette as it was meant: its writers put no quotes around text such as `1e3`."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import SafeConstructor

    class Constructor(SafeConstructor):
        def float_or_text(self, node: Any) -> Any:
            return self.construct_yaml_float(node) if "." in node.value else node.value

        def text(self, node: Any) -> Any:
            return node.value

    Constructor.add_constructor("tag:yaml.org,2002:float", Constructor.float_or_text)
    Constructor.add_constructor("tag:yaml.org,2002:timestamp", Constructor.text)
    reader = YAML(typ="safe", pure=True)
    reader.Constructor = Constructor
    reader.version = (1, 1)
    return reader


def _check(value: Any, limit: int) -> None:
    """`TraceError` for values that JSON does not have, and for aliases that make more values than there are bytes."""
    waiting, count = [value], 0
    while waiting:
        node, count = waiting.pop(), count + 1
        if count > limit:
            raise TraceError("the aliases of this YAML make it larger than it can be; record the cassette in JSON")
        if isinstance(node, dict) and all(isinstance(key, str) for key in node):
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
        elif not _is_plain(node):
            raise TraceError(f"not YAML of plain values: found {type(node).__name__}")


def _is_plain(node: Any) -> bool:
    """Whether a value is one of JSON, or the bytes of a body."""
    return node is None or isinstance(node, str | int | bytes) or (isinstance(node, float) and math.isfinite(node))
