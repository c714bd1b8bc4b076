"""The client of models: pydantic-ai's, with limits to how long and how often it is tried.

Each request is one message of the system and one of the user; no tools are given, so that nothing in the data could
have anything done. The temperature is 0 where the model has one.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from rightcall.core.asking import Answer, Question
from rightcall.core.judging import CannotJudge, told
from rightcall.core.models import ModelConfig
from rightcall.core.values import cut, visible
from rightcall.errors import MissingExtraError, UsageError
from rightcall.judges.loop import wait_for
from rightcall.judges.prompts import Prompt, prompt

TRIES: Final = 4
"""How often a request is sent, while what goes wrong may pass: time-outs, broken connections, status 429 and 5xx."""

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0
"""Seconds between two tries: at most twice as long each time, unless the other side says how long."""

SHOWN_ERROR: Final = 300
HIDDEN: Final = "***"


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How often it is tried, and what waits in between: `pause` takes seconds, `chance` gives a number from 0 to 1."""

    tries: int = TRIES
    pause: Callable[[float], Any] = time.sleep
    chance: Callable[[], float] = random.random


class ModelAsker:
    """Asks a model. May be called by several threads at once."""

    is_slow = True

    def __init__(
        self, config: ModelConfig, key: str | None = None, secrets: Iterable[str] = (), pace: Pace | None = None
    ) -> None:
        """`key` is the API key, where it is not in the provider's own environment variable; `secrets` are never shown.

        `UsageError` if there is no such model, or no key for it; `MissingExtraError` without the extra `judge`.
        """
        self._config = config
        self._secrets = sorted({*secrets, *([key] if key else [])}, key=len, reverse=True)
        self._pace = pace or Pace()
        self._model = _model(config, key)
        self._settings = _settings(self._model, config.timeout)

    def __call__(self, question: Question) -> Answer:
        """The model's answer; `CannotJudge` if none came within the limits."""
        from pydantic_ai.exceptions import AgentRunError, UserError

        words = prompt(question)
        for left in reversed(range(self._pace.tries)):
            try:
                return wait_for(self._request(words))
            except (AgentRunError, UserError) as error:
                if not left or not _may_pass(error) or (seconds := self._seconds(error, left)) is None:
                    raise self._failed(error) from None
            except Exception as error:
                raise self._failed(error) from None
            self._pace.pause(seconds)
        raise AssertionError("unreachable: the last try answers or raises")

    async def _request(self, words: Prompt) -> Answer:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest

        async with self._model:  # its connections are closed with the last request that is under way
            response = await model_request(
                self._model,
                [ModelRequest.user_text_prompt(words.content, instructions=words.instructions)],
                model_settings=self._settings,
                model_request_parameters=self._parameters(words),
                instrument=False,
            )
        return self._answer(response)

    def _parameters(self, words: Prompt) -> Any:
        """Where the provider is reached itself, and holds answers to a JSON Schema, it is told the schema too."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        if self._config.base_url is not None or not self._model.profile.get("supports_json_schema_output", False):
            return ModelRequestParameters()
        answer = OutputObjectDefinition(json_schema=words.schema, name="answer")
        return ModelRequestParameters(output_mode="native", output_object=answer)

    def _answer(self, response: Any) -> Answer:
        is_measured = not response.usage.unmeasured_requests
        return Answer(
            text=response.text or "",
            model=response.model_name or self._config.name,
            input_tokens=response.usage.input_tokens if is_measured else None,
            output_tokens=response.usage.output_tokens if is_measured else None,
            cost=self._cost(response),
        )

    def _cost(self, response: Any) -> float | None:
        """The price that is published for what was used. What another server asks for a model is not known."""
        if self._config.base_url is not None:
            return None
        try:
            return float(response.cost().total_price)
        except (LookupError, ValueError, AssertionError):
            return None

    def _seconds(self, error: Any, left: int) -> float | None:
        """How long to wait before the next try; `None` where the other side asks for more than is waited."""
        asked = getattr(error, "retry_after", None)
        if asked is not None:
            return float(asked) if asked <= LONGEST_PAUSE else None
        most: float = min(FIRST_PAUSE * 2 ** (self._pace.tries - 1 - left), LONGEST_PAUSE)
        return most * (0.5 + self._pace.chance() / 2)

    def _failed(self, error: BaseException) -> CannotJudge:
        what = told(error)
        for secret in self._secrets:
            what = what.replace(secret, HIDDEN)
        reason = f"The model `{self._config.model}` gave no answer: {cut(visible(what), SHOWN_ERROR)}"
        return CannotJudge("judge_failed", reason)


def _settings(model: Any, timeout: float) -> Any:
    """What each request asks for, without the temperature where the model has none."""
    from pydantic_ai.models import ModelRequestParameters

    asked = {} if _always_reasons(model.profile) else {"temperature": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken, _ = model.prepare_request(asked, ModelRequestParameters())
    # It is tried again by us, within our limits.
    return {**(taken or {}), "timeout": timeout, "request_timeout": timeout, "max_retries": 0}


def _always_reasons(profile: Mapping[str, Any]) -> bool:
    """Whether it is one of OpenAI's models that take no temperature, since they reason if nobody says otherwise."""
    efforts = profile.get("openai_reasoning_efforts", ())
    may_not = "none" in efforts or profile.get("openai_supports_reasoning_effort_none", False)
    reasons = not may_not or profile.get("thinking_enabled_by_default", False)
    return bool(profile.get("openai_supports_reasoning", False) and reasons)


def _may_pass(error: BaseException) -> bool:
    from pydantic_ai import exceptions

    passing = (
        exceptions.ModelRateLimitError,
        exceptions.ModelUnavailableError,
        exceptions.ModelServerError,
        exceptions.ModelConnectionError,
        exceptions.ModelRequestTimeout,
    )
    return isinstance(error, passing) or getattr(error, "status_code", None) in (408, 425, 429)


def _model(config: ModelConfig, key: str | None) -> Any:
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ImportError:
        raise MissingExtraError("a judge", "judge") from None

    try:
        if config.base_url is not None:
            return _elsewhere(config, config.base_url, key)
        if key is not None:
            return infer_model(config.model, lambda name: _provider(name, key))
        return infer_model(config.model)
    except (UserError, ImportError, TypeError) as error:
        why = str(error).partition(" or pass it via")[0]
        raise UsageError(f"the model `{config.model}` cannot be used: {why}") from None


def _provider(name: str, key: str) -> Any:
    from pydantic_ai.providers import infer_provider_class

    kind: Any = infer_provider_class(name)
    return kind(api_key=key)


def _elsewhere(config: ModelConfig, base_url: str, key: str | None) -> Any:
    """A model of a server that speaks like a provider; any other provider's than these two, like OpenAI.

    It is sent no key but the one that is named for it: those of the environment belong to the providers.
    """
    match config.provider:
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(config.name, provider=AnthropicProvider(base_url=base_url, api_key=key or "none"))
        case "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(config.name, provider=GoogleProvider(base_url=base_url, api_key=key or "none"))
        case _:
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

            provider = OpenAICompatibleProvider(config.provider, base_url=base_url, api_key=key)
            return OpenAIChatModel(config.name, provider=provider)
