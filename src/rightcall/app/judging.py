"""Who judges: what the command line, the environment and a test set say of it, made into an asker.

Nothing is imported or opened before a kind of assertion that asks is there.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from rightcall.app import files
from rightcall.app.lazy_judge import LazyJudge
from rightcall.core.asking import Answer, Asker, Question, no_judge
from rightcall.core.judging import CannotJudge
from rightcall.core.models import PYTHON, ModelConfig, problem
from rightcall.errors import RightcallError, UsageError

if TYPE_CHECKING:
    from rightcall.testsets import TestSet

SUFFIXES: Final = {
    "model": "",
    "base_url": "-base-url",
    "api_key_env": "-api-key-env",
    "cache": "-cache",
    "timeout": "-timeout",
}
"""What follows `--judge` for each thing that can be said of a model; so do `RIGHTCALL_JUDGE_…` say it."""

_MAKING: Final = threading.Lock()
_SECRET: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_SECRET: Final = 8


class JudgeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line, or a call in Python, says of the judge."""

    ROLE: ClassVar[str] = "judge"

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    cache: str | None = None


class SimulatorOptions(JudgeOptions, frozen=True, kw_only=True):
    """What they say of the model that plays the users."""

    ROLE: ClassVar[str] = "simulator"


class GivenJudge(JudgeOptions, frozen=True, kw_only=True):
    """A judge that a call in Python gives: how it is reached, or a function. Nothing else is asked then."""

    given: ModelConfig | Callable[[Any], Any]

    def lazy(self) -> LazyJudge:
        """What asks it in one run."""
        given = self.given
        return LazyJudge(lambda: _asker(given) if isinstance(given, ModelConfig) else _asking(given))

    def playing(self) -> LazyJudge:
        """The same to play users: what they say is never kept (G37)."""
        given = self.given
        return LazyJudge(lambda: _uncached(given, "") if isinstance(given, ModelConfig) else _asking(given))


def options_of(judge: Any) -> JudgeOptions:
    """What a call in Python says of the judge of a run: as for `given`; `None` leaves it to what is said elsewhere."""
    if judge is None or isinstance(judge, str):
        return JudgeOptions(model=judge)
    if isinstance(judge, ModelConfig) or callable(judge):
        return GivenJudge(given=judge)
    raise _no_judge(judge)


def judge_for(options: JudgeOptions, written: ModelConfig | None = None, folder: str = "") -> Asker:
    """The asker for a test set that itself says `written`, from a file in `folder`; `UsageError` for what is none.

    Who names the model says how it is reached too. An option goes before its environment variable, and both before the
    test set. Paths in a test set are relative to its file.
    """
    if isinstance(options, GivenJudge):
        return options.lazy()
    said = _said(options, written, folder)
    return no_judge if said is None else LazyJudge(lambda: _asker(*said))


def simulator_for(options: SimulatorOptions, judge: JudgeOptions, test_set: TestSet, folder: str) -> LazyJudge | None:
    """Who plays the users of a test set: the model that is named for it, else the judge, else nobody.

    What it says is never kept: each attempt has a user of its own (G37).
    """
    said = _said(options, test_set.simulator, folder)
    if said is None and isinstance(judge, GivenJudge):
        return judge.playing()
    said = said or _said(judge, test_set.judge, folder)
    if said is None:
        return None
    config, place = said
    if config.provider == PYTHON:
        # Users speak in threads: there the standard output, which all threads share, must not be turned aside.
        return LazyJudge(lambda: _function(config, inspect.unwrap(_loaded(config, place))))
    return LazyJudge(lambda: _model(config))


def _said(options: JudgeOptions, written: ModelConfig | None, folder: str) -> tuple[ModelConfig, str] | None:
    """The model that is meant, and the folder that its path is relative to; `None` if none is named."""
    outside = {**_variables(os.environ, options), **_options(options)}
    inside = {} if written is None else {**msgspec.structs.asdict(written), "cache": _in(folder, written.cache)}
    if "model" in outside:
        inside = {field: value for field, value in inside.items() if field == "cache"}
    if "model" not in {**inside, **outside}:
        _refuse_alone(options)
        return None
    config = ModelConfig(**{**inside, **outside})
    if wrong := problem(config):
        raise UsageError(f"{_source(wrong[0], options)}: {wrong[1]}")
    return config, "" if "model" in outside else folder


def beneath(settings: Mapping[str, str]) -> JudgeOptions:
    """What settings of a project say of the judge, by fields: the environment goes before them."""
    said = _variables(os.environ, JudgeOptions())
    return JudgeOptions(**{field: value for field, value in settings.items() if value and field not in said})


def _option(field: str, options: JudgeOptions) -> str:
    return f"--{options.ROLE}{SUFFIXES[field]}"


def _variable(field: str, options: JudgeOptions) -> str:
    return f"RIGHTCALL_{options.ROLE}{SUFFIXES[field]}".replace("-", "_").upper()


