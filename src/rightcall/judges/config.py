"""What cannot be a model, refused before anything is asked."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from rightcall.core.models import ModelConfig
from rightcall.errors import UsageError

PYTHON: Final = "python"
"""The provider of models that are functions of a user's file: `python:judge.py:answer`."""


def check(config: ModelConfig, source: str) -> ModelConfig:
    """The same; `UsageError` that names its `source` if a model is no `provider:model`, or a URL none of HTTP."""
    if not config.provider or not config.name:
        example = "expected `provider:model`, such as `openai:gpt-5`, or `python:path.py:function`"
        raise UsageError(f"{source}: {example}; found `{config.model}`")
    if config.base_url is not None and not _is_url(config.base_url):
        raise UsageError(f"{source}: expected a base URL such as `http://127.0.0.1:8080/v1`, found `{config.base_url}`")
    if config.provider == PYTHON and (config.base_url or config.api_key_env):
        raise UsageError(f"{source}: a judge that is a function has neither a base URL nor a key")
    return config


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
