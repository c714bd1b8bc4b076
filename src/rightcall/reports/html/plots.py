"""Small drawings (SVG). What they show stands beside them in words, so readers of screens skip them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rightcall.reports.html.markup import NOTHING, Html, tag
from rightcall.reports.html.run import RateView

WIDTH: Final = 160
_HEIGHT: Final = 16
_CURVES: Final = 48
_MARGIN: Final = 6


def interval(rate: RateView) -> Html:
    """A line from 0 to 1 with the interval of a rate as a bar on it and the rate as a point."""
    if rate.share is None or rate.interval is None:
        return NOTHING
    low, high = (_across(end) for end in rate.interval)
    middle = _HEIGHT // 2
    return _drawing(
        _HEIGHT,
        tag("path", d=f"M{_across(0)} {middle}H{_across(1)}", class_="axis"),
        tag("rect", x=_written(low), y=middle - 3, width=_written(high - low), height=6, rx=3, class_="interval"),
        tag("circle", cx=_written(_across(rate.share)), cy=middle, r=4, class_="point"),
    )


def shares(counts: Sequence[tuple[str, int]]) -> Html:
    """A bar of parts as wide as their shares. Names are those of outcomes."""
    total = sum(number for _, number in counts)
    parts, at = [], 0.0
    for name, number in counts:
        if number:
            width = WIDTH * number / total
            parts.append(tag("rect", x=_written(at), y=0, width=_written(width), height=8, class_=name))
            at += width
    return _drawing(8, *parts) if parts else NOTHING


def curves(chances: Sequence[tuple[int, float, float]]) -> Html:
    """The chance that one of k attempts passes (rising) and that all of them do (falling)."""
    if len(chances) < 2:
        return NOTHING
    least, most = ([_point(k, len(chances), chance[place]) for k, chance in enumerate(chances)] for place in (1, 2))
    return _drawing(
        _CURVES,
        tag("path", d=f"M{_across(0)} {_up(0)}H{_across(1)}M{_across(0)} {_up(1)}H{_across(1)}", class_="axis"),
        tag("polyline", points=" ".join(least), class_="at-k"),
        tag("polyline", points=" ".join(most), class_="hat-k"),
    )


def _point(index: int, count: int, share: float) -> str:
    return f"{_written(_across(index / (count - 1)))},{_written(_up(share))}"


def _across(share: float) -> float:
    return _MARGIN + share * (WIDTH - 2 * _MARGIN)


def _up(share: float) -> float:
    return _CURVES - _MARGIN - share * (_CURVES - 2 * _MARGIN)


def _written(number: float) -> str:
    return f"{number:.2f}"


def _drawing(height: int, *content: Html) -> Html:
    box = f"0 0 {WIDTH} {height}"
    return tag("svg", *content, aria_hidden="true", focusable="false", width=WIDTH, height=height, viewBox=box)
