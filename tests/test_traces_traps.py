"""The traps of real traces, each with the tests that hold a reader out of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from support.spanning import asked, one, span

HERE: Final = Path(__file__).parent

TRAPS: Final[dict[int, tuple[str, tuple[str, ...]]]] = {
    1: ("one call, many views", ("traces_openinference::an_output_and_its_execution_are_one_call",)),
    2: (
        "one id for several calls",
        (
            "traces_agent_logs::tau_bench_trials_are_attempts_and_ids_may_repeat",
            "traces_anthropic::equal_calls_with_equal_ids_all_count",
        ),
    ),
    3: ("one call, several ids", ("traces_genai::ids_of_message_parts_are_no_identity",)),
    4: ("equal parallel calls", ("traces_openai_chat::equal_calls_inside_one_history_all_count",)),
    5: (
        "a model span that was overwritten",
        ("traces_openinference::a_model_span_that_was_overwritten_gives_way_to_its_executions",),
    ),
    6: (
        "spans that only look like executions",
        ("traces_openinference::spans_that_only_look_like_tools_are_no_calls",),
    ),
    7: (
        "a call listed twice in one span",
        ("traces_openinference::a_call_listed_twice_in_one_message_counts_once",),
    ),
    8: (
        "two instrumentations of one model call",
        ("traces_openinference::two_instrumentations_of_one_model_call_count_once",),
    ),
    9: ("two conventions on one span", ("traces_spans::a_span_of_two_conventions_is_one_span",)),
    10: ("arguments that lose something when they run", ("traces_openinference::arguments_of_an_execution_alone",)),
    11: ("parameters: a schema, or arguments", ("traces_openinference::arguments_of_an_execution_alone",)),
    12: (
        "malformed arguments",
        (
            "traces_langchain::calls_that_could_not_be_parsed_keep_their_place_and_text",
            "traces_native::arguments_that_are_not_json_are_kept_and_flagged",
        ),
    ),
    13: (
        "absent arguments",
        ("traces_gaps::a_call_without_arguments_has_none_only_where_the_format_says_so",),
    ),
    14: ("the order of a file", ("traces_openinference::file_order_does_not_matter",)),
    15: (
        "fragments of streams",
        ("traces_openai_chat::chunks_add_up_to_calls", "traces_langchain::chunks_add_up_by_message_and_index"),
    ),
    16: (
        "requested, but never run",
        ("traces_openinference::calls_that_never_ran_stay_requested", "traces_vercel_ai::a_call_waits_for_approval"),
    ),
    17: ("retries", ("traces_openai_chat::a_retry_without_a_first_response_is_one_exchange",)),
    18: (
        "nested agents",
        (
            "traces_openinference::calls_of_a_nested_agent_follow_the_call_that_made_it",
            "traces_claude_code::agents_are_inside_the_call_that_started_them",
        ),
    ),
    19: ("handoffs", ("traces_gemini::agents_handoffs_and_requests_of_the_framework",)),
    20: ("tools for the output", ("traces_providers::pydantic_ai_marks_output_and_the_tools_of_the_provider",)),
    21: ("definitions that pose as messages", ("traces_traps::definitions_among_messages_are_neither_calls_nor_gaps",)),
    22: ("text that poses as calls", ("traces_spans::text_that_mentions_a_call_is_no_call",)),
    23: (
        "demonstrations and copied context",
        (
            "traces_agent_logs::swe_agent_demonstrations_are_no_calls",
            "traces_agent_logs::atif_sub_agents_follow_the_call_that_refers_to_them",
        ),
    ),
    24: (
        "several sessions, epochs, candidates, branches",
        (
            "traces_agent_logs::inspect_epochs_failures_and_attachments",
            "traces_openai_chat::of_several_choices_the_first_counts",
            "traces_openai_chat::histories_that_diverge_are_branches",
        ),
    ),
    25: ("ids in base64", ("traces_spans::ids_in_base64_are_the_same_ids",)),
    26: ("compression", ("traces_compression::a_compressed_trace_reads_as_the_trace_in_it",)),
    27: ("results without calls", ("traces_gaps::a_result_without_its_call_is_a_gap",)),
    28: (
        "limits that cut data",
        ("traces_traps::dropped_attributes_are_a_gap", "traces_spans::an_output_that_was_cut_off_is_a_gap"),
    ),
    29: ("numbers that drift", ("values::values_that_json_does_not_tell_apart_are_equal",)),
    30: (
        "decorated names",
        ("assertions::aliases_give_recorded_names_the_names_of_expectations",),
    ),
    31: (
        "tools of the provider",
        (
            "traces_genai::server_side_calls_have_their_kind",
            "traces_openai_responses::what_the_provider_runs_says_what_became_of_it",
        ),
    ),
    32: (
        "redacted arguments",
        (
            "traces_openinference::masked_arguments_are_redacted",
            "unknown::hidden_arguments_matter_only_to_kinds_that_look_at_them",
        ),
    ),
}
"""Each trap, and the tests that hold it, by their file and their name."""


def test_every_trap_stands_here() -> None:
    """In order, without a gap in the numbers."""
    assert list(TRAPS) == list(range(1, 33))


@pytest.mark.parametrize("test", sorted({test for _, tests in TRAPS.values() for test in tests}))
def test_a_trap_is_held_by_a_test_that_exists(test: str) -> None:
    """The test was neither renamed nor removed."""
    file, name = test.split("::")
    text = (HERE / f"test_{file}.py").read_text("utf-8")
    assert re.search(rf"^def test_{name}\(", text, re.MULTILINE)


def test_definitions_among_messages_are_neither_calls_nor_gaps() -> None:
    """Langfuse keeps the tools that LangChain offers as messages of a tool."""
    definition = {"type": "function", "function": {"name": "delete", "parameters": {"type": "object"}}}
    given: list[Any] = [{"role": "user", "content": "hello"}, {"role": "tool", "content": definition}]
    generation = {
        "id": "g",
        "type": "GENERATION",
        "startTime": "2026-01-01T00:00:00Z",
        "input": given,
        "output": {"role": "assistant", "content": "Done."},
    }
    (read,) = traces.read(
        [json.dumps({"trace": {"id": "t"}, "observations": [generation]}).encode()], format="langfuse"
    )
    assert isinstance(read, Trajectory)
    assert (read.tool_calls, read.gaps) == ((), ())


def test_dropped_attributes_are_a_gap() -> None:
    """The exporter counts them, and does not say which (G12)."""
    read = one(span(1, asked(("look", {})), droppedAttributesCount=61))
    assert [call.name for call in read.tool_calls or ()] == ["look"]
    assert [gap.endswith("lost 61 attributes or events to a limit of the exporter") for gap in read.gaps] == [True]
