"""Many cases in one test, for cases that take no time: to collect and to report each as a test takes far longer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


def hold(cases: Iterable[tuple[str, Callable[[], object]]]) -> None:
    """Try every case, each a name and a check; fail with all that are wrong, by name, or where there are no cases."""
    told = [_wrong(name, check) for name, check in cases]
    wrong = [one for one in told if one]
    if wrong or not told:
        pytest.fail("\n".join([f"{len(wrong)} of {len(told)} cases are wrong:", *wrong]), pytrace=False)


def _wrong(name: str, check: Callable[[], object]) -> str:
    """The name of a case and what went wrong, or nothing."""
    try:
        check()
    except (Exception, pytest.fail.Exception) as error:
        return f"{name}: {type(error).__name__}: {error}"
    return ""
