"""Pairing against brute force: the definition of G19 tried on every small case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rightcall.core.pairing import longest_in_order, pair, size_of_matching

Found = Sequence[tuple[int, ...]]
Pairs = tuple[int | None, ...]


def pairings(found: Found, used: frozenset[int] = frozenset()) -> Iterator[Pairs]:
    """Every one-to-one pairing."""
    if not found:
        yield ()
        return
    for rest in pairings(found[1:], used):
        yield (None, *rest)
    for position in found[0]:
        if position not in used:
            for rest in pairings(found[1:], used | {position}):
                yield (position, *rest)


def rank(pairs: Pairs) -> tuple[int, tuple[bool, ...], tuple[int, ...]]:
    """Less is better: more pairs, then earlier expected positions, then lesser made positions (G19)."""
    made = tuple(position for position in pairs if position is not None)
    return (-len(made), tuple(position is None for position in pairs), made)


def longest_by_table(found: Found, made: int) -> int:
    """The textbook table of the longest common subsequence."""
    row = [0] * (made + 1)
    for positions in found:
        following = [0]
        for at in range(made):
            following.append(row[at] + 1 if at in positions else max(row[at + 1], following[at]))
        row = following
    return row[made]


@st.composite
def candidates(draw: st.DrawFn) -> tuple[Found, int]:
    """Candidate positions for up to six patterns, equal ones sharing a tuple, over up to six calls."""
    made = draw(st.integers(0, 6))
    one = st.sets(st.integers(0, made - 1)).map(sorted).map(tuple) if made else st.just(())
    pool = draw(st.lists(one, min_size=1, max_size=4))
    return draw(st.lists(st.sampled_from(pool), max_size=5)), made


@given(candidates())
def test_pairing_is_the_best_of_all_pairings(case: tuple[Found, int]) -> None:
    """G19: maximum, then the earliest expected positions, then the least made positions."""
    found, _ = case
    best = min(pairings(found), key=rank)
    assert tuple(pair(found)) == best
    assert size_of_matching(found) == -rank(best)[0]


@given(candidates())
def test_longest_in_order_pairing_agrees_with_the_table(case: tuple[Found, int]) -> None:
    """G19: `paired_in_order` is the length of a longest common subsequence."""
    found, made = case
    assert longest_in_order(found, made) == longest_by_table(found, made)


@given(st.integers(5, 20), st.integers(5, 20), st.randoms(use_true_random=False))
def test_both_ways_to_the_longest_in_order_pairing_agree(expected: int, made: int, random: Random) -> None:
    """Sparse and dense candidates are searched differently and must not differ."""
    for most in (2, made):
        sizes = [min(made, (index * 7) % (most + 1)) for index in range(expected)]
        found = [tuple(sorted(random.sample(range(made), size))) for size in sizes]
        assert longest_in_order(found, made) == longest_by_table(found, made)
