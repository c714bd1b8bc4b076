"""Test set files and dialects: bytes in, tests out, every mistake with its place."""

from __future__ import annotations

from rightcall.testsets.compiling import CompiledTest, compile_test, compile_tests, setting_of
from rightcall.testsets.dialects import DIALECTS
from rightcall.testsets.files import read
from rightcall.testsets.keys import EXPECTATION_KEYS
from rightcall.testsets.model import Place, Test, TestSet
from rightcall.testsets.schema import schema
from rightcall.testsets.single import embedded, from_keys
from rightcall.testsets.source import Source, load_config
from rightcall.testsets.template import SCHEMA_FILE, template

__all__ = [
    "DIALECTS",
    "EXPECTATION_KEYS",
    "SCHEMA_FILE",
    "CompiledTest",
    "Place",
    "Source",
    "Test",
    "TestSet",
    "compile_test",
    "compile_tests",
    "embedded",
    "from_keys",
    "load_config",
    "read",
    "schema",
    "setting_of",
    "template",
]
