"""Traces behind URLs, over real connections to servers on this machine and in fsspec's own file systems."""

from __future__ import annotations

import gzip
import json
import ssl
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

import fsspec
import pytest

from rightcall.app import files, service
from rightcall.core.calls import Trajectory
from rightcall.errors import MissingExtraError, TraceError, UsageError
from support.command_line import run_apart, run_here

RECORDS = b"".join(
    json.dumps({"id": f"r{number}", "tool_calls": [{"name": "a", "arguments": {"x": number}}]}).encode() + b"\n"
    for number in range(20_000)
)
FIRST = RECORDS[: RECORDS.index(b"\n") + 1]
FILES = {
    "/bucket/a.jsonl": RECORDS,
    "/bucket/logs/b.jsonl.gz": gzip.compress(RECORDS),
    "/bucket/logs/deep/c.jsonl": FIRST,
    "/bucket/logs/.hidden/d.jsonl": RECORDS,
    "/bucket/logs/notes.txt": b"x",
}
CERTIFICATE = Path(__file__).parent / "support" / "localhost.pem"
"""A certificate for this machine, with its key, signed by itself."""


class Server(BaseHTTPRequestHandler):
    """A web server, and as much of S3 as listing and reading take."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(FILES.get(urlsplit(self.path).path), whole=False)

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path == "/moved":
            self._empty(302, Location="/bucket/a.jsonl")
        elif path == "/broken":
            self.send_response(200)
            self.send_header("Content-Length", str(len(RECORDS) + 1))
            self.end_headers()
            self.wfile.write(RECORDS)
            self.close_connection = True
        elif path == "/private":
            allowed = self.headers.get("Authorization") == "Basic bWU6czNjcmV0"
            self._answer(FIRST) if allowed else self._empty(403)
        elif "list-type" in query:
            self._answer(listing(query))
        else:
            self._answer(FILES.get(path))

    def _empty(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": "0"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _answer(self, data: bytes | None, *, whole: bool = True) -> None:
        if data is None:
            self._empty(404)
            return
        asked = self.headers.get("Range", "").removeprefix("bytes=")
        start, _, stop = asked.partition("-")
        part = data[int(start) : int(stop) + 1] if asked else data
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Last-Modified", "Mon, 30 Nov 2026 10:00:00 GMT")
        self.end_headers()
        if whole:
            self.wfile.write(part)


def listing(query: dict[str, list[str]]) -> bytes:
    """What S3 answers to `ListObjectsV2`."""
    prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
    keys = [key.removeprefix("/bucket/") for key in FILES if key.removeprefix("/bucket/").startswith(prefix)]
    below = {key: key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "") for key in keys}
    folders = sorted({prefix + first + delimiter for first, more, _ in below.values() if more})
    contents = "".join(
        f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-30T10:00:00.000Z</LastModified>"
        f"<Size>{len(FILES['/bucket/' + key])}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        for key, (_, more, _) in below.items()
        if not more
    )
    told = "".join(f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in folders)
    return (
        '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name>'
        f"<IsTruncated>false</IsTruncated>{contents}{told}</ListBucketResult>"
    ).encode()


def serving(server: ThreadingHTTPServer) -> Iterator[str]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"localhost:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    """Host and port of the server."""
    yield from serving(ThreadingHTTPServer(("127.0.0.1", 0), Server))


@pytest.fixture
def secure() -> Iterator[str]:
    """Host and port of the server behind TLS."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    yield from serving(server)


@pytest.fixture
def memory() -> Iterator[Any]:
    """The file system that fsspec keeps in memory."""
    system = fsspec.filesystem("memory")
    system.pipe(dict(FILES))
    yield system
    system.rm("/bucket", recursive=True)


def read(name: str) -> tuple[int, list[str]]:
    """How many trajectories a name stands for, and what could not be read."""
    items = [reading.item for reading in service.read_traces([name])]
    return sum(isinstance(item, Trajectory) for item in items), [str(i) for i in items if isinstance(i, TraceError)]


@pytest.mark.parametrize("path", ["bucket/a.jsonl", "bucket/logs/b.jsonl.gz", "moved", "bucket/a.jsonl?version=3"])
def test_a_file_of_a_web_server_is_streamed(web: str, path: str) -> None:
    """Also compressed, after a redirection, and behind a query."""
    assert read(f"http://{web}/{path}") == (20_000, [])


def test_a_file_behind_tls_is_read_if_its_certificate_is_trusted(secure: str, tmp_path: Path) -> None:
    """By what the machine or its environment trusts; a certificate that signed itself is told as the cause."""
    url = f"https://{secure}/bucket/logs/deep/c.jsonl"
    refused = run_apart("show", url, cwd=tmp_path)
    assert refused.code == 2
    assert refused.err.startswith(f"error: {url}: cannot be read: ")
    assert "certificate" in refused.err
    trusted = run_apart("show", url, cwd=tmp_path, env={"SSL_CERT_FILE": str(CERTIFICATE)})
    assert (trusted.code, trusted.err) == (0, "")
    assert f"r0  1 call  {url}" in trusted.out


