"""Jinja2 for data that may be hostile. Imported only where there is a template.

https://jinja.palletsprojects.com/en/stable/sandbox/
"""

from __future__ import annotations

from typing import Any, Final

from jinja2 import StrictUndefined, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rightcall.agents.templates import plain, written

_METHODS: Final = frozenset({"get", "items", "keys", "values"})
_OF_TEXT: Final = frozenset(
    {
        "capitalize",
        "count",
        "endswith",
        "find",
        "isdigit",
        "join",
        "lower",
        "lstrip",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rpartition",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "title",
        "upper",
    }
)
"""Methods of text. Those that fill up to a width, or format to one, would make what is large of what is small."""

_FILLING: Final = ("center", "format", "indent", "urlize", "wordwrap")
"""Filters that do so."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Objects have keys and nothing else; arithmetic is for numbers, and cannot make what is large."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Give a member of an object, or a method to walk one; of other data nothing."""
        if isinstance(obj, dict):
            is_method = attribute in _METHODS and attribute not in obj
            return super().getattr(obj, attribute) if is_method else self.getitem(obj, attribute)
        if isinstance(obj, list | tuple | int | float | None) or (isinstance(obj, str) and attribute not in _OF_TEXT):
            return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Give a member or an item, never an attribute."""
        if not isinstance(obj, dict | list | tuple | str):
            return self.undefined(obj=obj, name=argument)
        try:
            return obj[argument]
        except (LookupError, TypeError):
            return self.undefined(obj=obj, name=argument)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Calculate, with numbers alone."""
        if operator == "**" or not all(isinstance(side, int | float) for side in (left, right)):
            raise TypeError(f"`{operator}` is not for {type(left).__name__} and {type(right).__name__} here")
        return super().call_binop(context, operator, left, right)


def _finalize(value: Any) -> Any:
    return value if isinstance(value, str | Undefined) else written(plain(value))


ENVIRONMENT: Final = Sandbox(
    undefined=StrictUndefined, finalize=_finalize, autoescape=False, keep_trailing_newline=True
)
"""The environment of all templates."""

for _name in _FILLING:
    del ENVIRONMENT.filters[_name]
