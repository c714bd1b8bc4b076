"""The alignment of expected calls with calls made, for showing a failure: what stands beside what, and how.

Each expected call stands beside at most one call made, of the same tool, and the other way round. A pair is

- a *match*: the arguments match and, where order counts, no match crosses another;
- *moved*: the arguments match, but the call was made at another place (only where order counts);
- one that *differs*: the arguments do not match.

What is left is *missing* or *unexpected*. Costs are integers, compared stage by stage and not added up, so that the
numbers of an alignment are those of the verdict beside it:

1. An expected call costs 1 unless it is a match: there are as many matches as possible, `paired_in_order` where order
   counts and `paired` where it does not.
2. An expected call that is left costs 1 unless it has moved.
3. An expected call that is then left costs 1 unless it stands beside another call of its tool; of alignments that cost
   the same here, the number of top-level arguments that differ is the cost.

Where several alignments cost the same, each stage takes the one with the earliest expected calls, and then the
earliest calls made, both compared from the first call on. Where order does not count, the first stage is so the pairing
of G19, in whose terms the findings speak.

One thing comes before all of this: `paired`. Where order counts and expected calls compete, as those of any
arguments do with others, matches in order can stand in the way of a larger pairing. If matches and moved ones are
fewer than `paired`, the pairing of G19 is shown instead, as much of it as possible in order.

Stages are exact up to limits (`chaining.MOST_CELLS`, `assigning.MOST_TO_ASSIGN`, `flow.MAX_CHECKS`). Beyond them a
simpler choice is shown, and a row says so.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.assertion import CannotJudge
from rightcall.core.assigning import MOST_TO_ASSIGN, assign
from rightcall.core.calls import ToolCall
from rightcall.core.chaining import Pairs, longest_chain, longest_rising
from rightcall.core.explaining import Effort, Lineup, closest
from rightcall.core.lining import ModeRules, messages
from rightcall.core.operators import written
from rightcall.core.pairing import Candidates, candidates, pair
from rightcall.core.patterns import Pattern
from rightcall.core.rows import Mark, Row, RowDifference, as_made
from rightcall.core.values import visible
from rightcall.core.wording import Mismatch, amount, differing_keys, mismatches

MOST_DIFFERENCES: Final = 20
"""Differing places that a row lists, at most."""


class Beside(msgspec.Struct, frozen=True):
    """The call made that stands beside an expected one, by position, and how."""

    made: int
    mark: Mark


Besides = dict[int, Beside]
"""By expected position."""


def align(lineup: Lineup, mode: ModeRules, *, unordered: bool = False) -> tuple[Row, ...]:
    """Expected beside made, in the order of the calls made, missing ones where they were due.

    If the calls line up as the mode wants, there are only matches, and calls or absences that the mode allows.
    `unordered` makes the calls of one message interchangeable.
    """
    try:
        found = candidates(lineup.patterns, lineup.calls)
        if not mode.ordered:
            return _finish(lineup, pair(found), (), ())
        order = _by_message(lineup, found) if unordered else range(len(lineup.calls))
        chain, notes = _chain(found, order)
        matched, moved = chain, _moved(found, chain)
        largest = pair(found)
        if _number(matched) + _number(moved) < _number(largest):
            matched, notes = _chain([() if made is None else (made,) for made in largest], order)
            moved = [None if made == kept else made for made, kept in zip(largest, matched, strict=True)]
        return _finish(lineup, matched, moved, notes)
    except CannotJudge as error:
        return (_remark(f"These calls are not lined up: {error.reason}"),)


def align_after(lineup: Lineup, taken: Sequence[int]) -> tuple[Row, ...]:
    """The same in order, where it is settled that the first expected calls are matched by these made positions."""
    try:
        found = candidates(lineup.patterns, lineup.calls)
        start = taken[-1] + 1 if taken else 0
        later = _each(found[len(taken) :], lambda positions: _between(positions, start, len(lineup.calls)))
        chain, notes = _chain(later, range(len(lineup.calls)))
        matched = [*taken, *chain]
        return _finish(lineup, matched, _moved(found, matched), notes)
    except CannotJudge as error:
        return (_remark(f"These calls are not lined up: {error.reason}"),)


def _remark(text: str) -> Row:
    return Row(mark="note", note=text)


def _by_message(lineup: Lineup, found: Candidates) -> Sequence[int]:
    """The made positions with those of each message in the order in which they were expected."""
    ends = list(itertools.accumulate(len(run) for run in messages(lineup.calls)))
    runs = [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    due = _taken_by_message(found, runs)
    if len(due) < len(found):
        due = {made: index for index, made in enumerate(pair(found)) if made is not None}
    last = len(found)
    return [at for run in runs for at in sorted(run, key=lambda at: (due.get(at, last), at))]


def _taken_by_message(found: Candidates, runs: Iterable[range]) -> dict[int, int]:
    """The expected position of each call, if each message takes as many of the next ones as it can (G18)."""
    taken: dict[int, int] = {}
    for run in runs:
        following = found[len(taken) : len(taken) + len(run)]
        pairs = pair([_between(positions, run.start, run.stop) for positions in following])
        # The earliest are covered first, so that the first that is not ends the longest beginning that can be.
        for made in pairs:
            if made is None:
                break
            taken[made] = len(taken)
    return taken


def _between(positions: Sequence[int], start: int, stop: int) -> tuple[int, ...]:
    """Those of the ascending positions that are from `start` to before `stop`."""
    return tuple(positions[bisect.bisect_left(positions, start) : bisect.bisect_left(positions, stop)])


def _each(found: Candidates, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Candidates:
    """The candidates changed, those that are shared once."""
    changed = {key: change(positions) for key, positions in {id(each): each for each in found}.items()}
    return [changed[id(positions)] for positions in found]


def _chain(found: Candidates, order: Sequence[int]) -> tuple[Pairs, tuple[Row, ...]]:
    """The longest pairing in order, the calls made being in this one; beyond the limit that of a largest pairing."""
    place = {made: at for at, made in enumerate(order)}
    ordered = _each(found, lambda positions: tuple(sorted(place[made] for made in positions)))
    chain = longest_chain(ordered, len(order))
    notes: tuple[Row, ...] = ()
    if chain is None:
        chain = longest_rising(pair(ordered))
        numbers = f"{amount(len(found), 'expected call')} and {amount(len(order), 'call')} made"
        notes = (_remark(f"{numbers} are too many to look for the most matches in order: there may be more of them."),)
    return [None if at is None else order[at] for at in chain], notes


def _finish(
    lineup: Lineup, matched: Sequence[int | None], moved: Sequence[int | None], notes: Iterable[Row]
) -> tuple[Row, ...]:
    beside = {index: Beside(made, "match") for index, made in enumerate(matched) if made is not None}
    beside |= {index: Beside(made, "moved") for index, made in enumerate(moved) if made is not None}
    differing, further_notes = _differing(lineup, beside)
    return (*notes, *further_notes, *_rows(lineup, beside | differing))


def _moved(found: Candidates, matched: Pairs) -> Pairs:
    """The most pairs that match among what the matches leave."""
    taken = set(matched)
    free = _each(found, lambda positions: tuple(at for at in positions if at not in taken))
    return pair([each if made is None else () for each, made in zip(free, matched, strict=True)])


def _number(pairs: Pairs) -> int:
    return len(pairs) - pairs.count(None)


def _differing(lineup: Lineup, beside: Besides) -> tuple[Besides, list[Row]]:
    """Put what is left of each tool side by side, so that the fewest arguments differ."""
    taken = {each.made for each in beside.values()}
    expected = _by_name((at, pattern) for at, pattern in enumerate(lineup.patterns) if at not in beside)
    made = _by_name((at, call) for at, call in enumerate(lineup.calls) if at not in taken)
    differing: Besides = {}
    notes = []
    for name in expected.keys() & made.keys():
        wanted, free = expected[name], made[name]
        if max(len(wanted), len(free)) <= MOST_TO_ASSIGN:
            differing |= _assigned(lineup, wanted, free)
        else:
            differing |= _closest_first(lineup, wanted, free)
            notes += [_remark(_MANY.format(name=visible(name), most=MOST_TO_ASSIGN))] if len(wanted) > 1 else []
    return differing, sorted(notes, key=lambda row: row.note)


_MANY: Final = (
    "More than {most} calls of {name} are left on a side: each expected one stands beside the closest that is left, "
    "which may not be the best for all of them."
)


def _by_name(things: Iterable[tuple[int, Pattern | ToolCall]]) -> dict[str, list[int]]:
    by_name: dict[str, list[int]] = {}
    for at, thing in things:
        by_name.setdefault(thing.name, []).append(at)
    return by_name


def _assigned(lineup: Lineup, wanted: Sequence[int], free: Sequence[int]) -> Besides:
    costs = [[differing_keys(lineup.patterns[index], lineup.calls[at]) for at in free] for index in wanted]
    columns = zip(wanted, assign(costs), strict=True)
    return {index: Beside(free[column], "differs") for index, column in columns if column is not None}


def _closest_first(lineup: Lineup, wanted: Sequence[int], free: list[int]) -> Besides:
    effort, left = Effort(), list(free)
    differing: Besides = {}
    for index in wanted[: len(free)]:
        at = closest(lineup.patterns[index], lineup.calls, left, effort)
        differing[index] = Beside(at, "differs")
        left.remove(at)
    return differing


def _rows(lineup: Lineup, beside: Besides) -> Iterator[Row]:
    by_made = {each.made: (index, each.mark) for index, each in beside.items()}
    nothing: tuple[int | None, Mark] = (None, "unexpected")
    due = [index for index in range(len(lineup.patterns)) if index not in beside]
    shown = 0
    for at in range(len(lineup.calls)):
        index, mark = by_made.get(at, nothing)
        while index is not None and mark != "moved" and shown < len(due) and due[shown] < index:
            yield _row(lineup, "missing", due[shown], None)
            shown += 1
        yield _row(lineup, mark, index, at)
    for index in due[shown:]:
        yield _row(lineup, "missing", index, None)


def _row(lineup: Lineup, mark: Mark, index: int | None, at: int | None) -> Row:
    pattern = None if index is None else lineup.patterns[index]
    call = None if at is None else lineup.calls[at]
    return row_of(mark, pattern, call, index, None if at is None else lineup.index(at))


def row_of(
    mark: Mark, pattern: Pattern | None, call: ToolCall | None, index: int | None = None, number: int | None = None
) -> Row:
    """One row; `index` and `number` are the positions of the expected call and, in the trajectory, of the one made."""
    found = mismatches(pattern, call) if mark == "differs" and pattern and call else []
    more = len(found) - MOST_DIFFERENCES
    return Row(
        mark=mark,
        expected_index=index,
        expected=None if pattern is None else _expected(pattern),
        made_index=number,
        made=None if call is None else as_made(call),
        differences=tuple(map(_difference, found[:MOST_DIFFERENCES])),
        note=f"and {amount(more, 'more difference')}" if more > 0 else "",
    )


def _difference(found: Mismatch) -> RowDifference:
    place = found.first
    message = f"expected {found.wanted}; {found.found}"
    return RowDifference(path=place.path, message=message, expected=place.expected, actual=place.actual)


def _expected(pattern: Pattern) -> dict[str, Any]:
    if pattern.mode == "regex":
        return {"name": pattern.name, "pattern": pattern.text}
    if pattern.arguments is msgspec.UNSET:
        return {"name": pattern.name}
    arguments = written(pattern.arguments) if pattern.has_operators else pattern.arguments
    return {"name": pattern.name, "arguments": arguments}