def test_a_connection_that_breaks_leaves_a_gap_and_an_error(web: str) -> None:
    """What came is read, and never looks like all there is (G12)."""
    *items, error = (reading.item for reading in service.read_traces([f"http://{web}/broken"]))
    made = [item for item in items if isinstance(item, Trajectory)]
    assert 10_000 < len(made) <= 20_000  # what was still on its way is lost with the connection
    assert made[-1].gaps
    assert isinstance(error, TraceError)
    assert str(error).startswith(f"http://{web}/broken: cannot be read: ")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://{web}/none.jsonl", "http://{web}/none.jsonl: cannot be read: there is no such file"),
        ("http://{web}/private", "http://{web}/private: cannot be read: the server answered 403 Forbidden"),
        ("http://me:wrong1@{web}/private", "http://{web}/private: cannot be read: the server answered 403 Forbidden"),
        ("http://{web}/none?sig=s3cret", "http://{web}/none?…: cannot be read: there is no such file"),
        ("memory://bucket/none.jsonl", "memory://bucket/none.jsonl: cannot be read: there is no such file"),
    ],
)
def test_what_cannot_be_read_is_named_without_its_secrets(web: str, url: str, message: str) -> None:
    """The cause, and where: a user, a password and a query are left out."""
    with pytest.raises(TraceError) as caught:
        read(url.format(web=web))
    assert str(caught.value) == message.format(web=web)


def test_no_secret_is_in_the_cause_of_a_connection_that_fails() -> None:
    """Whatever the library puts into its text."""
    with pytest.raises(TraceError, match="cannot connect to host") as caught:
        read("http://s3cret-user:s3cret-word@localhost:1/a?token=s3cret-token")
    assert "s3cret" not in str(caught.value)


def test_credentials_in_a_url_are_used_and_not_shown(web: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What is shown of the file is its place alone."""
    ran = run_here(capfdbinary, "show", f"http://me:s3cret@{web}/private")
    assert ran.code == 0
    assert f"r0  1 call  http://{web}/private" in ran.out
    assert "s3cret" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("memory://bucket", ["/bucket/a.jsonl", "/bucket/logs/b.jsonl.gz", "/bucket/logs/deep/c.jsonl"]),
        ("memory://bucket/logs/", ["/bucket/logs/b.jsonl.gz", "/bucket/logs/deep/c.jsonl"]),
        (
            "memory://bucket/**/*.jsonl",
            ["/bucket/a.jsonl", "/bucket/logs/.hidden/d.jsonl", "/bucket/logs/deep/c.jsonl"],
        ),
        ("memory://bucket/logs/notes.txt", None),
    ],
)
def test_directories_and_patterns_stand_for_their_files(memory: Any, url: str, expected: list[str] | None) -> None:
    """As they do here: a directory for the traces below, without hidden ones; a pattern for what it means."""
    assert files.expand([url]) == ([url] if expected is None else [f"memory://{path}" for path in expected])


def test_a_pattern_that_means_nothing_is_refused(memory: Any) -> None:
    """Rather than read as no trace."""
    with pytest.raises(UsageError, match=r"^memory://bucket/\*\.none: no trace file has such a name$"):
        files.expand(["memory://bucket/*.none"])


@pytest.mark.parametrize("host", ["", "localhost"])
def test_a_file_url_is_a_file_here(tmp_path: Path, host: str) -> None:
    """Its path is told as any other, a directory too, and a file that is named twice is read once."""
    path = tmp_path / "a b.jsonl"
    path.write_bytes(FIRST)
    url = path.as_uri().replace("file://", f"file://{host}")
    assert files.expand([url, str(path)]) == files.expand([url.rpartition("/")[0]]) == [str(path)]
    assert read(url) == (1, [])


def test_s3_is_listed_and_read(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the credentials and the endpoint that the environment has."""
    settings = {"ACCESS_KEY_ID": "me", "SECRET_ACCESS_KEY": "s3cret", "ENDPOINT_URL": f"http://{web}", "REGION": "x"}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert files.expand(["s3://bucket/logs"]) == ["s3://bucket/logs/b.jsonl.gz", "s3://bucket/logs/deep/c.jsonl"]
    assert files.expand(["s3://bucket/*.jsonl"]) == ["s3://bucket/a.jsonl"]
    assert read("s3://bucket/a.jsonl") == read("s3://bucket/logs/b.jsonl.gz") == (20_000, [])
    with pytest.raises(TraceError, match=r"^s3://bucket/none.jsonl: cannot be read: there is no such file$"):
        read("s3://bucket/none.jsonl")


@pytest.mark.parametrize(
    ("url", "missing"),
    [("https://x/a", ["fsspec", "fsspec.core"]), ("https://x/a", ["aiohttp"]), ("s3://x/a", ["s3fs"])],
)
def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch, url: str, missing: list[str]) -> None:
    """With the file that needs it and the command that installs it."""
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    for scheme in ("https", "s3"):
        monkeypatch.delitem(vars(sys.modules["fsspec.registry"])["_registry"], scheme, raising=False)
    scheme = url.partition(":")[0]
    expected = f"{url}: reading from `{scheme}://` needs the extra `remote`: pip install 'rightcall[remote]'"
    with pytest.raises(MissingExtraError) as caught:
        read(url)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("gs://bucket/a.jsonl", "gs://bucket/a.jsonl: a package for `gs://` is missing: Please install gcsfs"),
        ("nope://bucket/a", "nope://bucket/a: `nope://` is no kind of URL that can be read"),
    ],
)
def test_other_kinds_of_urls_say_what_they_need(url: str, message: str) -> None:
    """In fsspec's words where it knows the package."""
    with pytest.raises(UsageError) as caught:
        read(url)
    assert str(caught.value).startswith(message)


def test_a_test_set_may_be_behind_a_url(memory: Any, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """As any file that is named."""
    memory.pipe("/bucket/t.yaml", b"tests:\n- id: r0\n  expected_tool_calls: [a]\n")
    memory.pipe("/bucket/one.jsonl", FIRST)
    ran = run_here(capfdbinary, "grade", "memory://bucket/one.jsonl", "--tests", "memory://bucket/t.yaml")
    assert (ran.code, ran.err) == (0, "")
