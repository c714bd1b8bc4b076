"""A secret is planted wherever a record or a test can hold text, and looked for in everything that is written."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.app.redaction import Redaction
from support import planting
from support.command_line import run_here
from support.planting import CODES, EMAILS, LONG, PLACES, TOKENS, leaks

EXAMPLES: Final = Path(__file__).parent.parent / "examples"
PASSWORDS: Final = [place for place in PLACES if place.endswith("password")]
SHARED: Final = {"markdown", "html", "github", "gitlab"}
"""The reports that hide secrets without being asked to."""

UNTOLD: Final = {
    "conversation",
    "call id",
    "tool description",
    "metadata",
    "metadata key",
    "metadata password",
    "prompt",
    "pinned",
    "pinned password",
    "forbidden tool",
    "forbidden target",
    "allowed tool",
}
"""Places of which no report tells, at least not when all these expectations fail."""


def leaking(folder: Path, secrets: Mapping[str, str], redaction: Redaction) -> dict[str, list[str]]:
    """The places whose secrets each output tells something of."""
    written = planting.write(folder, lambda place: secrets.get(place, f"some {place}"))
    told = planting.outputs(folder, *written, redaction)
    found = {name: [place for place in secrets if leaks(text, secrets[place])] for name, text in told.items()}
    return {name: places for name, places in found.items() if places}


def test_without_redaction_the_places_are_told(tmp_path: Path) -> None:
    """The secrets would be found: each place but a few is told by some report."""
    found = leaking(tmp_path, TOKENS, Redaction(by_default=False))
    assert {place for places in found.values() for place in places} == set(PLACES) - UNTOLD
    assert len(found) == len(planting.NAMES)


@pytest.mark.parametrize(
    ("secrets", "rule"),
    [
        (TOKENS, "@secrets"),
        (LONG, "@secrets"),
        (CODES, "/CUST-[A-Za-z0-9]+/"),
        (EMAILS, "@emails"),
        # A beginning of these does not match, as is shown where they are cut.
        ({place: secret.replace("sk-7", "CUST") for place, secret in LONG.items()}, "/CUST[A-Za-z]{700}/"),
    ],
    ids=["tokens", "long tokens", "pattern", "emails", "long pattern"],
)
def test_no_output_tells_a_secret_that_rules_hide(secrets: dict[str, str], rule: str, tmp_path: Path) -> None:
    """Whatever place it stands in, however it is cut, no format has a part of it."""
    assert leaking(tmp_path, secrets, Redaction(rules=(rule,))) == {}


def test_what_is_shown_around_hides_secrets_by_itself(tmp_path: Path) -> None:
    """Without an option Markdown, HTML and the reports for CI hide secrets, and the others tell what was recorded."""
    assert leaking(tmp_path, TOKENS, Redaction()).keys() == planting.NAMES.keys() - SHARED
    assert leaking(tmp_path, TOKENS, Redaction(by_default=False)).keys() == planting.NAMES.keys()


odd_texts = st.text(
    st.sampled_from("zqxjZQJX" * 4 + "\"\\\n\té漢\u202e\x1b'`<&%{}[]:=, …\ud800"), min_size=8, max_size=300
)


@settings(max_examples=25)
@given(odd_texts, st.sampled_from(["PASSword", "pass*", "*"]))
def test_no_output_tells_the_value_of_a_hidden_key(secret: str, rule: str) -> None:
    """Whatever the value is made of, and whatever becomes of it in sentences, JSON and markup."""
    secrets = dict.fromkeys(PASSWORDS, f"zq{secret}")
    with tempfile.TemporaryDirectory() as folder:
        assert leaking(Path(folder), secrets, Redaction(rules=(rule,))) == {}


def test_an_equal_value_is_hidden_wherever_else_it_stands(tmp_path: Path) -> None:
    """A password that the agent repeats in its reply is known by the argument."""
    secret = "xqzj-zqxj-jzqx"
    secrets = dict.fromkeys(("login password", "reply", "call error", "url", "warning"), secret)
    assert leaking(tmp_path, secrets, Redaction(rules=("password",))) == {}


def test_show_tells_no_secret(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Neither the calls for people nor the native records have a part of one."""
    traces, _ = planting.write(tmp_path, LONG.__getitem__)
    for option in ("--verbose", "--json"):
        plain = run_here(capfdbinary, "show", traces, option)
        told = run_here(capfdbinary, "show", traces, option, "--redact", "@secrets")
        assert [place for place in PLACES if leaks(plain.out, LONG[place])] != []
        assert [place for place in PLACES if leaks(told.out + told.err, LONG[place])] == []
        assert told.code == plain.code


