"""JSON values as the text of a file, which reads back as the same values."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ruamel.yaml.nodes import ScalarNode
    from ruamel.yaml.representer import SafeRepresenter

_WIDTH: Final = 120
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
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        """Quotes what would not be read back as text, and repeats what stands twice."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    Representer.add_representer(str, _text)
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Representer
    yaml.default_flow_style = None  # the innermost only
    yaml.representer.sort_base_mapping_type_on_output = False
    yaml.width = _WIDTH
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue().encode("utf-8", "surrogatepass")


def _text(representer: SafeRepresenter, text: str) -> ScalarNode:
    """A string, in quotes unless no reader of YAML, of whatever version, could take it for something else."""
    is_plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS and text.isprintable()
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')
