"""Linear temporal logic over finite traces, read literally: a formula holds or not at a position of a trace.

Positions run from 0; at the position after the last call, where an empty trace begins, no atom holds and nothing
follows. (De Giacomo and Vardi 2013.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Trace = Sequence[frozenset[str]]
"""For each call the atoms that hold of it."""

Formula = Callable[[Trace, int], bool]


def atom(name: str) -> Formula:
    """The call is one of those."""
    return lambda trace, at: at < len(trace) and name in trace[at]


def no(one: Formula) -> Formula:
    """The formula does not hold."""
    return lambda trace, at: not one(trace, at)


def both(one: Formula, other: Formula) -> Formula:
    """Both hold."""
    return lambda trace, at: one(trace, at) and other(trace, at)


def either(one: Formula, other: Formula) -> Formula:
    """At least one holds."""
    return lambda trace, at: one(trace, at) or other(trace, at)


def implies(one: Formula, other: Formula) -> Formula:
    """If the one holds, so does the other."""
    return either(no(one), other)


def following(one: Formula) -> Formula:
    """X: there is a next call, and the formula holds there."""
    return lambda trace, at: at + 1 < len(trace) and one(trace, at + 1)


def following_if_any(one: Formula) -> Formula:
    """WX: if there is a next call, the formula holds there."""
    return no(following(no(one)))


def finally_(one: Formula) -> Formula:
    """F: it holds here or later."""
    return lambda trace, at: any(one(trace, later) for later in range(at, len(trace)))


def always(one: Formula) -> Formula:
    """G: it holds here and at every later call."""
    return lambda trace, at: all(one(trace, later) for later in range(at, len(trace)))


def until(one: Formula, other: Formula) -> Formula:
    """U: the other holds here or later, and until then the one does."""
    return lambda trace, at: any(
        other(trace, end) and all(one(trace, here) for here in range(at, end)) for end in range(at, len(trace))
    )


def weak_until(one: Formula, other: Formula) -> Formula:
    """W: the same, or the one holds to the end."""
    return either(until(one, other), always(one))
