"""A Python function that judges a trajectory."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Never

import msgspec

from rightcall.core import doubt, jsontext
from rightcall.core.assertion import Assertion, CannotJudge, Check, Setting
from rightcall.core.calls import UNKNOWN_STATES, ToolCall, Trajectory
from rightcall.core.counting import Count, Counted, numbered
from rightcall.core.judging import told
from rightcall.core.values import display
from rightcall.core.verdicts import Evidence, Finding
from rightcall.errors import TestSetError, Where

FUNCTION_SCHEMA: Final[dict[str, Any]] = {"type": "string", "pattern": ".:[^:]+$"}
"""The JSON Schema of a function as a file names it."""

Function = Annotated[
    Any,
    msgspec.Meta(
        description="A Python function, as `path.py:function`; the path is relative to the test set's file.",
        extra_json_schema=FUNCTION_SCHEMA,
    ),
]

EXPECTED: Final = "expected True, False, a reason, a finding, a mapping with `passed` or `score`, or a list of these"


class Code(Assertion, frozen=True, kw_only=True, tag="code"):
    """A Python function has nothing against the trajectory. Verdict `code:<function>`.

    `function` is `path.py:function`, relative to the test set's file; in Python also the function itself. It is given
    the trajectory and returns `True` or `False`; a reason, which fails; a `Finding`; a mapping with `passed` (or
    `pass`), `score` from 0 to 1 and `reason`; or a list of these, of which an empty one passes. Whatever it raises, and
    any other value, is an `error`. Code in recorded data is refused, never run.
    """

    function: Function

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` if there is no such function."""
        if callable(self.function):
            name = getattr(self.function, "__name__", type(self.function).__name__)
            return CodeCheck(name, self.function, setting)
        if not isinstance(self.function, str) or ":" not in self.function:
            message = f"expected a function as `path.py:function`, found {display(self.function)}"
            raise TestSetError(message, Where(path="function"))
        try:
            function = setting.code(self.function)
        except TestSetError as error:
            raise error.within(path="function") from None
        return CodeCheck(self.function.rpartition(":")[2], function, setting)


class CodeCheck:
    """A compiled code assertion."""

    sees_every_call = True

    def __init__(self, name: str, function: Callable[[Trajectory], Any], setting: Setting) -> None:
        self.name = f"code:{name}"
        self.function = function
        self.count = setting.every_call

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Call the function. Calls that may be missing could change anything that it says (G12)."""
        if trajectory.gaps:
            raise doubt.gap(trajectory)
        try:
            returned = self.function(_handed(trajectory, self.count))
            return _evidence(returned, self.name)
        except (CannotJudge, KeyboardInterrupt):
            raise
        except BaseException as error:  # some, such as what stops a test of pytest, are no `Exception`
            reason = f"`{self.name}` raised {told(error)}"
            details = {"traceback": "".join(traceback.format_exception(error))}
            raise CannotJudge("code_raised", reason, details) from None


def _handed(trajectory: Trajectory, count: Count) -> Trajectory:
    """A copy, so that nothing that the function does can be seen elsewhere, of the calls that it is asked about."""
    mine = copy.deepcopy(trajectory)
    calls = tuple(_guarded(call, index) for index, call in numbered(mine.tool_calls or (), count))
    return msgspec.structs.replace(mine, tool_calls=calls)


def _guarded(call: ToolCall, index: int) -> ToolCall:
    if call.arguments_state not in UNKNOWN_STATES:
        return call
    error = doubt.arguments(Counted(calls=(call,), indices=(index,)), 0)
    return msgspec.structs.replace(call, arguments=UnknownArguments(error))


class UnknownArguments:
    """Arguments that the trace does not show: to look into them is to depend on them (G11)."""

    def __init__(self, error: CannotJudge) -> None:
        object.__setattr__(self, "_error", error)

    def _refuse(self, *_: object) -> Never:
        raise object.__getattribute__(self, "_error")

    __getitem__ = __iter__ = __len__ = __contains__ = __bool__ = __eq__ = __hash__ = __str__ = _refuse
    __getattr__ = __or__ = __ror__ = _refuse


def _evidence(returned: Any, name: str) -> Evidence:
    """What a function returned, as evidence. Only `True`, what says that it passed, and no findings are a pass."""
    items = list(returned) if isinstance(returned, list | tuple) else [returned]
    findings = tuple(finding for item in items for finding in _findings(item, name))
    scores = [_number(item["score"]) for item in items if isinstance(item, dict) and item.get("score") is not None]
    return Evidence(
        findings, {"scores": scores} if scores else {}, score=scores[0] if len(items) == len(scores) == 1 else None
    )


def _number(score: float) -> float:
    """The score as a plain number, whatever library it is a number of."""
    return int(score) if isinstance(score, int) else float(score)


def _findings(item: Any, name: str) -> Iterator[Finding]:
    match item:
        case True:
            return
        case False:
            yield Finding(code="code", message=f"`{name}` returned False.")
        case str() if item:
            yield Finding(code="code", message=str.__str__(item))
        case Finding():
            yield _checked(item, name)
        case dict():
            yield from _scored(item, name)
        case None:
            raise CannotJudge("code_result", f"`{name}` returned None: {EXPECTED}.")
        case _:
            raise CannotJudge("code_result", f"`{name}` returned {display(item)}: {EXPECTED}.")


def _checked(finding: Finding, name: str) -> Finding:
    """The finding, if reports can write it: of the declared types, with words and JSON values."""
    fields = {key: value for key, value in msgspec.structs.asdict(finding).items() if value is not msgspec.UNSET}
    try:
        checked = msgspec.convert(jsontext.decode(jsontext.encode(fields)), Finding)
    except (TypeError, ValueError, RecursionError) as error:
        raise CannotJudge("code_result", f"`{name}` returned a finding that cannot be written: {error}.") from None
    if not checked.code or not checked.message:
        raise CannotJudge("code_result", f"`{name}` returned a finding without a `code` or a `message`.")
    return checked


def _scored(item: dict[Any, Any], name: str) -> Iterator[Finding]:
    score, passed = item.get("score"), item.get("passed", item.get("pass"))
    is_score = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    if (score is not None and not is_score) or not isinstance(passed, bool | None):
        raise CannotJudge("code_result", f"`{name}` returned {display(item)}: expected a `score` from 0 to 1.")
    if passed is None and score not in (0, 1):
        raise CannotJudge(
            "code_result", f"`{name}` returned {display(item)}: whether that is a pass, `passed` must say."
        )
    if not (score == 1 if passed is None else passed):
        reason = item.get("reason")
        is_said = isinstance(reason, str) and reason
        yield Finding(code="code", message=str.__str__(reason) if is_said else f"`{name}` did not pass.")
