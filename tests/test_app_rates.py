"""Rates as people write them, in options and in test sets."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.core.rates import parse_rate
from support.command_line import run_here
from support.runs import lines, record

GOOD = [
    ("0", Fraction(0)),
    ("1", Fraction(1)),
    ("0.8", Fraction(4, 5)),
    (".8", Fraction(4, 5)),
    (" 4/5 ", Fraction(4, 5)),
    ("80%", Fraction(4, 5)),
    ("99.95%", Fraction(1999, 2000)),
    (f"0.{'9' * 30}", 1 - Fraction(1, 10**30)),
    (f"1/{10**29}", Fraction(1, 10**29)),
    (0.8, Fraction(4, 5)),
    (1e-05, Fraction(1, 100_000)),
    (1, Fraction(1)),
    (Fraction(2, 3), Fraction(2, 3)),
]
BAD = [
    "1e-99999999",
    "1E-9",
    "1e-1",
    "1e99999999",
    "0." + "9" * 31,
    "1/" + "9" * 31,
    "9" * 31,
    "9" * 100_000,
    "4/0",
    "4/5%",
    "1_0/2_0",
    "-0.1",
    "1.",
    "٠.٨",
    "",
    "80 %",
    "nan",
    "inf",
]
OUT_OF_RANGE = ["2", "101%", "3/2", 2, -1, 1.5, 10**5000]


@pytest.mark.parametrize(("literal", "expected"), GOOD)
def test_rate_is_exactly_what_is_written(literal: object, expected: Fraction) -> None:
    """G37: a rate is the exact fraction that its digits mean."""
    assert expected == parse_rate(literal)


@pytest.mark.parametrize("literal", [*BAD, None, True, [], float("nan"), float("inf")], ids=lambda it: repr(it)[:40])
def test_what_is_no_rate_is_refused_at_once(literal: object) -> None:
    """Nothing else is a rate, an exponent least of all: what it writes may be longer than any memory."""
    with pytest.raises(ValueError, match=r"^expected a rate such as 0\.8, 4/5 or 80%, found ") as caught:
        parse_rate(literal)
    assert len(str(caught.value)) < 160


@pytest.mark.parametrize("literal", OUT_OF_RANGE, ids=lambda it: str(it)[:40] if it != 10**5000 else "huge")
def test_rate_out_of_range_is_refused(literal: object) -> None:
    """A rate is from 0 to 1, and the message shows what was found."""
    with pytest.raises(ValueError, match=r"^a rate is from 0 to 1, such as 0\.8, 4/5 or 80%; found ") as caught:
        parse_rate(literal)
    assert len(str(caught.value)) < 160


@given(st.integers(0, 10**15), st.integers(1, 10**15))
def test_ways_of_writing_agree(part: int, more: int) -> None:
    """G37: a ratio reads as the number it is, whether reduced or not."""
    whole = part + more
    assert Fraction(part, whole) == parse_rate(f"{part}/{whole}") == parse_rate(Fraction(part, whole))


@pytest.fixture(autouse=True)
def _in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines(Path("t.jsonl"), record("p", "a", required_tools=["a"]))


@pytest.mark.parametrize("option", ["--min-pass-rate={}", "--threshold=tool_called={}"])
@pytest.mark.parametrize("literal", BAD, ids=lambda it: it[:40])
def test_option_refuses_what_is_no_rate(capfdbinary: pytest.CaptureFixture[bytes], option: str, literal: str) -> None:
    """G39: an option with a rate that cannot be one is wrong usage, named in one line."""
    ran = run_here(capfdbinary, "grade", "t.jsonl", option.format(literal))
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert ran.err.startswith(f"error: {option.partition('=')[0]}")


PLACES = {
    "gate": "version: 1\ngate: {{min_pass_rate: {}}}\ntests: [{{id: p, required_tools: [a]}}]\n",
    "threshold": "version: 1\ngate: {{thresholds: {{tool_called: {}}}}}\ntests: [{{id: p, required_tools: [a]}}]\n",
    "test": "version: 1\ntests: [{{id: p, required_tools: [a], min_pass_rate: {}}}]\n",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("literal", BAD, ids=lambda it: it[:40])
def test_test_set_refuses_what_is_no_rate(capfdbinary: pytest.CaptureFixture[bytes], place: str, literal: str) -> None:
    """G27: a test set with a rate that cannot be one is refused with its place."""
    Path("x.rightcall.yaml").write_text(place.format(f'"{literal}"'), encoding="utf-8")
    ran = run_here(capfdbinary, "grade", "t.jsonl", "-t", "x.rightcall.yaml")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert ran.err.startswith("error: x.rightcall.yaml:2")
    assert len(ran.err) < 400


def test_rate_that_is_smaller_than_any_number_is_none(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A YAML number too small for a number is 0, as everywhere in YAML, and read at once."""
    Path("x.rightcall.yaml").write_text(PLACES["gate"].format("1e-99999999"), encoding="utf-8")
    ran = run_here(capfdbinary, "grade", "t.jsonl", "-t", "x.rightcall.yaml")
    assert (ran.code, ran.err) == (0, "")
