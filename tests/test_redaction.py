"""What rules hide: keys, paths, patterns, shapes; and what stays as it was."""

from __future__ import annotations

import json
import re
from base64 import b64encode, encodebytes, urlsafe_b64encode
from html import escape
from typing import Any, Final
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.app.redaction import Redaction
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.redaction.redactor import Redactor
from rightcall.core.redaction.runs import redacted
from rightcall.core.results import Attempt, Outcome, Result
from rightcall.core.summary import Gate, RunEnd, StatusCounts, Summary
from rightcall.errors import UsageError
from support.reporting import attempt, result, results, values, verdict

R: Final = "[redacted]"
JWT: Final = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
PEM: Final = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"


def hiding(*rules: str) -> Redactor:
    """The redactor of these rules."""
    redactor = Redaction(rules=rules).asked
    assert redactor is not None
    return redactor


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key sk-proj-abcDEF0123456789xyz.", f"key {R}."),
        ("Authorization: Bearer abcdef.12345", f"Authorization: {R}"),
        ("curl -H 'X: bearer abcdefghijklmnopqrst'", f"curl -H 'X: bearer {R}'"),
        (f"a {JWT} b", f"a {R} b"),
        ("AKIAIOSFODNN7EXAMPLE", R),
        ("ghp_" + "a1" * 18, R),
        ("github_pat_" + "A1" * 20, R),
        ("glpat-abcdefghij0123456789", R),
        ("xoxb-123456789012-abcdefghijkl", R),
        ("AIza" + "Sy1" * 12, R),
        ("sk_live_abcdefghij0123456789", R),
        ("hf_" + "aB3" * 10, R),
        ("postgres://kim:s3cret@db.example/x", f"postgres://kim:{R}@db.example/x"),
        ("https://a.example/?q=1&access_token=abc123&x=2", f"https://a.example/?q=1&access_token={R}&x=2"),
        (f"before\n{PEM}\nafter", f"before\n{R}\nafter"),
        (PEM[:45], R),
        ("pay with 4111 1111 1111 1111 now", f"pay with {R} now"),
        ("378282246310005", R),
        ('password = "p-one"; had password = "p\\"two".', f"password = {R}; had password = {R}."),
        ("export API_KEY=abc", f"export API_KEY={R}"),
        ("OPENAI_API_KEY=abc GITHUB_TOKEN=def", f"OPENAI_API_KEY={R} GITHUB_TOKEN={R}"),
        ('{"dbPassword":"a","new_password":"b"}', f'{{"dbPassword":{R},"new_password":{R}}}'),
        ('{"a":{"client_secret":"x y","b":1}}', f'{{"a":{{"client_secret":{R},"b":1}}}}'),
        ('"{\\"password\\":\\"x\\",\\"b\\":1}"', f'"{{\\"password\\":{R},\\"b\\":1}}"'),
        ('cred: auth = {"user":"a","pass":["b"]}, then', f"cred: auth = {R}, then"),
        ('token = "abc… (30 more characters)', f"token = {R}… (30 more characters)"),
        ('url = "https://x:abc… (9 more characters)', f'url = "https://{R}… (9 more characters)'),
        ("had sk-ab… (30 more characters)", f"had {R}… (30 more characters)"),
        ("had sk-ab… (30 more char… (9 more characters)", f"had {R}… (30 more char… (9 more characters)"),
        ("Cookie: a=1; b=2", f"Cookie: {R}"),
        ("password: expected a string, found 5", f"password: expected a string, found {R}"),
    ],
)
def test_secrets_are_known_by_their_shape_and_by_their_key(text: str, shown: str) -> None:
    """`@secrets` takes out each of them whole, and leaves what is around it."""
    assert hiding("@secrets").text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Expected lookup_order with order_id = 42; call 1 had order_id = 41.",
        "order 1234567890123456 of 5000 EUR",
        "4111 1111 1111 1112",
        "0000000000000000",
        "a task-oriented sk-learn pipeline, token by token, basic information",
        'max_tokens = 5, secretary = "kim", tokens: 7, page_token = "p2", password_policy = "long"',
        "has_password = true, isSecret = false",
        "https://a.example/path?page=2#top",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "2026-11-30T10:00:00Z",
        "kim@example.org",
        "The password must be long.",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    """Numbers, ids, hashes, times and plain sentences are no secrets."""
    assert hiding("@secrets").text(text) == text


