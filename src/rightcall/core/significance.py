"""Whether two rates differ by more than chance: exact tests, for display beside the rates; they decide nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

LEVEL: Final = 0.05
"""The p-value below which a difference is called significant."""


def mcnemar(worse: int, better: int) -> float:
    """The two-sided p-value of McNemar's exact test for pairs: `worse` went from pass to fail, `better` the other way.

    If neither way is likelier, `worse` is binomial with n = worse + better and p = 1/2 (McNemar 1947, exact as in
    Fagerland, Lydersen and Laake 2013): twice the smaller tail, at most 1. Pairs that came to the same say nothing.
    """
    total, fewer = worse + better, min(worse, better)
    if worse == better:
        return 1.0
    term = math.exp(_log_choose(total, fewer) - total * math.log(2))
    tail = term
    # Each term of the tail is smaller than the one before it; what no longer counts is not added.
    for count in range(fewer, 0, -1):
        term *= count / (total - count + 1)
        if term <= tail * 1e-17:
            break
        tail += term
    return min(1.0, 2 * tail)


def fisher(passed: int, graded: int, passed_now: int, graded_now: int) -> float:
    """The two-sided p-value of Fisher's exact test for two independent samples (Fisher 1935).

    The sum over all tables with these margins that are no likelier than the one observed, as R's `fisher.test` has it,
    in exact integers.
    """
    passes, whole = passed + passed_now, graded + graded_now
    least, most = max(0, passes - graded_now), min(passes, graded)
    weights = [math.comb(graded, count) * math.comb(graded_now, passes - count) for count in range(least, most + 1)]
    observed = weights[passed - least]
    extreme = sum(weight for weight in weights if weight <= observed)
    return float(Fraction(extreme, math.comb(whole, passes)))


def _log_choose(total: int, count: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)
