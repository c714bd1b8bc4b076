"""Everything that goes wrong, as `application/problem+json` (RFC 9457).

`errors` lists what is wrong with the request, each with the JSON pointer (RFC 6901, as a URI fragment) to the field or
the name of the parameter. No problem holds a traceback, nor anything that was recorded.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, cast

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ExceptionHandlersMap

from rightcall.errors import (
    ChangedRowError,
    ConflictError,
    MissingExtraError,
    RefusedRowError,
    RightcallError,
    StoreError,
    UnknownRowError,
)
from rightcall.testsets.marks import steps

MEDIA_TYPE: Final = "application/problem+json"

log: Final = logging.getLogger("rightcall.http")

_AT: Final = re.compile(r" - at `(?P<path>[^`]*)`$")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<key>.*)`", re.DOTALL)
_SHOWN: Final = 2000
_INTERNAL: Final = "The server itself failed; this is not the fault of the request. Its log has the request id."


class Fault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong with a request: in its body at `pointer`, or in the parameter of that name."""

    detail: str
    pointer: str | None = None
    parameter: str | None = None


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request was not served. `title` is the phrase of the status, `detail` what to do about it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    request_id: str
    errors: tuple[Fault, ...] = ()


class ProblemError(Exception):
    """A request that is not served, and why."""

    def __init__(
        self, status: int, detail: str, errors: Sequence[Fault] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})


def problem(error: ProblemError, request_id: str) -> Problem:
    """The problem that an error is told as."""
    title = HTTPStatus(error.status).phrase
    return Problem(title=title, status=error.status, detail=error.detail, request_id=request_id, errors=error.errors)


def not_found(what: str) -> ProblemError:
    """There is no such thing, or it is another organization's: nobody can tell which."""
    return ProblemError(404, f"There is no such {what}.")


def unusable(error: RightcallError, pointer: str = "") -> ProblemError:
    """A body whose content cannot be used; `pointer` is where the part that was read stands in it."""
    line = "" if error.where.line is None else f"line {error.where.line}: "
    detail = f"{line}{error.message}"[:_SHOWN]
    fault = Fault(detail=detail, pointer=f"#{pointer}{pointer_of(steps(error.where.path))}")
    return ProblemError(422, "The request cannot be used; `errors` says where and why.", [fault])


def pointer_of(keys: Sequence[str | int]) -> str:
    """The JSON pointer of keys and indices, escaped for a URI fragment where it must be."""
    from urllib.parse import quote

    return "".join("/" + quote(str(key).replace("~", "~0").replace("/", "~1"), safe="~$@!*',;:()") for key in keys)


def invalid(error: msgspec.ValidationError) -> ProblemError:
    """A body of another shape than is expected."""
    message = str(error)
    found = _AT.search(message)
    path = "" if found is None else found["path"].removeprefix("$").replace("[...]", "")
    detail = _AT.sub("", message)
    unknown = _UNKNOWN.fullmatch(detail)
    keys = [*steps(path.removeprefix(".")), *([] if unknown is None else [unknown["key"]])]
    fault = Fault(detail=detail[:_SHOWN], pointer=f"#{pointer_of(keys)}")
    return ProblemError(422, "The request has another shape than is expected; `errors` says where.", [fault])


def request_id_of(scope: Mapping[str, Any]) -> str:
    """The id that the doorway gave a request."""
    return str(scope.get("state", {}).get("request_id", ""))


def _told(request: Request[Any, Any, Any], error: ProblemError) -> Response[Any]:
    content = msgspec.json.encode(problem(error, request_id_of(request.scope)))
    return Response(content, status_code=error.status, media_type=MEDIA_TYPE, headers=error.headers)


def _problem(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    return _told(request, cast(ProblemError, error))


def _usage(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    return _told(request, unusable(cast(RightcallError, error)))


_STATUSES: Final[Mapping[type[RightcallError], int]] = {
    UnknownRowError: 404,
    ConflictError: 409,
    ChangedRowError: 412,
    RefusedRowError: 422,
    MissingExtraError: 501,
}


def _row(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """What a row or its absence stands in the way of."""
    known = cast(RightcallError, error)
    message = known.message[:1].upper() + known.message[1:]
    status = next(status for kind, status in _STATUSES.items() if isinstance(known, kind))
    return _told(request, ProblemError(status, f"{message[:_SHOWN]}."))


def _store(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The database cannot be used now; the log says why, since that may name the machine's files."""
    what = {"request_id": request_id_of(request.scope), "error": str(error)}
    log.error("the database cannot be used", extra={"fields": what})
    return _told(request, ProblemError(503, "The database cannot be used now; try again later."))


def _parameters(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """A parameter of the path, the query or a header that is none."""
    extra = cast(ValidationException, error).extra
    listed = extra if isinstance(extra, list) else []
    faults = [Fault(detail=str(each.get("message", "")), parameter=str(each.get("key", ""))) for each in listed]
    if any(fault.parameter == "data" for fault in faults):
        return _told(request, ProblemError(400, "A body is needed: a JSON object."))
    return _told(request, ProblemError(400, "A parameter cannot be used; `errors` says which and why.", faults))


_WORDS: Final = {
    404: "There is nothing at this path.",
    405: "This path does not have this method; the header `Allow` lists those that it has.",
    413: "The body is larger than this server takes.",
    429: "Too many requests; the header `Retry-After` says how many seconds to wait.",
}


def _http(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """What the framework refuses."""
    known = cast(HTTPException, error)
    if known.status_code >= 500:
        return _internal(request, error)
    headers = dict(known.headers or {})
    reset = next((value for name, value in headers.items() if name.lower() == "ratelimit-reset"), None)
    if known.status_code == 429:
        headers["Retry-After"] = reset or "60"
    detail = _WORDS.get(known.status_code, HTTPStatus(known.status_code).description or known.detail)
    return _told(request, ProblemError(known.status_code, detail, headers=headers))


def _internal(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """A mistake of ours: the log has where, but not the message, which may hold what was recorded."""
    frames = traceback.format_tb(error.__traceback__)
    what = {"request_id": request_id_of(request.scope), "error": type(error).__name__, "traceback": "".join(frames)}
    log.error("internal error", extra={"fields": what})
    return _told(request, ProblemError(500, _INTERNAL))


HANDLERS: Final[ExceptionHandlersMap] = {
    ProblemError: _problem,
    RightcallError: _usage,
    StoreError: _store,
    **dict.fromkeys(_STATUSES, _row),
    ValidationException: _parameters,
    HTTPException: _http,
    Exception: _internal,
}
"""From exceptions to problems, for the whole application."""
