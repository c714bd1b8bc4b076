"""Other tools' test sets, by meaning: one file a dialect, one line in `DIALECTS`."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Final

from rightcall.errors import UsageError, did_you_mean
from rightcall.testsets.dialects.base import Dialect

DIALECTS: Final = {
    "native": "native",
    "rhesis": "rhesis",
    "orbit": "orbit",
    "aegis": "aegis",
    "adk": "adk",
    "azure": "azure",
    "bedrock-agentcore": "bedrock_agentcore",
    "bfcl": "bfcl",
    "deepeval": "deepeval",
    "langchain": "langchain",
    "mlflow": "mlflow",
    "promptfoo": "promptfoo",
    "ragas": "ragas",
    "strands": "strands",
    "vertex": "vertex",
}
"""Each dialect is the `DIALECT` of one module of this package, imported when it is named."""

__all__ = ["DIALECTS", "Dialect", "named"]


@cache
def named(name: str) -> Dialect:
    """The dialect of that name; `UsageError` if there is none."""
    if name not in DIALECTS:
        known = ", ".join(DIALECTS)
        raise UsageError(f"unknown dialect `{name}`{did_you_mean(name, DIALECTS)}; the dialects are {known}")
    dialect = importlib.import_module(f"{__name__}.{DIALECTS[name]}").DIALECT
    assert isinstance(dialect, Dialect)
    return dialect
