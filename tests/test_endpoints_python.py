"""Agents that are functions of Python: what they are given, what they may give back, and how they fail."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall.agents import endpoints
from rightcall.agents.exchange import Endpoint, Reply, Turn
from rightcall.agents.python import PythonEndpoint
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import EndpointError, TestSetError, UsageError
from support.loopback import talked
from support.tracing import fresh

pytestmark = pytest.mark.usefixtures(fresh.__name__)


@rightcall.tool
def lookup_order(order_id: int) -> str:
    """A tool that is traced."""
    return f"order {order_id}"


def replied(agent: Any, *said: Any, timeout: float = 300) -> list[Reply]:
    """The replies in one conversation."""

    async def main() -> list[Reply]:
        endpoint: Endpoint = PythonEndpoint(agent, timeout)
        async with endpoint.conversation() as conversation:
            turns = [Turn(input=one, number=number, attempt="a") for number, one in enumerate(said or ("hi",), 1)]
            replies = [await conversation.send(turn) for turn in turns]
        await endpoint.close()
        return replies

    return asyncio.run(main())


def calls(reply: Reply) -> list[tuple[str, Any]] | None:
    """Names and arguments of the calls, wherever they stand; `None` if none are known."""
    found = reply.tool_calls if reply.trajectory is None else reply.trajectory.tool_calls
    return [(call.name, call.arguments) for call in found] if isinstance(found, tuple) else None


def traced(text: str) -> str:
    lookup_order(42)
    return f"done: {text}"


async def traced_later(text: str) -> str:
    await asyncio.to_thread(lookup_order, 42)
    return f"done: {text}"


def traced_in_a_thread(text: str) -> str:
    thread = threading.Thread(target=lookup_order, args=(42,))
    thread.start()
    thread.join()
    return f"done: {text}"


def piece_by_piece(text: str) -> Iterator[str]:
    yield "done: "
    lookup_order(42)
    yield text


async def piece_by_piece_later(text: str) -> AsyncIterator[str]:
    yield "done: "
    lookup_order(42)
    yield text


class Partial:
    def __call__(self, text: str) -> Any:
        return traced_later(text)


@pytest.mark.parametrize(
    "agent", [traced, traced_later, traced_in_a_thread, piece_by_piece, piece_by_piece_later, Partial, Partial()]
)
def test_functions_of_every_kind_are_driven_and_captured(agent: Any) -> None:
    """Plain, asynchronous, generators, objects and classes: text is the output, traced tools are the calls."""
    [reply] = replied(agent)
    assert (reply.output, calls(reply)) == ("done: hi", [("lookup_order", {"order_id": 42})])


CALL = {"name": "lookup_order", "arguments": {"order_id": 42}}
MADE = [("lookup_order", {"order_id": 42})]
MESSAGES: list[Any] = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "ok", "tool_calls": [{"id": "c", "type": "function", "function": CALL}]},
]


@pytest.mark.parametrize(
    ("value", "output", "expected"),
    [
        ("text", "text", None),
        ('{"tool_calls": []}', '{"tool_calls": []}', None),
        (None, None, None),
        (7, 7, None),
        ({"output": "x"}, "x", None),
        ({"output": "x", "tool_calls": None}, "x", None),
        ({"output": "x", "tool_calls": []}, "x", []),
        ({"output": "x", "tool_calls": [CALL]}, "x", MADE),
        ({"output": "x", "tool_calls": (ToolCall(name="lookup_order", arguments={"order_id": 42}),)}, "x", MADE),
        ({"output": "x", "tool_calls": MESSAGES}, "x", MADE),
        (MESSAGES, None, MADE),
        ({"messages": [*MESSAGES, {"role": "assistant", "content": "ok"}]}, "ok", MADE),
        (Trajectory(output="x", tool_calls=(ToolCall(name="lookup_order", arguments={"order_id": 42}),)), "x", MADE),
        (Reply(output="x", tool_calls=(ToolCall(name="lookup_order", arguments={"order_id": 42}),)), "x", MADE),
        ({"anything": ["else"]}, {"anything": ["else"]}, None),
    ],
)
def test_what_a_function_returns_is_read(value: Any, output: Any, expected: Any) -> None:
    """Text is never read as anything else; what no format knows is the output, and tells of no calls (G3)."""
    [reply] = replied(lambda text: value)
    assert (reply.output, calls(reply)) == (output, expected)


def test_a_block_of_ones_own_may_be_returned() -> None:
    """What `rightcall.capture()` yielded is read like a trajectory."""

    def agent(text: str) -> Any:
        with rightcall.capture() as captured:
            lookup_order(42)
        return captured

    assert calls(replied(agent)[0]) == MADE


def test_a_function_may_ask_for_the_whole_turn() -> None:
    """By the name or the annotation of its first parameter; all others are given what the user says."""

    def by_name(turn: Any) -> Any:
        return turn.number

    def by_annotation(given: Turn) -> Any:
        return given.attempt

    def by_text(given: Any, turn: int = 3) -> Any:
        return [given, turn]

    assert [replied(agent)[0].output for agent in (by_name, by_annotation, by_text)] == [1, "a", ["hi", 3]]


def test_a_class_is_made_anew_for_each_conversation() -> None:
    """Its object keeps what belongs to the conversation from turn to turn."""

    class Counting:
        def __init__(self) -> None:
            self.count = 0

        def __call__(self, text: str) -> int:
            self.count += 1
            return self.count

    assert [[reply.output for reply in replied(Counting, "a", "b")] for _ in range(2)] == [[1, 2], [1, 2]]


def test_the_context_of_the_caller_is_that_of_the_agent() -> None:
    """Variables of `contextvars` that are set around the run are seen in its thread."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("test", default="none")

    async def main() -> Any:
        variable.set("seen")
        async with PythonEndpoint(lambda text: variable.get()).conversation() as conversation:
            return (await conversation.send(Turn(input="hi"))).output

    assert asyncio.run(main()) == "seen"


