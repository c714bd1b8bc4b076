"""Values that satisfy a JSON Schema: `$schema`."""

from __future__ import annotations

from typing import Any, ClassVar

from rightcall.core.assertion import SchemaEngine, no_schemas
from rightcall.core.operators.base import Accepts, Making, Operator, written
from rightcall.core.values import display, is_json
from rightcall.errors import TestSetError, Where


class Schema(Operator, frozen=True, kw_only=True, eq=False):
    """A value that satisfies this JSON Schema, of draft 2020-12 unless its `$schema` names another.

    Everything in it is schema, nothing is an operator. `format` is asserted. A `$ref` leads into the schema itself;
    nothing is ever fetched. `engine` validates where it is compared by `==`, outside a test.
    """

    name: ClassVar[str] = "$schema"
    schema: Any
    engine: SchemaEngine | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.schema, dict | bool) or not is_json(self.schema):
            raise TestSetError(f"expected a JSON Schema, found {display(written(self.schema))}", Where(path="schema"))

    def compile(self, making: Making) -> Accepts:
        """Accept values without a violation."""
        try:
            validate = self._engine(making)(self.schema)
        except TestSetError as error:
            raise error.within(path=self.name) from None
        return lambda actual: next(validate(actual), None) is None

    def _engine(self, making: Making) -> SchemaEngine:
        return making.schema or self.engine or no_schemas

    def argument(self) -> Any:
        """The schema."""
        return self.schema

    def words(self) -> str:
        """`satisfying the schema {"type":"string"}`."""
        return f"satisfying the schema {display(self.schema)}"

    def note(self, actual: Any, making: Making) -> str:
        """The first violation."""
        first = next(self._engine(making)(self.schema)(actual), None)
        if first is None:
            return ""
        return f"{first.path}: {first.message}" if first.path else first.message
