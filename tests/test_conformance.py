"""The conformance suite, row by row, through the public doors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall.app.regex import compile_regex
from rightcall.core import jsontext
from rightcall.core.stringify import stringify
from rightcall.core.verdicts import Verdict
from rightcall.errors import TestSetError
from rightcall.metrics import ToolCallTrajectory, ToolSelect
from support.command_line import run_apart, run_here
from support.conformance import expectations, of_every_row, params, rows, share

TRAJECTORY = [row for row in rows("trajectory") if "refused" not in row["want"]]
REFUSED = [row for row in rows("trajectory") if "refused" in row["want"]]
UNKNOWN = rows("unknown")
ORBIT = [row for row in rows("orbit") if row["row"]]
ORBIT_EMPTY = [row for row in rows("orbit") if not row["row"]]
SELECTION = rows("selection") + rows("selection_aligned")
REPEATED_KEYS = {'{"a":1,"a":2}'}
"""Texts that ECMAScript reads with the last key winning, and that are not JSON here (G8)."""


def _measured(status: str, details: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict as the suite writes it, its rates as exact fractions."""
    precision = share(details["paired"], details["made"])
    recall = share(details["paired"], details["expected"])
    assert details["precision"] == (precision and precision[0] / precision[1])
    assert details["recall"] == (recall and recall[0] / recall[1])
    return {"status": str(status), "precision": precision, "recall": recall}


@of_every_row(TRAJECTORY)
def test_trajectory(row: dict[str, Any]) -> None:
    """Expected calls in every mode: status, precision and recall (G7, G9, G17 to G19)."""
    (verdict,) = rightcall.grade({"tool_calls": row["tool_calls"]}, expectations(row), dialect="rhesis")
    assert row["want"] == _measured(verdict.status, verdict.details)


@of_every_row(TRAJECTORY)
def test_trajectory_metric(row: dict[str, Any]) -> None:
    """The class shaped like the seed's metric decides the same."""
    metric = ToolCallTrajectory(match=row["match"], arguments=row["arguments"])
    result = metric.evaluate(row["tool_calls"], {"tool_calls": row["expected_tool_calls"]})
    assert row["want"] == _measured(result.status, result.details)
    assert result.score == (row["want"]["status"] == "pass")


