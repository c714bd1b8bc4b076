"""Rates as integer counts and exact fractions; rounding is for display only (G35, G37)."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from rightcall.core.values import cut

# So many digits and no exponent: a few characters could else write a number that no memory holds.
_RATE = re.compile(
    r"""(?P<number> [0-9]{1,30} (?: \. [0-9]{1,30} )? | \. [0-9]{1,30} ) (?P<percent> % )?
    | (?P<ratio> [0-9]{1,30} / [0-9]{1,30} )""",
    re.VERBOSE,
)
_SHOWN = 60
_Z95 = 1.959963984540054


def parse_rate(literal: object) -> Fraction:
    """The exact rate that a literal writes: `0.8`, `"4/5"` and `"80%"` are all 4/5.

    A string has at most 30 digits before and after its point or stroke, and no exponent. Raises `ValueError` with
    what is wrong when it is no number from 0 to 1.
    """
    rate = _parse(literal)
    if not 0 <= rate <= 1:
        raise ValueError(f"a rate is from 0 to 1, such as 0.8, 4/5 or 80%; found {_shown(literal)}")
    return rate


def percent(share: Fraction) -> float:
    """A share in percent, rounded half up to two decimals; integral values are integers.

    Only 1 gives 100 and only 0 gives 0, whatever the rounding of what lies beside them.
    """
    if share in (0, 1):
        return 100 * share.numerator
    hundredths = min(max(math.floor(share * 10_000 + Fraction(1, 2)), 1), 9_999)
    return plain(hundredths / 100)


def plain(number: float) -> float:
    """The number, as an integer where it is one."""
    return int(number) if number == int(number) else number


def _parse(literal: object) -> Fraction:
    if isinstance(literal, str):
        rate = _written(literal.strip())
    elif isinstance(literal, float):
        # The shortest decimal that means this float is what somebody wrote.
        rate = Fraction(repr(literal)) if math.isfinite(literal) else None
    elif isinstance(literal, int | Fraction) and not isinstance(literal, bool):
        rate = Fraction(literal)
    else:
        rate = None
    if rate is None:
        raise ValueError(f"expected a rate such as 0.8, 4/5 or 80%, found {_shown(literal)}")
    return rate


def _written(text: str) -> Fraction | None:
    found = _RATE.fullmatch(text)
    try:
        return None if found is None else Fraction(found["ratio"] or found["number"]) / (100 if found["percent"] else 1)
    except ZeroDivisionError:
        return None


def _shown(literal: object) -> str:
    try:
        return cut(repr(literal), _SHOWN)
    except ValueError:
        return "an integer of thousands of digits"


def show_rate(rate: Fraction, digits: int = 4) -> str:
    """The rate as a decimal, rounded to `digits` places."""
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


def show_interval(passed: int, graded: int, interval: str = "") -> str:
    """`3/4 = 0.7500 (0.3006 to 0.9544)`, the ends perhaps named; `n/a` where nothing was graded (G35)."""
    if not graded:
        return "n/a"
    low, high = wilson(passed, graded)
    return f"{passed}/{graded} = {show_rate(Fraction(passed, graded))} ({interval}{low:.4f} to {high:.4f})"


def pass_at_k(passed: int, total: int, k: int) -> Fraction:
    """The chance that at least one of k attempts drawn without replacement passes (Chen et al. 2021)."""
    return 1 - Fraction(math.comb(total - passed, k), math.comb(total, k))


def pass_hat_k(passed: int, total: int, k: int) -> Fraction:
    """The chance that all of k attempts drawn without replacement pass: pass^k (Yao et al. 2024)."""
    return Fraction(math.comb(passed, k), math.comb(total, k))
