"""`rightcall serve` and `rightcall keys` as they are started."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from support.command_line import run_apart, run_here
from support.processes import unmeasured
from support.served import serving
from support.serving import bearer


def test_a_server_answers_and_stops_when_it_is_told_to(tmp_path: Path) -> None:
    """It tells its address, answers without a key on its own machine, logs each request, and ends with 0."""
    with serving(tmp_path) as served:
        answer = httpx.get(f"{served.url}/api/v1/metrics", headers={"X-Request-ID": "mine-1"})
        served.process.send_signal(signal.SIGTERM)
        _, log = served.process.communicate(timeout=60)
    names = [each["name"] for each in answer.json()["items"]]
    assert (names, served.process.returncode) == (["Tool Call Trajectory"], 0)
    assert '"request_id":"mine-1","method":"GET","route":"/api/v1/metrics","status":200' in log


def test_a_key_opens_a_server_that_others_reach(tmp_path: Path) -> None:
    """With a key it listens to others, and from then on nobody is served without one."""
    made = run_apart("keys", "create", "ci", cwd=tmp_path)
    key = made.out.strip()
    with serving(tmp_path, "--host", "0.0.0.0") as served:
        url = served.url.replace("0.0.0.0", "127.0.0.1") + "/api/v1/tests"
        with_key = httpx.get(url, headers=bearer(key))
        without = httpx.get(url)
        assert run_apart("keys", "revoke", "key_" + made.err.split("key_")[1].split(",")[0], cwd=tmp_path).code == 0
        after = httpx.get(url, headers=bearer(key))
    assert [with_key.status_code, without.status_code, after.status_code] == [200, 401, 401]
    assert key.encode() not in tmp_path.joinpath("rightcall.db").read_bytes()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_nobody_else_is_listened_to_without_a_key(
    host: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """An address that other machines reach is refused while there is no key, with what to do."""
    ran = run_here(capfdbinary, "serve", "--host", host, "--database", tmp_path / "rightcall.db")
    assert (ran.code, "rightcall keys create NAME" in ran.err) == (2, True)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    """Where nothing can listen, the address and the cause are told, and the exit code is 2."""
    with serving(tmp_path) as served:
        port = served.url.rpartition(":")[2]
        ran = run_apart("serve", "--port", port, "--database", "other.db", cwd=tmp_path)
    assert (2, f"error: cannot listen at 127.0.0.1, port {port}") == (ran.code, ran.err.partition(": [Errno")[0])


def test_keys_are_listed_without_their_secret(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A list shows how a key begins, what it allows and that it was revoked, and never the whole of it."""
    database = ("--database", tmp_path / "rightcall.db")
    made = run_here(capfdbinary, "keys", "create", "ci", "--scope", "ingest", *database)
    key = made.out.strip()
    identity = made.err.split()[1].rstrip(",")
    run_here(capfdbinary, "keys", "revoke", identity, *database)
    shown = run_here(capfdbinary, "keys", "list", *database).out
    assert f"{identity}  {key[:10]}…  revoked  ingest  never used  ci\n" == shown


def test_an_organization_that_there_is_not_has_no_keys(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A wrong name is refused with those that there are."""
    database = ("--database", tmp_path / "rightcall.db")
    run_here(capfdbinary, "keys", "create", "ci", *database)
    ran = run_here(capfdbinary, "keys", "list", "--organization", "acme", *database)
    assert (ran.code, ran.err) == (2, "error: there is no organization `acme`; there are `default`\n")


@pytest.mark.parametrize(
    ("command", "module"),
    [(("serve",), "litestar"), (("serve",), "sqlalchemy"), (("keys", "list"), "sqlalchemy")],
)
def test_a_library_that_is_not_there_is_told_as_the_extra(
    command: tuple[str, ...], module: str, tmp_path: Path
) -> None:
    """One sentence with the command that installs it."""
    program = f"import sys; sys.modules['{module}'] = None; from rightcall.faces.cli import main; main({[*command]!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, env=unmeasured(), check=False
    )
    assert (done.returncode, done.stderr.count("\n"), "pip install 'rightcall[server]'" in done.stderr) == (2, 1, True)


@pytest.mark.parametrize("command", [["--help"], ["serve", "--help"], ["keys", "--help"], ["schema"]])
def test_nothing_of_the_server_is_loaded_by_what_does_not_need_it(command: list[str], tmp_path: Path) -> None:
    """Help, and other commands, start as fast as without it."""
    program = (
        "import sys, atexit; from rightcall.faces.cli import main; "
        "atexit.register(lambda: print(sorted({'litestar', 'uvicorn', 'sqlalchemy'} & sys.modules.keys()), "
        f"file=sys.stderr)); main({command!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, env=unmeasured(), check=False
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")
