"""Rates as integer counts and exact fractions; rounding is for display only (G35, G37)."""

from __future__ import annotations

import math
import re
from fractions import Fraction

_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)%")
_Z95 = 1.959963984540054


def parse_rate(literal: object) -> Fraction:
    """The exact rate that a literal writes: `0.8`, `"4/5"` and `"80%"` are all 4/5.

    Raises `ValueError` with what is wrong when it is no number from 0 to 1.
    """
    rate = _parse(literal)
    if not 0 <= rate <= 1:
        raise ValueError(f"a rate is from 0 to 1, such as 0.8, 4/5 or 80%; found {literal!r}")
    return rate


def _parse(literal: object) -> Fraction:
    expected = f"expected a rate such as 0.8, 4/5 or 80%, found {literal!r}"
    if isinstance(literal, bool) or not isinstance(literal, int | float | str | Fraction):
        raise ValueError(expected)
    if isinstance(literal, float) and not math.isfinite(literal):
        raise ValueError(expected)
    text = str(literal).strip() if not isinstance(literal, float) else repr(literal)
    percent = _PERCENT.fullmatch(text)
    try:
        return Fraction(percent[1]) / 100 if percent else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(expected) from None


def show_rate(rate: Fraction, digits: int = 4) -> str:
    """The rate as a decimal, cut to `digits` and without trailing zeros beyond the second."""
    return f"{float(rate):.{digits}f}"


def show_comparison(rate: Fraction, threshold: Fraction) -> str:
    """`0.7973 < 0.8000`: with as many digits as it takes to see the decision."""
    sign = "<" if rate < threshold else ">="
    digits = 4
    while rate != threshold and show_rate(rate, digits) == show_rate(threshold, digits) and digits < 30:
        digits += 2
    if digits > 15:
        return f"{rate} {sign} {threshold}"
    return f"{show_rate(rate, digits)} {sign} {show_rate(threshold, digits)}"


def wilson(passed: int, total: int) -> tuple[float, float]:
    """The Wilson 95 % score interval of a proportion (Wilson 1927); (0, 1) without observations."""
    if total == 0:
        return (0.0, 1.0)
    share, z2 = passed / total, _Z95 * _Z95
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = _Z95 / (1 + z2 / total) * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    return (max(0.0, middle - half), min(1.0, middle + half))


def pass_at_k(passed: int, total: int, k: int) -> Fraction:
    """The chance that at least one of k attempts drawn without replacement passes (Chen et al. 2021)."""
    return 1 - Fraction(math.comb(total - passed, k), math.comb(total, k))


def pass_hat_k(passed: int, total: int, k: int) -> Fraction:
    """The chance that all of k attempts drawn without replacement pass: pass^k (Yao et al. 2024)."""
    return Fraction(math.comb(passed, k), math.comb(total, k))
