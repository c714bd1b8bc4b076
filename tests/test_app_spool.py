"""Things kept until the end, beyond some size not in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.app.spool import Spool
from rightcall.core.results import Result
from support.reporting import heavy, results


@heavy
@given(st.lists(results(), max_size=5), st.sampled_from([1, 10_000_000]))
def test_everything_comes_back_as_it_was(made: list[Result], in_memory: int) -> None:
    """Whatever is kept comes back equal, in any order, from memory as from a file."""
    with Spool[Result](Result, in_memory) as spool:
        tickets = [spool.keep(result) for result in made]
        assert list(reversed(made)) == [spool.fetch(ticket) for ticket in reversed(tickets)]


def test_keeping_and_fetching_may_alternate() -> None:
    """What is fetched in between does not disturb what is kept after it."""
    with Spool[Any](Any, 1) as spool:
        first = spool.keep({"a": 1})
        assert spool.fetch(first) == {"a": 1}
        second = spool.keep("b")
        assert [spool.fetch(second), spool.fetch(first)] == ["b", {"a": 1}]


def test_what_cannot_be_encoded_is_kept_as_it_is() -> None:
    """A thing that another package made, and that cannot be written down, is not lost."""
    with Spool[Callable[[], int]](Any) as spool:
        odd = lambda: 7  # noqa: E731  # a function cannot be written down
        tickets = [spool.keep(odd), spool.keep(len), spool.keep(odd)]  # type: ignore[arg-type]  # any thing will do
        assert [odd, len, odd] == [spool.fetch(ticket) for ticket in tickets]


@pytest.mark.parametrize("text", ["\ud800", "\x00", "漢" * 1000])
def test_text_of_every_kind_comes_back(text: str) -> None:
    """Lone surrogates and long text are kept exactly."""
    with Spool[str](str, 10) as spool:
        assert text == spool.fetch(spool.keep(text))
