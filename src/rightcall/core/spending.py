"""What the answers of a judge came from and cost, for one verdict and for a whole run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from rightcall.core.values import visible

USED: Final = "judge"
"""The key of a verdict's details under which this stands."""

_DIGITS: Final = 10


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """What answers came from and cost. `cached` of the `answers` were kept ones, on which nothing was spent now.

    Tokens, and the `cost` in US dollars, are `None` where those of some answer are not known.
    """

    models: tuple[str, ...] = ()
    answers: int = 0
    cached: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost: float | None = 0

    def __add__(self, other: Used) -> Used:
        return Used(
            models=tuple(dict.fromkeys((*self.models, *other.models))),
            answers=self.answers + other.answers,
            cached=self.cached + other.cached,
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cost=_sum(self.cost, other.cost),
        )

    @classmethod
    def of(cls, details: Mapping[str, Any]) -> Used | None:
        """What the details of a verdict say of it, `None` if they do not."""
        if USED not in details:
            return None
        try:
            return msgspec.convert(details[USED], cls)
        except msgspec.ValidationError:
            return None  # a kind of another package means something else by the word

    def record(self) -> dict[str, Any]:
        """As details and reports write it."""
        cost = None if self.cost is None else round(self.cost, _DIGITS)
        return {**msgspec.structs.asdict(self), "models": list(self.models), "cost": cost}

    @property
    def words(self) -> str:
        """`gpt-5: 3 answers, 1 of them kept; 300 tokens in, 21 out; 0.0012 USD`."""
        models = ", ".join(map(visible, self.models)) or "a judge"
        kept = f", {self.cached:,} of them kept" if self.cached else ""
        tokens = f"; {self.input_tokens:,} tokens in" if self.input_tokens else ""
        out = f", {self.output_tokens:,} out" if tokens and self.output_tokens else ""
        cost = f"; {self.cost:.4f} USD" if self.cost else ""
        noun = "answer" if self.answers == 1 else "answers"
        return f"{models}: {self.answers:,} {noun}{kept}{tokens}{out}{cost}"


def _sum(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other
