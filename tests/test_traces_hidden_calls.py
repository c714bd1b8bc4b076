"""Calls that stand where no reader looks: read where the shape is known, else a gap, never an empty list (G12)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import rightcall
from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support.reading import items, one

FUNCTION = {"name": "delete", "arguments": "{}"}
CALL = {"id": "1", "type": "function", "function": FUNCTION}
USER = {"role": "user", "content": "hello"}
DONE = {"role": "assistant", "content": "Done."}


def names(trajectory: Trajectory) -> list[str] | None:
    return None if trajectory.tool_calls is None else [call.name for call in trajectory.tool_calls]


def says(**message: Any) -> list[Any]:
    return [USER, {"role": "assistant", "content": None, **message}]


def answers(reason: str, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": None, **message}}
    return {"messages": [USER], "choices": [choice]}


READ_IN_CHAT = [
    says(function_call=FUNCTION),
    says(tool_call=CALL),
    says(content={"type": "tool_call", **FUNCTION}),
    says(content=[{"type": "tool_call", **FUNCTION}]),
    says(content=[{"type": "function", "function": FUNCTION}]),
]


@pytest.mark.parametrize("value", READ_IN_CHAT, ids=json.dumps)
def test_single_calls_of_a_known_shape_are_read_wherever_a_message_has_them(value: Any) -> None:
    """They are calls like those of `tool_calls` (G9)."""
    read = one("openai-chat", value)
    assert (names(read), read.gaps) == (["delete"], ())


HIDDEN_IN_CHAT = [
    (says(function_call="delete"), "[1].function_call"),
    (says(function_call=[FUNCTION]), "[1].function_call"),
    (says(toolCalls=[CALL]), "[1].toolCalls"),
    (says(tool_call="delete"), "[1].tool_call"),
    (says(content=[{"type": "tool_calls", "tool_calls": [CALL]}]), "[1].content[0]"),
    (says(extra={"deep": [{"functionCall": {"name": "delete"}}]}), "[1].extra.deep[0].functionCall"),
    ([*says(), {**USER, "tool_calls": [CALL]}], "[2].tool_calls"),
    ([*says(), {**USER, "function_call": FUNCTION}], "[2].function_call"),
    ([*says(), {**USER, "content": [{"type": "tool_call", **FUNCTION}]}], "[2].content[0]"),
    ({"messages": [USER, DONE], "response": says(tool_calls=[CALL])[1]}, "response.tool_calls"),
    ({"messages": [USER, DONE], "output": says(tool_calls=[CALL])}, "output[1].tool_calls"),
    (
        {"messages": [USER, DONE], "completion": answers("stop", tool_calls=[CALL])},
        "completion.choices[0].message.tool_calls",
    ),
]


@pytest.mark.parametrize(("value", "place"), HIDDEN_IN_CHAT, ids=lambda value: json.dumps(value)[:80])
def test_what_looks_like_calls_beside_those_of_a_chat_is_a_gap(value: Any, place: str) -> None:
    """The gap names the place, and no call is made up (G12)."""
    read = one("openai-chat", value)
    assert (names(read), read.gaps) == ([], (f"{place} looks like calls, which are not read",))


def test_blocks_that_repeat_the_calls_of_their_message_are_no_gap() -> None:
    """A copy is the same call; another call is none (G12)."""
    copy = {"type": "tool_call", "name": "delete", "arguments": {}}
    other = {"type": "tool_call", "name": "drop", "arguments": {}}
    assert one("openai-chat", says(tool_calls=[CALL], content=[copy])).gaps == ()
    assert one("openai-chat", says(tool_calls=[CALL], content=[other])).gaps == (
        "[1].content[0] looks like calls, which are not read",
    )


def test_the_tools_on_offer_and_what_was_expected_are_no_calls() -> None:
    """A request says what may be called, a test what should be: neither is a sign of a call (G12)."""
    body = {
        "messages": [USER, DONE],
        "tools": [{"type": "function", "function": {"name": "delete", "parameters": {}}}],
        "tool_choice": {"type": "function", "function": {"name": "delete"}},
        "function_call": {"name": "delete"},
        "rejected": says(tool_calls=[CALL]),
        "expected_tool_calls": [{"name": "delete"}],
    }
    assert one("openai-chat", body).gaps == ()


@pytest.mark.parametrize("tool_calls", [{}, {"tool_calls": None}, {"tool_calls": []}], ids=json.dumps)
@pytest.mark.parametrize("reason", ["tool_calls", "TOOL_CALLS", "function_call"])
def test_a_finish_reason_of_calls_without_a_call_is_a_gap(reason: str, tool_calls: dict[str, Any]) -> None:
    """The calls count, not the key that they would stand under (G12)."""
    read = one("openai-chat", answers(reason, **tool_calls))
    assert (names(read), read.gaps) == ([], (f"the finish reason is `{reason}`, but the message has no calls",))


def test_a_result_without_its_call_is_a_gap() -> None:
    """Something was called that the messages do not show (G12)."""
    read = one("openai-chat", [USER, DONE, {"role": "tool", "tool_call_id": "1", "content": "x"}])
    assert (names(read), read.gaps) == ([], ("[2] answers no call that is recorded",))


@pytest.mark.parametrize(
    ("beside", "place"),
    [({"tool_calls": [CALL]}, "exchange.tool_calls"), ({"response": {"tool_calls": [CALL]}}, "response.tool_calls")],
    ids=json.dumps,
)
def test_calls_beside_the_choices_of_a_log_are_a_gap(beside: dict[str, Any], place: str) -> None:
    """In the exchange, or in its response (G12)."""
    choices = answers("stop", content="Done.")["choices"]
    response = {"choices": choices, **beside.get("response", {})}
    read = one("openai-chat", {"request": {"messages": [USER]}, **beside, "response": response})
    assert (names(read), read.gaps) == ([], (f"{place} looks like calls, which are not read",))


NOT_RECORDED = [
    [USER],
    {"messages": []},
    {"messages": [USER], "choices": []},
    {"request": {"messages": [USER]}, "url": "/chat/completions"},
]


@pytest.mark.parametrize("value", NOT_RECORDED, ids=json.dumps)
def test_a_chat_without_a_message_of_the_model_is_not_recorded(value: Any) -> None:
    """It is no conversation of no calls, and the trajectory says why (G3)."""
    read = one("openai-chat", value)
    assert (read.tool_calls, read.warnings) == (None, ("there is no message of the model",))


@pytest.mark.parametrize("choices", [5, True, 1.5, "x", {"index": 0}])
def test_choices_of_a_wrong_type_are_an_error_of_that_record(choices: Any) -> None:
    """Beside messages, and in the responses of a log, where the other exchanges are read (G8, G12)."""
    bad, good = items("openai-chat", {"messages": [USER], "choices": choices}, [USER, DONE])
    assert (str(bad).split("; ")[0], isinstance(good, Trajectory)) == (
        "f:1: choices: expected an array of choices",
        True,
    )
    log = [
        {"request": {"messages": [USER]}, "response": {"choices": choices}},
        {"request": {"messages": [USER]}, "response": answers("stop", content="Hi.")},
    ]
    (error,) = items("openai-chat", *log[:1])
    read = one("openai-chat", *log)
    assert isinstance(error, TraceError)
    assert (names(read), len(read.gaps)) == ([], 1)


def chunk(**delta: Any) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


END = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("deltas", "called", "gaps"),
    [
        ([{"tool_calls": [{"index": 0, **FUNCTION}]}], ["delete"], 0),
        ([{"tool_calls": ["delete"]}], [""], 0),
        (
            [{"tool_calls": [{"index": 0, "function": {"name": name, "arguments": "{}"}}]} for name in "ab"],
            ["a", "b"],
            0,
        ),
        ([{"tool_calls": {"index": 0, "function": FUNCTION}}], [], 1),
        ([{"toolCalls": [CALL]}], [], 1),
        ([{"function_call": "delete"}], [], 1),
        ([{"content": [{"type": "tool_call", **FUNCTION}]}], [], 1),
    ],
)
def test_calls_in_odd_places_of_a_stream_are_read_or_a_gap(deltas: list[Any], called: list[str], gaps: int) -> None:
    """Nothing that a delta shows of a call is dropped (G12)."""
    read = one("openai-chat", *[chunk(**delta) for delta in deltas], END)
    assert (names(read), len(read.gaps)) == (called, gaps)


NATIVE = [
    ({"tool_calls": [], "calls": [{"name": "delete"}]}, "calls looks like calls, which are not read"),
    (
        {"tool_calls": [], "messages": says(tool_calls=[CALL])},
        "messages[1].tool_calls looks like calls, which are not read",
    ),
    (
        {"tool_calls": [], "messages": [{"role": "model", "parts": [{"functionCall": {"name": "delete"}}]}]},
        "messages[0].parts[0].functionCall looks like calls, which are not read",
    ),
    (
        {"tool_calls": [{"name": "a", "calls": [{"name": "delete"}]}]},
        "tool_calls[0].calls looks like calls, which are not read",
    ),
    (
        {"tool_calls": [{"name": "a", "tool_calls": [CALL]}]},
        "tool_calls[0].tool_calls looks like calls, which are not read",
    ),
    ({"tool_calls": [{"name": "a", "tool": "delete"}]}, "tool_calls[0] looks like several calls, of which one is read"),
    (
        {"tool_calls": [{"name": "a", "function": [FUNCTION]}]},
        "tool_calls[0] looks like several calls, of which one is read",
    ),
    (
        {"tool_calls": [{"name": "a", "function": "delete"}]},
        "tool_calls[0] looks like several calls, of which one is read",
    ),
    ({"tool_calls": [[CALL]]}, "tool_calls[0] looks like calls, which are not read"),
    (
        {"tool_calls": [{"name": "a", "function": {"name": "delete"}}]},
        "tool_calls[0] looks like several calls, of which one is read",
    ),
    (
        {"tool_calls": [{"function": {"name": "a"}, "functionCall": {"name": "delete"}}]},
        "tool_calls[0] looks like several calls, of which one is read",
    ),
    (
        {"tool_calls": [{"name": "a", "next": {"name": "delete"}}]},
        "tool_calls[0].next looks like a call, which is not read",
    ),
]


@pytest.mark.parametrize(("record", "gap"), NATIVE, ids=lambda value: json.dumps(value)[:80])
def test_calls_beside_those_of_a_native_record_are_a_gap(record: dict[str, Any], gap: str) -> None:
    """Keys that are not read may hold anything but calls (G12)."""
    read = one("native", record)
    assert (len(read.tool_calls or ()), read.gaps) == (len(record["tool_calls"]), (gap,))


@pytest.mark.parametrize(
    ("record", "warnings"),
    [
        ({"tool_calls": [{"name": "a", "colour": "red"}]}, ("tool_calls[0] has `colour`, which is not read",)),
        ({"tool_calls": [], "messages": [USER, DONE]}, ()),
        ({"tool_calls": [], "gaps": ["known"], "messages": says(tool_calls=[CALL])}, ()),
        ({"tool_calls": [], "messages": [{"role": "tool", "tool_calls": [{"name": None}]}]}, ()),
    ],
)
def test_other_keys_of_a_native_record_are_at_most_a_warning(record: dict[str, Any], warnings: tuple[str, ...]) -> None:
    """A key without calls in it is no gap, and a gap that the record tells itself is not told twice."""
    read = one("native", record)
    assert (read.gaps, read.warnings) == (tuple(record.get("gaps", ())), warnings)


LLM = {"openinference.span.kind": "LLM"}
OUTPUT = "llm.output_messages"
FLAT = f"{OUTPUT}.0.message.tool_calls.0.tool_call.function.name"


@pytest.mark.parametrize(
    ("attributes", "gap"),
    [
        ({}, "does not show what the model put out"),
        ({"output.value": "__REDACTED__"}, "does not show what the model put out"),
        ({"input.value": "hello", "output.value": ""}, "does not show what the model put out"),
        ({OUTPUT: "__REDACTED__", "output.value": "Done."}, "hides what the model put out"),
        ({OUTPUT: "[{'role': 'assistant'"}, "has `llm.output_messages` that cannot be read"),
        ({OUTPUT: ["?"]}, "has `llm.output_messages` that cannot be read"),
        (
            {OUTPUT: [{"message": {"role": "assistant", "toolCalls": [CALL]}}]},
            "has calls that are not read: toolCalls looks like calls, which are not read",
        ),
        (
            {f"{OUTPUT}.0.message.function_call.name": "delete"},
            "has calls that are not read: function_call.name looks like calls, which are not read",
        ),
        (
            {f"{OUTPUT}.0.message.contents.0.message_content.type": "tool_use"},
            "has calls that are not read: contents looks like calls, which are not read",
        ),
        (
            {f"{OUTPUT}.0.message.content": json.dumps([{"type": "tool_use", "name": "delete"}])},
            "has calls that are not read: content[0] looks like calls, which are not read",
        ),
        (
            {"output.value": json.dumps(answers("stop", tool_calls=[CALL]))},
            "output.value.choices[0].message.tool_calls looks like calls, which are not read",
        ),
    ],
)
def test_a_model_span_that_hides_its_output_is_a_gap(attributes: dict[str, Any], gap: str) -> None:
    """Whether the output was masked, left out or cannot be read (G12)."""
    read = one("openinference", {"span_id": "s", "attributes": {**LLM, **attributes}})
    assert (names(read), [told.removeprefix("span s ") for told in read.gaps]) == ([], [gap])


@pytest.mark.parametrize(
    "attributes",
    [
        {"output.value": "Done."},
        {f"{OUTPUT}.0.message.role": "assistant", f"{OUTPUT}.0.message.content": "Done."},
        {"output.value": json.dumps({"tool_choice": {"type": "function", "name": "a"}, "tool_calls": []})},
    ],
)
def test_a_model_span_that_shows_an_answer_without_calls_is_whole(attributes: dict[str, Any]) -> None:
    """Text is an answer, as is a message without calls (G3)."""
    read = one("openinference", {"span_id": "s", "attributes": {**LLM, **attributes}})
    assert (names(read), read.gaps) == ([], ())


@pytest.mark.parametrize(
    "attributes",
    [
        {OUTPUT: json.dumps([{"message.tool_calls": [{"tool_call.function.name": "delete"}]}])},
        {OUTPUT: [json.dumps({"role": "assistant", "tool_calls": [CALL]})]},
        {OUTPUT: {"message": {"tool_calls": [CALL]}}},
        {f"{OUTPUT}.0": json.dumps({"message": {"tool_calls": [CALL]}})},
        {f"{OUTPUT}.0.message": json.dumps({"tool_calls": [CALL]})},
        {f"{OUTPUT}.0.message.tool_calls": json.dumps([CALL])},
        {f"{OUTPUT}.0.message.tool_calls.0": json.dumps(CALL)},
        {f"{OUTPUT}.0.message.tool_calls.0.tool_call": json.dumps(CALL)},
        {f"{OUTPUT}.0.message.tool_calls.0.tool_call": json.dumps(FUNCTION)},
        {FLAT.replace(".0.", f".{'1' * 30}.")[: len(FLAT) + 58]: "delete"},
    ],
    ids=lambda attributes: next(iter(attributes))[:60],
)
def test_calls_of_a_span_are_read_at_whatever_depth_they_become_text(attributes: dict[str, Any]) -> None:
    """JSON text is decoded wherever it stands; indices may be of any length."""
    read = one("openinference", {"span_id": "s", "attributes": {**LLM, **attributes}})
    assert (names(read), read.gaps) == (["delete"], ())


@pytest.mark.parametrize(
    "nested",
    [
        {OUTPUT: [{"message": {"role": "assistant", "content": "Hm."}}]},
        {OUTPUT: {"0": {"message": {"role": "assistant"}}}},
        {"llm": {"output_messages": [{"message": {"role": "assistant"}}]}},
        {f"{OUTPUT}.0": {"message": {"role": "assistant"}}},
        {OUTPUT: json.dumps([{"message": {"role": "assistant"}}])},
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("flat_first", [{FLAT: "delete"}, {}], ids=["flat first", "flat last"])
def test_a_flat_and_a_nested_half_of_a_span_are_both_read(nested: dict[str, Any], flat_first: dict[str, Any]) -> None:
    """Neither hides the other, in whichever order they stand."""
    read = one("openinference", {"span_id": "s", "attributes": {**LLM, **flat_first, **nested, FLAT: "delete"}})
    assert (names(read), read.gaps) == (["delete"], ())


DEEP = "nested deeper than the limit of 200"


@pytest.mark.parametrize(
    "text",
    [
        '{"tool_calls": ' + "[" * 10_000,
        "[" * 1_000_000,
        '{"tool_calls": [], "output": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
    ids=["open", "brackets", "closed"],
)
def test_deep_files_are_refused_by_the_limit_of_depth(text: str) -> None:
    """Detection reads past what is too deep, and the limit is named (G8)."""
    with pytest.raises(TraceError, match="nested deeper than the limit of"):
        list(traces.read([text.encode()]))


def test_a_deep_record_among_good_ones_is_one_error() -> None:
    """The others are read (G8)."""
    deep = '{"tool_calls": [], "output": ' + "[" * 100_000 + "]" * 100_000 + "}"
    lines = [deep, '{"tool_calls": [{"name": "a"}]}', deep]
    read = list(traces.read(["\n".join([*lines, ""]).encode()], file="f"))
    assert [str(item) if isinstance(item, TraceError) else names(item) for item in read] == [
        f"f:1: {DEEP}",
        ["a"],
        f"f:3: {DEEP}",
    ]


def test_long_strings_in_documents_are_read_whole() -> None:
    """A string may run over any number of pieces, with escapes at their ends."""
    value = {"id": "a", "tool_calls": [{"name": "a", "arguments": {"x": '\\"' * 400_001 + "]}"}}]}
    text = json.dumps(value, indent=1).encode()
    for size in (len(text), 65_536, 9_999):
        (read,) = traces.read([text[start : start + size] for start in range(0, len(text), size)])
        assert isinstance(read, Trajectory)
        assert read.tool_calls is not None
        assert read.tool_calls[0].arguments == value["tool_calls"][0]["arguments"]  # type: ignore[index]  # plain JSON


LARGE = "x" * (10 * 1024 * 1024)
TOO_LARGE = "the record is larger than the limit of 10 MiB"


@pytest.mark.parametrize(
    ("format", "small", "large"),
    [
        ("native", {"id": "s", "tool_calls": []}, {"id": "l", "output": LARGE, "tool_calls": []}),
        ("openai-chat", {"id": "s", "messages": [DONE]}, {"id": "l", "messages": [{**DONE, "content": LARGE}]}),
    ],
)
def test_the_limit_of_a_record_holds_in_documents(format: str, small: Any, large: Any) -> None:
    """For each element of an array, and for a record that runs over several lines (G8)."""
    text = json.dumps([small, large], indent=1).encode()
    good, bad = traces.read([text], format=format, file="f")
    (alone,) = traces.read([json.dumps(large, indent=1).encode()], format=format, file="f")
    assert isinstance(good, Trajectory)
    assert [str(item) for item in (bad, alone)] == [f"f:1: [1]: {TOO_LARGE}", f"f:1: {TOO_LARGE}"]
    assert [item.record_id for item in (bad, alone) if isinstance(item, TraceError)] == ["l", "l"]


def test_a_record_whose_first_field_is_long_is_refused_with_advice() -> None:
    """The message says how to read it, and then it is read."""
    text = json.dumps({"id": "x" * 70_000, "tool_calls": [{"name": "a"}]}).encode()
    with pytest.raises(TraceError, match="name the format, as in `--format native`"):
        list(traces.read([text]))
    (read,) = traces.read([text], format="native")
    assert isinstance(read, Trajectory)
    assert names(read) == ["a"]


@pytest.mark.parametrize("broken", ["not JSON", '{"tool_calls": ', '{"tool_calls": [}'])
def test_broken_lines_before_a_good_one_are_an_error_each(broken: str) -> None:
    """If the format is named, the first good line decides nothing."""
    text = "\n".join([broken] * 150 + ['{"tool_calls": []}']).encode()
    read = list(traces.read([text], format="native"))
    assert [isinstance(item, TraceError) for item in read] == [True] * 150 + [False]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"tool_calls": [{"name": "a", "arguments": {"x": 10**5000}}]}, "tool_calls[0].arguments.x"),
        ({"tool_calls": [], "metadata": {10**5000: 1}}, "metadata"),
    ],
    ids=["value", "key"],
)
def test_integers_that_cannot_be_written_are_an_error_with_their_path(value: Any, path: str) -> None:
    """Python limits the digits of the integers that it writes (G7)."""
    with pytest.raises(TraceError) as caught:
        traces.read_object(value)
    assert caught.value.where.path == path


def test_expected_integers_that_cannot_be_written_fail_like_any_other() -> None:
    """The comparison is exact, and its explanation says what it cannot show (G7)."""
    with pytest.raises(AssertionError, match="an integer of too many digits"):
        rightcall.check(
            {"tool_calls": [{"name": "a", "arguments": {"x": 1}}]},
            expected_tool_calls=[{"name": "a", "arguments": {"x": 10**5000}}],
        )


def test_a_ban_is_not_passed_by_calls_that_were_not_read() -> None:
    """The gap makes the verdict an error (G12)."""
    read = rightcall.read({"messages": says(toolCalls=[CALL])})
    with pytest.raises(AssertionError, match=r"toolCalls looks like calls, which are not read"):
        rightcall.check(read, forbidden_tools=["delete"])


@pytest.mark.parametrize(
    ("key", "called"),
    [
        (
            f"{OUTPUT}.0.message.tool_calls.x.tool_call.function.name",
            [
                "",
            ],
        ),
        (f"{OUTPUT}.0.message.tool_calls.x.name", [""]),
        (f"{OUTPUT}.x.message.tool_calls.0.tool_call.function.name", []),
    ],
)
def test_an_index_that_is_no_number_is_a_gap(key: str, called: list[str]) -> None:
    """Alone, and beside whole ones, whose calls are read (G12)."""
    alone = one("openinference", {"span_id": "s", "attributes": {**LLM, key: "delete"}})
    beside = one("openinference", {"span_id": "s", "attributes": {**LLM, FLAT: "a", key: "delete"}})
    gap = "span s has messages or calls under `x`, which is no index"
    assert (names(alone), names(beside)) == (called, ["a"])
    assert (gap in alone.gaps, gap in beside.gaps) == (True, True)
