"""What each kind of expectation needs and what it refuses, by names and numbers of calls alone.

A kind that is not here needs and refuses nothing that is known: it is tried by the search instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET

from rightcall.core.patterns import Pattern
from rightcall.testsets.linting.subject import Expectation, Mention

Aliases = Mapping[str, str]


def needed(expectation: Expectation) -> list[Mention]:
    """The calls that every trajectory that passes must have, each beside the others."""
    needs = _NEEDS.get(expectation.kind)
    return list(needs(expectation.assertion, expectation.mentions)) if needs else []


def refusal(expectation: Expectation, call: Mention, aliases: Aliases) -> str:
    """Why no such call can be made where this is expected: what it says, or the empty string."""
    refuses = _REFUSES.get(expectation.kind)
    return refuses(expectation, call, aliases) if refuses else ""


def counted(needs: Iterable[Mention]) -> Counter[str]:
    """How many calls of each tool are needed."""
    tools: Counter[str] = Counter()
    for mention in needs:
        tools[mention.tool] += mention.times
    return tools


def most_calls(expectation: Expectation, tools: Counter[str]) -> str:
    """Why so many calls of these tools are too many for a budget, or the empty string."""
    assertion: Any = expectation.assertion
    if expectation.kind != "budget":
        return ""
    if assertion.max_calls is not UNSET and tools.total() > assertion.max_calls:
        return f"at least {tools.total()} calls are needed, and `max_calls` is {assertion.max_calls}"
    limits = assertion.max_calls_per_tool
    for tool, number in tools.items() if limits is not UNSET else ():
        limit = limits.get(tool, number) if isinstance(limits, Mapping) else limits
        if number > limit:
            return f"`{tool}` is needed {number} times, and `max_calls_per_tool` allows {limit}"
    return ""


def _trajectory_needs(assertion: Any, mentions: Iterable[Mention]) -> Iterable[Mention]:
    return mentions if assertion.match != "subset" else ()


def _arguments_need(assertion: Any, mentions: Iterable[Mention]) -> Iterator[Mention]:
    if not assertion.negate:
        yield from mentions


def _steps_need(_: Any, mentions: Iterable[Mention]) -> Iterator[Mention]:
    return (mention for mention in mentions if not mention.is_free)


def _selection_needs(assertion: Any, mentions: Iterable[Mention]) -> Iterable[Mention]:
    return mentions if assertion.threshold == 100 else ()  # there are none where a judge decides


_NEEDS: Final[dict[str, Callable[[Any, Iterable[Mention]], Iterable[Mention]]]] = {
    "trajectory": _trajectory_needs,
    "arguments": _arguments_need,
    "sequence": _steps_need,
    "required_tool": lambda _, mentions: mentions,
    "selection": _selection_needs,
}


def _not_allowed(expectation: Expectation, call: Mention, aliases: Aliases) -> str:
    recorded = (name for name, used in aliases.items() if used == call.tool)
    is_allowed = call.tool in expectation.tools or not expectation.tools.isdisjoint(recorded)
    return "" if is_allowed else "`allowed_tools` does not list it"


def _forbidden(expectation: Expectation, call: Mention, aliases: Aliases) -> str:
    if call.tool in expectation.tools_with_any_arguments:
        return "it is forbidden"
    banned = (mention for mention in expectation.mentions if mention.tool == call.tool)
    return "it is forbidden with such arguments" if any(_implies(call, mention) for mention in banned) else ""


def _implies(call: Mention, banned: Mention) -> bool:
    """Whether every call that is needed is one that is banned: the banned arguments are among those needed (G15)."""
    needs, takes = call.pattern, banned.pattern.matches
    if needs.matches is None or takes is None or banned.pattern.mode == "exact":
        return False
    return is_plain(needs) and is_plain(banned.pattern) and takes(needs.arguments)


def is_plain(pattern: Pattern) -> bool:
    """Whether a pattern takes any arguments, or lists plain values and is compared as `partial` or `exact`."""
    if pattern.matches is None:
        return True
    is_listed = pattern.mode in ("partial", "subset", "exact") and isinstance(pattern.arguments, dict)
    return is_listed and not (pattern.has_operators or pattern.normalise)


def _negated(expectation: Expectation, call: Mention, aliases: Aliases) -> str:
    assertion: Any = expectation.assertion
    return _forbidden(expectation, call, aliases) if assertion.negate and assertion.call_index is None else ""


def _trajectory_refuses(expectation: Expectation, call: Mention, aliases: Aliases) -> str:
    assertion: Any = expectation.assertion
    if assertion.only_successful:
        return ""  # a call that fails does not count here, and may be what is needed elsewhere
    if not assertion.expected_tool_calls:
        return "`expected_tool_calls: []` expects no calls at all"
    if assertion.match not in ("exact", "any_order", "subset"):
        return ""
    is_listed = call.tool in expectation.tools
    return "" if is_listed else f"`expected_tool_calls` does not list it, with `match: {assertion.match}`"


def _selection_refuses(expectation: Expectation, call: Mention, aliases: Aliases) -> str:
    assertion: Any = expectation.assertion
    is_judged = assertion.expected_tools is UNSET
    is_listed = is_judged or call.tool in assertion.expected_tools or assertion.threshold < 100
    return "" if is_listed else "`expected_tools` does not list it, with a threshold of 100"


def cannot_fail(expectation: Expectation) -> str:
    """Why an expectation passes whatever is done, as far as that is proven; or the empty string."""
    assertion: Any = expectation.assertion
    if expectation.kind == "selection" and assertion.threshold == 0:
        return "every score reaches `threshold: 0`"
    if expectation.kind == "forbidden_tools" and not assertion.tools:
        return "it forbids nothing"
    is_free = all(mention.is_free for mention in expectation.mentions)
    is_needed = expectation.kind != "sequence" or assertion.strict or not is_free or _chooses(assertion.steps)
    return "" if is_needed else "no step of it is needed"


def _chooses(steps: Iterable[Any]) -> bool:
    """Whether one of the steps is a choice, which is needed although none of its own steps is."""
    return any(step.one_of is not UNSET for step in steps)


def can_refuse(expectation: Expectation) -> bool:
    """Whether there is something here that another expectation could contradict."""
    return expectation.kind == "budget" or expectation.kind in _REFUSES


_REFUSES: Final[dict[str, Callable[[Expectation, Mention, Aliases], str]]] = {
    "allowed_tools": _not_allowed,
    "forbidden_tools": _forbidden,
    "arguments": _negated,
    "trajectory": _trajectory_refuses,
    "selection": _selection_refuses,
}
