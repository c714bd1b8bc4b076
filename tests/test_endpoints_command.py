"""Agents that are programs: what they read, what they print, and how they fail or hang."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rightcall.agents import command, endpoints
from rightcall.agents.exchange import Reply
from rightcall.errors import EndpointError, TestSetError, UsageError
from support.loopback import failed, talked

MADE = ["lookup_order"]
CALL = {"name": "lookup_order", "arguments": {"order_id": 42}}
ANSWER = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": CALL}]}


def python(code: str, **more: Any) -> dict[str, Any]:
    """A program in Python, as a test set describes it."""
    return {"command": {"argv": [sys.executable, "-c", code], **more}}


def replied(description: Any, *said: Any, **how: Any) -> list[Reply]:
    """The replies in one conversation."""
    return asyncio.run(talked(description, *(said or ("hi",)), **how))


def names(reply: Reply) -> list[str] | None:
    """The names of the calls, wherever they stand; `None` if none are known."""
    found = reply.tool_calls if reply.trajectory is None else reply.trajectory.tool_calls
    return [call.name for call in found] if isinstance(found, tuple) else None


def test_a_program_is_given_the_turn_as_json() -> None:
    """One object on its standard input, for each turn anew."""
    code = "import json, sys; turn = json.load(sys.stdin); print(json.dumps({'output': turn, 'conversation_id': 'c'}))"
    replies = replied(python(code), "Refund!", {"order": "é"})
    assert [reply.output for reply in replies] == [
        {
            "input": said,
            "number": number,
            "attempt": "attempt-1",
            "conversation_id": known,
            "history": [],
            "test": "refund",
            "metadata": {},
        }
        for number, said, known in [(1, "Refund!", None), (2, {"order": "é"}, "c")]
    ]


@pytest.mark.parametrize(
    ("printed", "output", "expected"),
    [
        ("Your order\nis late.\n", "Your order\nis late.", None),
        ("", "", None),
        (json.dumps({"output": "x", "tool_calls": [CALL]}), "x", MADE),
        ('{"output": "x", "tool_calls": null}', "x", None),
        (json.dumps([ANSWER]), None, MADE),
        (json.dumps({"messages": [ANSWER]}, indent=2), None, MADE),
        (json.dumps({"choices": [{"message": ANSWER}]}), None, MADE),
        (
            '{"type":"message_start","message":{"role":"assistant","content":[]}}\n'
            '{"type":"content_block_start","index":0,"content_block":'
            '{"type":"tool_use","id":"t","name":"lookup_order","input":{}}}\n'
            '{"type":"content_block_stop","index":0}\n{"type":"message_stop"}\n',
            None,
            MADE,
        ),
    ],
)
def test_what_a_program_prints_is_text_an_object_or_a_trace(printed: str, output: Any, expected: Any) -> None:
    """Nothing has to be said of the format."""
    [reply] = replied(python(f"import sys; sys.stdin.read(); sys.stdout.write({printed!r})"))
    assert (reply.output, names(reply)) == (output, expected)


def test_text_may_look_like_json_where_that_is_said() -> None:
    """`format: text` reads nothing else; another format must be kept."""
    assert replied(python("print('[refunded]')", format="text"))[0].output == "[refunded]"
    with pytest.raises(EndpointError, match="the reply cannot be read"):
        replied(python("print('refunded')", format="anthropic"))


def test_a_program_need_not_read_what_it_is_given() -> None:
    """However much that is."""
    assert replied(python("print('x')"), "y" * 1_000_000)[0].output == "x"


def test_a_program_that_fails_is_an_agent_that_fails() -> None:
    """With the end of what it complained of; calls that it printed before stay (G38)."""
    code = f"import sys; print({json.dumps([ANSWER])!r}); print('no stock', file=sys.stderr); sys.exit(3)"
    [reply] = replied(python(code))
    assert (reply.error, names(reply)) == ("exit code 3: no stock", MADE)
    [killed] = replied(python("import os; os.kill(os.getpid(), 9)"))
    assert killed.error == "ended by signal SIGKILL"
    [torn] = replied(python("import sys; print('{'); sys.exit(1)"))
    assert (torn.error, names(torn)) == ("exit code 1", None)


def test_a_program_gets_no_more_of_the_environment_than_it_needs() -> None:
    """What else it needs is named; a secret that it prints is in no reply and no error."""
    code = "import os, sys; print(sorted(os.environ)); print(os.environ.get('KEY')); sys.exit('KEY' in os.environ)"
    secrets = {"PATH": os.environ["PATH"], "HOME": "/home", "KEY": "sk-secret", "OTHER": "x"}
    assert replied(python(code, format="text"), environment=secrets)[0].output == "['HOME', 'LC_CTYPE', 'PATH']\nNone"
    for env in (["KEY"], {"KEY": {"env": "KEY"}}, {"KEY": "${KEY}"}):
        [reply] = replied(python(code, env=env, format="text"), environment=secrets)
        assert str(reply.output).splitlines()[1] == "${KEY}"
    [complaint] = replied(python("import os, sys; sys.exit(os.environ['KEY'])", env=["KEY"]), environment=secrets)
    assert complaint.error == "exit code 1: ${KEY}"
    with pytest.raises(UsageError, match="needs the environment variable `NONE`"):
        replied(python(code, env=["NONE"]))


def test_a_program_runs_where_it_is_said(tmp_path: Path) -> None:
    """Relative to the test set's file; a folder that is not there is missed before anything is started."""
    (tmp_path / "inner").mkdir()
    code = "import os; print(os.getcwd())"
    [reply] = replied(python(code, cwd="inner"), directory=str(tmp_path))
    assert reply.output == os.path.realpath(tmp_path / "inner")
    with pytest.raises(UsageError, match="there is no folder `nowhere` to run the agent in"):
        replied(python(code, cwd="nowhere"), directory=str(tmp_path))