@pytest.mark.parametrize(
    ("rule", "value", "shown"),
    [
        ("password", {"Password": "x", "n": 1}, {"Password": R, "n": 1}),
        ("*_token", {"a": [{"id_token": {"v": 1}}], "token": 1}, {"a": [{"id_token": R}], "token": 1}),
        ("pin", {"pin": 1234, "code": 12}, {"pin": R, "code": 12}),
        ("pin", {"pin": True, "x": {"pin": None}}, {"pin": R, "x": {"pin": None}}),
        ("$.card.number", {"card": {"number": 5}, "number": 6}, {"card": {"number": R}, "number": 6}),
        ("$.items[*].iban", {"items": [{"iban": "a", "n": 1}]}, {"items": [{"iban": R, "n": 1}]}),
        ("$.items[0]", {"items": ["a", "b"]}, {"items": [R, "b"]}),
        ('$["odd key"]', {"odd key": "a"}, {"odd key": R}),
        ("$.a", {"body": '{"a": 1, "b": 2}'}, {"body": f'{{"a":"{R}","b":2}}'}),
        ("$.a", {"arguments": {"a": 1}}, {"arguments": {"a": R}}),
        ("/CUST-[0-9]+/", ["a CUST-1 b", {"CUST-2": 1}], [f"a {R} b", {R: 1}]),
        ("/[0-9]{5}/", [12345, 123456, 1.5], [R, 123456, 1.5]),
        ("/x/", {"x1": 1, "x2": 2}, {f"{R}1": 1, f"{R}2": 2}),
        ("/x./", {"x1": 1, "x2": 2}, {R: 1, f"{R} (2)": 2}),
        ("/x./", {"x1": 1, f"{R} (2)": 2, "x2": 3}, {R: 1, f"{R} (2)": 2, f"{R} (3)": 3}),
        ("odd", {"odd": object(), "n": 1}, {"odd": R, "n": 1}),
        ("@emails", ["kim@example.org writes"], [f"{R} writes"]),
        ("@secrets", {"n": 4111111111111111, "text": "[1, 2]"}, {"n": R, "text": "[1, 2]"}),
        ("*", {"a": 1, "b": {"c": [1]}}, {"a": R, "b": R}),
    ],
)
def test_rules_hide_values(rule: str, value: Any, shown: Any) -> None:
    """Keys hide at any depth, paths where they lead from the arguments on, patterns what they match."""
    assert hiding(rule).value(value) == shown


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("$", "--redact $: expected a path such as $.card.number; `*` hides the values of all keys"),
        ("$.a[", "--redact $.a[: `[` is no step of a path"),
        ("/", "--redact /: expected a regular expression between slashes, such as /CUST-[0-9]+/"),
        ("/abc", "--redact /abc: expected a regular expression between slashes, such as /CUST-[0-9]+/"),
        ("/(/", "--redact /(/: not a regular expression: missing )"),
        ("@email", "--redact @email: expected @secrets or @emails (did you mean `@emails`?)"),
        ("", "--redact: expected a key, a path, a pattern or a group; found nothing"),
    ],
)
def test_a_rule_that_is_none_is_refused(rule: str, sentence: str) -> None:
    """The message says what a rule looks like."""
    with pytest.raises(UsageError) as refused:
        hiding(rule)
    assert str(refused.value).startswith(sentence)


def test_equal_values_have_equal_marks_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The marks are an HMAC with the key of the environment: other values, and other keys, have other marks."""
    monkeypatch.setenv("AUDIT_KEY", "one")
    monkeypatch.setenv("OTHER_KEY", "two")
    one, other = (Redaction(rules=("pin",), key_variable=name).asked for name in ("AUDIT_KEY", "OTHER_KEY"))
    assert one is not None
    assert other is not None
    shown = one.value([{"pin": "4711"}, {"pin": 4711}, {"pin": "4712"}, 'pin = "4711"'])
    first = shown[0]["pin"]
    assert re.fullmatch(r"\[redacted:[0-9a-f]{12}\]", first)
    assert shown == [{"pin": first}, {"pin": first}, {"pin": shown[2]["pin"]}, f"pin = {first}"]
    assert shown[2]["pin"] != first
    assert other.value({"pin": "4711"}) != {"pin": first}


def test_a_key_that_is_not_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its key nothing is hidden with a mark that anybody could work out."""
    monkeypatch.setenv("AUDIT_KEY", "")
    with pytest.raises(UsageError, match="the environment variable `AUDIT_KEY` is not set, or empty"):
        _ = Redaction(rules=("pin",), key_variable="AUDIT_KEY").asked


def _decided(result: Result) -> Any:
    return [
        (result.outcome, result.statistics),
        *(
            (a.outcome, a.calls, a.hash, [(v.status, v.severity, v.score, v.kind) for v in a.verdicts])
            for a in result.attempts
        ),
    ]


@settings(max_examples=60)
@given(results(), st.sampled_from(["*", "@secrets", "/./", "a"]))
def test_nothing_that_was_decided_changes(made: Result, rule: str) -> None:
    """Statuses, counts, scores, rates and hashes are those of the true values (G4, G5)."""
    shown = redacted(made, hiding(rule))
    assert _decided(shown) == _decided(made)
    before, after = Summary(), Summary()
    before.add(made)
    after.add(shown)
    end = redacted(RunEnd(summary=before, decision=before.decide(Gate())), hiding(rule))
    assert (end.summary.passed, end.summary.total) == (after.passed, after.total)
    assert sorted(map(_counts, end.summary.verdicts.values())) == sorted(map(_counts, before.verdicts.values()))


