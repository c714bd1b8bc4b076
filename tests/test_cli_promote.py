"""`rightcall promote`: what becomes a test, what is refused, and what a file looks like afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Ran, Run, run_here
from support.stories import write

Outcomes = Callable[[str, str], dict[str, str]]

LOOKUP = {"name": "lookup_order", "arguments": {"order_id": 42}}
REFUND = {"name": "issue_refund", "arguments": {"order_id": 42, "amount": 19.5}}
PROMPT = "My order 42 arrived late."


def said(*texts: str) -> list[dict[str, str]]:
    """Turns of the user, each answered."""
    return [
        part for text in texts for part in ({"role": "user", "content": text}, {"role": "assistant", "content": "."})
    ]


def record(identity: str, *calls: Any, prompt: str = PROMPT, **fields: Any) -> dict[str, Any]:
    """A recorded conversation."""
    return {"id": identity, "messages": said(prompt), "tool_calls": list(calls), **fields}


@pytest.fixture
def promote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs `rightcall promote` in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run_here(capfdbinary, "promote", *arguments)


@pytest.fixture
def outcomes(promote: Run, capfdbinary: pytest.CaptureFixture[bytes]) -> Outcomes:
    """Grades traces for a test set there: the outcome of each test."""

    def graded(traces: str, tests: str) -> dict[str, str]:
        report = json.loads(run_here(capfdbinary, "grade", traces, "--tests", tests, "--json").out)
        return {result["id"]: result["outcome"] for result in report["results"]}

    return graded


def test_a_conversation_becomes_a_test_with_its_prompt_and_its_calls(
    tmp_path: Path, promote: Run, outcomes: Outcomes
) -> None:
    """The new file names its schema, says where the test comes from, and expects the calls as they were made."""
    write(tmp_path, {"t.jsonl": [record("late", LOOKUP, REFUND)]})
    assert promote("t.jsonl", "-o", "new.rightcall.yaml") == Ran(0, "wrote new.rightcall.yaml: 1 test\n", "")
    assert (tmp_path / "new.rightcall.yaml").read_text() == (
        "# yaml-language-server: $schema=rightcall.schema.json\n"
        "version: 1\n"
        "tests:\n"
        "  # from `late` in t.jsonl\n"
        "  - id: late\n"
        "    prompt: My order 42 arrived late.\n"
        "    expected_tool_calls:\n"
        "      - {name: lookup_order, arguments: {order_id: 42}}\n"
        "      - {name: issue_refund, arguments: {order_id: 42, amount: 19.5}}\n"
        "    match: exact\n"
        "    arguments: exact\n"
    )
    assert outcomes("t.jsonl", "new.rightcall.yaml") == {"late": "pass"}


@pytest.mark.parametrize("name", ["new.json", "new.jsonl", "new.yml"])
def test_the_ending_of_the_name_decides_the_format(tmp_path: Path, promote: Run, outcomes: Outcomes, name: str) -> None:
    """JSON and JSON Lines hold the same tests, which grade as those of YAML do."""
    write(tmp_path, {"t.jsonl": [record("late", LOOKUP), record("hours", prompt="When?")]})
    assert promote("t.jsonl", "-o", name).code == 0
    assert outcomes("t.jsonl", name) == {"late": "pass", "hours": "pass"}


def test_json_says_where_a_test_comes_from_under_a_key(tmp_path: Path, promote: Run) -> None:
    """What is a comment in YAML stands under `x-promoted` in JSON."""
    write(tmp_path, {"t.jsonl": [record("late", LOOKUP)]})
    promote("t.jsonl", "-o", "new.json")
    (test,) = json.loads((tmp_path / "new.json").read_text())["tests"]
    assert test["x-promoted"] == ["from `late` in t.jsonl"]


def test_a_conversation_of_several_turns_becomes_turns(tmp_path: Path, promote: Run, outcomes: Outcomes) -> None:
    """Each thing that the user said is a turn; the calls of all of them are expected of the whole."""
    write(tmp_path, {"t.jsonl": [{"id": "two", "messages": said("Hello.", "Order 42?"), "tool_calls": [LOOKUP]}]})
    promote("t.jsonl", "-o", "new.json")
    (test,) = json.loads((tmp_path / "new.json").read_text())["tests"]
    assert test["turns"] == [{"prompt": "Hello."}, {"prompt": "Order 42?"}]
    assert outcomes("t.jsonl", "new.json") == {"two": "pass"}


def test_data_that_looks_like_an_operator_is_literal(tmp_path: Path, promote: Run, outcomes: Outcomes) -> None:
    """Keys that begin with `$` are data in a recording, and are written so that they stay data."""
    write(tmp_path, {"t.jsonl": [record("a", {"name": "find", "arguments": {"filter": {"$gt": 5}}})]})
    promote("t.jsonl", "-o", "new.yaml")
    assert "{filter: {$literal: {$gt: 5}}}" in (tmp_path / "new.yaml").read_text()
    assert outcomes("t.jsonl", "new.yaml") == {"a": "pass"}


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ({"arguments_state": "redacted"}, "were redacted"),
        ({"arguments_state": "malformed", "arguments_text": "{"}, "were no JSON"),
        ({"arguments_state": "not_captured"}, "were not recorded"),
    ],
)
def test_arguments_that_are_not_known_are_expected_in_no_way(
    tmp_path: Path, promote: Run, call: dict[str, Any], why: str
) -> None:
    """A call without readable arguments is expected by its name; a comment and a note say why (G9, G11)."""
    write(tmp_path, {"t.jsonl": [record("a", {"name": "find", **call})]})
    ran = promote("t.jsonl", "-o", "new.yaml")
    sentence = f"`find`: its arguments {why}, so any are accepted"
    assert (ran.code, ran.err) == (0, f"note: a: {sentence}\n")
    text = (tmp_path / "new.yaml").read_text()
    assert f"  # {sentence}\n" in text
    assert "    expected_tool_calls: [find]\n" in text


def test_calls_that_do_not_count_are_not_expected(tmp_path: Path, promote: Run) -> None:
    """Calls of kind `output`, and of the user, are left out as in grading (G13)."""
    others = [{"name": "final", "kind": "output"}, {"name": "reset", "requestor": "user"}]
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP, *others)]})
    promote("t.jsonl", "-o", "new.json")
    (test,) = json.loads((tmp_path / "new.json").read_text())["tests"]
    assert test["expected_tool_calls"] == [LOOKUP]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"gaps": ["line 3 was cut off"]}, "`b` is not whole, so it shows no more than some of the calls: line 3"),
        ({"tool_calls": None}, "`b` has no recorded tool calls"),
        ({"tool_calls": [{"arguments": {}}]}, "call 1 of `b` has no name"),
    ],
)
def test_what_is_not_whole_makes_no_test(tmp_path: Path, promote: Run, fields: dict[str, Any], why: str) -> None:
    """A conversation with calls that may be missing is refused with the reason; the others are promoted (G12)."""
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP), {**record("b", LOOKUP), **fields}]})
    ran = promote("t.jsonl", "-o", "new.json")
    assert (ran.code, ran.out) == (3, "wrote new.json: 1 test\n")
    assert f"error: b: {why}" in ran.err


def test_a_record_that_cannot_be_read_is_told(tmp_path: Path, promote: Run) -> None:
    """Nothing is skipped in silence: the place of the bad line is told, and the code is 3 (G39)."""
    write(tmp_path, {"t.jsonl": json.dumps(record("a", LOOKUP)) + '\n{"id": 5, "tool_calls"\n'})
    ran = promote("t.jsonl", "-o", "new.json")
    assert (ran.code, ran.out) == (3, "wrote new.json: 1 test\n")
    assert ran.err.startswith("error: t.jsonl:2")


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--id", "a*"], ["a1", "a2"]),
        (["--id", "a1", "--id", "b"], ["a1", "b"]),
        (["--tool", "issue_*"], ["a2"]),
        (["--metadata", "env=production"], ["a1"]),
        (["--metadata", "retries=2"], ["b"]),
        (["--calls", "failed"], ["b"]),
        (["--calls", "ok"], ["a1", "a2"]),
        (["--id", "a*", "--tool", "lookup_order"], ["a1", "a2"]),
        (["--id", "a*", "--calls", "failed"], []),
    ],
)
def test_conversations_are_chosen(tmp_path: Path, promote: Run, options: list[str], ids: list[str]) -> None:
    """By id, tool, metadata and whether calls failed; all of these must hold, of several of one sort one."""
    records = [
        record("a1", LOOKUP, metadata={"env": "production"}),
        record("a2", LOOKUP, REFUND),
        record("b", {**LOOKUP, "status": "error"}, metadata={"retries": 2}),
    ]
    write(tmp_path, {"t.jsonl": records})
    ran = promote("t.jsonl", "-o", "new.json", *options)
    assert ran.code == (0 if ids else 3)
    tests = json.loads((tmp_path / "new.json").read_text())["tests"] if ids else []
    assert ids == [test["id"] for test in tests]


def test_a_failed_call_is_told(tmp_path: Path, promote: Run) -> None:
    """A call that failed when it was recorded is expected as it was made, and a reviewer is told."""
    write(tmp_path, {"t.jsonl": [record("a", {**LOOKUP, "status": "error"})]})
    ran = promote("t.jsonl", "-o", "new.json")
    assert ran.err == "note: a: 1 call of `a` failed when it was recorded: lookup_order\n"


POLICY = "tests:\n  - id: policy\n    forbidden_tools: [issue_refund]\n    budget: {max_calls: 5}\n"


def test_failures_become_tests_that_still_fail(tmp_path: Path, promote: Run, outcomes: Outcomes) -> None:
    """What a conversation did wrong is never expected: its test has the prompt, and what the failed test expects."""
    records = [record("good", LOOKUP), record("bad", LOOKUP, REFUND)]
    write(tmp_path, {"t.jsonl": records, "policy.yaml": POLICY})
    ran = promote("t.jsonl", "-t", "policy.yaml", "--apply-all", "--only-failed", "-o", "new.yaml")
    assert (ran.code, ran.out) == (0, "wrote new.yaml: 1 test\n")
    text = (tmp_path / "new.yaml").read_text()
    assert (
        "  # from `bad` in t.jsonl\n"
        "  # it failed: no_forbidden_tool: `issue_refund` was called (call 2), which is forbidden.\n"
        '  # call 1 was lookup_order({"order_id":42})\n'
        '  # call 2 was issue_refund({"order_id":42,"amount":19.5})\n'
        "  - id: bad\n"
        "    prompt: My order 42 arrived late.\n"
        "    forbidden_tools: [issue_refund]\n"
    ) in text
    assert outcomes("t.jsonl", "new.yaml") == {"bad": "fail"}


def test_what_could_not_be_judged_is_no_failure(tmp_path: Path, promote: Run) -> None:
    """A conversation that could not be judged makes no test of a failure, and is told."""
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP, gaps=["cut off"])], "policy.yaml": POLICY})
    ran = promote("t.jsonl", "-t", "policy.yaml", "--only-failed", "-o", "new.yaml")
    assert ran.code == 3
    assert "error: a: could not be judged for `policy`" in ran.err
    assert not (tmp_path / "new.yaml").exists()


SECRET = "sk-proj-abcdefghijklmnop1234567890"


def test_secrets_are_not_written(tmp_path: Path, promote: Run, outcomes: Outcomes) -> None:
    """A secret is expected by its type, masked in the prompt, and stands neither in a comment nor in a message."""
    call = {"name": "login", "arguments": {"user": "kim", "token": SECRET}}
    write(tmp_path, {"t.jsonl": [record("a", call, prompt=f"Log me in with {SECRET}.")]})
    ran = promote("t.jsonl", "-o", "new.yaml")
    text = (tmp_path / "new.yaml").read_text()
    assert SECRET not in text + ran.out + ran.err
    assert "{user: kim, token: {$type: string}}" in text
    assert "# `login`: what looks like a secret is left out: only its type is expected\n" in text
    assert outcomes("t.jsonl", "new.yaml") == {"a": "pass"}


def test_a_secret_is_no_id(tmp_path: Path, promote: Run) -> None:
    """An id that holds a secret, or is made of a prompt that does, is not written either."""
    records = [record(SECRET, LOOKUP), {**record("", LOOKUP, prompt=f"Log me in with {SECRET}."), "metadata": {"n": 2}}]
    write(tmp_path, {"t.jsonl": records})
    ran = promote("t.jsonl", "-o", "new.json")
    assert "klmnop123456" not in (tmp_path / "new.json").read_text() + ran.out + ran.err
    ids = [test["id"] for test in json.loads((tmp_path / "new.json").read_text())["tests"]]
    assert [identity.rpartition("-")[0] for identity in ids] == ["my-order-42-arrived-late", "log-me-in-with-redacted"]
    assert "the id is made of the prompt: recordings are for this test if they name it" in ran.err


@pytest.mark.parametrize("options", [["-o", "new.yaml"], ["-o", "new.yaml", "--learn"], ["--update", "old.yaml"]])
def test_a_tool_that_is_called_by_a_secret_makes_no_test(tmp_path: Path, promote: Run, options: list[str]) -> None:
    """A test cannot expect a name without saying it: nothing is written, and that is told without the name."""
    write(tmp_path, {"t.jsonl": [record("a", {"name": f"f_{SECRET}", "arguments": {}})], "old.yaml": "tests: []\n"})
    ran = promote("t.jsonl", *options)
    assert (ran.code, (tmp_path / "new.yaml").exists(), (tmp_path / "old.yaml").read_text()) == (
        3,
        False,
        "tests: []\n",
    )
    assert "error: a: the name of a tool that was called is to be hidden, and a test would have to say it;" in ran.err
    assert "klmnop123456" not in ran.out + ran.err
    assert promote("t.jsonl", *options, "--no-redact").code == 0


def test_a_parameter_called_password_keeps_its_schema(tmp_path: Path, promote: Run) -> None:
    """In the schema of a tool the name of a parameter is no value, so that nothing of it is hidden."""
    parameters = {"type": "object", "properties": {"password": {"type": "string", "default": SECRET}}}
    tools = [{"name": "lookup_order", "parameters": parameters}]
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP, available_tools=tools)]})
    promote("t.jsonl", "-o", "new.json", "--tool-schemas")
    (test,) = json.loads((tmp_path / "new.json").read_text())["tests"]
    schema = test["tool_schemas"]["lookup_order"]["properties"]["password"]
    assert schema == {"type": "string", "default": "[redacted]"}


def test_secrets_are_written_if_that_is_asked_for(tmp_path: Path, promote: Run) -> None:
    """`--no-redact` writes everything as it was recorded."""
    write(tmp_path, {"t.jsonl": [record("a", {"name": "login", "arguments": {"token": SECRET}})]})
    promote("t.jsonl", "-o", "new.yaml", "--no-redact")
    assert SECRET in (tmp_path / "new.yaml").read_text()


def test_the_schemas_of_tools_are_written_if_that_is_asked_for(tmp_path: Path, promote: Run) -> None:
    """`--tool-schemas` writes the tools that there were, so that misspelt names are refused later."""
    tools = [{"name": "lookup_order", "parameters": {"type": "object"}}, {"name": "other"}]
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP, available_tools=tools)]})
    promote("t.jsonl", "-o", "new.json", "--tool-schemas")
    (test,) = json.loads((tmp_path / "new.json").read_text())["tests"]
    assert test["tool_schemas"] == {"lookup_order": {"type": "object"}, "other": {}}


def test_a_call_outside_the_tools_leaves_no_schemas(tmp_path: Path, promote: Run, outcomes: Outcomes) -> None:
    """Schemas that would make the test unusable are left out, and that is told (G27)."""
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP, available_tools=[{"name": "other"}])]})
    ran = promote("t.jsonl", "-o", "new.json", "--tool-schemas")
    assert "`lookup_order` was called and is not among the tools that there were" in ran.err
    assert outcomes("t.jsonl", "new.json") == {"a": "pass"}


def test_conversations_of_one_test_that_differ_are_refused_without_learning(tmp_path: Path, promote: Run) -> None:
    """Which of them is right nobody has said; equal ones are one test."""
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP), record("a", LOOKUP)]})
    assert promote("t.jsonl", "-o", "new.json").code == 0
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP), record("a", REFUND)]})
    ran = promote("t.jsonl", "-o", "other.json")
    message = "error: a: 2 conversations are of this test, and differ; `--learn` finds what they share\n"
    assert ran == Ran(3, "", f"{message}note: no conversation made a test; nothing was written\n")


def test_conversations_of_one_prompt_are_learned_from_together(tmp_path: Path, promote: Run) -> None:
    """With `--learn`, runs of one prompt are one test, whose id is made of the prompt if they share none."""
    records = [record("a", LOOKUP, REFUND), record("b", LOOKUP), record("c", prompt="Hello?")]
    write(tmp_path, {"t.jsonl": records})
    ran = promote("t.jsonl", "--learn", "-o", "new.json")
    both, single = json.loads((tmp_path / "new.json").read_text())["tests"]
    assert both["id"].startswith("my-order-42-arrived-late-")
    step = {"tool": "issue_refund", "match": {"mode": "exact", "args": REFUND["arguments"]}}
    assert both["expected_tool_sequence"]["steps"][1] == {"optional": step}
    assert (single["id"], single["expected_tool_calls"]) == ("c", [])
    assert "note: c: learned from one run, which shows nothing of what may vary\n" in ran.err


def test_a_looser_match_may_be_asked_for(tmp_path: Path, promote: Run, outcomes: Outcomes) -> None:
    """`--match` and `--arguments` are written to the test; other calls then may come in between."""
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP)], "more.jsonl": [record("a", REFUND, LOOKUP)]})
    promote("t.jsonl", "-o", "new.yaml", "--match", "in_order", "--arguments", "partial")
    assert outcomes("more.jsonl", "new.yaml") == {"a": "pass"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [],
            "say where the tests go: `-o FILE` for a new file, `--update FILE` for one that there is; `--dry-run`",
        ),
        (
            ["-o", "a.yaml", "--update", "old.yaml"],
            "`-o FILE` is for a new file and `--update FILE` for one that there is",
        ),
        (["-o", "old.yaml"], "old.yaml: exists already; `--update` changes it in place"),
        (["-o", "a.txt"], "a.txt: expected a name that ends in .yaml, .yml, .json, .jsonl or .ndjson"),
        (["-o", "a.yaml", "--only-failed"], "`--only-failed` and `--tests FILE` belong together"),
        (["-o", "a.yaml", "--tests", "old.yaml"], "`--only-failed` and `--tests FILE` belong together"),
        (["-o", "a.yaml", "--apply-all"], "`--apply-all` is about the test sets that `--tests` names"),
        (["--update", "old.yaml", "--dialect", "orbit"], "`--dialect` is about the test sets that `--tests` names"),
        (["-o", "a.yaml", "--learn", "--match", "in_order"], "`--learn` needs `--match exact`"),
        (["-o", "a.yaml", "--metadata", "x"], "--metadata: expected KEY=VALUE"),
        (["--update", "none.yaml"], "none.yaml: there is no such file to change in place; `-o` writes a new one"),
        (["--update", "-"], "-: there is no such file to change in place"),
        (["--update", "t.jsonl"], "t.jsonl: is read as input"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, promote: Run, options: list[str], message: str) -> None:
    """Wrong usage is told before anything is written, with what to do (G39)."""
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP)], "old.yaml": "tests: []\n"})
    ran = promote("t.jsonl", *options)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert (tmp_path / "old.yaml").read_text() == "tests: []\n"


def test_a_dry_run_shows_what_would_be_written(tmp_path: Path, promote: Run) -> None:
    """With `--dry-run` the file goes to the standard output, and none is written; then none need be named."""
    write(tmp_path, {"t.jsonl": [record("a", LOOKUP)]})
    ran = promote("t.jsonl", "-o", "new.yaml", "--dry-run")
    assert ran.out.startswith("# yaml-language-server")
    assert promote("t.jsonl", "--dry-run") == ran
    assert not (tmp_path / "new.yaml").exists()


def test_runs_are_of_one_test_by_way_of_others(tmp_path: Path, promote: Run) -> None:
    """What shares an id with one run and a prompt with another makes all three runs of one test."""
    records = [record("a", LOOKUP), record("b", LOOKUP, prompt="Refund!"), record("a", LOOKUP, prompt="Refund!")]
    write(tmp_path, {"t.jsonl": [*records, record("c", REFUND, prompt="Other.")]})
    ran = promote("t.jsonl", "--learn", "-o", "new.json")
    assert ran.out == "wrote new.json: 2 tests\n"
    assert "2 runs had another prompt than the first, which is the one here" in ran.err
