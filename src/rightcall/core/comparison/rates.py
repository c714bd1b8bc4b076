"""Rates of two runs in words, and whether they differ by more than chance."""

from __future__ import annotations

from collections.abc import Iterator

from rightcall.core.comparison import Rate, RateChange
from rightcall.core.rates import show_interval
from rightcall.core.sidebyside import Line
from rightcall.core.values import visible


def rate_lines(name: str, change: RateChange) -> Iterator[Line]:
    """Yield a rate before and now, and below it what that may mean."""
    yield Line("plain", visible(f"{name}: {_shown(change.before)} before, {_shown(change.after)} now"))
    if change.worse is not None:
        yield Line("note", f"  {significance(change)}")


def significance(change: RateChange) -> str:
    """Say whether the difference is more than chance, and by which test."""
    if not change.worse and not change.better:
        return "nothing judged in both runs changed sides"
    assert change.p_value is not None
    what = "more than chance" if change.is_significant else "may be chance"
    return f"{change.worse} worse, {change.better} better: {what} ({show_p(change.p_value)}, McNemar's exact test)"


def show_p(value: float) -> str:
    """`p = 0.0313`, and `p < 0.0001` for what would be shown as nothing."""
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.4f}"


def _shown(rate: Rate) -> str:
    return show_interval(rate.passed, rate.graded)
