"""The agent that a test set names, with the folder that its paths are relative to."""

from __future__ import annotations

import os

from rightcall.agents import endpoints
from rightcall.agents.configuring import EndpointConfig
from rightcall.app import files
from rightcall.errors import UsageError, Where
from rightcall.testsets import TestSet


def of_test_set(test_set: TestSet, file: str) -> tuple[EndpointConfig, str]:
    """The agent that a test set names, and the folder of its file; `TestSetError` with the line of what is wrong."""
    if test_set.endpoint is None:
        message = "has no `endpoint`: say there how the agent is reached, or with --endpoint"
        raise UsageError(message, Where(file=files.shown(file)))
    return endpoints.placed(test_set.endpoint, test_set.source), os.path.dirname(file)