def _counts(row: StatusCounts) -> tuple[int, ...]:
    return row.passed, row.failed, row.errors, row.not_applicable


@given(values)
def test_hiding_twice_hides_no_more(value: Any) -> None:
    """What is hidden is hidden: the marks are no secrets."""
    for rule in ("@secrets", "a", "$.a"):
        once = hiding(rule).value(value)
        assert hiding(rule).value(once) == once


def test_what_was_measured_stays_where_every_key_is_hidden() -> None:
    """`*` hides what was recorded, not what a verdict measured nor the labels of a test; a rule can name those too."""
    details = {"precision": 0.5, "seen": {"city": "Paris"}, "pin": 4711}
    judged = attempt(verdict("a", "fail", "no", details=details))
    made = result("t", judged, labels={"tags": ["slow"], "metadata": {"team": "x"}})
    every, one = redacted(made, hiding("*")), redacted(made, hiding("pin", "tags"))
    shown = {"precision": 0.5, "seen": {"city": R}, "pin": 4711, "reason": "no"}
    assert every.attempts[0].verdicts[0].details == shown
    assert every.labels == {"tags": ["slow"], "metadata": {"team": R}}
    assert one.attempts[0].verdicts[0].details == {**details, "pin": R, "reason": "no"}
    assert one.labels == {"tags": R, "metadata": {"team": "x"}}


SPOKEN: Final = "Zürich 8/<b>&'q'"


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("Pass-Wort-1", "PASS-WORT-1", R),
        ("Pass-Wort-1", "İ: Pass-Wort-1", f"İ: {R}"),
        ("Λόγος", "ΛΌΓΟΣ, Λόγοσ", f"{R}, {R}"),
        (SPOKEN, f"a {json.dumps(SPOKEN)} b", f'a "{R}" b'),
        (SPOKEN, f"a {json.dumps(json.dumps(SPOKEN))} b", f'a "\\"{R}\\"" b'),
        (SPOKEN, json.dumps(SPOKEN, ensure_ascii=False).replace("/", "\\/"), f'"{R}"'),
        (SPOKEN, f"?q={quote(SPOKEN)}&x=1", f"?q={R}&x=1"),
        (SPOKEN, f"?q={quote(SPOKEN, safe='').lower()}&x=1", f"?q={R}&x=1"),
        (SPOKEN, f"?q={quote_plus(SPOKEN)}&x=1", f"?q={R}&x=1"),
        (SPOKEN, "?q=Z%C3%BCrich%208%2F%3Cb%3E%26'q'&x=1", f"?q={R}&x=1"),
        (SPOKEN, f"<p>{escape(SPOKEN)}</p>", f"<p>{R}</p>"),
        (SPOKEN, f"<p>{escape(SPOKEN, quote=False)}</p>", f"<p>{R}</p>"),
        (SPOKEN, f"<p>{escape(SPOKEN).replace('x27', '39')}</p>", f"<p>{R}</p>"),
        ("hunter-two", b64encode(b"hunter-two").decode(), R),
        ("hunter-two", b64encode(b"kim:hunter-two").decode(), f"a2ltOm{R}8="),
        ("hunter-two", b64encode(b"kims:hunter-two!").decode(), "a2ltczp" + f"{R}IQ=="),
        ("hunter-two", "a hunt\r\n  er-\n\ntwo b\nhunter", f"a {R} b\nhunter"),
        ("hunter-two", 'a = "hunter\\n-two"', f'a = "{R}"'),
        ("hunter-two" * 9, encodebytes(b"hunter-two" * 9).decode(), f"{R}\n"),
        ("a??>>>??b", urlsafe_b64encode(b"a??>>>??b").decode(), R),
        ("abc", b64encode(b"abc").decode(), "YWJj"),
    ],
)
def test_a_known_secret_is_found_however_it_is_written(secret: str, text: str, shown: str) -> None:
    """In other letter case, with escapes of JSON, URLs or HTML, in Base64, and broken over lines."""
    assert hiding("nothing").knowing([secret]).text(text) == shown


def test_what_holds_no_secret_is_passed_on_as_it_is() -> None:
    """A result without secrets is not copied text by text."""
    plain = Trajectory(id="t", tool_calls=(ToolCall(name="a", arguments={"n": 1}),), output="done")
    assert redacted(plain, hiding("@secrets")) == plain


def test_attempts_take_what_is_secret_out_of_every_report() -> None:
    """What is noted as secret is for redaction only: it goes on to no report."""
    attempt = Attempt(trajectory="t", outcome=Outcome.PASS, secrets={"asked": ("xqzjxqzj",)}, reason="said xqzjxqzj")
    (shown,) = redacted(Result(id="t", name="", outcome=attempt.outcome, attempts=(attempt,)), hiding("b")).attempts
    assert (shown.secrets, shown.reason) == ({}, f"said {R}")
