"""Bodies of requests: strict JSON (G7, G8), decoded into the struct that the handler names."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec
from litestar.dto import AbstractDTO
from litestar.dto.config import DTOConfig
from litestar.openapi.spec import OpenAPIFormat, OpenAPIType, Reference, Schema
from litestar.plugins import OpenAPISchemaPlugin
from litestar.response import Response
from litestar.typing import FieldDefinition

from rightcall.core import jsontext
from rightcall.faces.http.problems import ProblemError, invalid

if TYPE_CHECKING:
    from litestar._openapi.schema_generation import SchemaCreator
    from litestar.dto.data_structures import DTOFieldDefinition

T = TypeVar("T")

JSON: Final = "application/json"
_UTF8: Final = ("", "utf-8", "utf8")


class StrictJSON(AbstractDTO[T], Generic[T]):
    """Reads a body of JSON: no repeated keys, no NaN, integers of any size, at most 200 levels, no unknown fields."""

    config = DTOConfig()

    def decode_bytes(self, value: bytes) -> Any:
        """The struct that a body holds; `ProblemError` with the pointer to what is wrong."""
        self._check_type()
        try:
            data = jsontext.decode(value)
        except jsontext.JSONError as error:
            place = "" if error.line is None else f" (line {error.line}, column {error.column})"
            raise ProblemError(400, f"The body cannot be read: {error.message}{place}.") from None
        try:
            return msgspec.convert(data, self.model_type, strict=True)
        except msgspec.ValidationError as error:
            raise invalid(error) from None

    def _check_type(self) -> None:
        """Refuse what is no plain JSON in UTF-8 before it is looked at."""
        media_type, _, parameters = self.asgi_connection.headers.get("content-type", "").partition(";")
        charset = parameters.strip().lower().removeprefix("charset=").strip('"')
        if media_type.strip().lower() != JSON or charset not in _UTF8:
            raise ProblemError(415, "The body must be JSON: send it with `Content-Type: application/json`.")
        if self.asgi_connection.headers.get("content-encoding", "identity").lower() != "identity":
            raise ProblemError(415, "The body must not be compressed here: send it without `Content-Encoding`.")

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: Any = None
    ) -> None:
        """Nothing is generated: msgspec knows its structs."""

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: SchemaCreator
    ) -> Reference | Schema:
        """The schema of the struct as it is."""
        return schema_creator.for_field_definition(field_definition)

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Generator[DTOFieldDefinition, None, None]:
        """Nothing asks for these."""
        raise NotImplementedError

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        """Nothing asks for this."""
        raise NotImplementedError

    @classmethod
    def is_supported_model_type_field(cls, field_definition: FieldDefinition) -> bool:
        """Every struct is."""
        return True


BINARY: Final = "application/octet-stream"


class Binary(StrictJSON[T], Generic[T]):
    """Takes a body as it is, whatever it says that it is."""

    def decode_bytes(self, value: bytes) -> Any:
        """The bytes."""
        return value

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: SchemaCreator
    ) -> Reference | Schema:
        """Any bytes."""
        return Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY, min_length=1)


def sent(value: T, headers: Mapping[str, str] | None = None) -> Response[T]:
    """An answer with a body of JSON, exactly: integers of any size, lone surrogates as escapes."""
    return written(jsontext.encode(value), 200, headers)


def written(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response[Any]:
    """An answer with a body of JSON that is written already."""
    return Response(body, status_code=status, headers=headers, media_type=JSON)


class AnyJSON(OpenAPISchemaPlugin):
    """What is kept as it came has any JSON type in the description of the API."""

    @staticmethod
    def is_plugin_supported_type(value: Any) -> bool:
        """Raw JSON."""
        return value is msgspec.Raw

    def to_openapi_schema(self, field_definition: FieldDefinition, schema_creator: SchemaCreator) -> Schema:
        """A schema that takes anything."""
        return Schema()
