"""Google ADK's eval sets, with the criteria of a `test_config.json`.

Its `ANY_ORDER` allows calls in between, which is `superset` here, and so does `IN_ORDER`. Each invocation is a user
turn, compared on its own. Shapes and meaning: google-adk 2.13.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect, Written
from rightcall.testsets.foreign import At, Note, Opened, Translated, call, flag, head, opened, rows
from rightcall.testsets.model import TestSet
from rightcall.testsets.saying import Said, agreed, plain, said

_METRIC: Final = "tool_trajectory_avg_score"
_MATCH: Final = {"EXACT": "exact", "IN_ORDER": "in_order", "ANY_ORDER": "superset"}
_EMPTY: Final = "where no calls are expected, whatever is called passes there; here it is not judged"
_OTHERS: Final = "only `tool_trajectory_avg_score` is about tool calls; the other criteria are left out: "
_DEFAULT: Final = "without `criteria`, as there, calls and arguments must be exactly the expected ones"


def open_file(file: At) -> Opened:
    """An eval set, one case of it, or the older list of queries with `expected_tool_use`."""
    match, threshold, ignores, notes = _criteria(file)
    cases = [file] if file.get("conversation") is not None else rows(file, "eval_cases", "evalCases")
    older = [case for case in cases if "expected_tool_use" in case.mapping()]
    if older:
        tests = [_case(file, cases, match, threshold, ignores)] if len(older) == len(cases) else _mixed(older[0])
    else:
        tests = [_case(case, _invocations(case), match, threshold, ignores) for case in cases]
    name = file.get("name", "eval_set_id", "evalSetId")
    named = {"name": name.text()} if name is not None else {}
    return opened(tests, notes, match=_MATCH[match], arguments="ignore" if ignores else "exact", **named)


def _mixed(case: At) -> list[Translated]:
    case.refuse("queries of the older form and eval cases cannot be mixed")


def _criteria(file: At) -> tuple[str, float, bool, list[Note]]:
    """The match type, the threshold, whether arguments are ignored, and what is to be said of it."""
    criteria = file.get("criteria")
    if criteria is None:
        return "EXACT", 1.0, False, [Note(_DEFAULT)]
    found = criteria.get(_METRIC)
    if found is None:
        criteria.refuse(f"expected the criterion `{_METRIC}`, which is missing: nothing here is about tool calls")
    others = [name for name in criteria.mapping() if name != _METRIC]
    notes = [Note(_OTHERS + ", ".join(f"`{name}`" for name in others), criteria.path)] if others else []
    if not isinstance(found.value, dict):
        return "EXACT", _threshold(found), False, notes
    kind = found.get("match_type", "matchType")
    match = "EXACT" if kind is None else _match_type(kind)
    return match, _threshold(found.need("threshold")), flag(found, "ignore_args", "ignoreArgs"), notes


def _match_type(kind: At) -> str:
    if isinstance(kind.value, int) and not isinstance(kind.value, bool) and 0 <= kind.value < len(_MATCH):
        return tuple(_MATCH)[kind.value]
    return At(kind.text().strip().upper().replace("-", "_").replace(" ", "_"), kind.path).one_of(tuple(_MATCH))


def _threshold(value: At) -> float:
    threshold = value.number()
    if not 0 < threshold <= 1:
        value.refuse(f"a threshold of {value.value} lets every case pass or none; write one above 0, up to 1")
    return threshold


def _invocations(case: At) -> list[At]:
    conversation = case.get("conversation")
    if conversation is None:
        case.refuse("expected a `conversation`; a `conversation_scenario` has no expected tool calls")
    return conversation.items()


def _case(case: At, invocations: list[At], match: str, threshold: float, ignores: bool) -> Translated:
    if threshold < 1 and len(invocations) > 1:
        message = f"the average over {len(invocations)} turns may be {threshold:g} there, which cannot be said here"
        case.refuse(f"{message}; write a threshold of 1")
    test = head(case, ("eval_id", "evalId"))
    turns = [_turn(invocation, ignores) for invocation in invocations]
    is_empty = any(not turn["expected_tool_calls"] for turn in turns)
    notes = (Note(_EMPTY, case.path),) if match != "EXACT" and is_empty else ()
    if match != "EXACT":
        turns = [{key: value for key, value in turn.items() if value != []} for turn in turns]
    told = turns[0] if len(turns) == 1 else {"turns": turns} if turns else {}
    return Translated(test={**test, **told}, path=case.path, notes=notes)


def _turn(invocation: At, ignores: bool) -> dict[str, Any]:
    """The prompt of an invocation and the calls expected in it."""
    calls = [{"name": made["name"]} if ignores else made for made in _calls(invocation)]
    prompt = list(_prompt(invocation))
    return {**({"prompt": " ".join(prompt)} if prompt else {}), "expected_tool_calls": calls}


def _prompt(invocation: At) -> Iterable[str]:
    if (query := invocation.get("query")) is not None:
        yield query.text()
    content = invocation.get("user_content", "userContent")
    parts = content.get("parts") if content is not None else None
    for part in parts.items() if parts is not None else ():
        if (text := part.get("text")) is not None:
            yield text.text()


def _calls(invocation: At) -> Iterable[dict[str, Any]]:
    older = invocation.get("expected_tool_use")
    for use in older.items() if older is not None else ():
        yield _call(use, use.need("tool_name"), use.get("tool_input"))
    data = invocation.get("intermediate_data", "intermediateData")
    if data is None:
        return
    uses = data.get("tool_uses", "toolUses")
    for use in uses.items() if uses is not None else ():
        yield _call(use, use.need("name"), use.get("args"))
    events = data.get("invocation_events", "invocationEvents")
    for event in events.items() if events is not None else ():
        yield from _called(event)


def _called(event: At) -> Iterable[dict[str, Any]]:
    content = event.get("content")
    parts = content.get("parts") if content is not None else None
    for part in parts.items() if parts is not None else ():
        if (use := part.get("function_call", "functionCall")) is not None:
            yield _call(use, use.need("name"), use.get("args"))


def _call(use: At, name: At, arguments: At | None) -> dict[str, Any]:
    return call(name.text(), {} if arguments is None else arguments.mapping())


def write(test_set: TestSet) -> Written:
    """An eval set. Its criteria stand in a file of their own, so they are told."""
    tests = [said(test, "adk") for test in test_set.tests]
    match = agreed(tests, "match", {ours: theirs for theirs, ours in _MATCH.items()}, "adk")
    ignores = agreed(tests, "arguments", {"exact": "false", "ignore": "true"}, "adk")
    for test in tests:
        if not test.calls and match != "EXACT":
            test.refuse("no calls at all can be expected only with `EXACT`, for all tests")
    criteria = f'{{"{_METRIC}": {{"threshold": 1.0, "match_type": "{match}", "ignore_args": {ignores}}}}}'
    notes = [Note(f'the criteria stand in a file of their own; write `{{"criteria": {criteria}}}` to test_config.json')]
    name = test_set.name or "rightcall"
    data = {"eval_set_id": name, "name": name, "eval_cases": [_eval_case(test) for test in tests]}
    return Written(data=data, notes=(*notes, *[note for test in tests for note in test.notes]))


def _eval_case(test: Said) -> dict[str, Any]:
    uses = [{"name": call.name, "args": plain(test, call)} for call in test.calls]
    text = test.prompt if isinstance(test.prompt, str) else ""
    content = {"role": "user", "parts": [{"text": text}]}
    invocation = {"user_content": content, "intermediate_data": {"tool_uses": uses}}
    return {"eval_id": test.id, "conversation": [invocation]}


DIALECT = Dialect(name="adk", open=open_file, write=write)
