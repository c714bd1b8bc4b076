"""`POST /api/v1/grade`: grade what is sent, and keep nothing of it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import post
from litestar.datastructures import State
from litestar.params import JSONBody
from litestar.response import Response
from msgspec import UNSET, Meta, UnsetType

from rightcall.core import jsontext
from rightcall.faces.http.auth import READ
from rightcall.faces.http.bench import Bench
from rightcall.faces.http.bodies import StrictJSON, written
from rightcall.faces.http.problems import Fault, ProblemError, unusable


class GradeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to grade, and what for. One of `trajectory` and `trace` is given, and one of `expectations` and `test_set`.

    Numbers, keys and values are compared as JSON, exactly as the command line does.
    """

    trajectory: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description='A native record, such as `{"tool_calls": [{"name": "lookup_order"}]}`.'),
    ] = UNSET
    trace: Annotated[
        Any, Meta(description="A trace of any format that is read: the text of a file, or the JSON value in it.")
    ] = UNSET
    format: Annotated[str | None, Meta(description="The format of `trace`, if it should not be detected.")] = None
    group_by: Annotated[
        str | None,
        Meta(description="What of `trace` is one trajectory: `conversation`, `trace`, `file` or `attribute:KEY`."),
    ] = None
    expectations: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Keys of a test, such as `expected_tool_calls`; every trajectory is graded for them."),
    ] = UNSET
    test_set: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="A test set, as in a file; every trajectory is graded for the test that it belongs to."),
    ] = UNSET
    dialect: Annotated[str | None, Meta(description="Whose words the expectations are written in, if not ours.")] = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON report, as `rightcall grade --json` prints it."""

    rightcall: str
    schema: int
    rules: str
    test_set: dict[str, Any]
    gate: dict[str, Any]
    results: list[dict[str, Any]]
    counts: dict[str, Any]
    verdicts: list[dict[str, Any]]
    shadow: dict[str, Any] | None
    judge: dict[str, Any] | None
    counted: Any
    unused: list[str]
    warnings: list[str]
    comparison: dict[str, Any] | None
    decision: dict[str, Any]


@post("/grade", dto=StrictJSON[GradeBody], return_dto=None, status_code=200, guards=[READ], tags=["grade"])
async def grade(data: JSONBody[GradeBody], state: State) -> Response[Report]:
    """Grade recorded calls, and keep nothing.

    The answer is the JSON report of the command line, whether the calls pass or not: read `decision.passed`.
    No code, judge or file is reached from here.
    """
    bench: Bench = state.bench
    return written(await bench.do(lambda: _graded(data)))


def _graded(data: GradeBody) -> bytes:
    from rightcall.app import stateless

    trace, part = _trace(data)
    given = stateless.GradeData(
        trace=trace,
        part="trajectory" if part == "trajectory" else "trace",
        format="native" if part == "trajectory" else data.format,
        group_by=data.group_by,
        expectations=None if data.expectations is UNSET else data.expectations,
        test_set=None if data.test_set is UNSET else data.test_set,
        dialect=data.dialect,
    )
    try:
        return stateless.grade(given)
    except stateless.PartError as error:
        raise unusable(error.error, f"/{error.part}") from None


def _trace(data: GradeBody) -> tuple[bytes, str]:
    """The bytes of what was recorded, and which field holds it."""
    if (data.trajectory is UNSET) == (data.trace is UNSET):
        wrong = Fault(detail="expected either `trajectory` or `trace`", pointer="#")
        raise ProblemError(422, "Say what was recorded.", [wrong])
    if data.trajectory is not UNSET:
        return jsontext.encode(data.trajectory), "trajectory"
    if isinstance(data.trace, str):
        return data.trace.encode("utf-8", "surrogatepass"), "trace"
    return jsontext.encode(data.trace), "trace"