@pytest.mark.parametrize(
    ("description", "message", "is_passing"),
    [
        ({"command": ["no-such-program"]}, "the program `no-such-program` cannot be started: No such file", False),
        (python("print('{\"output\": ')"), "the reply is no whole JSON", False),
        (python("import os; os.write(1, b'\\xff')"), "neither JSON nor text in UTF-8", False),
        (python("print('x' * 5000)", max_bytes=1000), "the program printed more than 1,000 bytes", False),
    ],
)
def test_trouble_with_a_program_is_never_a_reply(description: Any, message: str, is_passing: bool) -> None:
    """A program that cannot be started, and what can be no reply (G38)."""
    error = asyncio.run(failed(description))
    assert message in str(error)
    assert error.is_passing == is_passing


def test_a_program_that_hangs_is_trouble_that_may_pass() -> None:
    """After its time, which is told."""
    error = asyncio.run(failed(python("import time; time.sleep(600)", timeout=0.05)))
    assert ("did not end within 0.05 s" in str(error), error.is_passing) == (True, True)


CHILD = """
import socket, sys
held = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
held.recv(1)
"""
PARENT = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]])
{CHILD}
"""


def test_what_is_given_up_is_ended_with_all_that_it_started() -> None:
    """Else it would go on to do what it does. Both programs hold a connection, which ends when they do."""

    async def main() -> None:
        begun, ended = asyncio.Semaphore(0), asyncio.Semaphore(0)

        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            begun.release()
            await reader.read()
            writer.close()
            await writer.wait_closed()
            ended.release()

        server = await asyncio.start_server(hold, "127.0.0.1", 0)
        port = str(server.sockets[0].getsockname()[1])
        asking = asyncio.create_task(talked({"command": [sys.executable, "-c", PARENT, port, CHILD]}, "hi"))
        for _ in range(2):
            await begun.acquire()
        asking.cancel()
        for _ in range(2):
            await ended.acquire()
        with pytest.raises(asyncio.CancelledError):
            await asking
        server.close()

    asyncio.run(main())


def test_a_program_that_prints_without_end_is_ended_at_its_limit() -> None:
    """Also while nobody reads any more what it prints."""
    forever = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    error = asyncio.run(failed(python(forever, max_bytes=1_000_000)))
    assert str(error) == "the program printed more than 1,000,000 bytes; `max_bytes` sets the limit"
    assert "did not end within 0.5 s" in str(asyncio.run(failed(python(forever, timeout=0.5, max_bytes=10**12))))


def test_what_escapes_and_keeps_the_output_open_is_not_waited_for() -> None:
    """A program of a session of its own cannot be found; the turn ends with its time all the same."""
    escaping = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {CHILD!r}, sys.argv[1]], start_new_session=True)
"""

    async def main() -> EndpointError:
        begun, given_up, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            begun.set()
            await given_up.wait()
            writer.close()
            await writer.wait_closed()
            ended.set()

        server = await asyncio.start_server(hold, "127.0.0.1", 0)
        port = str(server.sockets[0].getsockname()[1])
        given = {"command": {"argv": [sys.executable, "-c", escaping, port], "timeout": 1}}
        error, _ = await asyncio.gather(failed(given), begun.wait())
        given_up.set()
        await ended.wait()
        server.close()
        return error

    assert "did not end within 1 s" in str(asyncio.run(main()))


def test_descriptions_are_strict() -> None:
    """A program is a list, not a line for a shell; the command line splits one."""
    for data, message in [
        ({"command": []}, "command.argv: expected"),
        ({"command": "python agent.py"}, "command.argv: expected"),
        ({"command": {"argv": ["x"], "shell": True}}, "command.shell: "),
        ({"command": {"argv": ["x"], "env": {"A": {"var": "B"}}}}, "command.env.A"),
    ]:
        with pytest.raises(TestSetError) as raised:
            endpoints.read(data)
        assert message in str(raised.value)
    assert json.loads(json.dumps(endpoints.parse("command:python 'my agent.py'"))) == {
        "command": ["python", "my agent.py"]
    }


def test_a_program_whose_start_is_not_over_is_ended_too(tmp_path: Path) -> None:
    """It may run before its number is known: who ends all programs waits for that."""
    held = tmp_path / "held"
    os.mkfifo(held)
    known = threading.Event()
    program = {"command": ["sh", "-c", f"exec 9>{held}; echo >&9; sleep 1000"]}

    async def main() -> None:
        talk = asyncio.ensure_future(talked(program, "hi"))
        for _ in range(100):  # until the program is there, which the event loop has no time to learn of
            await asyncio.sleep(0)
            if command._STARTING:
                known.wait(60)
                break
        with contextlib.suppress(EndpointError):
            await talk

    driving = threading.Thread(target=asyncio.run, args=(main(),))
    driving.start()
    with held.open("rb", buffering=0) as reading:
        assert reading.read(1) == b"\n"
        ending = threading.Thread(target=command.kill_running)
        ending.start()
        ending.join(0.05)
        known.set()
        ending.join()
        ready, _, _ = select.select([reading], [], [], 60)
        assert (bool(ready), reading.read(1)) == (True, b"")
    driving.join()
