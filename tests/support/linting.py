"""Linting tests written in few words."""

from __future__ import annotations

import json
from typing import Any

from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.assertions import KINDS
from rightcall.core.assertion import no_code
from rightcall.testsets import read
from rightcall.testsets.linting import Level, Remark, lint, lint_together, subjects


def remarks(text: str | dict[str, Any], file: str = "t.yaml") -> list[Remark]:
    """What is wrong with a test set."""
    data = text if isinstance(text, str) else json.dumps(text)
    test_set = read(data.encode(), KINDS, file=file)
    tests = subjects(test_set, compile_regex, compile_schema, no_code)
    return [*lint(test_set, tests), *lint_together(tests)]


def of_test(**keys: Any) -> list[Remark]:
    """What is wrong with one test."""
    return remarks({"tests": [{"id": "x", **keys}]}, "t.json")


def codes(found: list[Remark], least: Level = Level.WARNING) -> list[str]:
    """The codes of remarks of this level or worse."""
    return [remark.code for remark in found if remark.level.rank <= least.rank]
