"""`rightcall compare`, and `--baseline` of `rightcall grade`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support import planting
from support.command_line import Ran, run_apart, run_here
from support.runs import lines, record

EXPECTED = {"required_tools": ["a"], "forbidden_tools": ["z"]}
PASS, FAIL = ("a",), ("b",)


pytestmark = pytest.mark.usefixtures("in_tmp")


class Shell:
    """Runs commands in this process."""

    def __init__(self, capture: pytest.CaptureFixture[bytes]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str | Path) -> Ran:
        return run_here(self._capture, *arguments)

    def run(self, name: str, **tests: tuple[str, ...] | None) -> str:
        """Grade tests by the calls made for each and return the name of the report; `None` was not recorded."""
        records = [_record(identity, calls) for identity, calls in tests.items()]
        report = f"{name}.json"
        ran = self("grade", lines(Path(f"{name}.jsonl"), *records), "-o", report)
        assert ran.code in (0, 1, 3), ran.err
        return report


def _record(identity: str, calls: tuple[str, ...] | None) -> dict[str, Any]:
    made = record(identity, *(calls or ()), **EXPECTED)
    return made if calls is not None else {**made, "tool_calls": None}


@pytest.fixture
def shell(capfdbinary: pytest.CaptureFixture[bytes]) -> Shell:
    """Runs commands in this process."""
    return Shell(capfdbinary)


@pytest.mark.parametrize(
    ("before", "after", "code", "last"),
    [
        ({"t": PASS}, {"t": PASS}, 0, "Passed"),
        ({"t": PASS, "u": FAIL}, {"t": FAIL, "u": PASS}, 1, "Blocked: 1 regression: t"),
        ({"t": FAIL}, {"t": FAIL}, 0, "Passed"),
        ({"t": FAIL}, {"t": ("b", "z")}, 1, "Blocked: 1 regression: t"),
        ({"t": PASS}, {"t": PASS, "u": FAIL}, 1, "Blocked: 1 new failure: u"),
        ({"t": PASS, "u": FAIL}, {"t": PASS}, 0, "Passed"),
        ({"t": PASS, "u": PASS}, {"t": PASS, "u": None}, 3, "Incomplete: 1 test is newly unjudged: u"),
        (
            {"t": PASS, "u": PASS},
            {"t": FAIL, "u": None},
            1,
            "Blocked: 1 regression: t; 1 test is newly unjudged: u",
        ),
        ({"t": PASS}, {"u": PASS}, 3, "Incomplete: nothing to compare: no test was judged in both runs"),
        ({"t": None}, {"t": None}, 3, "Incomplete: nothing to compare: no test was judged in both runs"),
    ],
)
def test_exit_code_and_last_line_say_what_it_comes_to(
    shell: Shell, before: dict[str, Any], after: dict[str, Any], code: int, last: str
) -> None:
    """1 for what fails and did not before, 3 for what cannot be compared any more, else 0 (G39)."""
    ran = shell("compare", shell.run("main", **before), shell.run("branch", **after))
    assert (ran.code, ran.out.splitlines()[-1], ran.err) == (code, last, "")


def test_json_holds_what_is_shown_and_the_decision(shell: Shell) -> None:
    """`--json` prints one document, the same as a file that ends in .json."""
    runs = shell.run("main", t=PASS, u=("a", "b")), shell.run("branch", t=FAIL, u=("b", "a"))
    ran = shell("compare", *runs, "--json", "-o", "found.json")
    found = json.loads(ran.out)
    assert found == json.loads(Path("found.json").read_text())
    assert found["decision"] == {
        "passed": False,
        "exit_code": 1,
        "incomplete": False,
        "reasons": ["1 regression: t"],
    }
    compared = found["comparison"]
    assert (compared["baseline"], compared["candidate"]) == ("main.json", "branch.json")
    assert {kind: number for kind, number in compared["counts"].items() if number} == {
        "regression": 1,
        "still_passing": 1,
    }
    assert [(change["id"], [row["mark"] for row in change["calls"]["rows"]]) for change in compared["changes"]] == [
        ("t", ["added", "removed"]),
        ("u", ["moved", "same"]),
    ]
    assert all("secrets" not in change for change in compared["changes"])


def test_markdown_and_text_are_written_too(shell: Shell) -> None:
    """By the ending of a name; another ending is refused before anything is read."""
    runs = shell.run("main", t=PASS), shell.run("branch", t=FAIL)
    assert shell("compare", *runs, "-o", "c.md", "-o", "c.txt").code == 1
    text = Path("c.txt").read_text()
    assert text == shell("compare", *runs).out
    markdown = Path("c.md").read_text()
    assert markdown.startswith("## ❌ Blocked: <code>branch.json</code>\n\n<code>1 regression&#58; t</code>\n")
    assert "| regressions |\n|---|\n| 1 |\n" in markdown
    ran = shell("compare", *runs, "-o", "c.csv")
    assert (ran.code, ran.err) == (
        2,
        "error: no comparison has files named like `c.csv`; the endings are .json, .txt, .md, .markdown\n",
    )


def test_a_file_that_cannot_be_written_makes_it_incomplete(shell: Shell) -> None:
    """The others are written, the trouble is told, and 0 becomes 3 (G39)."""
    run = shell.run("main", t=PASS)
    ran = shell("compare", run, run, "-o", "gone/c.json", "-o", "c.md")
    assert (ran.code, Path("c.md").exists()) == (3, True)
    assert ran.err == f"error: gone/c.json: the directory `{os.path.realpath('gone')}` does not exist\n"


def test_a_report_is_not_written_over(shell: Shell) -> None:
    """Neither run may be the file that is written."""
    run = shell.run("main", t=PASS)
    ran = shell("compare", run, run, "-o", "main.json")
    assert (ran.code, ran.err) == (2, "error: main.json: is read as input, so no report can be written there\n")


ADVICE = "write one with `rightcall grade … -o run.json`"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", f"bad.json: is empty; expected a JSON report of a run: {ADVICE}"),
        (" \n", f"bad.json: is empty; expected a JSON report of a run: {ADVICE}"),
        ("[1]", f"bad.json: expected a JSON report of a run: {ADVICE}"),
        ("{}", f"bad.json: expected a JSON report of a run: {ADVICE}"),
        ('{"results": null}', f"bad.json: expected a JSON report of a run: {ADVICE}"),
        ('{"results": []}', f"bad.json: expected a JSON report with `schema` 1, found no `schema`: {ADVICE}"),
        (
            '{"schema": 9, "results": [], "test_set": {}}',
            f"bad.json: expected a JSON report with `schema` 1, found `schema` 9: {ADVICE}",
        ),
        (
            '{"schema": 1, "rules": "1", "results": [{"id": 5}], "test_set": {}}',
            "bad.json: results[0]: expected a result of a JSON report: "
            f"Expected `str`, got `int` - at `$.id`; {ADVICE}",
        ),
        (
            '{"id": "t", "outcome": "pass", "attempts": []}\n{"id": "t", "outcome": "perhaps"}\n',
            "bad.json:2: expected a result of a JSON report: Invalid enum value 'perhaps' - at `$.outcome`; " + ADVICE,
        ),
        (
            '{"id": "t", "outcome": "pass", "attempts": []}\n{"id": \n',
            f"bad.json:2: expected a JSON report of a run: not JSON: expecting value; {ADVICE}",
        ),
    ],
)
def test_what_is_no_report_is_refused_with_its_place(shell: Shell, content: str, message: str) -> None:
    """2, whichever of the two it is, and nothing is compared (G39)."""
    good = shell.run("main", t=PASS)
    Path("bad.json").write_text(content)
    for arguments in ([good, "bad.json"], ["bad.json", good]):
        ran = shell("compare", *arguments)
        assert (ran.code, ran.out, ran.err) == (2, "", f"error: {message}\n")


def test_a_report_that_was_cut_off_is_refused(shell: Shell) -> None:
    """A report without its end may lack results: it is not read as one that has fewer."""
    run = Path(shell.run("main", t=PASS, u=PASS))
    whole = run.read_text().splitlines(keepends=True)
    Path("cut.json").write_text("".join(whole[:2]))
    ran = shell("compare", run, "cut.json")
    assert (ran.code, ran.err) == (2, "error: cut.json: is cut off: the end of the report is missing\n")


@pytest.mark.parametrize("indent", [None, 1])
def test_a_report_that_lost_a_result_is_refused(shell: Shell, indent: int | None) -> None:
    """One that counts more results than it has was changed after it was written: a failure may be what is gone."""
    run = Path(shell.run("main", t=PASS, u=FAIL))
    lines = [line for line in run.read_text().splitlines(keepends=True) if not line.startswith('{"id":"u"')]
    short = "".join(lines).replace("},\n],", "}\n],")
    Path("short.json").write_text(short if indent is None else json.dumps(json.loads(short), indent=indent))
    for arguments in ([str(run), "short.json"], ["short.json", str(run)]):
        ran = shell("compare", *arguments)
        message = "counts 2 results, and has 1: somebody has changed it since it was written"
        assert (ran.code, ran.out, ran.err) == (2, "", f"error: short.json: {message}; {ADVICE}\n")


def test_a_missing_file_is_told(shell: Shell) -> None:
    """2, with its name."""
    ran = shell("compare", shell.run("main", t=PASS), "gone.json")
    assert (ran.code, ran.err) == (2, "error: gone.json: cannot be read: no such file or directory\n")


def test_a_report_laid_out_anew_is_the_same_run(shell: Shell) -> None:
    """Indented, or from the standard input: what is compared is what it says."""
    main, branch = shell.run("main", t=PASS, u=FAIL), shell.run("branch", t=FAIL, u=PASS)
    before = shell("compare", main, branch, "--json")
    Path("main.json").write_text(json.dumps(json.loads(Path(main).read_text()), indent=2))
    assert before == shell("compare", main, branch, "--json")
    ran = run_apart("compare", "main.json", "-", "--json", cwd=Path.cwd(), stdin=Path("branch.json").read_bytes())
    assert json.loads(ran.out)["comparison"]["changes"] == json.loads(before.out)["comparison"]["changes"]


def test_lines_are_a_run_without_a_head(shell: Shell) -> None:
    """JSON Lines say enough to tell what became of tests and calls; that they say nothing of the run is told."""
    branch = shell.run("branch", t=FAIL, u=PASS)
    lines(Path("main.jsonl"), _record("t", PASS), _record("u", PASS))
    shell("grade", "main.jsonl", "-o", "lines.jsonl")
    ran = shell("compare", "lines.jsonl", branch)
    assert ran.code == 1
    assert ran.out.splitlines()[-4:] == [
        "calls changed in 1 test of both runs",
        "note: lines.jsonl does not say by which rules and for which test set it was graded",
        "",
        "Blocked: 1 regression: t",
    ]


def test_results_that_share_an_id_are_paired_in_their_order(shell: Shell) -> None:
    """Records that could not be read, for example, may have one id; the first is compared with the first."""
    for name, calls in (("one", PASS), ("two", FAIL)):
        shell("grade", lines(Path(f"{name}.jsonl"), _record("t", calls)), "-o", f"{name}-results.jsonl")
    Path("both.jsonl").write_bytes(b"".join(Path(f"{name}-results.jsonl").read_bytes() for name in ("one", "two")))
    ran = shell("compare", "both.jsonl", "both.jsonl", "-q")
    assert (ran.code, ran.out.splitlines()[0]) == (
        0,
        "compared with both.jsonl: 1 still failing, 1 still passing",
    )


def test_runs_by_other_rules_are_not_compared(shell: Shell) -> None:
    """The same calls may come to another verdict by other rules: 2, never a regression (G6)."""
    main, branch = shell.run("main", t=PASS), shell.run("branch", t=FAIL)
    old = json.loads(Path(main).read_text()) | {"rules": "0"}
    Path(main).write_text(json.dumps(old))
    ran = shell("compare", main, branch)
    assert (ran.code, ran.err) == (
        2,
        "error: main.json: was graded by the rules 0, branch.json by the rules 1: their verdicts cannot be compared; "
        "grade both with the same version of rightcall\n",
    )
    ran = shell("grade", "branch.jsonl", "--baseline", main, "-o", "r.json")
    assert (ran.code, Path("r.json").exists()) == (2, False)


def test_a_baseline_is_told_of_in_every_report(shell: Shell) -> None:
    """Terminal, JSON and Markdown tell what changed; the gate decides as without it."""
    main = shell.run("main", t=PASS, u=FAIL)
    lines(Path("now.jsonl"), _record("t", FAIL), _record("u", FAIL))
    ran = shell("grade", "now.jsonl", "--baseline", main, "-o", "r.json", "-o", "r.md")
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "Blocked: pass rate 0/2 = 0.0000 < 1.0000"
    told = "compared with main.json: 1 regression, 1 still failing"
    assert told in ran.out
    assert told in Path("r.md").read_text()
    report = json.loads(Path("r.json").read_text())
    assert {kind: number for kind, number in report["comparison"]["counts"].items() if number} == {
        "regression": 1,
        "still_failing": 1,
    }
    assert shell("compare", main, "r.json", "--json").code == 1


def test_without_a_baseline_the_report_says_so(shell: Shell) -> None:
    """The key is there, and null: its presence depends on nothing."""
    assert json.loads(Path(shell.run("main", t=PASS)).read_text())["comparison"] is None


@pytest.mark.parametrize(
    ("now", "code", "last"),
    [
        ({"t": PASS, "u": FAIL}, 0, "Passed"),
        ({"t": FAIL, "u": FAIL}, 1, "Blocked: 1 regression: t"),
        ({"t": PASS, "u": FAIL, "v": FAIL}, 1, "Blocked: 1 new failure: v"),
        (
            {"t": None, "u": FAIL},
            3,
            "Incomplete: 1 test is newly unjudged: t; 1 test could not be judged",
        ),
        (
            {"w": PASS},
            3,
            "Incomplete: nothing to compare: no test was judged in both runs",
        ),
    ],
)
def test_failures_that_the_baseline_has_do_not_block_if_so_asked(
    shell: Shell, now: dict[str, Any], code: int, last: str
) -> None:
    """`--fail-on regression` takes the place of the least pass rate, and of nothing else (G36, G39)."""
    main = shell.run("main", t=PASS, u=FAIL)
    lines(Path("now.jsonl"), *(_record(identity, calls) for identity, calls in now.items()))
    ran = shell("grade", "now.jsonl", "--baseline", main, "--fail-on", "regression")
    assert (ran.code, ran.out.splitlines()[-1]) == (code, last)


def test_it_is_said_how_many_failures_are_excused(shell: Shell) -> None:
    """A run that passes with failed tests says why."""
    main = shell.run("main", t=PASS, u=FAIL)
    ran = shell("grade", "main.jsonl", "--baseline", main, "--fail-on", "regression", "-q")
    assert (ran.code, "note: 1 failure that the baseline has too: no reason to block\n" in ran.out) == (0, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--fail-on", "regression"],
            "error: --fail-on regression needs the run to compare with: name its report with --baseline\n",
        ),
        (
            ["--fail-on", "regression", "--baseline", "main.json", "--min-pass-rate", "1/2"],
            "error: --fail-on regression takes the place of the least pass rate: leave out --min-pass-rate\n",
        ),
        (
            ["--baseline", "main.json", "-o", "main.json"],
            "error: main.json: is read as input, so no report can be written there\n",
        ),
        (["--baseline", "gone.json"], "error: gone.json: cannot be read: no such file or directory\n"),
    ],
)
def test_options_that_do_not_go_together_are_refused(shell: Shell, options: list[str], message: str) -> None:
    """2, before anything is graded."""
    shell.run("main", t=PASS)
    ran = shell("grade", "main.jsonl", *options)
    assert (ran.code, ran.out, ran.err) == (2, "", message)


def test_calls_are_kept_as_they_were_made(shell: Shell) -> None:
    """The report has the name and arguments of each call, why there are none, and null where none were recorded."""
    calls = [{"name": "a", "arguments": {"x": 1.0}}, {"name": "a", "arguments": "{"}]
    lines(Path("t.jsonl"), {"id": "t", "tool_calls": calls, **EXPECTED}, {"id": "u", "tool_calls": None, **EXPECTED})
    shell("grade", "t.jsonl", "-o", "t.json")
    results = json.loads(Path("t.json").read_text())["results"]
    assert {one["id"]: one["attempts"][0]["made"] for one in results} == {
        "t": [
            {"name": "a", "arguments": {"x": 1.0}},
            {"name": "a", "arguments_state": "malformed", "arguments_text": "{"},
        ],
        "u": None,
    }


def test_tests_without_an_id_are_known_as_such(shell: Shell) -> None:
    """In a test set and in records alike; comparing them is told to be by position."""
    keys = {key: value for key, value in _record("t", PASS).items() if key != "id"}
    shell("grade", lines(Path("a.jsonl"), keys, _record("t", PASS)), "-o", "a.json")
    found = json.loads(Path("a.json").read_text())["results"]
    assert {one["id"]: one["positional"] for one in found} == {"a.jsonl[1]": True, "t": False}
    Path("n.json").write_text(json.dumps({"version": 1, "tests": [EXPECTED]}))
    shell("grade", lines(Path("b.jsonl"), record("x", "a")), "-t", "n.json", "-o", "b.json")
    (one,) = json.loads(Path("b.json").read_text())["results"]
    assert one["positional"] is True
    ran = shell("compare", "b.json", "b.json")
    assert f"note: 1 test has no id and is paired by position: {one['id']}\n" in ran.out


def test_recorded_text_cannot_steer_what_shows_it(shell: Shell) -> None:
    """Names, reasons and arguments are shown with escapes, also side by side."""
    hostile = "x\x1b[31m\r\x9b2J"
    main = shell.run("main", **{f"t{hostile}": PASS})
    ran = shell("compare", main, shell.run("branch", **{f"t{hostile}": (hostile,)}))
    assert ran.code == 1
    assert [character for character in ran.out if not character.isprintable() and character != "\n"] == []


def test_secrets_do_not_leave_a_comparison(shell: Shell) -> None:
    """In Markdown by default, everywhere where it is asked for; what is compared is what was recorded (G4)."""
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"
    hidden = (secret, secret[:20], "main-pin", "branch-pin")
    for name, call in (("main", "a"), ("branch", "b")):
        made = [{"name": call, "arguments": {"token": secret, "pin": f"{name}-pin"}}]
        expected = [{"name": "a", "arguments": {"token": secret}}]
        lines(Path(f"{name}.jsonl"), {"id": f"t {secret}", "tool_calls": made, "expected_tool_calls": expected})
        shell("grade", f"{name}.jsonl", "-o", f"{name}.json")
    asked = ["--redact", "@secrets", "--redact", "pin"]
    ran = shell("compare", "main.json", "branch.json", "-o", "c.md", "-o", "c.json", "-v", *asked)
    again = shell("grade", "branch.jsonl", "--baseline", "main.json", "-o", "r.md", "-o", "r.json", *asked)
    written = [Path(name).read_text() for name in ("c.md", "c.json", "r.md", "r.json")]
    told = "\n".join([ran.out, ran.err, again.out, again.err, *written])
    assert ([text for text in hidden if text in told], ran.code, again.code) == ([], 1, 1)
    assert json.loads(written[-1])["comparison"]["counts"]["regression"] == 1
    shell("compare", "main.json", "branch.json", "-o", "d.md")
    assert secret[:20] not in Path("d.md").read_text()


PLACES = [*dict.fromkeys((*planting.slots(planting.RECORD), *planting.slots(planting.TEST), "test set"))]
TOKENS = {place: f"sk-{number:03}f7Zq9XwLr2Tb6{number:03}" + "Kp8Vt" * 40 for number, place in enumerate(PLACES)}
WORDS = {place: f"zq{number:03}xj " + "some words " * 30 for number, place in enumerate(PLACES)}


@pytest.mark.parametrize(
    ("secrets", "rule", "hidden"),
    [(TOKENS, "@secrets", PLACES), (WORDS, "password", [place for place in PLACES if place.endswith("password")])],
    ids=["by shape", "by key"],
)
def test_no_part_of_a_secret_leaves_a_comparison(
    shell: Shell, tmp_path: Path, secrets: dict[str, str], rule: str, hidden: list[str]
) -> None:
    """Wherever a record and a test can hold one, and however sentences cut it."""
    traces, tests = planting.write(tmp_path, secrets.__getitem__)
    shell("grade", traces, "-t", tests, "-o", "now.json")
    emptied = json.loads(traces.read_text()) | {"tool_calls": []}
    shell("grade", lines(Path("then.jsonl"), emptied), "-t", tests, "-o", "then.json")
    for runs in (("then.json", "now.json"), ("now.json", "then.json")):
        ran = shell("compare", *runs, "-v", "--redact", rule, "-o", "c.json", "-o", "c.md")
        told = "\n".join([ran.out, ran.err, Path("c.json").read_text(), Path("c.md").read_text()])
        assert [place for place in hidden if secrets[place][2:8] in told] == []
        plain = shell("compare", *runs, "-v", "-o", "c.md")
        assert [place for place in hidden if secrets[place][2:8] in plain.out] != []


def test_markdown_hides_secrets_by_itself(shell: Shell, tmp_path: Path) -> None:
    """What is shown around has none, unless that is switched off."""
    traces, tests = planting.write(tmp_path, TOKENS.__getitem__)
    shell("grade", traces, "-t", tests, "-o", "now.json")
    emptied = json.loads(traces.read_text()) | {"tool_calls": []}
    shell("grade", lines(Path("then.jsonl"), emptied), "-t", tests, "-o", "then.json")
    shell("compare", "then.json", "now.json", "-o", "a.md")
    shell("compare", "then.json", "now.json", "-o", "b.md", "--no-redact")
    assert ["f7Zq9X" in Path(name).read_text() for name in ("a.md", "b.md")] == [False, True]


def test_a_hidden_argument_is_hidden_where_a_test_is_named_by_it(shell: Shell) -> None:
    """Also in the reasons of the decision, which name the tests that got worse."""
    secret = "zq74xj some words"
    expected = {"expected_tool_calls": ["login"], "match": "exact"}
    for name, more in (("main", []), ("branch", [{"name": "b"}])):
        calls = [{"name": "login", "arguments": {"password": secret}}, *more]
        lines(Path(f"{name}.jsonl"), {"id": f"of {secret}", "tool_calls": calls, **expected})
        shell("grade", f"{name}.jsonl", "-o", f"{name}.json")
    asked = ["--redact", "password"]
    ran = shell("compare", "main.json", "branch.json", *asked)
    assert (ran.out.splitlines()[-1], ran.code) == ("Blocked: 1 regression: of [redacted]", 1)
    options = ["--baseline", "main.json", "--fail-on", "regression", *asked, "-o", "r.json"]
    ran = shell("grade", "branch.jsonl", *options)
    assert (ran.out.splitlines()[-1], ran.code) == ("Blocked: 1 regression: of [redacted]", 1)
    assert "zq74xj" not in ran.out + Path("r.json").read_text()


def test_a_hidden_argument_is_hidden_in_sentences_too(shell: Shell) -> None:
    """What is secret by the key of one argument is taken out of reasons that are kept of the same test, even cut."""
    secret = "zq74xj " + "some words " * 30
    login = {"name": "login", "arguments": {"password": secret}}
    tests = {"text": {"must_not_include": [secret]}}
    for name, calls, output in (
        ("silent", [], "Hello."),
        ("main", [login], "Hello."),
        ("branch", [login], f"It is {secret}"),
    ):
        lines(Path(f"{name}.jsonl"), {"id": "t", "tool_calls": calls, "output": output, **tests})
        shell("grade", f"{name}.jsonl", "-o", f"{name}.json")
    assert "zq74xj" in shell("compare", "main.json", "branch.json").out
    for runs in (("main.json", "branch.json"), ("branch.json", "main.json"), ("branch.json", "branch.json")):
        ran = shell("compare", *runs, "--redact", "password", "-o", "c.json", "-o", "c.md")
        told = [ran.out, Path("c.json").read_text(), Path("c.md").read_text()]
        assert [text for text in told if "zq74xj" in text] == []
    ran = shell("grade", "branch.jsonl", "--baseline", "silent.json", "--redact", "password")
    assert ("zq74xj" in ran.out, ran.code) == (False, 1)


def test_a_run_of_an_agent_is_compared_by_its_directory(shell: Shell) -> None:
    """The directory stands for the results in it; one of a run that has not ended is refused."""
    branch = shell.run("branch", t=FAIL)
    lines(Path("main.jsonl"), _record("t", PASS))
    Path("run").mkdir()
    shell("grade", "main.jsonl", "-o", "run/results.jsonl")
    for name in ("run.json", "attempts.jsonl"):
        Path("run", name).touch()
    assert shell("compare", "run", branch).out.endswith("Blocked: 1 regression: t\n")
    Path("run/results.jsonl").unlink()
    ran = shell("compare", "run", branch)
    assert (ran.code, ran.err) == (
        2,
        "error: run: is a run that has not ended, so there are no results yet; go on with it: rightcall run --resume\n",
    )
