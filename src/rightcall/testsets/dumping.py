"""JSON values as the text of a file, which reads back as the same values."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ruamel.yaml.nodes import ScalarNode
    from ruamel.yaml.representer import SafeRepresenter

_WIDTH: Final = 120
_NO_LIMIT: Final = 1 << 30
_SHORT: Final = 90
_PLAIN: Final = re.compile(r"[^\W\d].*|\$\w+")
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def to_json(value: Any) -> bytes:
    """Indented JSON in UTF-8. Text that UTF-8 cannot hold makes everything that is not ASCII an escape."""
    try:
        return f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(value, indent=2)}\n".encode()


def to_yaml(value: Any) -> bytes:
    """YAML 1.2 in UTF-8, the innermost lists and mappings in one line each."""
    return _dumped(value, flow=None, width=_WIDTH).encode("utf-8", "surrogatepass")


def to_flow(value: Any) -> str:
    """A value as YAML in one line, brackets around what has several parts."""
    return _dumped(value, flow=True, width=_NO_LIMIT).removesuffix("\n").removesuffix("\n...")


def to_block(value: Any) -> list[str]:
    """The lines of a mapping or list as YAML, what is short in one line each, such as an expected call."""
    text = _dumped(value, flow=False, width=_WIDTH, is_flow=partial(_is_short, value))
    lines = text.removesuffix("\n").split("\n")
    return [line.removeprefix("  ") for line in lines] if isinstance(value, list) else lines


def _is_short(root: Any, value: Any) -> bool:
    """Whether a value stands in one line: not the whole, nor a list of several parts right in it."""
    inner = root.values() if isinstance(root, dict) else ()
    has_parts = isinstance(value, list) and any(isinstance(item, dict) for item in value)
    is_high = value is root or (has_parts and any(value is item for item in inner))
    return not is_high and len(json.dumps(value)) <= _SHORT


def _dumped(value: Any, *, flow: bool | None, width: int, is_flow: Callable[[Any], bool] | None = None) -> str:
    """`flow` says which containers stand in one line each: all, none, or (`None`) the innermost, if not `is_flow`."""
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        """Quotes what would not be read back as text, and repeats what stands twice."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

        def represent_mapping(self, tag: Any, mapping: Any, flow_style: Any = None) -> Any:
            return styled(super().represent_mapping(tag, mapping, flow_style), mapping)

        def represent_sequence(self, tag: Any, sequence: Any, flow_style: Any = None) -> Any:
            return styled(super().represent_sequence(tag, sequence, flow_style), sequence)

    def styled(node: Any, data: Any) -> Any:
        if is_flow is not None:
            node.flow_style = is_flow(data)
        return node

    Representer.add_representer(str, _text)
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Representer
    yaml.default_flow_style = flow
    yaml.representer.sort_base_mapping_type_on_output = False
    yaml.width = width
    if is_flow is not None:
        yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue()


def _text(representer: SafeRepresenter, text: str) -> ScalarNode:
    """A string, in quotes unless no reader of YAML, of whatever version, could take it for something else."""
    is_plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS and text.isprintable()
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')
