"""Spans that lack an id or a time: their calls count once all the same."""

from __future__ import annotations

from typing import Any

import pytest

from support.spanning import asked, one, ran, read, span

START = 1_700_000_000_000


def spans() -> list[dict[str, Any]]:
    around = span(1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "x"})
    made = [around]
    for number, name in enumerate("abc"):
        made += [span(2 * number + 2, asked((name, {"x": 1})), 1), span(2 * number + 3, ran(name, {"x": 1}), 1)]
    for number, one_span in enumerate(made):
        one_span["startTimeUnixNano"] = str((START + number) * 1_000_000)
        one_span["endTimeUnixNano"] = str((START + number) * 1_000_000 + 999_999)
    return made


@pytest.mark.parametrize("key", ["traceId", "spanId", "startTimeUnixNano"])
@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize("nothing", [None, "", "0"])
def test_what_one_span_lacks_doubles_no_call(key: str, number: int, nothing: str | None) -> None:
    """A start is told by children or the end; the only trace of a file is that of all its spans."""
    listed = spans()
    listed[number][key] = nothing if key == "startTimeUnixNano" or nothing != "0" else None
    found = one(listed)
    assert [call.name for call in found.tool_calls or ()] == ["a", "b", "c"]
    assert (found.gaps, {call.status for call in found.tool_calls or ()}) == ((), {"ok"})


@pytest.mark.parametrize("number", range(7))
def test_a_span_without_any_time_joins_by_name(number: int) -> None:
    """Where it stands among the others is not known, but what it shows is not told twice."""
    listed = spans()
    listed[number] |= {"startTimeUnixNano": None, "endTimeUnixNano": None}
    assert sorted(call.name for call in one(listed).tool_calls or ()) == ["a", "b", "c"]


def test_a_span_without_a_trace_beside_several_traces_is_a_gap() -> None:
    """Nobody knows whose execution it is."""
    others = [{**other, "traceId": "cd" * 16} for other in spans()]
    listed = [*spans(), *others]
    listed[2]["traceId"] = None
    gaps = [trajectory.gaps for trajectory in read(listed) if trajectory.gaps]
    assert gaps == [
        ("span 0000000000000003 has no trace id: which trace of the file it belongs to is not known",),
    ]
