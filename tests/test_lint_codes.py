"""What linting finds without traces: every code, its place, and no false alarms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from rightcall.app.lint import LintRequest, lint
from rightcall.testsets.linting import CODES, Level
from support.conformance import rows
from support.linting import codes, of_test, remarks

PROJECT = Path(__file__).parents[1]


class Case(NamedTuple):
    """A test set, and the one remark on it: code, level, line and column, and words of its message."""

    name: str
    text: str
    code: str
    level: Level
    place: tuple[int, int]
    words: str


E, W, N = Level.ERROR, Level.WARNING, Level.NOTE

CASES = [
    Case(
        "a needed tool that is forbidden",
        "tests:\n- id: x\n  expected_tool_calls: [a, b]\n  forbidden_tools: [b]\n",
        *("contradiction", E, (3, 28), "needs a call of `b`, but it is forbidden"),
    ),
    Case(
        "a needed tool that is not allowed",
        "tests:\n- id: x\n  required_tools: [a]\n  allowed_tools: [b]\n",
        *("contradiction", E, (3, 20), "needs a call of `a`, but `allowed_tools` does not list it"),
    ),
    Case(
        "a needed tool that is not allowed, where the list does not block",
        "tests:\n- id: x\n  required_tools: [a]\n  assertions: [{kind: allowed_tools, tools: [b], severity: warn}]\n",
        *("contradiction", W, (3, 20), "`allowed_tools` does not list it"),
    ),
    Case(
        "no calls, and a required tool",
        "tests:\n- id: x\n  expected_tool_calls: []\n  required_tools: [a]\n",
        *("contradiction", E, (4, 20), "`expected_tool_calls: []` expects no calls at all"),
    ),
    Case(
        "a step that exact calls do not have",
        "tests:\n- id: x\n  match: exact\n  expected_tool_calls: [a]\n  expected_tool_sequence: [{tool: b}]\n",
        *("contradiction", E, (5, 35), "with `match: exact`"),
    ),
    Case(
        "a needed call whose arguments are forbidden",
        "tests:\n- id: x\n  expected_tool_calls: [{name: a, arguments: {k: 1, l: 2}}]\n"
        "  forbidden_tools: [{tool: a, match: {mode: partial, args: {k: 1}}}]\n",
        *("contradiction", E, (3, 32), "forbidden with such arguments"),
    ),
    Case(
        "a needed call that must not be made",
        "tests:\n- id: x\n  expected_tools: [a]\n  tool_call_args: [{tool: a, match: {mode: ignore}, negate: true}]\n",
        *("contradiction", E, (3, 20), "needs a call of `a`, but it is forbidden"),
    ),
    Case(
        "a budget below the expected calls",
        "tests:\n- id: x\n  expected_tool_calls: [a, b, a]\n  budget: {max_calls: 2}\n",
        *("contradiction", E, (4, 23), "at least 3 calls are needed, and `max_calls` is 2"),
    ),
    Case(
        "a budget for one tool below its expected calls",
        "tests:\n- id: x\n  expected_tool_calls: [a, b, a]\n  budget: {max_calls_per_tool: {a: 1}}\n",
        *("contradiction", E, (4, 32), "`a` is needed 2 times, and `max_calls_per_tool` allows 1"),
    ),
    Case(
        "an optional step that is not allowed",
        "tests:\n- id: x\n  expected_tool_sequence: [{tool: a}, {optional: {tool: b}}]\n  allowed_tools: [a]\n",
        *("unreachable-step", W, (3, 57), "the step of `b` can never be taken"),
    ),
    Case(
        "bounds that leave no number",
        "tests:\n- id: x\n  expected_tool_calls: [{name: a, arguments: {k: {$gte: 5, $lte: 3}}}]\n",
        *("impossible-value", E, (3, 50), "no number meets both"),
    ),
    Case(
        "types that no value has",
        "tests:\n- id: x\n  expected_tool_calls: [{name: a, arguments: {k: {$type: string, $gt: 3}}}]\n",
        *("impossible-value", E, (3, 50), "no type of value meets all of them"),
    ),
    Case(
        "a forbidden value that there is not",
        "tests:\n- id: x\n  forbidden_tools:\n  - {tool: a, match: {mode: partial, args: {k: {$gt: 1, $lt: 1}}}}\n",
        *("impossible-value", E, (4, 48), "never forbids anything"),
    ),
    Case(
        "exact calls in another order than the steps",
        "tests:\n- id: x\n  match: exact\n  expected_tool_calls: [a, b]\n"
        "  expected_tool_sequence: [{tool: b}, {tool: a}]\n",
        *(
            "never-passes",
            E,
            (5, 27),
            "`tool_sequence` together: the only one that could was tried",
        ),
    ),
    Case(
        "exact arguments beside others",
        "tests:\n- id: x\n  match: any_order\n  expected_tool_calls: [{name: a, arguments: {k: 1}}]\n"
        "  tool_call_args: [{tool: a, match: {mode: partial, args: {k: 2}}}]\n",
        *("never-passes", E, (5, 20), "all 6 that could were tried"),
    ),
    Case(
        "nothing may be called, and a score",
        "tests:\n- id: x\n  allowed_tools: []\n  expected_tools: [a, b]\n  threshold: 50\n",
        *("never-passes", E, (4, 19), "the only one that could was tried"),
    ),
    Case(
        "operators that only together cannot be met",
        "tests:\n- id: x\n  budget: {max_calls: 1}\n  tool_call_args:\n"
        "  - {tool: a, match: {mode: partial, args: {k: {$gt: 5}}}}\n"
        "  - {tool: a, match: {mode: partial, args: {k: {$lt: 3}}}}\n",
        *("never-passes", W, (3, 23), "no trajectory was found that passes"),
    ),
    Case(
        "a threshold of 0",
        "tests:\n- id: x\n  expected_tools: [a]\n  threshold: 0\n",
        *("never-fails", E, (3, 19), "every score reaches `threshold: 0`"),
    ),
    Case(
        "only optional steps",
        "tests:\n- id: x\n  expected_tool_sequence: [{optional: {tool: a}}, {repeat: {step: {tool: b}, min: 0}}]\n",
        *("never-fails", E, (3, 27), "no step of it is needed"),
    ),
    Case(
        "a ban of nothing",
        "tests:\n- id: x\n  assertions: [{kind: forbidden_tools, tools: []}]\n",
        *("never-fails", E, (3, 16), "it forbids nothing"),
    ),
    Case(
        "a limit that nobody reaches",
        "tests:\n- id: x\n  assertions: [{kind: budget, max_calls: 100000}]\n",
        *("never-fails", W, (3, 16), "no trajectory was found that fails `budget:max_calls`"),
    ),
    Case(
        "a pattern that is found in every text",
        'tests:\n- id: x\n  tool_call_args: [{tool: a, match: {mode: regex, pattern: "x*"}}]\n',
        *("matches-everything", W, (3, 60), "accepted all arguments that were tried"),
    ),
    Case(
        "an operator that everything meets",
        "tests:\n- id: x\n  expected_tool_calls: [{name: a, arguments: {k: {$optional: {$any: true}}}}]\n",
        *("matches-everything", W, (3, 46), "accepted all arguments that were tried"),
    ),
    Case(
        "no arguments, which accept any",
        "tests:\n- id: x\n  expected_tool_calls: [{name: a, arguments: {}}]\n",
        *("empty-arguments", N, (3, 46), "accepts any arguments"),
    ),
    Case(
        "a list of all tools",
        "tool_schemas: {a: {}, b: {}}\ntests:\n- id: x\n  allowed_tools: [a, b]\n",
        *("allows-every-tool", W, (4, 18), "lists every tool"),
    ),
    Case(
        "a misspelt tool in a policy",
        "tool_schemas: {refund: {}, lookup: {}}\ntests:\n- id: x\n  forbidden_tools: [refnd]\n",
        *("unknown-tool", W, (4, 21), "(did you mean `refund`?)"),
    ),
    Case(
        "a misspelt argument",
        "tool_schemas: {a: {properties: {order_id: {}}}}\ntests:\n- id: x\n"
        "  expected_tool_calls: [{name: a, arguments: {order_di: 1}}]\n",
        *("unknown-argument", W, (4, 57), "has no argument `order_di` by its JSON Schema (did you mean `order_id`?)"),
    ),
    Case(
        "an argument that the schema does not allow",
        "tool_schemas: {a: {properties: {k: {}}, additionalProperties: false}}\ntests:\n- id: x\n"
        "  tool_call_args: [{tool: a, match: {mode: subset, args: {other: 1}}}]\n",
        *("unknown-argument", E, (4, 66), "has no argument `other`"),
    ),
    Case(
        "a value that the schema refuses",
        "tool_schemas: {a: {properties: {k: {type: integer}}, required: [k, l]}}\ntests:\n- id: x\n"
        '  expected_tool_calls: [{name: a, arguments: {k: "5"}}]\n',
        *("refused-argument", W, (4, 50), "refuses `k` by its JSON Schema"),
    ),
    Case(
        "the same expectation twice",
        "tests:\n- id: x\n  tool_call_args:\n  - {tool: a, match: {mode: exact, args: {k: 1}}}\n"
        "  - {tool: a, match: {mode: exact, args: {k: 1}}}\n",
        *("duplicate-assertion", W, (5, 5), "expects the same as `tool_call_args:a`"),
    ),
    Case(
        "the same test twice",
        "tests:\n- {id: x, prompt: hello, required_tools: [a]}\n- {id: y, prompt: hello, required_tools: [a]}\n",
        *("duplicate-test", W, (3, 3), "the same as `x`"),
    ),
    Case(
        "no id",
        "tests:\n- required_tools: [a]\n",
        *("no-id", W, (2, 3), "has no `id`"),
    ),
    Case(
        "no expectation",
        "tests:\n- {id: x, prompt: hello}\n",
        *("nothing-expected", E, (2, 3), "expects nothing"),
    ),
    Case(
        "nothing that blocks",
        "tests:\n- id: x\n  assertions: [{kind: required_tool, tool: a, severity: shadow}]\n",
        *("nothing-gates", N, (2, 3), "no expectation of the test blocks"),
    ),
    Case(
        "a rate of 0 of attempts",
        "tests:\n- id: x\n  required_tools: [a]\n  min_pass_rate: 0\n",
        *("zero-rate", E, (4, 18), "`min_pass_rate: 0` is reached whatever fails"),
    ),
    Case(
        "a rate of 0 of tests",
        "gate: {min_pass_rate: 0%}\ntests:\n- {id: x, required_tools: [a]}\n",
        *("zero-rate", E, (1, 23), "`min_pass_rate: 0` is reached whatever fails"),
    ),
    Case(
        "a threshold for verdicts that there are not",
        "gate: {thresholds: {tool_seqence: 0.9}}\ntests:\n- {id: x, expected_tool_sequence: [{tool: a}]}\n",
        *("gate-unreachable", E, (1, 35), "named `tool_seqence` (did you mean `tool_sequence`?)"),
    ),
    Case(
        "more tests than there are",
        "gate: {min_graded: 2}\ntests:\n- {id: x, required_tools: [a]}\n",
        *("gate-unreachable", W, (1, 20), "asks for 2 graded, and the test set has 1 test"),
    ),
    Case(
        "a pattern for which no text is found",
        "tests:\n- id: x\n  tool_call_args: [{tool: a, match: {mode: regex, pattern: '\\\"z{3}[q-s]{2}'}}]\n",
        *("undecided", N, (3, 60), "was not tried"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_mistake_is_found_in_its_place(case: Case) -> None:
    """A test set with one mistake has one remark: its code, level, line, column and words."""
    (remark,) = remarks(case.text)

    assert (remark.code, remark.level, (remark.where.line, remark.where.column)) == (case.code, case.level, case.place)
    assert case.words in remark.message
    assert remark.advice


def test_every_code_has_a_case() -> None:
    """No code is without a test; one needs two files, and stands among the tests of the command line."""
    assert {case.code for case in CASES} | {"duplicate-id"} == set(CODES)


def test_every_code_is_on_the_page() -> None:
    """The page has a table of all codes with what they mean."""
    page = (PROJECT / "docs" / "lint.md").read_text(encoding="utf-8")

    table = page.partition("## Codes")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", table, re.MULTILINE)) == CODES


EXAMPLES = sorted((PROJECT / "examples").rglob("*.rightcall.yaml"))


@pytest.mark.parametrize(
    "file",
    [path for path in EXAMPLES if path.name != "broken.rightcall.yaml"],
    ids=lambda path: path.name,
)
def test_the_examples_have_no_mistakes(file: Path) -> None:
    """Nothing is said against test sets that are meant to be right."""
    linted = lint(LintRequest(files=(str(file),)))

    assert linted.refused == ()
    assert [remark.message for remark in linted.remarks if remark.level is not Level.NOTE] == []


KEYS = ("match", "arguments", "expected_tool_calls", "tool_call_args", "expected_tool_sequence", "allowed_tools")


def test_the_conformance_suite_has_no_mistakes() -> None:
    """None of the expectations of the suite is called wrong: each can pass, and each can fail."""
    wrong = []
    for row in rows("trajectory")[::7]:
        keys = {key: row[key] for key in KEYS if key in row}
        nulls = [call for call in row["expected_tool_calls"] if call.get("arguments", 0) is None]
        if "refused" not in row["want"] and not nulls:
            wrong += [(row["id"], code) for code in codes(of_test(**keys))]
    assert wrong == []


@pytest.mark.parametrize(
    "keys",
    [
        {"required_tools": ["a"], "allowed_tools": ["b"], "tool_aliases": {"b": "a"}},
        {"match": "subset", "expected_tool_calls": ["a"], "forbidden_tools": ["a"]},
        {"expected_tool_calls": ["a"], "tool_call_args": [{"tool": "a", "match": {"mode": "exact", "args": {"k": 1}}}]},
        {
            "required_tools": ["a"],
            "assertions": [{"kind": "forbidden_tools", "tools": ["a"], "turn": 2}],
        },
        {"expected_tool_calls": [{"name": "a", "arguments": {"k": {"$gte": 5, "$lte": 5}}}]},
        {"expected_tool_calls": [{"name": "a", "arguments": {"k": {"$type": "integer", "$gt": 1, "$lt": 3}}}]},
        {"expected_tool_calls": [{"name": "a", "arguments": {"k": {"$regex": "^[A-Z]", "$one_of": ["b", "C"]}}}]},
        {"assertions": [{"kind": "required_tool", "tool": "a", "turn": 3}]},
        {"assertions": [{"kind": "allowed_tools", "tools": ["a"], "agent": "billing"}]},
        {"only_successful": True, "expected_tool_calls": ["a"], "budget": {"max_errors": 0}},
        {"expected_tools": ["a", "b"], "threshold": 60, "forbidden_tools": ["a"]},
        {"expected_tool_calls": ["a"], "budget": {"max_calls": 400}},
    ],
)
def test_what_can_pass_and_can_fail_is_not_called_wrong(keys: dict[str, object]) -> None:
    """Expectations that look as if they contradicted one another, and do not."""
    assert codes(of_test(**keys)) == []
