"""What pytest shows where `trajectory == expected(…)` is false."""

from __future__ import annotations

from rightcall.app.expecting import Expected


def explained(op: str, left: object, right: object) -> list[str] | None:
    """A line that says what was compared, and the lines that say why; nothing for other comparisons."""
    expected, made = (right, left) if isinstance(right, Expected) else (left, right)
    if not isinstance(expected, Expected) or isinstance(made, Expected) or op not in ("==", "!="):
        return None
    if op == "!=":
        return [f"trajectory != {expected!r}", "", "It is as expected, and should not be."]
    return [f"trajectory == {expected!r}", "", *expected.explanation(made).split("\n")]
