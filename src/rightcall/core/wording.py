"""The sentences of findings: what was expected, what was found, and where (G20)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.core.operators import Bound, written
from rightcall.core.patterns import Pattern
from rightcall.core.values import MISSING, Difference, cut, differences, display, equal, text_note, visible

Name = TypeVar("Name", bound=Hashable)

SHOWN_DIFFERENCES = 4

_TYPE_NAMES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", type(None): "null"}


class Mismatch(msgspec.Struct, frozen=True):
    """How one call's arguments differ from a pattern, as the two halves of a sentence, and the first difference.

    What was expected there is as a file writes it.
    """

    wanted: str
    found: str
    first: Difference


def name_of(call: ToolCall) -> str:
    """The name as a sentence shows it: an empty one is said."""
    return visible(call.name) if call.name.strip() else f"without a name ({display(call.name)})"


def with_arguments(pattern: Pattern) -> str:
    """` with arguments {…}`: what a pattern asks of a call beside its name, and nothing where it asks nothing."""
    if pattern.matches is None:
        return ""
    if pattern.mode == "regex":
        return f" with arguments matching {cut(visible(pattern.text), 80)}"
    return f" with arguments {display(written(pattern.arguments))}"


def times(number: int) -> str:
    """`1 time`, `2 times`."""
    return f"{number} time" if number == 1 else f"{number} times"


def amount(number: int, noun: str, many: str = "") -> str:
    """`1 call`, `2 calls`; `many` is the plural where it is no `s` that makes it."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def shadowed(failed: int, errors: int, total: int) -> str:
    """`1 of 2 trajectories would have failed`: what assertions that decide nothing would have done."""
    judged = f", {errors} could not be judged" if errors else ""
    return f"{failed} of {amount(total, 'trajectory', 'trajectories')} would have failed{judged}"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; another word may stand before the last."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def first(names: Sequence[str], most: int) -> str:
    """`a, b, …`: the first of names whose number stands beside them."""
    return ", ".join([*names[:most], *(["…"] if len(names) > most else [])])


def first_and_more(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`: the first of names, and how many others there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def numbered(names: Iterable[Name], taken: Iterable[Name] = ()) -> Iterator[Name | str]:
    """Each name once: `a`, then `a (2)`, `a (3)`; those that are `taken` have been."""
    seen: dict[Name | str, int] = dict.fromkeys(taken, 1)
    for name in names:
        shown: Name | str = name
        while shown in seen:
            seen[name] += 1
            shown = f"{name} ({seen[name]})"
        seen[shown] = 1
        yield shown


def mismatch(pattern: Pattern, call: ToolCall) -> Mismatch:
    """Say how the arguments of a call, of the pattern's name, differ from what the pattern takes."""
    if call.arguments_state != "ok":
        return _unreadable(pattern, call)
    found = _places(pattern, call)
    if found:
        return _at(pattern, found)
    actual = pattern.normalise(call.arguments) if pattern.normalise else call.arguments
    if pattern.mode == "regex":
        whole = Difference("", pattern.text, actual)
        return Mismatch(f"with arguments matching {cut(pattern.text, 80)}", f"had {display(actual)}", whole)
    whole = Difference("", written(pattern.arguments), actual)
    return Mismatch(f"with arguments {display(whole.expected)}", f"had {display(actual)}", whole)


def mismatches(pattern: Pattern, call: ToolCall) -> list[Mismatch]:
    """Say the same of each place by itself; of the arguments as a whole where no place can be named."""
    return [_at(pattern, [place]) for place in _places(pattern, call)] or [mismatch(pattern, call)]


def _at(pattern: Pattern, places: Sequence[Difference]) -> Mismatch:
    first = places[0]
    reported = Difference(first.path, written(first.expected), first.actual) if pattern.has_operators else first
    return Mismatch(_wanted(places), _found(places), reported)


def _places(pattern: Pattern, call: ToolCall) -> list[Difference]:
    if call.arguments_state != "ok" or pattern.mode == "regex":
        return []
    pattern = pattern.at(call)
    return list(
        _argument_differences(pattern, pattern.normalise(call.arguments) if pattern.normalise else call.arguments)
    )


def differing_keys(pattern: Pattern, call: ToolCall) -> int:
    """How many of the top-level keys differ, counted without words."""
    if call.arguments_state != "ok":
        return max(len(pattern.arguments), 1) if isinstance(pattern.arguments, dict) else 1
    actual = pattern.normalise(call.arguments) if pattern.normalise else call.arguments
    expected = pattern.at(call).arguments
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return len(expected) if isinstance(expected, dict) else 1
    listed_keys = [key for key, value in expected.items() if _differs(value, actual.get(key, MISSING))]
    extra = sum(1 for key in actual if key not in expected) if pattern.mode == "exact" else 0
    return len(listed_keys) + extra


def _differs(expected: object, actual: object) -> bool:
    """Whether a member differs. A container may hold what may be absent, so that its differences are looked for."""
    if equal(expected, actual):
        return False
    return not isinstance(expected, dict | list) or next(iter(differences(expected, actual)), None) is not None


def _unreadable(pattern: Pattern, call: ToolCall) -> Mismatch:
    arguments = written(pattern.arguments) if pattern.has_operators else pattern.arguments
    wanted = f"with arguments {display(arguments)}" if pattern.mode != "regex" else f"matching {pattern.text}"
    state = call.arguments_state.replace("_", " ")
    text = f" {display(call.arguments_text)}" if call.arguments_text is not None else ""
    difference = Difference("", arguments, call.arguments_text)
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
    present = [_expected(item) for item in shown if not _is_unwanted(item.expected)]
    absent = [item.path for item in shown if _is_unwanted(item.expected)]
    parts = [f"with {listed(present)}"] if present else []
    if absent:
        parts.append(f"without {listed(absent)}")
    return " and ".join(parts)


def _is_unwanted(expected: object) -> bool:
    return expected is MISSING or (isinstance(expected, Bound) and expected.is_absent)


def _expected(item: Difference) -> str:
    if isinstance(item.expected, Bound):
        return f"{item.path or 'arguments'} {cut(visible(item.expected.words), 200)}"
    return _member(item.path, written(item.expected), _types_differ(item))


def _found(found: Sequence[Difference]) -> str:
    parts = [_actual(item) for item in found[:SHOWN_DIFFERENCES]]
    if len(found) > SHOWN_DIFFERENCES:
        parts.append(f"{len(found) - SHOWN_DIFFERENCES} more differences")
    return f"had {listed(parts)}"


def _actual(item: Difference) -> str:
    if item.actual is MISSING:
        return f"no {item.path}"
    text = _member(item.path, item.actual, _types_differ(item))
    note = _note(item)
    return f"{text} ({note})" if note else text


def _note(item: Difference) -> str:
    if isinstance(item.expected, Bound):
        return cut(visible(item.expected.note(item.actual)), 200)
    both_are_text = isinstance(item.expected, str) and isinstance(item.actual, str)
    return text_note(item.expected, item.actual) if both_are_text else ""


def _member(path: str, value: object, with_type: bool) -> str:
    text = f"{path} = {display(value)}" if path else display(value)
    return f"{text}, {_type_name(value)}" if with_type else text


def _types_differ(item: Difference) -> bool:
    if item.expected is MISSING or item.actual is MISSING or item.expected is None or item.actual is None:
        return False
    if isinstance(item.expected, Bound):
        return False
    return _type_name(item.expected) != _type_name(item.actual)


def _type_name(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    return "an array" if isinstance(value, list | tuple) else _TYPE_NAMES.get(type(value), type(value).__name__)
