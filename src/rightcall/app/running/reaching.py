"""The agent that a test set names, with the folder that its paths are relative to."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from rightcall.agents import endpoints
from rightcall.agents.configuring import EndpointConfig
from rightcall.app import files
from rightcall.errors import MissingExtraError, UsageError, Where
from rightcall.testsets import TestSet


def of_test_set(test_set: TestSet, file: str) -> tuple[EndpointConfig, str]:
    """The agent that a test set names, and the folder of its file; `TestSetError` with the line of what is wrong."""
    if test_set.endpoint is None:
        message = "has no `endpoint`: say there how the agent is reached, or with --endpoint"
        raise UsageError(message, Where(file=files.shown(file)))
    return endpoints.placed(test_set.endpoint, test_set.source), os.path.dirname(file)


def check(test_set: TestSet) -> None:
    """`TestSetError` if a test set names an agent in a way that cannot be used. It need name none.

    Nothing is opened. Templates are not looked at where what reads them is not installed.
    """
    if test_set.endpoint is not None:
        with contextlib.suppress(MissingExtraError):
            endpoints.placed(test_set.endpoint, test_set.source)


def with_endpoint(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of test sets with that of `endpoint` in it."""
    described, definitions = endpoints.schema()
    properties = {**schema["properties"], "endpoint": described}
    return {**schema, "properties": properties, "$defs": {**schema["$defs"], **definitions}}
