"""A user whom a model plays, as a test describes it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Words = Annotated[str, msgspec.Meta(min_length=1)]


class Persona(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who speaks to the agent: what they want, what they are like, and what they know.

    `first_message` is said as it is; without it the model begins too. After `max_turns` turns nothing more is said.
    """

    goal: Annotated[Words, msgspec.Meta(description="What the user wants, and when they have it.")]
    traits: Annotated[tuple[Words, ...], msgspec.Meta(description="How the user is and speaks.")] = ()
    facts: Annotated[dict[str, Any], msgspec.Meta(description="What the user knows, and tells when it is needed.")] = {}
    first_message: Annotated[Words, msgspec.Meta(description="What the user says first, as it is.")] | None = None
    max_turns: Annotated[int, msgspec.Meta(ge=1, le=100, description="How often the user speaks, at most.")] = 10