def test_what_an_agent_raises_is_its_failure_and_calls_before_it_stay() -> None:
    """With the exception, its message and the line (G38)."""

    def agent(text: str) -> None:
        lookup_order(42)
        raise ValueError("no stock")

    line = agent.__code__.co_firstlineno + 2
    [reply] = replied(agent)
    assert (reply.error, calls(reply)) == (f"ValueError: no stock (line {line})", MADE)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt("key"), "KeyboardInterrupt: key"),
        (GeneratorExit("shut"), "GeneratorExit: shut"),
        (asyncio.CancelledError("given up"), "CancelledError: given up"),
        (BaseExceptionGroup("two", [SystemExit(3)]), "BaseExceptionGroup: two (1 sub-exception)"),
        (TimeoutError("too slow"), "TimeoutError: too slow"),
        (StopIteration(), "RuntimeError: the agent raised StopIteration"),
    ],
)
@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_every_exception_is_one_of_the_agent(error: BaseException, told: str, is_asynchronous: bool) -> None:
    """Also what ends programs or tasks, and what looks like a time-out of ours (G38)."""

    def agent(text: str) -> None:
        raise error

    async def later(text: str) -> None:
        raise error

    if is_asynchronous and isinstance(error, StopIteration):
        told = "RuntimeError: coroutine raised StopIteration"
    [reply] = replied(later if is_asynchronous else agent)
    assert str(reply.error).startswith(told)


def test_an_agent_that_cancels_its_own_task_has_failed() -> None:
    """It cancels nothing of ours (G38)."""

    async def agent(text: str) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    [reply] = replied(agent)
    assert str(reply.error).startswith("CancelledError")


def test_what_an_agent_does_to_what_it_is_given_stays_with_it() -> None:
    """What the user said and the metadata of the test are the same for the next turn, and for the next attempt."""
    said, metadata = {"items": [1]}, {"user": {"name": "Kim"}}

    def agent(turn: Turn) -> str:
        turn.input["items"].append(2)
        turn.metadata["user"]["name"] = "Eve"
        return "done"

    def plain(text: Any) -> str:
        text.clear()
        return "done"

    for each in (agent, plain):

        async def main(call: Any = each) -> None:
            async with PythonEndpoint(call).conversation() as conversation:
                await conversation.send(Turn(input=said, metadata=metadata))

        asyncio.run(main())
    assert (said, metadata) == ({"items": [1]}, {"user": {"name": "Kim"}})


