"""Raw tests made ready for strict decoding: `x-…` keys set apart, fields of the call record left out, nulls refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from rightcall.core.calls import ToolCall
from rightcall.testsets.explain import Problem, shorten
from rightcall.testsets.marks import child

RECORD_FIELDS: Final = {*ToolCall.__struct_fields__, "type"} - {"name", "arguments"}
"""Fields of a recorded call, which say nothing about what is expected (G27)."""


class Ignored:
    """Counts what was left out, with the first place of each key."""

    def __init__(self) -> None:
        self.first: dict[str, str] = {}
        self.count: dict[str, int] = {}

    def add(self, key: str, path: str) -> None:
        """Count one key."""
        self.first.setdefault(key, path)
        self.count[key] = self.count.get(key, 0) + 1

    def warnings(self, place: Callable[[str], object]) -> Iterator[str]:
        """One warning a key; `place` shows where a path is."""
        for key, path in self.first.items():
            more = f" and {self.count[key] - 1} more" if self.count[key] > 1 else ""
            yield f"{place(path)}{more}: `{key}` of an expected call is ignored; only name and arguments count"


def without_extra(value: Any) -> tuple[Any, dict[str, Any]]:
    """A mapping without its `x-…` keys, and these."""
    if not isinstance(value, dict):
        return value, {}
    extra = {key: item for key, item in value.items() if isinstance(key, str) and key.startswith("x-")}
    return ({key: item for key, item in value.items() if key not in extra} if extra else value), extra


def without_record_fields(test: Any, path: str, ignored: Ignored) -> Any:
    """A test, or a whole test set, whose expected calls hold only what is expected."""
    if not isinstance(test, dict):
        return test
    changed = dict(test)
    if "test_configuration" in test:
        at = child(path, "test_configuration")
        changed["test_configuration"] = _with_clean_calls(test["test_configuration"], at, ignored)
    if isinstance(test.get("turns"), list | tuple):
        at = child(path, "turns")
        changed["turns"] = [
            without_record_fields(turn, child(at, index), ignored) for index, turn in enumerate(test["turns"])
        ]
    if isinstance(test.get("assertions"), list | tuple):
        at = child(path, "assertions")
        changed["assertions"] = [
            _with_clean_calls(item, child(at, index), ignored) for index, item in enumerate(test["assertions"])
        ]
    return _with_clean_calls(changed, path, ignored)


def _with_clean_calls(holder: Any, path: str, ignored: Ignored) -> Any:
    if not isinstance(holder, dict) or not isinstance(holder.get("expected_tool_calls"), list | tuple):
        return holder
    at = child(path, "expected_tool_calls")
    calls = [_clean(call, child(at, index), ignored) for index, call in enumerate(holder["expected_tool_calls"])]
    return {**holder, "expected_tool_calls": calls}


def _clean(call: Any, path: str, ignored: Ignored) -> Any:
    if not isinstance(call, dict):
        return call
    for key in call:
        if key in RECORD_FIELDS:
            ignored.add(key, child(path, key))
    return {key: value for key, value in call.items() if key not in RECORD_FIELDS}


def accepting_null_arguments(test: Any) -> Any:
    """A test in a recorded shape, in which `arguments: null` accepts any arguments."""
    if not isinstance(test, dict):
        return test
    changed = dict(test)
    if isinstance(test.get("expected_tool_calls"), list | tuple):
        changed["expected_tool_calls"] = [_without_null(call) for call in test["expected_tool_calls"]]
    if isinstance(test.get("test_configuration"), dict):
        changed["test_configuration"] = accepting_null_arguments(test["test_configuration"])
    if isinstance(test.get("turns"), list | tuple):
        changed["turns"] = [accepting_null_arguments(turn) for turn in test["turns"]]
    return changed


def _without_null(call: Any) -> Any:
    if isinstance(call, dict) and "arguments" in call and call["arguments"] is None:
        return {key: value for key, value in call.items() if key != "arguments"}
    return call


def null_key(test: Any, path: str) -> Problem | None:
    """The first key of an assertion that is null: leaving it out is the way to say nothing (G27)."""
    for name in ("tool_call_args", "assertions"):
        items = test.get(name) if isinstance(test, dict) else None
        for index, item in enumerate(items if isinstance(items, list | tuple) else ()):
            for key, value in item.items() if isinstance(item, dict) else ():
                if value is None:
                    at = child(child(child(path, name), index), str(key))
                    return Problem(at, f"expected a value for `{shorten(str(key))}`, found null; leave the key out")
    turns = test.get("turns") if isinstance(test, dict) else None
    for index, turn in enumerate(turns if isinstance(turns, list | tuple) else ()):
        if problem := null_key(turn, child(child(path, "turns"), index)):
            return problem
    return None
