"""Public bug reports about message formats of frameworks."""

from __future__ import annotations

from typing import Any

import rightcall
from support.bug_reports import Case, expectations, report


@report("B072")
def test_parsing_of_traces_or_messages_that_hold_a_call_in_newer_parts(case: Case) -> None:
    """A call counts once, whether it stands in the newer parts alone or in the older field too."""
    for variant in case["input"]["variants"]:
        message = {"role": "assistant", "content": {"format": 2, **variant["content"]}}
        calls = rightcall.read([message]).tool_calls or ()
        assert case["expect"]["extracted_names_each"] == [call.name for call in calls]
        assert [call.arguments for call in calls] == [{"v": 1}]


@report("B075")
def test_parsing_of_traces_or_messages_that_are_the_final_answer_too(case: Case) -> None:
    """An event that is shown to the user as final keeps its calls."""
    events: list[dict[str, Any]] = [
        {
            "author": one["author"],
            "invocationId": "i",
            "isFinalResponse": one["final"],
            "content": {"role": "model", "parts": one["parts"]},
        }
        for one in case["input"]["events"]
    ]
    session = {"id": "s", "appName": "a", "events": events}
    (verdict,) = rightcall.grade(session, expectations(case["input"]))
    assert case["expect"]["verdict"] == verdict.status