def test_a_framework_that_tells_in_its_exception_what_it_did_loses_no_call() -> None:
    """OpenAI's Agents SDK keeps the run in `run_data`."""

    class GaveUpError(Exception):
        run_data = MESSAGES

    def agent(text: str) -> None:
        raise GaveUpError("too many turns")

    [reply] = replied(agent)
    assert (str(reply.error)[:27], calls(reply)) == ("GaveUpError: too many turns", MADE)


def test_an_agent_that_says_so_has_trouble_with_transport() -> None:
    """An `EndpointError` of its own is trouble on the way, with whether it may pass."""

    def agent(text: str) -> None:
        raise EndpointError("the model is overloaded", is_passing=True, after=3)

    with pytest.raises(EndpointError, match="the model is overloaded") as raised:
        replied(agent)
    assert (raised.value.is_passing, raised.value.after) == (True, 3)


def test_an_agent_that_hangs_is_trouble_that_may_pass() -> None:
    """In a thread as in the event loop, also if it does not let itself be cancelled at once."""
    never = threading.Event()

    async def later(text: str) -> None:
        await asyncio.Event().wait()

    async def stubborn(text: str) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    for agent in (lambda text: never.wait(), later, stubborn):
        with pytest.raises(EndpointError, match=r"no reply within 0\.05 s") as raised:
            replied(agent, timeout=0.05)
        assert raised.value.is_passing
    never.set()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"output": "x", "tool_call": []}, "a reply has no key `tool_call` (did you mean `tool_calls`?)"),
        ({"output": "x", "tool_calls": "lookup_order"}, "tool_calls: expected tool calls such as"),
        ({"output": "x", "tool_calls": [{"name": "f", "input_schema": {"type": "object"}}]}, "defines a tool"),
        ({"output": "x", "metadata": 3}, "metadata: expected an object"),
        (object(), "expected a JSON value; found an object of type `object`"),
        ({1, 2}, "found a set"),
    ],
)
def test_what_cannot_be_a_reply_is_refused_with_its_place(value: Any, message: str) -> None:
    """It is no reply, and the same again will be none."""
    with pytest.raises(EndpointError) as raised:
        replied(lambda text: value)
    assert message in str(raised.value)
    assert not raised.value.is_passing


def test_calls_that_were_captured_and_not_returned_are_a_gap() -> None:
    """What is returned counts; no ban passes by a call that is only left out of it."""

    def agent(text: str) -> Any:
        lookup_order(42)
        return {"output": "x", "tool_calls": []}

    [reply] = replied(agent)
    assert reply.trajectory is not None
    assert (calls(reply), reply.trajectory.gaps) == (
        [],
        ("calls that were captured and are not in what the agent returned: `lookup_order`",),
    )


DIFFERING = (
    "the calls that the agent returned and those captured differ in arguments or order; those returned are graded"
)


def test_other_differences_between_what_was_returned_and_captured_are_said() -> None:
    """Calls of tools that are not traced, and other arguments."""

    def more(text: str) -> Any:
        lookup_order(42)
        return {"tool_calls": [CALL, {"name": "issue_refund"}]}

    def other(text: str) -> Any:
        lookup_order(41)
        return {"tool_calls": [CALL]}

    def same(text: str) -> Any:
        lookup_order(42)
        return {"tool_calls": [CALL]}

    assert [replied(agent)[0].warnings for agent in (more, other, same)] == [
        ("calls that the agent returned and that were not captured: `issue_refund`",),
        (DIFFERING,),
        (),
    ]
    assert calls(replied(other)[0]) == MADE


