"""Promptfoo's configuration: the `trajectory:…` assertions of its `tests`.

Its partial arguments are partial at every depth, which is `deep` here. Names are patterns there, whatever the case;
here they are exact, so patterns are refused. Shapes and meaning: its source, `assertions/trajectory.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rightcall.assertions.arguments import ToolCallArgs
from rightcall.assertions.tools import ForbiddenTools, RequiredTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion
from rightcall.core.patterns import ExpectedCall
from rightcall.core.values import is_json
from rightcall.errors import TestSetError
from rightcall.testsets.dialects.base import Dialect, Written
from rightcall.testsets.foreign import At, Note, Opened, Translated, head, opened, rows, written
from rightcall.testsets.model import Test, TestSet
from rightcall.testsets.saying import check_common, check_settings, left_out

_PREFIX: Final = "trajectory:"
_CASE: Final = "tool names are compared whatever their case there; here exactly"
_OTHERS: Final = "assertions that are not about tool calls are left out: "
_JUDGED: Final = "trajectory:goal-success"


def open_file(file: At) -> Opened:
    """A configuration: `tests`, and what `defaultTest` adds to each."""
    default = file.get("defaultTest")
    if default is not None and isinstance(default.value, str):
        default.refuse("another file is not read; write the default test here")
    shared = _asserted(default) if default is not None else []
    tests = [_test(row, shared) for row in rows(file, "tests")]
    name = file.get("description")
    return opened(tests, [Note(_CASE)], **({} if name is None else {"name": name.text()}))


def _asserted(test: At) -> list[At]:
    found = test.get("assert")
    if (threshold := test.get("threshold")) is not None and threshold.number() != 1:
        threshold.refuse("a `threshold` over the scores of several assertions cannot be said here")
    return [] if found is None else found.items()


def _test(row: At, shared: Sequence[At]) -> Translated:
    if isinstance(row.value, str):
        row.refuse("another file is not read; write the tests here")
    asserted = [*_asserted(row), *shared]
    trajectory = [one for one in asserted if _is_about_calls(one)]
    others = [one.need("type").text() for one in asserted if not _is_about_calls(one)]
    notes = [Note(_OTHERS + ", ".join(f"`{kind}`" for kind in dict.fromkeys(others)), row.path)] if others else []
    test = head(row, (), ("vars",), name="description", metadata="metadata")
    assertions = [assertion for one in trajectory for assertion in _assertion(one)]
    return Translated(
        test={**test, **({"assertions": assertions} if assertions else {})}, path=row.path, notes=tuple(notes)
    )


def _is_about_calls(asserted: At) -> bool:
    kind = asserted.need("type").text().removeprefix("not-")
    if kind == "assert-set":
        nested = asserted.need("assert").items()
        if any(_is_about_calls(one) for one in nested):
            asserted.refuse("an `assert-set` around `trajectory` assertions cannot be said here")
        return False
    return kind.startswith(_PREFIX) and kind != _JUDGED


def _assertion(asserted: At) -> list[dict[str, Any]]:
    kind = asserted.need("type")
    is_negated = kind.text().startswith("not-")
    translate = _KINDS.get(kind.text().removeprefix("not-"))
    if translate is None:
        kind.refuse(f"`{kind.value}` cannot be said here")
    for key in ("transform", "weight", "threshold"):
        if (value := asserted.get(key)) is not None and value.value != 1:
            value.refuse(f"`{key}` of a `trajectory` assertion cannot be said here")
    return translate(asserted.need("value"), is_negated)


def _name(matcher: At) -> str:
    """The tool that a matcher names; one that is a pattern or for steps of other types is refused."""
    if isinstance(matcher.value, dict):
        if (kind := matcher.get("type")) is not None:
            kind.one_of(("tool",))
        matcher = matcher.get("pattern") or matcher.need("name")
    name = matcher.text()
    if any(sign in name for sign in "*?") or "{{" in name:
        matcher.refuse(
            f"expected the name of a tool, found the pattern or template `{name}`, which cannot be said here"
        )
    return name


def _used(value: At, is_negated: bool) -> list[dict[str, Any]]:
    if isinstance(value.value, dict):
        return _counted(value, is_negated)
    names = [_name(item) for item in (value.items() if isinstance(value.value, list) else [value])]
    if not names:
        value.refuse("expected at least one tool, found none")
    if is_negated:
        return [{"kind": "forbidden_tools", "tools": names}]
    return [{"kind": "required_tool", "tool": name} for name in names]


def _counted(value: At, is_negated: bool) -> list[dict[str, Any]]:
    """How often a tool is used: at least so often, at most so often, or never."""
    name, least, most = _name(value), _number(value, "min", 1), _number(value, "max", None)
    if (is_negated and (least, most) == (1, None)) or (not is_negated and (least, most) == (0, 0)):
        return [{"kind": "forbidden_tools", "tools": [name]}]
    if is_negated or (not least and most is None):
        value.refuse(
            "that a tool must not be used so often cannot be said here" if is_negated else "any number will do"
        )
    bounds = [] if most is None else [{"kind": "budget", "max_calls_per_tool": {name: most}}]
    if not least:
        return bounds
    used = {"kind": "required_tool", "tool": name} if least == 1 else _trajectory("superset", [{"name": name}] * least)
    return [used, *bounds]


def _number(value: At, key: str, otherwise: int | None) -> int | None:
    found = value.get(key)
    if found is None:
        return otherwise
    number = found.number()
    return (
        int(number) if number == int(number) and number >= 0 else found.refuse("expected a whole number, not below 0")
    )


def _trajectory(match: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"kind": "trajectory", "match": match, "arguments": "ignore", "expected_tool_calls": calls}


def _sequence(value: At, is_negated: bool) -> list[dict[str, Any]]:
    if is_negated:
        value.refuse("that a sequence must not appear cannot be said here")
    is_exact = isinstance(value.value, dict) and _mode(value, ("in_order", "exact")) == "exact"
    steps = value if isinstance(value.value, list) else value.need("steps")
    names = [_name(step) for step in steps.items()]
    if not names:
        steps.refuse("expected at least one step, found none")
    if is_exact:
        return [_trajectory("exact", [{"name": name} for name in names])]
    return [{"kind": "sequence", "steps": [{"tool": name} for name in names]}]


def _mode(value: At, modes: Sequence[str]) -> str:
    found = value.get("mode")
    return modes[0] if found is None else found.one_of(modes)


def _steps(value: At, is_negated: bool) -> list[dict[str, Any]]:
    """How many tool steps there are; steps of other types are not seen here."""
    if is_negated or value.need("type").value != "tool" or value.get("name", "pattern") is not None:
        value.refuse("only steps of `type: tool`, whatever their name, can be counted here")
    least, most = _number(value, "min", None), _number(value, "max", None)
    if least or most is None:
        value.refuse("only `max` can be said here")
    return [{"kind": "budget", "max_calls": most}]


def _arguments(value: At, is_negated: bool) -> list[dict[str, Any]]:
    name, mode = _name(value), _mode(value, ("partial", "exact"))
    given = value.get("args", "arguments") or value.refuse("expected the key `args`, which is missing")
    _check_no_template(given)
    match = {"mode": "deep" if mode == "partial" else "exact", "args": written(given.value)}
    around = _around(value, given)
    if not around:
        negated = {"negate": True} if is_negated else {}
        return [{"kind": "arguments", "tool": name, "match": match, **negated}]
    if is_negated:
        value.refuse("`ignore` and `defaults` of a call that must not be made cannot be said here")
    expected = {"name": name, "match": match, **around}
    return [{"kind": "trajectory", "match": "superset", "expected_tool_calls": [expected]}]


def _check_no_template(given: At) -> None:
    if "{{" in str(given.value):
        given.refuse("templates in arguments are not filled in; write the values")


def _around(value: At, given: At) -> dict[str, Any]:
    ignored, defaults = value.get("ignore"), value.get("defaults")
    around: dict[str, Any] = {}
    if ignored is not None:
        around["ignore_arguments"] = [item.text() for item in _listed(ignored)]
    if defaults is not None:
        if both := defaults.mapping().keys() & given.mapping().keys():
            defaults.refuse(f"`{min(both)}` is expected and has a default, which cannot be said here")
        around["defaults"] = defaults.value
    return around


def _listed(value: At) -> list[At]:
    return value.items() if isinstance(value.value, list) else [value]


_KINDS: Final = {
    "trajectory:tool-used": _used,
    "trajectory:tool-sequence": _sequence,
    "trajectory:tool-args-match": _arguments,
    "trajectory:step-count": _steps,
}


def write(test_set: TestSet) -> Written:
    """The `tests` of a configuration; prompts and providers are not known here."""
    notes = [note for test in test_set.tests for note in left_out(test, _LABELS, "promptfoo")]
    tests = [_written_test(test) for test in test_set.tests]
    return Written(data={"tests": tests}, notes=(Note(_CASE), *notes))


_LABELS: Final = ("requirement", "category", "topic", "tags", "extra", "tool_schemas")
_DECIDING: Final = (
    "turns",
    "tool_aliases",
    "ignore_arguments",
    "count",
    "parallel",
    "repeat",
    "min_pass_rate",
    "min_assertion_rate",
)


def _written_test(test: Test) -> dict[str, Any]:
    check_settings(test, "promptfoo", _DECIDING)
    head = {} if test.positional and not test.name else {"description": test.name or test.id}
    given = {} if test.prompt is None else {"vars": _vars(test.prompt)}
    metadata = {"metadata": test.metadata} if test.metadata else {}
    return {**head, **given, **metadata, "assert": [one for item in test.assertions for one in _said(item, test)]}


def _vars(prompt: Any) -> Any:
    return prompt if isinstance(prompt, dict) else {"prompt": prompt}


def _said(assertion: Assertion, test: Test) -> list[dict[str, Any]]:
    check_common(assertion, test, "promptfoo")
    match assertion:
        case RequiredTool():
            return [_asserting("tool-used", assertion.tool)]
        case ForbiddenTools() if all(isinstance(tool, str) for tool in assertion.tools) and assertion.tools:
            return [{"type": "not-trajectory:tool-used", "value": list(assertion.tools)}]
        case ToolCallArgs() if assertion.call_index is None:
            value = {"name": assertion.tool, **_matched(assertion.match.mode, assertion.match.args, test)}
            kind = "not-trajectory:tool-args-match" if assertion.negate else "trajectory:tool-args-match"
            return [{"type": kind, "value": value}]
        case ToolCallTrajectory() if _is_sequence(assertion):
            mode = "exact" if assertion.match == "exact" else "in_order"
            names = [call.name for call in assertion.expected_tool_calls]
            return [_asserting("tool-sequence", {"mode": mode, "steps": names})]
    raise TestSetError(f"this `{assertion.__struct_config__.tag}` cannot be said in `promptfoo`", test.where)


def _asserting(kind: str, value: Any) -> dict[str, Any]:
    return {"type": _PREFIX + kind, "value": value}


def _is_sequence(assertion: ToolCallTrajectory) -> bool:
    """Whether it is a list of names in order, which is all that a sequence says there."""
    calls = assertion.expected_tool_calls
    has_names = bool(calls) and all(call == ExpectedCall(name=call.name) for call in calls)
    is_plain = not assertion.only_successful and assertion.parallel == "ordered"
    return has_names and is_plain and assertion.match in ("exact", "in_order")


def _matched(mode: str, args: Any, test: Test) -> Mapping[str, Any]:
    words = {"exact": "exact", "deep": "partial"}
    is_flat = isinstance(args, dict) and not any(isinstance(value, dict | list) for value in args.values())
    if mode in ("partial", "subset") and is_flat:
        mode = "deep"  # where nothing is nested, both say the same
    if mode not in words or not is_json(args) or not isinstance(args, dict):
        raise TestSetError(f"arguments in mode `{mode}` cannot be said in `promptfoo`", test.where)
    return {"args": args, "mode": words[mode]}


DIALECT = Dialect(name="promptfoo", open=open_file, write=write)
