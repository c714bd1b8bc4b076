"""Templates: Jinja2 in a sandbox, whose results keep their structure, with secrets by name.

A text that is one expression, `{{ history }}`, is its value, whatever type that has; any other text is text, in which
values that are no text stand as JSON. What templates work on is data that may be hostile: of an object only its keys
can be asked for, what is not there is an error, and results have a limit. A secret is never part of a template, nor is
data: neither is ever read as one.

https://jinja.palletsprojects.com/en/stable/sandbox/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rightcall.agents.secrets import NAME
from rightcall.core import jsontext
from rightcall.core.values import display
from rightcall.errors import EndpointError, MissingExtraError, TestSetError
from rightcall.testsets.marks import child

MAX_TEXT: Final = 10_000_000
"""Letters that a template may make of its values."""

_MARKS: Final = ("{{", "{%", "{#")

Variables = Mapping[str, Any]
Value = Callable[[str], str]
"""Gives a secret by its name."""

Rendered = Callable[[Variables, Value], Any]
"""A template that is ready: what it gives for variables."""


class FindsNothingError(EndpointError):
    """A template asks for what is not there."""


def is_template(text: str) -> bool:
    """Whether a text has anything of a template."""
    return any(mark in text for mark in _MARKS)


def compiled(source: str, path: str = "") -> Rendered:
    """A template that is ready; `TestSetError` with its place if it is none."""
    texts, names = _split(source)
    parts = [_part(text, path) for text in texts]
    if len(parts) == 1:
        return parts[0]

    def render(variables: Variables, secret: Value) -> str:
        told = [written(part(variables, secret)) for part in parts]
        return "".join(text for pair in zip(told, [*map(secret, names), ""], strict=True) for text in pair)

    return render


def structure(value: Any, path: str = "") -> Rendered:
    """The same for JSON in which every text is a template."""
    if isinstance(value, str):
        return compiled(value, path)
    if isinstance(value, Mapping):
        members = {key: structure(item, child(path, str(key))) for key, item in value.items()}
        return lambda variables, secret: {key: render(variables, secret) for key, render in members.items()}
    if isinstance(value, list | tuple):
        items = [structure(item, child(path, index)) for index, item in enumerate(value)]
        return lambda variables, secret: [render(variables, secret) for render in items]
    return lambda variables, secret: value


def _split(source: str) -> tuple[list[str], list[str]]:
    """The texts between the names of secrets, and the names."""
    texts, names, start = [""], [], 0
    for found in NAME.finditer(source):
        texts[-1] += source[start : found.start()]
        start = found.end()
        if found[1]:
            texts[-1] += found[0][1:]
        else:
            names.append(found[2])
            texts.append("")
    texts[-1] += source[start:]
    return texts, names


def _part(text: str, path: str) -> Rendered:
    """What stands between secrets: a constant, an expression, or a template of text."""
    if not is_template(text):
        return lambda variables, secret: text
    try:
        from jinja2 import TemplateError

        from rightcall.agents.sandbox import ENVIRONMENT
    except ImportError:
        raise MissingExtraError("a template", "run") from None
    try:
        if _is_expression(ENVIRONMENT.parse(text).body):
            expression = ENVIRONMENT.compile_expression(_inside(text), undefined_to_none=False)
            return _guarded(lambda variables: expression(**variables), text)
        template = ENVIRONMENT.from_string(text)
    except TemplateError as error:
        raise TestSetError(f"this is no template of Jinja: {error}").within(path=path) from None
    return _guarded(lambda variables: _joined(template.generate(**variables)), text)


def _is_expression(body: list[Any]) -> bool:
    """Whether a template is one expression and nothing else."""
    from jinja2 import nodes

    outputs = [part for output in body for part in getattr(output, "nodes", [None])]
    return len(outputs) == 1 and isinstance(outputs[0], nodes.Expr) and not isinstance(outputs[0], nodes.TemplateData)


def _inside(text: str) -> str:
    """What stands between the braces of an expression."""
    return text.strip().removeprefix("{{").removesuffix("}}").strip("+-")


def _guarded(render: Callable[[Variables], Any], source: str) -> Rendered:
    from jinja2 import Undefined, UndefinedError

    def guarded(variables: Variables, secret: Value) -> Any:
        try:
            value = render(variables)
            if isinstance(value, Undefined):
                str(value)
            return plain(value)
        except UndefinedError as error:
            advice = "write `| default(none)` where it may be missing"
            raise FindsNothingError(
                f"the template {display(source, 60)} finds nothing: {error.message}; {advice}"
            ) from None
        except EndpointError:
            raise
        except Exception as error:
            raise EndpointError(f"the template {display(source, 60)} fails: {type(error).__name__}: {error}") from error

    return guarded


def plain(value: Any) -> Any:
    """A result in JSON types: what filters and loops give may be lazy, or text marked as safe."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _within_limit(str.__str__(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if callable(value):
        raise TypeError("it is a function; write `()` to call it")
    return [plain(item) for item in value]


def _within_limit(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise ValueError(f"more than {MAX_TEXT:,} letters")
    return text


def _joined(parts: Any) -> str:
    """The parts of a text, no further than the limit."""
    kept, count = [], 0
    for part in parts:
        kept.append(part)
        count += len(part)
        if count > MAX_TEXT:
            raise ValueError(f"more than {MAX_TEXT:,} letters")
    return "".join(kept)


def written(value: Any) -> str:
    """A value as it stands within a text: what is no text as JSON."""
    return value if isinstance(value, str) else jsontext.encode(value).decode()
