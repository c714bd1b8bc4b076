"""The sentences of findings: what was expected, what was found, and where (G20)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.core.patterns import Pattern
from rightcall.core.values import MISSING, Difference, cut, differences, display, equal, text_note, visible

SHOWN_DIFFERENCES = 4

_TYPE_NAMES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", type(None): "null"}


class Mismatch(msgspec.Struct, frozen=True):
    """How one call's arguments differ from a pattern, as the two halves of a sentence, and the first difference."""

    wanted: str
    found: str
    first: Difference


def name_of(call: ToolCall) -> str:
    """The name as a sentence shows it: an empty one is said."""
    return visible(call.name) if call.name.strip() else f"without a name ({display(call.name)})"


def times(number: int) -> str:
    """`1 time`, `2 times`."""
    return f"{number} time" if number == 1 else f"{number} times"


def amount(number: int, noun: str, many: str = "") -> str:
    """`1 call`, `2 calls`; `many` is the plural where it is no `s` that makes it."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def mismatch(pattern: Pattern, call: ToolCall) -> Mismatch:
    """Say how the arguments of a call, of the pattern's name, differ from what the pattern takes."""
    if call.arguments_state != "ok":
        return _unreadable(pattern, call)
    actual = pattern.normalise(call.arguments) if pattern.normalise else call.arguments
    if pattern.mode == "regex":
        whole = Difference("", pattern.text, actual)
        return Mismatch(f"with arguments matching {cut(pattern.text, 80)}", f"had {display(actual)}", whole)
    found = list(_argument_differences(pattern, actual))
    if not found:
        return Mismatch(
            f"with arguments {display(pattern.arguments)}",
            f"had {display(actual)}",
            Difference("", pattern.arguments, actual),
        )
    return Mismatch(_wanted(found), _found(found), found[0])


def differing_keys(pattern: Pattern, call: ToolCall) -> int:
    """How many of the top-level keys differ, counted without words."""
    if call.arguments_state != "ok":
        return max(len(pattern.arguments), 1) if isinstance(pattern.arguments, dict) else 1
    actual = pattern.normalise(call.arguments) if pattern.normalise else call.arguments
    expected = pattern.arguments
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return len(expected) if isinstance(expected, dict) else 1
    listed_keys = [key for key, value in expected.items() if key not in actual or not equal(value, actual[key])]
    extra = sum(1 for key in actual if key not in expected) if pattern.mode == "exact" else 0
    return len(listed_keys) + extra


def _unreadable(pattern: Pattern, call: ToolCall) -> Mismatch:
    wanted = f"with arguments {display(pattern.arguments)}" if pattern.mode != "regex" else f"matching {pattern.text}"
    state = call.arguments_state.replace("_", " ")
    text = f" {display(call.arguments_text)}" if call.arguments_text is not None else ""
    difference = Difference("", pattern.arguments, call.arguments_text)
    return Mismatch(wanted, f"had {state} arguments{text}", difference)


def _argument_differences(pattern: Pattern, actual: object) -> Iterable[Difference]:
    expected = pattern.arguments
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return (
            [Difference("", expected, actual)] if type(expected) is not type(actual) else differences(expected, actual)
        )
    if pattern.mode in ("partial", "subset"):
        listed_only = {key: actual[key] for key in expected if key in actual}
        return differences(expected, listed_only)
    return differences(expected, actual, open_objects=pattern.mode == "deep")


def _wanted(found: Sequence[Difference]) -> str:
    shown = found[:SHOWN_DIFFERENCES]
    present = [_member(item.path, item.expected, _types_differ(item)) for item in shown if item.expected is not MISSING]
    absent = [item.path for item in shown if item.expected is MISSING]
    parts = [f"with {listed(present)}"] if present else []
    if absent:
        parts.append(f"without {listed(absent)}")
    return " and ".join(parts)


def _found(found: Sequence[Difference]) -> str:
    parts = [_actual(item) for item in found[:SHOWN_DIFFERENCES]]
    if len(found) > SHOWN_DIFFERENCES:
        parts.append(f"{len(found) - SHOWN_DIFFERENCES} more differences")
    return f"had {listed(parts)}"


def _actual(item: Difference) -> str:
    if item.actual is MISSING:
        return f"no {item.path}"
    text = _member(item.path, item.actual, _types_differ(item))
    note = (
        text_note(item.expected, item.actual) if isinstance(item.expected, str) and isinstance(item.actual, str) else ""
    )
    return f"{text} ({note})" if note else text


def _member(path: str, value: object, with_type: bool) -> str:
    text = f"{path} = {display(value)}" if path else display(value)
    return f"{text}, {_type_name(value)}" if with_type else text


def _types_differ(item: Difference) -> bool:
    if item.expected is MISSING or item.actual is MISSING or item.expected is None or item.actual is None:
        return False
    return _type_name(item.expected) != _type_name(item.actual)


def _type_name(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    return "an array" if isinstance(value, list | tuple) else _TYPE_NAMES.get(type(value), type(value).__name__)