def test_a_conversation_that_is_told_from_its_start_gives_each_turn_its_own() -> None:
    """Also where the turns are alike. Told again in another way, turns cannot be told apart."""

    class Telling:
        def __init__(self) -> None:
            self.messages: list[Any] = []

        def __call__(self, text: str) -> Any:
            call = {"id": f"c{len(self.messages)}", "type": "function", "function": CALL}
            self.messages += [{"role": "user", "content": text}, {"role": "assistant", "tool_calls": [call]}]
            return list(self.messages)

    class Forgetting(Telling):
        def __call__(self, text: str) -> Any:
            told = super().__call__(text)
            return [*told[:1], {"role": "assistant", "content": f"{len(told)} messages"}, *told[2:]]

    assert [calls(reply) for reply in replied(Telling, "go", "go", "go")] == [MADE, MADE, MADE]
    with pytest.raises(EndpointError, match="tells turns before this one again, but not as they were told before"):
        replied(Forgetting, "go", "go")


def told_again(first: Trajectory, second: Trajectory) -> Reply:
    """The reply of a second turn that tells the first turn again."""
    told = iter([first, second])
    return replied(lambda text: next(told), "a", "b")[1]


def test_calls_inside_calls_keep_their_place_among_those_that_are_new() -> None:
    """What was made inside a call of an earlier turn stands alone."""
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "x"}]
    more = [*said, {"role": "user", "content": "b"}, {"role": "assistant", "content": "y"}]
    one = ToolCall(name="one")
    second = (one, ToolCall(name="two", parent=0), ToolCall(name="three"), ToolCall(name="four", parent=2))
    reply = told_again(Trajectory(tool_calls=(one,), messages=said), Trajectory(tool_calls=second, messages=more))
    assert reply.trajectory is not None
    assert [(call.name, call.parent) for call in reply.trajectory.tool_calls or ()] == [
        ("two", None),
        ("three", None),
        ("four", 1),
    ]
    assert reply.trajectory.messages == more[2:]


@pytest.mark.parametrize(
    ("first", "second", "expected", "gaps"),
    [
        (None, ("one",), ["one"], 0),
        (("one",), None, None, 0),
        (("one",), ("other", "two"), ["other", "two"], 1),
    ],
)
def test_calls_that_cannot_be_told_apart_are_all_kept(first: Any, second: Any, expected: Any, gaps: int) -> None:
    """Where earlier turns are told with other calls than before, that is a gap; with none, nothing is taken away."""
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "x"}]
    more = [*said, {"role": "user", "content": "b"}, {"role": "assistant", "content": "y"}]
    made = [
        Trajectory(tool_calls=None if names is None else tuple(ToolCall(name=one) for one in names), messages=messages)
        for names, messages in ((first, said), (second, more))
    ]
    reply = told_again(*made)
    assert reply.trajectory is not None
    found = None if calls(reply) is None else [name for name, _ in calls(reply) or ()]
    assert (found, len(reply.trajectory.gaps)) == (expected, gaps)


def test_many_agents_run_at_once_and_each_has_its_own_calls() -> None:
    """More than any pool of threads would have room for, all waiting for one another."""
    count = 60
    meeting = threading.Barrier(count)

    def agent(number: int) -> int:
        meeting.wait()
        lookup_order(number)
        return number

    async def one(endpoint: Endpoint, number: int) -> Reply:
        async with endpoint.conversation() as conversation:
            return await conversation.send(Turn(input=number, attempt=str(number)))

    async def main() -> list[Reply]:
        endpoint = PythonEndpoint(agent)
        return await asyncio.gather(*(one(endpoint, number) for number in range(count)))

    replies = asyncio.run(main())
    assert [(reply.output, calls(reply)) for reply in replies] == [
        (number, [("lookup_order", {"order_id": number})]) for number in range(count)
    ]


