"""Test sets written in native words and read again: nothing that they expect is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import UNSET

from rightcall import match, testsets
from rightcall.app.kit import all_kinds
from rightcall.core.assertion import Assertion
from rightcall.errors import TestSetError
from rightcall.testsets import dialects
from rightcall.testsets.dumping import to_json, to_yaml
from rightcall.testsets.writing import native_keys
from support.conformance import rows


def said(test: dict[str, Any], file: str = "t.json", data: bytes | None = None) -> list[str]:
    """What each assertion of a test expects, in words: values that lie about what they equal cannot hide there."""
    read = testsets.read(json.dumps({"tests": [test]}).encode() if data is None else data, all_kinds(), file=file)
    return [repr(assertion).replace("threshold=100.0", "threshold=100") for assertion in read.tests[0].assertions]


def expectations() -> Iterator[tuple[str, dict[str, Any]]]:
    """The expectations of every conformance row that has some, by the id of the row."""
    for row in rows("assertions"):
        yield row["id"], row["expectations"]
    for row in rows("steps"):
        yield row["id"], {"expected_tool_sequence": {"steps": row["steps"], "strict": row.get("strict", False)}}
    for row in rows("rules"):
        yield row["id"], {"rules": [row["rule"]]}
    for row in rows("operators"):
        yield row["id"], {"expected_tool_calls": [{"name": "a", "arguments": {"x": row["expected"]}}]}
    for row in rows("operator_modes"):
        call = {"name": "a", "arguments": row["arguments"]}
        yield row["id"], {"expected_tool_calls": [call], "arguments": "deep"}
        yield row["id"], {"tool_call_args": [{"tool": "a", "match": {"mode": "partial", "args": row["arguments"]}}]}


@pytest.mark.parametrize("severity", [{}, {"severity": "warn"}], ids=["block", "warn"])
@pytest.mark.parametrize(("file", "dump"), [("t.yaml", to_yaml), ("t.json", to_json)], ids=["yaml", "json"])
def test_every_conformance_row_comes_back(file: str, dump: Any, severity: dict[str, str]) -> None:
    """What is read, written and read again expects the same, whatever kind it is of."""
    for identity, test in expectations():
        known = {"id": identity, **test, **severity}
        keys = native_keys(testsets.read(json.dumps({"tests": [known]}).encode(), all_kinds(), file="t.json"))
        assert (identity, said(known)) == (identity, said(known, file, dump(keys)))


@pytest.mark.parametrize("arguments", [{"$not": {"a": 1}}, {"$any": True}, {"$one_of": [{}, {"$not": {"$any": True}}]}])
def test_whole_arguments_that_are_an_operator_are_written(arguments: dict[str, Any]) -> None:
    """An operator that would accept a value that is not there is yet no expectation that was left out (G14)."""
    test = {"id": "a", "expected_tool_calls": [{"name": "a", "arguments": arguments}]}
    keys = native_keys(testsets.read(json.dumps({"tests": [test]}).encode(), all_kinds(), file="t.json"))
    assert keys["tests"][0] == test


@pytest.mark.parametrize("operator", [match.not_(1), match.any_(), match.schema(True), match.not_(match.type_("null"))])
def test_an_operator_does_not_equal_what_is_not_there(operator: Any) -> None:
    """What is missing is no value, so nothing is accepted by accepting anything (G7)."""
    assert operator != UNSET


def test_settings_of_a_kind_are_not_lost() -> None:
    """What is not what it is by itself is written."""
    test = {
        "id": "a",
        "severity": "shadow",
        "turns": [
            {"prompt": "1", "severity": "warn", "allowed_tools": ["a"]},
            {"prompt": "2", "required_tools": ["b"]},
        ],
        "assertions": [{"kind": "budget", "max_calls": 3, "agent": "billing", "name": "few"}],
    }
    keys = native_keys(testsets.read(json.dumps({"tests": [test]}).encode(), all_kinds(), file="t.json"))
    assert said(test) == said({}, "t.json", to_json(keys))
    assert all(isinstance(one, Assertion) for one in testsets.read(to_json(keys), all_kinds()).tests[0].assertions)


WRITTEN = [name for name in dialects.DIALECTS if name != "native" and dialects.named(name).write is not None]
CALLS = [{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {"x": 2}}]
OURS: dict[str, dict[str, Any]] = {
    "a severity": {"expected_tool_calls": CALLS, "severity": "warn"},
    "a name": {"assertions": [{"kind": "trajectory", "expected_tool_calls": CALLS, "name": "own"}]},
    "a turn": {"assertions": [{"kind": "trajectory", "expected_tool_calls": CALLS, "turn": 2}]},
    "an agent": {"assertions": [{"kind": "trajectory", "expected_tool_calls": CALLS, "agent": "a"}]},
    "parallel calls": {"assertions": [{"kind": "trajectory", "expected_tool_calls": CALLS, "parallel": "unordered"}]},
    "parallel calls of a test": {"expected_tool_calls": CALLS, "parallel": "unordered"},
    "turns": {"turns": [{"prompt": "1", "expected_tool_calls": CALLS}]},
    "a call's pattern": {"expected_tool_calls": [{"name": "a", "match": {"mode": "deep", "args": {"x": 1}}}]},
    "a call's defaults": {"expected_tool_calls": [{"name": "a", "arguments": {}, "defaults": {"x": 1}}]},
    "a call's ignored arguments": {"expected_tool_calls": [{"name": "a", "ignore_arguments": ["x"]}]},
    "an operator": {"expected_tool_calls": [{"name": "a", "arguments": {"x": {"$gt": 1}}}]},
    "an operator as a whole": {"expected_tool_calls": [{"name": "a", "arguments": {"$not": {"x": 1}}}]},
    "success": {"expected_tool_calls": CALLS, "only_successful": True},
    "aliases": {"expected_tool_calls": CALLS, "tool_aliases": {"c": "a"}},
    "a count": {"expected_tool_calls": CALLS, "count": {"requestor": "any"}},
    "ignored arguments": {"expected_tool_calls": CALLS, "ignore_arguments": ["x"]},
    "a rate": {"expected_tool_calls": CALLS, "min_pass_rate": "1/2"},
    "a rule": {"expected_tool_calls": CALLS, "rules": [{"absence": "z"}]},
    "a budget": {"expected_tool_calls": CALLS, "budget": {"max_calls": 3}},
    "a ban of arguments": {"forbidden_tools": [{"tool": "a", "match": {"mode": "subset", "args": {"x": 1}}}]},
    "a strict sequence": {"expected_tool_sequence": {"strict": True, "steps": [{"tool": "a"}]}},
}


@pytest.mark.parametrize("dialect", WRITTEN)
@pytest.mark.parametrize("test", OURS.values(), ids=OURS)
def test_what_only_we_can_say_is_refused_by_every_dialect(test: dict[str, Any], dialect: str) -> None:
    """Nothing that decides is left out on the way into another tool's words."""
    write = dialects.named(dialect).write
    assert write is not None
    known = testsets.read(json.dumps({"tests": [{"id": "t", **test}]}).encode(), all_kinds(), file="t.json")
    with pytest.raises(TestSetError):
        write(known)


