"""Other tools' files: what is refused, what is noted, and that what was said once is said again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

import rightcall
from rightcall import testsets
from rightcall.app.kit import all_kinds
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import grade
from rightcall.errors import TestSetError, UsageError, Where
from rightcall.testsets import Test, TestSet, dialects, writing
from rightcall.testsets.dumping import to_json, to_yaml
from rightcall.testsets.writing import native_keys
from support.grading import call, trajectory
from support.json_values import json_values

EXAMPLES = Path(__file__).parents[1] / "examples"
BOTH_WAYS = [name for name in dialects.DIALECTS if dialects.named(name).write is not None]


def read(data: Any, dialect: str | None = None, file: str = "t.json", **defaults: Any) -> TestSet:
    """The test set of these data."""
    return testsets.read(to_json(data), all_kinds(), file=file, dialect=dialect, defaults=defaults)


def alike(test_set: TestSet) -> list[Test]:
    """The tests without their places, which differ from file to file."""
    return [replace(test, places=(), where=Where(), warnings=()) for test in test_set.tests]


def langchain(**keys: Any) -> dict[str, Any]:
    """A file of one test that expects a call of `a` with `x` = 1."""
    messages = [{"role": "assistant", "tool_calls": [{"name": "a", "args": {"x": 1}}]}]
    return {**keys, "tests": [{"reference_outputs": messages}]}


def promptfoo(kind: str, value: Any, **keys: Any) -> dict[str, Any]:
    """A configuration of one test with one assertion."""
    return {"tests": [{"assert": [{"type": kind, "value": value, **keys}]}]}


REFUSED = {
    "adk: threshold": (
        "adk",
        {
            "criteria": {"tool_trajectory_avg_score": 0.5},
            "eval_cases": [{"eval_id": "a", "conversation": [{}, {}]}],
        },
        "eval_cases[0]: the average over 2 turns",
    ),
    "adk: match type": (
        "adk",
        {"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "ANY"}}, "eval_cases": []},
        "criteria.tool_trajectory_avg_score.match_type: expected `EXACT` or `IN_ORDER` or `ANY_ORDER`, found `ANY`",
    ),
    "adk: scenario": ("adk", {"eval_cases": [{"eval_id": "a"}]}, "eval_cases[0]: expected a `conversation`"),
    "langchain: mode": (
        "langchain",
        langchain(trajectory_match_mode="stirct"),
        "trajectory_match_mode: expected `strict` or `unordered` or `subset` or `superset`, found `stirct`"
        " (did you mean `strict`?)",
    ),
    "langchain: no JSON": (
        "langchain",
        {"tests": [{"reference_outputs": [{"tool_calls": [{"function": {"name": "a", "arguments": "{"}}]}]}]},
        "tests[0].reference_outputs[0].tool_calls[0].function.arguments: expected JSON text",
    ),
    "deepeval: half": ("deepeval", {"threshold": 0.5, "goldens": []}, "threshold: the `threshold` there may be"),
    "deepeval: output": ("deepeval", {"evaluation_params": ["output"], "goldens": []}, "evaluation_params[0]: what"),
    "bfcl: turns": ("bfcl", [{"id": "a", "ground_truth": [["f(x=1)"]]}], "[0].ground_truth[0]: expected a function"),
    "mlflow: judged": ("mlflow", {"data": []}, "without `should_exact_match: true` a model judges"),
    "azure: nothing": ("azure", [{"ground_truth": []}], "[0].ground_truth: expected at least one step"),
    "vertex: metric": (
        "vertex",
        {"metrics": ["bleu"], "dataset": [{}]},
        "metrics[0]: expected `trajectory_exact_match`",
    ),
    "agentcore: evaluator": ("bedrock-agentcore", {"evaluator": "Builtin.Helpfulness"}, "evaluator: expected `Builtin"),
    "promptfoo: pattern": (
        "promptfoo",
        promptfoo("trajectory:tool-used", "a*"),
        "tests[0].assert[0].value: expected the",
    ),
    "promptfoo: template": (
        "promptfoo",
        promptfoo("trajectory:tool-args-match", {"name": "a", "args": {"x": "{{y}}"}}),
        "tests[0].assert[0].value.args: templates",
    ),
    "promptfoo: negated sequence": (
        "promptfoo",
        promptfoo("not-trajectory:tool-sequence", ["a"]),
        "tests[0].assert[0].value: that a sequence must not appear",
    ),
    "promptfoo: unknown": (
        "promptfoo",
        promptfoo("trajectory:tool-uesd", "a"),
        "tests[0].assert[0].type: `trajectory:tool",
    ),
    "promptfoo: weight": ("promptfoo", promptfoo("trajectory:tool-used", "a", weight=0), "tests[0].assert[0].weight:"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_said_is_refused_with_its_place(name: str) -> None:
    """The message begins with the path in the other tool's file, whose line and column it has (G27)."""
    dialect, data, expected = REFUSED[name]
    with pytest.raises(TestSetError) as caught:
        read(data, dialect)
    place = caught.value.where
    assert (place.file, place.line is not None) == ("t.json", True)
    assert f"{place.path}: {caught.value.message}".removeprefix(": ").startswith(expected)