AGENT = """
import helpers_of_this_agent
from rightcall.agents.exchange import Turn

def answer(text):
    print("thinking")
    return helpers_of_this_agent.SAID

def whole(given: "Turn"):
    return given.test

class Team:
    def answer(self, text):
        return "team"

team = Team()
number = 7
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an agent and what it imports; the paths of modules are put back."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "agent_of_a_test.py").write_text(AGENT, "utf-8")
    (tmp_path / "helpers_of_this_agent.py").write_text('SAID = "helped"\n', "utf-8")
    (tmp_path / "broken.py").write_text("x = 1\nraise ValueError('no')\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("named", "output"),
    [
        ("agent_of_a_test.py:answer", "helped"),
        ("agent_of_a_test:answer", "helped"),
        ("agent_of_a_test.py:whole", "refund"),
        ("agent_of_a_test.py:team.answer", "team"),
    ],
)
def test_a_function_is_named_by_its_file_or_module(
    folder: Path, capsys: pytest.CaptureFixture[str], named: str, output: str
) -> None:
    """Its neighbours can be imported, as from a script; what it prints is no output of ours."""
    for description in ({"python": named}, {"python": {"call": named, "timeout": 60}}, f"python:{named}"):
        [reply] = asyncio.run(talked(description, "hi", directory=str(folder)))
        assert reply.output == output
    out, err = capsys.readouterr()
    assert (out, "thinking" in err) == ("", named.endswith("answer") and "team" not in named)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("nowhere.py:answer", "there is no file `nowhere.py`; a path is relative to the test set's file"),
        ("agent_of_a_test.py:anser", "`agent_of_a_test.py` has no function `anser` (did you mean `answer`?)"),
        ("agent_of_a_test.py:number", "`number` of `agent_of_a_test.py` is no function; it is of the type `int`"),
        ("broken.py:answer", "`broken.py` cannot be loaded: ValueError: no (line 2)"),
        ("no_such_module_here:answer", "the module `no_such_module_here` cannot be imported: ModuleNotFoundError"),
        ("answer", "expected `path.py:function` or `module:function`, found `answer`"),
    ],
)
def test_a_function_that_cannot_be_loaded_is_trouble_before_anything_is_asked(
    folder: Path, named: str, message: str
) -> None:
    """With what is wrong, and the nearest name."""
    config = endpoints.read({"python": named})
    with pytest.raises(EndpointError) as raised:
        endpoints.open(config, {}, str(folder))
    assert message in str(raised.value)
    assert not raised.value.is_passing


def test_descriptions_are_strict() -> None:
    """A function of the program itself cannot stand in a file; unknown keys have a nearest one."""
    for data, message in [
        ({"python": {"call": 7}}, "python.call: expected"),
        ({"python": {"cal": "a:b"}}, "did you mean `call`?"),
        ({"python": {"call": "a:b", "timeout": -1}}, "python.timeout: expected a number > 0.0"),
    ]:
        with pytest.raises(TestSetError) as raised:
            endpoints.read(data)
        assert message in str(raised.value)
    for word in ("nothing", "ftp://x", "python:"):
        with pytest.raises(UsageError, match="expected a URL"):
            endpoints.read(word)


def test_without_the_extra_calls_are_those_returned_and_a_note_says_what_is_missing() -> None:
    """OpenTelemetry is not needed to drive a function."""
    code = """
import sys
sys.modules["opentelemetry"] = None
import asyncio
from rightcall.agents.exchange import Turn
from rightcall.agents.python import PythonEndpoint
async def main():
    for agent in (lambda text: "x", lambda text: {"tool_calls": []}):
        async with PythonEndpoint(agent).conversation() as conversation:
            reply = await conversation.send(Turn(input="hi"))
            print(reply.warnings, reply.tool_calls)
asyncio.run(main())
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = ran.stdout.splitlines()
    assert "nothing is captured: `rightcall.capture()` needs the extra `capture`" in first
    assert second == "() ()"


ANSWER = {"choices": [{"message": {"role": "assistant", "content": "Refunded."}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (ANSWER, None),
        ({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]}, []),
        ({"output": "Refunded.", "tool_calls": []}, []),
        (Trajectory(tool_calls=(), messages=[{"role": "assistant", "content": "Refunded."}]), []),
    ],
)
def test_the_model_s_last_answer_is_no_evidence_that_nothing_was_called(returned: Any, expected: Any) -> None:
    """A function that returns only what the model said last may have called anything before it (G3)."""
    assert calls(replied(lambda text: returned)[0]) == expected


def test_what_was_captured_counts_beside_the_model_s_last_answer() -> None:
    """Calls that were seen while the function ran are those of a turn of which it returned the last answer alone."""

    def agent(text: str) -> Any:
        lookup_order(42)
        return ANSWER

    assert calls(replied(agent)[0]) == [("lookup_order", {"order_id": 42})]
