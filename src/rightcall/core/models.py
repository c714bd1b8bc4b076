"""A model that is asked, and how it is reached, as test sets, the command line and the environment say it."""

from __future__ import annotations

import math
import re
from typing import Annotated, Final

import msgspec

from rightcall.core.values import visible

TIMEOUT: Final = 60.0
"""Seconds that one request to a model may take."""

PYTHON: Final = "python"
"""The provider of models that are functions of a user's file: `python:judge.py:answer`."""

_URL = re.compile(r"https?://[^/?#\s]+\S*", re.IGNORECASE)


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
    timeout: Annotated[float, msgspec.Meta(description="Seconds that one request may take.")] = TIMEOUT

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


def problem(config: ModelConfig) -> tuple[str, str] | None:
    """The field of it that cannot be used, with what was expected there; `None` if all can."""
    if not config.provider or not config.name:
        example = "expected `provider:model`, such as `openai:gpt-5`, or `python:path.py:function`"
        return "model", f"{example}; found `{visible(config.model)}`"
    if config.base_url is not None and not _URL.fullmatch(config.base_url):
        example = "expected a URL such as `http://127.0.0.1:8080/v1`"
        return "base_url", f"{example}, found `{visible(config.base_url)}`"
    for field in ("base_url", "api_key_env"):
        if config.provider == PYTHON and getattr(config, field) is not None:
            return field, "a function has neither a base URL nor a key"
    if not 0 < config.timeout < math.inf:
        return "timeout", f"expected a number of seconds, found {config.timeout}"
    return None