@pytest.mark.parametrize("row", params(REFUSED))
def test_trajectory_refused(row: dict[str, Any], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """An expectation that cannot be one is refused with its path, and no verdict of a run (G27, G39)."""
    with pytest.raises(TestSetError, match=r"expected_tool_calls\[0\]"):
        rightcall.grade({"tool_calls": row["tool_calls"]}, expectations(row))
    ran = run_here(capfdbinary, "grade", _records(tmp_path, [_record(row)]))
    assert (ran.code, ran.out) == (2, "")
    assert "expected_tool_calls[0]" in ran.err


@of_every_row(UNKNOWN)
def test_unknown(row: dict[str, Any]) -> None:
    """Unknown arguments and gaps are an error exactly where they could change the verdict (G11, G12)."""
    (verdict,) = rightcall.grade(row["trajectory"], expectations(row))
    assert row["want"]["status"] == verdict.status


@pytest.mark.parametrize("cases", [pytest.param(TRAJECTORY, id="trajectory"), pytest.param(UNKNOWN, id="unknown")])
def test_recorded(cases: list[dict[str, Any]], tmp_path: Path) -> None:
    """The same rows as records that carry their expectations, in one run of the command line."""
    file = _records(tmp_path, map(_record, cases))
    ran = run_apart("grade", file, "--json", cwd=tmp_path)
    report = json.loads(ran.out)
    assert {row["id"]: row["want"]["status"] for row in cases} == _outcomes(report)
    assert (ran.code, report["decision"]["exit_code"]) == (1, 1)


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    trajectory = row.get("trajectory") or {"id": row["id"], "tool_calls": row["tool_calls"]}
    return {**trajectory, **expectations(row)}


def _records(folder: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    file = folder / "records.jsonl"
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return file


def _outcomes(report: Mapping[str, Any]) -> dict[str, str]:
    """The status of each result's one verdict, which is also the outcome of the result."""
    found = {}
    for result in report["results"]:
        (attempt,) = result["attempts"]
        (verdict,) = attempt["verdicts"]
        assert verdict["status"] == attempt["outcome"] == result["outcome"]
        found[result["id"]] = verdict["status"]
    return found


@of_every_row(ORBIT)
def test_orbit(row: dict[str, Any]) -> None:
    """Rows of seed O's assertions: the verdicts, and all names that a failed allow-list found (G23 to G25)."""
    verdicts = rightcall.grade({"tool_calls": row["tool_calls"]}, row["row"], dialect="orbit")
    assert _sorted(row["want"]) == _sorted(map(_orbit, verdicts))


@of_every_row(ORBIT_EMPTY)
def test_orbit_without_assertions(row: dict[str, Any]) -> None:
    """A row without any assertion yields no verdict; our own door refuses to grade nothing (section 7, G27)."""
    assert row["want"] == []
    with pytest.raises(TestSetError, match="nothing is expected"):
        rightcall.grade({"tool_calls": row["tool_calls"]}, row["row"], dialect="orbit")


def _orbit(verdict: Verdict) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": verdict.name, "status": str(verdict.status)}
    if verdict.name == "no_unexpected_tool" and verdict.status == "fail":
        shown["names"] = verdict.details["names"]
    return shown


def _sorted(verdicts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(verdicts, key=lambda verdict: (verdict["name"], verdict["status"]))


@of_every_row(SELECTION)
def test_selection(row: dict[str, Any]) -> None:
    """The selection score of the names called, and every tool that is misaligned (G31, G32)."""
    calls = [{"name": name} for name in row["called"]]
    (verdict,) = rightcall.grade({"tool_calls": calls}, {"expected_tools": row["expected_tools"]})
    assert row["want"] == {
        "result": verdict.score,
        "incorrect_tools": _misaligned(verdict.details["incorrect_tools"]) or None,
    }
    assert verdict.status == ("pass" if row["want"]["result"] == 100 else "fail")


@of_every_row(SELECTION)
def test_selection_of_a_span(row: dict[str, Any]) -> None:
    """The same over one OpenInference LLM span; the metadata is null when nothing is misaligned (G29, G32)."""
    result = ToolSelect(row["expected_tools"]).evaluate(_span(row["called"]))
    metadata = result.eval_metadata
    incorrect = None if metadata is None else _misaligned(metadata["incorrect_tools"])
    assert row["want"] == {"result": result.score, "incorrect_tools": incorrect}
    assert (True, result.score == 100) == (result.is_success, result.is_gte_threshold)


def _misaligned(tools: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    return [{"name": tool["name"], "verdict": tool["verdict"]} for tool in tools]


def _span(called: Iterable[str]) -> dict[str, Any]:
    prefix = "llm.output_messages.0.message.tool_calls"
    names = {f"{prefix}.{index}.tool_call.function.name": name for index, name in enumerate(called)}
    head = {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user"}
    return {"attributes": {**head, **names}}


@of_every_row(rows("assertions"))
def test_assertions(row: dict[str, Any]) -> None:
    """Budgets, schemas, texts, turns and agents: the verdicts, and where they are unknown (G7, G11 to G13, G25)."""
    verdicts = rightcall.grade(row["trajectory"], row["expectations"])
    assert row["want"] == {verdict.id: str(verdict.status) for verdict in verdicts}


def test_assertions_recorded(tmp_path: Path) -> None:
    """The same rows as records that carry their expectations, in one run of the command line."""
    cases = rows("assertions")
    file = _records(tmp_path, [{**row["trajectory"], "id": row["id"], **row["expectations"]} for row in cases])
    report = json.loads(run_apart("grade", file, "--json", cwd=tmp_path).out)
    found = {
        result["id"]: {verdict["id"]: verdict["status"] for verdict in result["attempts"][0]["verdicts"]}
        for result in report["results"]
    }
    assert {row["id"]: row["want"] for row in cases} == found


@of_every_row(rows("stringify"))
def test_stringify(row: dict[str, Any]) -> None:
    """The text of arguments that patterns see is `JSON.stringify`'s; a repeated key is refused (G8, G28)."""
    if row["json"] in REPEATED_KEYS:
        with pytest.raises(jsontext.JSONError, match="repeated"):
            jsontext.decode(row["json"])
    else:
        assert row["stringify"] == stringify(jsontext.decode(row["json"]))


@pytest.mark.parametrize("row", params(rows("regex")))
def test_regex(row: dict[str, Any]) -> None:
    """Patterns are JavaScript regular expressions; what does not compile is refused (G27, G28)."""
    if row.get("refused"):
        with pytest.raises(ValueError, match=r"\S"):
            compile_regex(row["pattern"], row["flags"])
    else:
        assert row["test"] == compile_regex(row["pattern"], row["flags"])(row["text"])


@of_every_row(rows("rules"))
def test_rules(row: dict[str, Any]) -> None:
    """Every template passes and fails, and is an error where what is not known decides (G9, G11, G12, G42)."""
    (verdict,) = rightcall.grade(row["trajectory"], {"rules": [row["rule"]]})
    assert row["want"] == {"status": verdict.status}


@of_every_row(rows("steps"))
def test_steps(row: dict[str, Any]) -> None:
    """Steps made of steps, with and without other calls between them (G11, G12, G41)."""
    sequence = {"steps": row["steps"], "strict": row["strict"]}
    (verdict,) = rightcall.grade(row["trajectory"], {"expected_tool_sequence": sequence})
    assert row["want"] == {"status": verdict.status}


def test_a_table_fails_with_every_row_that_is_wrong() -> None:
    """Not only with the first; a row that raises something else is wrong too, and so is a table without rows."""

    def check(row: dict[str, Any]) -> None:
        assert 6 / row["divisor"] == 3

    table = [{"id": "zero", "divisor": 0}, {"id": "two", "divisor": 2}, {"id": "six", "divisor": 6}]
    with pytest.raises(pytest.fail.Exception) as failure:
        of_every_row(table)(check)()
    head, *lines = str(failure.value).splitlines()
    assert (head, [line.partition(" ")[0] for line in lines[:2]]) == ("2 of 3 cases are wrong:", ["zero:", "six:"])
    with pytest.raises(pytest.fail.Exception, match="0 of 0"):
        of_every_row([])(check)()
