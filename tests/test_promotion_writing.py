"""Whatever was recorded, the file of tests says it, and nothing that was recorded breaks out of its place."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.values import equal
from rightcall.testsets.promotion import Draft, Drawing, Recorded, draft, written
from rightcall.testsets.source import Format, load
from support.json_values import json_values
from support.promoting import unchanged

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["a\n  - id: evil", "# c", "\x1b[2J", "no", "\x85", "\ud800", "::error::"]
)
CALLS = st.lists(st.builds(ToolCall, name=TEXTS.filter(bool), arguments=json_values()), max_size=3)


def recorded(identity: str, prompt: str, calls: list[ToolCall]) -> Draft:
    """The test of one conversation."""
    messages = [{"role": "user", "content": prompt}]
    known = Trajectory(id=identity, tool_calls=tuple(calls), messages=messages)
    return draft(identity, [Recorded(known, f"{identity}.jsonl")], Drawing(conceal=unchanged))


@pytest.mark.parametrize("form", ["yaml", "json", "jsonl"])
@given(drafts=st.lists(st.builds(recorded, TEXTS.filter(bool), TEXTS, CALLS), min_size=1, max_size=3))
@example(drafts=[recorded("a\n- id: evil\n", "x: [", [])])
def test_a_file_holds_exactly_the_tests_that_were_promoted(form: Format, drafts: list[Draft]) -> None:
    """What is written is read as the keys of the tests, comments and notes beside them."""
    value, _ = load(written(drafts, form), f"t.{form}")
    tests = [{key: item for key, item in test.items() if key != "x-promoted"} for test in value["tests"]]
    assert equal([one.keys for one in drafts], tests)


@given(TEXTS, TEXTS)
def test_a_comment_is_one_line_that_steers_nothing(identity: str, prompt: str) -> None:
    """Text that was recorded stands in comments with control characters as escapes."""
    text = written([recorded(f"a{identity}", prompt, [])], "yaml").decode("utf-8", "surrogatepass")
    comments = [line for line in text.split("\n") if line.lstrip().startswith("# ")]
    assert [line for line in comments if not line.isprintable()] == []
