"""A model that is asked, and how it is reached, as test sets, the command line and the environment say it."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

TIMEOUT: Final = 60.0
"""Seconds that one request to a model may take."""


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A model and how it is reached. A key is only ever named by the environment variable that holds it."""

    model: Annotated[
        str, msgspec.Meta(description="`provider:model`, such as `openai:gpt-5`, or `python:path.py:function`.")
    ]
    base_url: Annotated[str, msgspec.Meta(description="Where it is reached, if not at the provider itself.")] | None = (
        None
    )
    api_key_env: (
        Annotated[str, msgspec.Meta(min_length=1, description="The environment variable that holds the API key.")]
        | None
    ) = None
    cache: Annotated[str, msgspec.Meta(min_length=1, description="A directory in which answers are kept.")] | None = (
        None
    )
    timeout: Annotated[float, msgspec.Meta(gt=0, description="Seconds that one request may take.")] = TIMEOUT

    @property
    def provider(self) -> str:
        """What stands before the first colon of the model."""
        return self.model.partition(":")[0]

    @property
    def name(self) -> str:
        """What stands after it."""
        return self.model.partition(":")[2]

    @property
    def who(self) -> str:
        """Who is asked, as kept answers are told apart."""
        return f"{self.model} {self.base_url or ''}".strip()