@pytest.mark.parametrize("name", ["first/chat.json", "agents/spans.json", "promote/today.jsonl", "records.jsonl"])
def test_show_hides_whatever_the_format(name: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What was read of a file is told beside what is hidden in it."""
    plain = run_here(capfdbinary, "show", EXAMPLES / name)
    told = run_here(capfdbinary, "show", EXAMPLES / name, "--redact", "*")
    assert (plain.code, told.code, told.err) == (0, 0, plain.err)
    assert "[redacted]" in told.out
    assert told.out.split("\nread ")[1:] == plain.out.split("\nread ")[1:]


def test_messages_tell_no_secret(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Errors and notes on the standard error go through the same door as outputs."""
    traces, tests = planting.write(tmp_path, TOKENS.__getitem__)
    secret = TOKENS["reply"]
    tests.write_text(json.dumps({"tests": [{"id": secret}, {"id": secret}]}), "utf-8")
    traces.write_text(f'{{"tool_calls": [{{"name": "a", "status": "{secret}"}}]}}\n', "utf-8")
    commands: list[list[str | Path]] = [["grade", traces, "-t", tests], ["show", "--json", traces]]
    for command in commands:
        plain, told = (run_here(capfdbinary, *command, *more) for more in ([], ["--redact", "@secrets"]))
        assert leaks(plain.err, secret) != []
        assert "[redacted]" in told.err
        assert leaks(told.out + told.err, secret) == []


def test_lint_tells_no_secret(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Neither remarks on test sets nor mutants of trajectories have a part of one."""
    secret = LONG["url"]
    call = {"name": "fetch", "arguments": {"url": secret, "password": LONG["login password"]}}
    traces, tests = tmp_path / "traces.jsonl", tmp_path / "tests.rightcall.json"
    traces.write_text(json.dumps({"id": secret, "tool_calls": [call]}) + "\n", "utf-8")
    expected = {"name": "fetch", "arguments": {"url": {"$one_of": [secret]}}}
    banned = {"forbidden_tools": [LONG["target"]], "required_tools": [LONG["target"]]}
    test = {"id": secret, "expected_tool_calls": [expected], "match": "superset"}
    tests.write_text(json.dumps({"tests": [test, {"id": LONG["reply"], **banned}]}), "utf-8")
    for option in ([], ["--json"]):
        plain, told = (
            run_here(capfdbinary, "lint", tests, "--traces", traces, *option, *more)
            for more in ([], ["--redact", "@secrets"])
        )
        places = ("url", "login password", "target", "reply")
        assert [place for place in places if not leaks(plain.out, LONG[place])] == []
        assert [place for place in places if leaks(told.out + told.err, LONG[place])] == []
        assert told.code == plain.code


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--redact", "@secret"], "error: --redact @secret: expected @secrets or @emails (did you mean `@secrets`?)\n"),
        (["--redact-key-env", "NO_KEY"], "the environment variable `NO_KEY` is not set, or empty\n"),
    ],
)
def test_what_cannot_hide_is_refused_before_anything_is_read(
    options: list[str], sentence: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A mistake in an option is wrong usage, and no report is written (G39)."""
    traces, tests = planting.write(tmp_path, str)
    report = tmp_path / "r.md"
    grade: list[str | Path] = ["grade", traces, "-t", tests, "-o", report]
    for command in (grade, ["show", traces], ["lint", tests]):
        ran = run_here(capfdbinary, *command, *options)
        assert (ran.code, ran.out, report.exists()) == (2, "", False)
        assert ran.err.endswith(sentence)
