"""Whether two rates differ by more than chance."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.core.significance import fisher, mcnemar

counts = st.integers(0, 200)


@given(counts, counts)
def test_mcnemar_is_twice_the_smaller_tail_of_a_fair_coin(worse: int, better: int) -> None:
    """The p-value is the exact sum of binomial terms, at most 1."""
    total = worse + better
    tail = sum(math.comb(total, count) for count in range(min(worse, better) + 1))
    assert mcnemar(worse, better) == pytest.approx(float(min(Fraction(1), Fraction(2 * tail, 2**total))), rel=1e-9)


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (0, 6, 0.03125), (5, 15, 0.041389465332)],
)
def test_mcnemar_of_known_tables(worse: int, better: int, p: float) -> None:
    """Five tests that all got worse may be chance, six are not."""
    assert mcnemar(worse, better) == pytest.approx(p, rel=1e-9)


def test_mcnemar_of_a_million_pairs_is_a_number() -> None:
    """Of very many pairs the tail is still found, and a tail too small for a number is 0."""
    assert mcnemar(500_000, 500_001) == pytest.approx(1.0, abs=1e-2)
    assert mcnemar(498_000, 502_000) == pytest.approx(6.3e-5, rel=0.05)
    assert mcnemar(0, 1_000_000) == 0.0


@pytest.mark.parametrize(
    ("table", "p"),
    [
        ((8, 10, 1, 6), 0.034965034965),
        ((3, 4, 1, 4), 0.485714285714),  # the lady tasting tea
        ((5, 5, 3, 5), 0.444444444444),
        ((5, 5, 0, 5), 0.007936507937),
        ((0, 0, 3, 5), 1.0),
        ((2, 2, 3, 3), 1.0),
    ],
)
def test_fisher_of_known_tables(table: tuple[int, int, int, int], p: float) -> None:
    """Values that are known from elsewhere; without a difference, or with nothing on one side, it is 1."""
    assert fisher(*table) == pytest.approx(p, rel=1e-9)


@given(st.data(), st.integers(0, 30), st.integers(0, 30))
def test_fisher_does_not_depend_on_which_run_comes_first(data: st.DataObject, graded: int, graded_now: int) -> None:
    """Swapping the runs, or passes and failures, changes nothing; the value is a probability."""
    passed, passed_now = data.draw(st.integers(0, graded)), data.draw(st.integers(0, graded_now))
    p = fisher(passed, graded, passed_now, graded_now)
    assert 0 < p <= 1
    assert p == fisher(passed_now, graded_now, passed, graded)
    assert p == fisher(graded - passed, graded, graded_now - passed_now, graded_now)
