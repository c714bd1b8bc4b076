"""The description of the API is that of the routes, and what any request gets is what it says.

`HYPOTHESIS_PROFILE=long pytest tests/test_http_contract.py` tries many more requests.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from rightcall.faces.http import openapi
from support.command_line import run_here
from support.serving import CLOSED, Samples, application, bearer, key_of, opened, organization, samples

CHECKED_IN = Path(__file__).parents[1] / "docs" / "server" / "openapi.json"
DESCRIBED: dict[str, Any] = json.loads(CHECKED_IN.read_bytes())
EXAMPLES = settings().max_examples // 10 if settings().max_examples > 100 else 3
OPERATIONS = [
    f"{method.upper()} {path}"
    for path, item in DESCRIBED["paths"].items()
    for method in item
    if path not in ("/healthz", "/readyz", "/api/v1/openapi.json")
]


def described(operation: str) -> Any:
    method, _, path = operation.partition(" ")
    return DESCRIBED["paths"][path][method.lower()]


def can_be_wrong(operation: str) -> bool:
    """Whether anything but a path, which may be any text, is taken."""
    parts = described(operation)
    return "requestBody" in parts or any(each["in"] != "path" for each in parts.get("parameters", []))


def test_the_description_that_is_checked_in_is_that_of_the_routes() -> None:
    """Whoever changes a route writes it anew: rightcall serve --print-openapi > docs/server/openapi.json."""
    assert CHECKED_IN.read_bytes() == openapi.checked_in()


def test_the_command_prints_the_description(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Byte for byte."""
    ran = run_here(capfdbinary, "serve", "--print-openapi")
    assert (ran.code, ran.out) == (0, CHECKED_IN.read_text("utf-8"))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_tells_its_problems_and_that_it_needs_a_key(operation: str) -> None:
    """No operation can answer in a way that is not described."""
    found = described(operation)
    assert (openapi.PROBLEMS.keys() - found["responses"].keys(), found["security"]) == (set(), [{"key": []}])


class Fuzzed:
    """The application, with one row of each kind, and its description as the holder of a key uses it."""

    def __init__(self, served: Any, found: Samples, key: str) -> None:
        self.headers = {**bearer(key), "Host": "localhost"}
        used = copy.deepcopy(DESCRIBED)
        for item in used["paths"].values():
            for method, operation in item.items():
                operation["security"] = []
                if method != "delete":
                    _point_at(operation, found)
        self.schema = schemathesis.openapi.from_dict(used)
        self.schema.app = served

    def ask(self, operation: str, mode: GenerationMode) -> None:
        """Send some requests, and check every answer against the description."""
        method, _, path = operation.partition(" ")

        @given(case=self.schema[path][method].as_strategy(generation_mode=mode))
        @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None)
        def ask(case: Any) -> None:
            case.call_and_validate(headers=self.headers, excluded_checks=[positive_data_acceptance])

        ask()


def _point_at(operation: dict[str, Any], found: Samples) -> None:
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            parameter["schema"] = {"type": "string", "enum": [found.ids[parameter["name"]]]}


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    """An organization that its own fuzzing cannot lock out."""
    with opened(tmp_path_factory.mktemp("fuzzed")) as store:
        key = key_of(store, organization(store, "fuzzed"), "admin")
        served = application(store, CLOSED)
        yield Fuzzed(served, samples(served, key), key)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_whatever_is_described_is_answered_as_described(fuzzed: Fuzzed, operation: str) -> None:
    """A request as described is served, or refused in words: what it names may not be there."""
    fuzzed.ask(operation, GenerationMode.POSITIVE)


@pytest.mark.parametrize("operation", [operation for operation in OPERATIONS if can_be_wrong(operation)])
def test_whatever_is_not_described_is_refused(fuzzed: Fuzzed, operation: str) -> None:
    """A request of another shape is refused in words, and none makes the server fail."""
    fuzzed.ask(operation, GenerationMode.NEGATIVE)
