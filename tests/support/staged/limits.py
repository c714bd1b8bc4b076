"""What some recordings cannot say, each as the change that it makes to the rows of a script; docstrings say why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from support.staged.projection import Row
from support.staged.scripts import BROKEN

Limit = Callable[[list[Row]], list[Row]]


def no_word_for_failure(rows: list[Row]) -> list[Row]:
    """A result is text like any other: a call with a result is `ok`, whatever the text says."""
    return [{**row, "status": "ok"} for row in rows]


def status_left_open(rows: list[Row]) -> list[Row]:
    """No span ran the tool; later requests tell what it answered, not whether that was a failure."""
    return [{**row, "status": "requested"} for row in rows]


def broken_calls_never_run(rows: list[Row]) -> list[Row]:
    """A call with broken arguments gets an answer, but no span of a tool: nothing says that it failed."""
    return [{**row, "status": "requested"} if row["answer"] == BROKEN else row for row in rows]


def unanswered(rows: list[Row]) -> list[Row]:
    """What became of calls is not recorded, or under ids that no call has."""
    return [{**row, "status": "requested", "answer": None} for row in rows]


def outer_calls_only(rows: list[Row]) -> list[Row]:
    """A transcript of one agent: what another one does inside a call is not in it, nor that it is one."""
    outer = [{**row, "kind": "client"} for row in rows if row["parent"] is None]
    numbers = {batch: number for number, batch in enumerate(dict.fromkeys(row["batch"] for row in outer))}
    return [{**row, "batch": numbers[row["batch"]]} for row in outer]


def errors_are_objects(rows: list[Row]) -> list[Row]:
    """A failure is an object that holds an error, and stays one."""
    return [{**row, "answer": {"error": row["answer"]} if row["status"] == "error" else row["answer"]} for row in rows]


def results_are_objects(rows: list[Row]) -> list[Row]:
    """What a tool returns is put into an object, of which spans do not say that it is none of the tool's own."""
    return [row if isinstance(row["answer"], dict) else {**row, "answer": {"result": row["answer"]}} for row in rows]


def one_turn(rows: list[Row]) -> list[Row]:
    """Where the user spoke is not recorded."""
    return [{**row, "turn": 0} for row in rows]


def executions_only(rows: list[Row]) -> list[Row]:
    """Only spans of tools show the calls: neither turns nor what was parallel is known."""
    return [{**row, "turn": None, "batch": None} for row in rows]


def overwritten_models(rows: list[Row]) -> list[Row]:
    """One model span is written over by each answer of a turn, so that only turns with one such are whole."""
    steps = Counter(turn for turn, _ in {(row["turn"], row["batch"]) for row in rows})
    kept = [row if steps[row["turn"]] == 1 else executions_only([row])[0] for row in rows]
    numbers = {batch: number for number, batch in enumerate(dict.fromkeys(row["batch"] for row in kept))}
    return [row if row["batch"] is None else {**row, "batch": numbers[row["batch"]]} for row in kept]


def nothing_captured(rows: list[Row]) -> list[Row]:
    """Content is off: names are left."""
    return [{**row, "arguments": "not_captured", "answer": None} for row in rows]


def only_the_type_of_an_error(rows: list[Row]) -> list[Row]:
    """The span of the tool has no content: of a failure its type is left."""
    return [{**row, "answer": "TOOL_ERROR"} if row["status"] == "error" else row for row in rows]


def no_empty_arguments(rows: list[Row]) -> list[Row]:
    """Empty arguments are left out, like those that are not captured."""
    return [{**row, "arguments": "not_captured"} if row["arguments"] == "{}" else row for row in rows]


def lists_of_one_type(rows: list[Row]) -> list[Row]:
    """The SDK of OpenTelemetry drops a list of values of several types from an attribute that is no text."""
    return [{**row, "arguments": row["arguments"].replace("[1, [2, []]]", "null")} for row in rows]


def validation_errors(rows: list[Row]) -> list[Row]:
    """Pydantic AI answers broken arguments itself, with the errors of its validation."""
    told = {
        "type": "json_invalid",
        "loc": [],
        "msg": "Invalid JSON: EOF while parsing a string at line 1 column 13",
        "input": '{"city": "Par',
    }
    return [{**row, "answer": [told]} if row["answer"] == BROKEN else row for row in rows]