def _variables(environment: Mapping[str, str], options: JudgeOptions) -> dict[str, Any]:
    found = {field: environment.get(_variable(field, options)) for field in SUFFIXES}
    said: dict[str, Any] = {field: value for field, value in found.items() if value}
    if "timeout" in said:
        said["timeout"] = _seconds(said["timeout"], _variable("timeout", options))
    return said


def _seconds(text: str, source: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{source}: expected a number of seconds, found `{text}`") from None


def _options(options: JudgeOptions) -> dict[str, Any]:
    return {field: value for field, value in msgspec.structs.asdict(options).items() if value is not None}


def _source(field: str, options: JudgeOptions) -> str:
    """The option or variable that a value comes from: what a test set says was looked at when it was read."""
    is_option = getattr(options, field, None) is not None
    return _option(field, options) if is_option else _variable(field, options)


def _refuse_alone(options: JudgeOptions) -> None:
    for field in _options(options):
        named, model = _option(field, options), _option("model", options)
        raise UsageError(f"{named} has no effect without a model: name one with {model}, or in the test set")


def _in(folder: str, path: str | None) -> str | None:
    return None if path is None else os.path.join(folder, path)


def of_environment(question: Question) -> Answer:
    """The answer of the judge that the environment names when it is asked."""
    try:
        said = _said(JudgeOptions(), None, "")
        ask = no_judge if said is None else _asker_of_process(said[0])
    except RightcallError as error:
        raise CannotJudge("no_judge", f"The judge cannot be used: {error}.") from None
    return ask(question)


def given(judge: Any) -> Asker:
    """The asker that a call in Python means: a model's name, how it is reached, a function, or `None` for none said."""
    if judge is None:
        return of_environment
    if isinstance(judge, str):
        said = _said(JudgeOptions(model=judge), None, "")
        assert said is not None
        judge = said[0]
    if isinstance(judge, ModelConfig):
        config = judge
        return LazyJudge(lambda: _asker_of_process(config))
    if callable(judge):
        return _asking(judge)
    raise _no_judge(judge)


def _no_judge(found: Any) -> UsageError:
    return UsageError(f"expected a judge as `provider:model` or a function, found {type(found).__name__}")


def _asking(function: Callable[[Any], Any]) -> Asker:
    from rightcall.judges.functions import FunctionAsker

    return FunctionAsker(function, getattr(function, "__name__", type(function).__name__))


def _asker(config: ModelConfig, folder: str = "") -> Asker:
    """What asks a model. With a cache, it counts how often the same is asked: there is one for each run (G37)."""
    from rightcall.judges.cache import Cache, Remembering

    ask = _uncached(config, folder)
    return ask if config.cache is None else Remembering(ask, Cache(config.cache), _who(config, folder))


def _who(config: ModelConfig, folder: str) -> str:
    """Who is asked. A function is another one when its file has changed."""
    if config.provider != PYTHON:
        return config.who
    path = config.name.rpartition(":")[0]
    return f"{config.who} {hashlib.sha256(files.read(os.path.join(folder, path))).hexdigest()}"


def _asker_of_process(config: ModelConfig) -> Asker:
    """The one for calls in Python, each of which may grade another attempt at the same test."""
    with _MAKING:  # two would count apart
        return _made_once(config)


@cache
def _made_once(config: ModelConfig) -> Asker:
    return _asker(config)


def _uncached(config: ModelConfig, folder: str) -> Asker:
    return _function(config, _loaded(config, folder)) if config.provider == PYTHON else _model(config)


def _function(config: ModelConfig, function: Callable[[Any], Any]) -> Asker:
    from rightcall.agents import printing
    from rightcall.judges.functions import FunctionAsker

    return FunctionAsker(printing.apart(function), config.model)


def _loaded(config: ModelConfig, folder: str) -> Callable[[Any], Any]:
    from rightcall.app import code

    path, _, name = config.name.rpartition(":")
    if not path or not os.path.isfile(os.path.join(folder, path)):
        raise UsageError(f"the model `{config.model}` cannot be used: there is no file `{os.path.join(folder, path)}`")
    return code.load(folder, f"{path}:{name}")


def _model(config: ModelConfig) -> Asker:
    from rightcall.judges.client import ModelAsker

    key = None
    if config.api_key_env is not None:
        key = os.environ.get(config.api_key_env)
        if not key:
            raise UsageError(f"the model `{config.model}` needs a key: `{config.api_key_env}` is not set")
    return ModelAsker(config, key, _secrets(os.environ))


def _secrets(environment: Mapping[str, str]) -> list[str]:
    """Values that are never shown: a provider may repeat a key in what it says of it."""
    return [
        value
        for name, value in environment.items()
        if len(value) >= _SHORTEST_SECRET and any(word in name.upper() for word in _SECRET)
    ]