def test_a_mistake_shows_the_test_it_stands_in() -> None:
    """A mistake that only our reading finds has the place of the whole test in the other file."""
    rows = [{"id": "a", "ground_truth": [{"f": {}}]}] * 2
    text = b"\n".join(json.dumps(row).encode() for row in rows)
    with pytest.raises(TestSetError, match="the id `a` is repeated") as caught:
        testsets.read(text, all_kinds(), file="t.jsonl", dialect="bfcl")
    assert (caught.value.where.line, caught.value.where.path) == (2, "tests[1]")


NOTED = {
    "adk": ({"eval_cases": [{"eval_id": "a", "conversation": [{}]}]}, "without `criteria`"),
    "langchain": (langchain(trajectory_match_mode="unordered", tool_args_match_mode="superset"), "the other way round"),
    "promptfoo": ({"tests": [{"assert": [{"type": "is-json"}]}]}, "are left out: `is-json`"),
    "deepeval": ({"goldens": []}, "half the score is enough there"),
    "strands": ({"scorer": "in_order_match_scorer", "cases": [{"expected_trajectory": []}]}, "it is not judged"),
    "mlflow": (
        {"should_exact_match": True, "data": [{"expectations": {"expected_tool_calls": []}}]},
        "a model judges the calls; here the test is not judged",
    ),
    "bedrock-agentcore": (
        {"evaluator": "Builtin.TrajectoryInOrderMatch", "scenarios": [{"scenario_id": "a", "assertions": ["polite"]}]},
        "`assertions` is not about tool calls",
    ),
}


@pytest.mark.parametrize("dialect", NOTED)
def test_what_is_not_quite_the_same_is_told(dialect: str) -> None:
    """Each difference that the file makes is a warning of the test set, with the file's name."""
    data, expected = NOTED[dialect]
    told = [warning for warning in read(data, dialect).warnings if expected in warning]
    assert [warning.startswith("t.json") for warning in told] == [True]