@pytest.mark.parametrize(
    "assertion", [{"negate": True}, {"match": {"mode": "deep", "args": {"x": 1}}}, {"match": {"mode": "ignore"}}]
)
def test_words_that_orbit_does_not_know_are_refused(assertion: dict[str, Any]) -> None:
    """Rows have negation and modes of arguments only as far as Orbit has them (G23)."""
    args = {"tool": "a", "match": {"mode": "subset", "args": {"x": 1}}, **assertion}
    known = testsets.read(
        json.dumps({"tests": [{"id": "t", "tool_call_args": [args]}]}).encode(), all_kinds(), file="t.json"
    )
    write = dialects.named("orbit").write
    assert write is not None
    with pytest.raises(TestSetError, match="cannot be said in the dialect `orbit`"):
        write(known)


@pytest.mark.parametrize(
    "model", ["openai:x", {"model": "openai:x", "base_url": "http://127.0.0.1/v1", "timeout": 5.0}]
)
def test_models_personas_and_rubrics_come_back(model: Any) -> None:
    """A test set for a judge and for simulated users says the same again."""
    persona = {"goal": "A refund.", "traits": ["brief"], "facts": {"order": 42}, "first_message": "Hi", "max_turns": 3}
    rubrics = ["polite", {"criteria": "brief", "samples": 3, "severity": "warn"}]
    data = {"judge": model, "simulator": model, "tests": [{"id": "a", "persona": persona, "rubric": rubrics}]}
    read = testsets.read(json.dumps({**data, "version": 1}).encode(), all_kinds(), file="t.json")
    again = testsets.read(to_json(native_keys(read)), all_kinds(), file="t.json")
    assert (again.judge, again.simulator) == (read.judge, read.simulator)
    assert (again.tests[0].persona, again.tests[0].assertions) == (read.tests[0].persona, read.tests[0].assertions)


@pytest.mark.parametrize("key", ["prompt", "turns"])
def test_a_persona_stands_alone(key: str) -> None:
    """Nobody else may have lines in that test (G27)."""
    test = {"persona": {"goal": "x"}, "required_tools": ["a"], key: "x" if key == "prompt" else [{"prompt": "x"}]}
    with pytest.raises(TestSetError, match=f"`{key}` cannot stand beside `persona`"):
        testsets.read(json.dumps({"version": 1, "tests": [test]}).encode(), all_kinds(), file="t.json")


def test_what_a_simulated_user_says_is_never_kept() -> None:
    """A cache for it is refused (G37)."""
    data = {"version": 1, "simulator": {"model": "openai:x", "cache": "kept"}, "tests": []}
    with pytest.raises(TestSetError, match="never kept"):
        testsets.read(json.dumps(data).encode(), all_kinds(), file="t.json")
