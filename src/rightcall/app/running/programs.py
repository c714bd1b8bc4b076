"""Programs of users that a run is made with: which files they are, and which of them are no longer what they were."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping

from rightcall.agents.configuring import EndpointConfig
from rightcall.app.running.preparing import Plan, RunRequest, Suite
from rightcall.assertions import Code
from rightcall.core.models import PYTHON


def hashes(plan: Plan, request: RunRequest) -> dict[str, str]:
    """The hash of each file that is named as an agent, a check in code, a judge or a user, by its path.

    Modules that are named without a path, and what files import, are not looked for.
    """
    paths = sorted({os.path.normpath(path) for path in _named(plan, request)})
    return {path: known for path in paths if (known := _hash(path)) is not None}


def changes(before: Mapping[str, str]) -> Iterator[str]:
    """What is worth knowing of files that had these hashes when a run began."""
    for path, known in before.items():
        now = _hash(path)
        if now is None:
            yield f"`{path}` can no longer be read"
        elif now != known:
            yield f"`{path}` has changed since the run began; attempts that were made before are kept as they are"


def _named(plan: Plan, request: RunRequest) -> Iterator[str]:
    for agent in plan.agents.values():
        if isinstance(agent.config, EndpointConfig):
            yield from (os.path.join(agent.directory, file) for file in agent.config.programs)
    for model in (request.judge, request.simulator):
        yield from _of_model(None if model is None else model.model, "")
    for suite in plan.suites:
        yield from _of_suite(suite, os.path.dirname(suite.file))


def _of_suite(suite: Suite, folder: str) -> Iterator[str]:
    for model in (suite.test_set.judge, suite.test_set.simulator):
        yield from _of_model(None if model is None else model.model, folder)
    for compiled in suite.tests:
        for assertion in compiled.test.assertions:
            if isinstance(assertion, Code) and isinstance(assertion.function, str):
                yield os.path.join(folder, assertion.function.rpartition(":")[0])


def _of_model(model: str | None, folder: str) -> Iterator[str]:
    provider, _, name = (model or "").partition(":")
    if provider == PYTHON:
        yield os.path.join(folder, name.rpartition(":")[0])


def _hash(path: str) -> str | None:
    """The hash of a file, `None` for what is no file that can be read."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