def test_nothing_expected_is_no_pass() -> None:
    """Where the other tool lets any calls pass, there is no assertion here, so that nothing passes (G3)."""
    data = {"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "IN_ORDER"}}}
    case = {"eval_id": "a", "conversation": [{"intermediate_data": {"tool_uses": []}}]}
    (test,) = read({**data, "eval_cases": [case]}, "adk").tests
    assert test.assertions == ()


@given(json_values())
def test_arguments_of_other_tools_are_data(value: Any) -> None:
    """Whatever the arguments look like, the call that has them is the one that is expected (G14)."""
    samples = [{"reference_tool_calls": [{"name": "a", "args": {"x": value, "$gt": value}}]}]
    (test,) = read({"metric": "tool_call_f1", "samples": samples}, "ragas").tests
    (assertion,) = test.assertions
    assert isinstance(assertion, ToolCallTrajectory)
    assert {"x": value, "$gt": value} == assertion.expected_tool_calls[0].arguments


@pytest.mark.parametrize("file", ["refund/refund.rightcall.yaml", "test-sets/operators.rightcall.yaml"])
def test_native_words_say_everything(file: str) -> None:
    """A native file that is read, written and read again has the same tests, as YAML and as JSON."""
    data = (EXAMPLES / file).read_bytes()
    first = testsets.read(data, all_kinds(), file=file)
    for name, dump in (("t.yaml", to_yaml), ("t.json", to_json)):
        again = testsets.read(dump(native_keys(first)), all_kinds(), file=name)
        assert alike(first) == alike(again)
        assert (first.gate, first.name) == (again.gate, again.name)


def test_no_field_of_a_test_is_forgotten() -> None:
    """Every field that a test has is written, or is its place: a new one has to be thought of."""
    written = {*writing.KEPT, *writing.AROUND, *writing.RATES, "id", "turns", "extra", "assertions"}
    assert set(Test.__struct_fields__) == written | {"positional", "places", "warnings", "where"}


CALLS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "b"])},
        optional={"arguments": st.dictionaries(st.sampled_from(["x", "$y", "z"]), json_values(), max_size=2)},
    ),
    min_size=1,
    max_size=3,
)
MODES = st.tuples(
    st.sampled_from(["exact", "in_order", "any_order", "subset", "superset"]),
    st.sampled_from(["partial", "exact", "ignore", "deep"]),
)


@example([{"name": "a", "arguments": {"x": 1}}], ("any_order", "partial"), "langchain")
@example([{"name": "a", "arguments": {"x": 1}}], ("superset", "exact"), "adk")
@given(CALLS, MODES, st.sampled_from([name for name in BOTH_WAYS if name not in ("orbit", "promptfoo")]))
def test_what_a_dialect_says_reads_back(calls: list[dict[str, Any]], modes: tuple[str, str], dialect: str) -> None:
    """A list of calls is refused, or written in a dialect and read again as the same expectation."""
    expected = [
        {**call, "arguments": {"$literal": call["arguments"]}} if "arguments" in call else call for call in calls
    ]
    test = {"id": "t", "match": modes[0], "arguments": modes[1], "expected_tool_calls": expected}
    first = read({"tests": [test]})
    write = dialects.named(dialect).write
    assert write is not None
    try:
        written = write(first)
    except TestSetError:
        return
    criteria = [
        note.message.partition("`")[2].partition("`")[0] for note in written.notes if "test_config" in note.message
    ]
    again = read(written.data, dialect, **(json.loads(criteria[0]) if criteria else {}))
    assert verdicts(first) == verdicts(again)


def verdicts(test_set: TestSet) -> list[str]:
    """What is decided of calls that are easily confused."""
    compiled = testsets.compile_test(test_set.tests[0], compile_regex, compile_schema)
    wanted = [call(name, {"x": 1}) for name in ("a", "b")]
    odd = [call("a", {"x": 1, "$y": 0}), call("b", {}), call("a", {"x": True})]
    (assertion,) = test_set.tests[0].assertions
    assert isinstance(assertion, ToolCallTrajectory)
    exact = [call(one.name, one.arguments or {}) for one in assertion.expected_tool_calls]
    more = [call(one.name, {**one.arguments, "more": 1}) for one in exact]
    fewer = [call(one.name, dict(list(one.arguments.items())[1:])) for one in exact]
    traces = [exact, exact[::-1], exact[1:], [*exact, odd[1]], more, fewer, wanted, odd, []]
    return [str(verdict.status) for made in traces for verdict in grade(trajectory(*made), compiled.assertions)]


def test_a_dialect_of_files_is_none_of_records() -> None:
    """Keys that stand in a record or in Python cannot be in the words of a whole file."""
    with pytest.raises(UsageError, match="that of a file of tests"):
        rightcall.grade([], {"allowed_tools": []}, dialect="adk")
