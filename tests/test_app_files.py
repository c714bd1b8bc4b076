"""Names become chunks of bytes, and reports become whole files or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rightcall.app import files
from rightcall.errors import StoreError, TraceError, UsageError


@pytest.fixture(autouse=True)
def _in_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a directory with traces, a test set and things that are neither."""
    for name in ("b.jsonl", "a.json", "sub/c.jsonl", "sub/.hidden.json", ".git/d.json", "notes.txt"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")
    (tmp_path / "logs" / "x.rightcall.json").write_bytes(b"{}")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["logs/b.jsonl"], ["logs/b.jsonl"]),
        (["logs/notes.txt"], ["logs/notes.txt"]),
        (["logs"], ["logs/a.json", "logs/b.jsonl", "logs/sub/c.jsonl"]),
        (["logs/*.json*"], ["logs/a.json", "logs/b.jsonl", "logs/x.rightcall.json"]),
        (["logs/**/c*"], ["logs/sub/c.jsonl"]),
        (["logs/b.jsonl", "logs", "./logs/b.jsonl"], ["logs/b.jsonl", "logs/a.json", "logs/sub/c.jsonl"]),
        (["-", "logs/a.json", "-"], ["-", "logs/a.json"]),
    ],
)
def test_names_stand_for_files(names: list[str], expected: list[str]) -> None:
    """A directory is searched in order, a pattern is expanded, and no file is read twice."""
    assert expected == files.expand(names)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.json", "nowhere.json: there is no such file or directory"),
        ("logs/*.parquet", "logs/*.parquet: no file has such a name"),
        ("logs/.git/..", ""),
        (
            "empty",
            "empty: the directory holds no trace files (.json, .jsonl, .ndjson, .pb, .eval, .traj, .sse, .csv,"
            " .parquet, .har; also with .gz or .zst)",
        ),
    ],
)
def test_name_that_stands_for_nothing_is_refused(name: str, message: str) -> None:
    """A name that stands for no file is an error that says so."""
    os.makedirs("empty")
    if not message:
        assert files.expand([name])
        return
    with pytest.raises(UsageError) as caught:
        files.expand([name])
    assert message == str(caught.value)


def test_suffixes_are_told_in_capitals_too() -> None:
    """A trace whose name was written in capitals is one, and so is a test set, which is left out."""
    for name in ("X.JSONL", "y.Json", "Z.RIGHTCALL.JSON", "notes.TXT"):
        Path("logs/sub", name).write_bytes(b"{}")
    assert files.expand(["logs/sub"]) == ["logs/sub/X.JSONL", "logs/sub/c.jsonl", "logs/sub/y.Json"]


def test_compressed_traces_in_a_directory_are_those_with_the_suffix_of_a_trace_inside() -> None:
    """An archive of something else is left out, and so is a test set that is compressed."""
    for name in ("a.jsonl.gz", "b.PB.zst", "c.json.gz.zst", "d.gz", "e.txt.gz", "f.tar.gz", "g.rightcall.json.gz"):
        Path("logs/sub", name).write_bytes(b"")
    expected = ["logs/sub/a.jsonl.gz", "logs/sub/b.PB.zst", "logs/sub/c.json.gz.zst", "logs/sub/c.jsonl"]
    assert expected == files.expand(["logs/sub"])


def test_links_are_followed() -> None:
    """A link to a directory, or to a file, stands for what it leads to; nothing is read twice, nor without end."""
    os.makedirs("far/deep")
    Path("far/deep/e.json").write_bytes(b"{}")
    Path("logs/elsewhere").symlink_to("../far")
    Path("far/deep/back").symlink_to("../../logs")
    Path("logs/sub/round").symlink_to(".")
    Path("logs/one.json").symlink_to("b.jsonl")
    expected = ["logs/a.json", "logs/b.jsonl", "logs/elsewhere/deep/e.json", "logs/sub/c.jsonl"]
    assert expected == files.expand(["logs"])
    assert files.expand(["logs/elsewhere"]) == [
        "logs/elsewhere/deep/back/a.json",
        "logs/elsewhere/deep/back/b.jsonl",
        "logs/elsewhere/deep/back/sub/c.jsonl",
        "logs/elsewhere/deep/e.json",
    ]


def nested(depth: int) -> str:
    """Make directories in one another and return the path of the innermost, however long that is."""
    path, at = "deep", os.open(".", os.O_RDONLY)
    for name in ["deep", *["d" * 250] * depth]:
        os.mkdir(name, dir_fd=at)
        inner = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at, path = inner, path if name == "deep" else os.path.join(path, name)
    os.close(at)
    return path


def test_pipes_in_a_directory_are_not_waited_for() -> None:
    """Nobody may ever write to them. A link that leads nowhere stands for a file that is missing."""
    os.mkfifo("logs/sub/b.jsonl")
    Path("logs/sub/d.jsonl").symlink_to("nowhere")
    assert files.expand(["logs/sub"]) == ["logs/sub/c.jsonl", "logs/sub/d.jsonl"]


def test_directory_that_cannot_be_searched_is_refused() -> None:
    """Files in a directory that cannot be listed would be missing without a word; it is named with the cause."""
    innermost = nested(17)
    Path("deep/a.json").write_bytes(b"{}")
    with pytest.raises(TraceError, match=r"^deep/d+.*: cannot be searched: file name too long$") as caught:
        files.expand(["deep"])
    assert innermost.startswith(str(caught.value.where.file))


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to this user")
@pytest.mark.parametrize("name", ["logs", "logs/**", "logs/*/*.jsonl", "logs/sub/*.jsonl"])
def test_forbidden_directory_is_refused(name: str) -> None:
    """A directory that may not be read is named with the cause, whether it is searched or a pattern leads there."""
    Path("logs/sub").chmod(0)
    try:
        with pytest.raises(TraceError, match=r"^logs/sub: cannot be searched: permission denied$"):
            files.expand([name])
        with pytest.raises(UsageError, match=r"^logs/sub/c.jsonl: cannot be read: permission denied$"):
            files.expand(["logs/sub/c.jsonl"])
    finally:
        Path("logs/sub").chmod(0o755)


def test_file_whose_name_looks_like_a_pattern_is_read() -> None:
    """An existing file is itself, also with brackets in its name."""
    Path("odd[1].json").write_bytes(b"{}")
    assert files.expand(["odd[1].json"]) == ["odd[1].json"]


def test_files_come_in_chunks() -> None:
    """A file is read piece by piece and nothing of it is lost."""
    data = os.urandom(files.CHUNK * 2 + 7)
    Path("big.pb").write_bytes(data)
    pieces = list(files.chunks("big.pb"))
    assert [len(piece) for piece in pieces] == [files.CHUNK, files.CHUNK, 7]
    assert data == b"".join(pieces)


def test_unreadable_file_says_why() -> None:
    """A directory, or a link into nowhere, in the place of a file is named with the cause."""
    with pytest.raises(TraceError, match=r"^logs: cannot be read: is a directory$"):
        list(files.chunks("logs"))
    Path("dangling.json").symlink_to("gone.json")
    with pytest.raises(TraceError, match=r"^dangling.json: cannot be read: no such file or directory$"):
        list(files.chunks("dangling.json"))
    with pytest.raises(UsageError, match=r"^logs: cannot be read: is a directory$"):
        files.read("logs")


def test_file_takes_its_place_when_it_is_complete() -> None:
    """Until it is finished, what stood there stays; afterwards nothing but the new file is there."""
    Path("out.json").write_bytes(b"old")
    writing = files.Writing("out.json")
    writing.write(b"new")
    assert Path("out.json").read_bytes() == b"old"
    writing.finish()
    assert Path("out.json").read_bytes() == b"new"
    assert sorted(os.listdir()) == ["logs", "out.json"]


def test_discarded_file_leaves_nothing_behind() -> None:
    """A report that was not completed leaves what stood there, and no other file."""
    Path("out.json").write_bytes(b"old")
    writing = files.Writing("out.json")
    writing.write(b"half")
    writing.discard()
    assert Path("out.json").read_bytes() == b"old"
    assert sorted(os.listdir()) == ["logs", "out.json"]


def test_name_may_be_as_long_as_names_can_be() -> None:
    """A report with a name of 250 characters is written like any other."""
    name = f"{'r' * 245}.json"
    files.write(name, b"new")
    assert Path(name).read_bytes() == b"new"
    assert sorted(os.listdir()) == ["logs", name]


def test_two_writers_do_not_meet() -> None:
    """Two that write one file at the same time leave one whole file: that of the last to finish."""
    first, second = files.Writing("out.json"), files.Writing("out.json")
    for piece in (b"a" * 10, b"b" * 10):
        first.write(piece)
        second.write(piece.upper())
    first.finish()
    second.finish()
    assert Path("out.json").read_bytes() == b"A" * 10 + b"B" * 10
    assert sorted(os.listdir()) == ["logs", "out.json"]


def test_link_keeps_pointing_at_the_file_written() -> None:
    """Writing through a link replaces the file that it points to, not the link."""
    Path("real.json").write_bytes(b"old")
    Path("link.json").symlink_to("real.json")
    files.write("link.json", b"new")
    assert Path("link.json").is_symlink()
    assert Path("real.json").read_bytes() == b"new"


def test_new_file_has_the_usual_rights() -> None:
    """A report is readable for whom an ordinary new file is."""
    Path("ordinary").write_bytes(b"")
    files.write("report.json", b"")
    assert Path("ordinary").stat().st_mode == Path("report.json").stat().st_mode


def test_a_file_that_is_written_over_keeps_its_rights() -> None:
    """A report that only its owner may read stays so when it is written again."""
    Path("report.json").write_bytes(b"old")
    Path("report.json").chmod(0o600)
    files.write("report.json", b"new")
    assert (Path("report.json").read_bytes(), Path("report.json").stat().st_mode & 0o777) == (b"new", 0o600)


def test_an_interruption_leaves_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file stays whole, and no half of the new one is left beside it."""
    Path("report.json").write_bytes(b"old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write("report.json", b"new")
    assert sorted(os.listdir()) == ["logs", "report.json"]
    assert Path("report.json").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no/such/out.json", r"^no/such/out.json: the directory `.*no/such` does not exist$"),
        ("logs", r"^logs: cannot be written: is a directory$"),
        ("/dev/full", r"^/dev/full: cannot be written: no space left on device$"),
    ],
)
def test_unwritable_file_says_why(path: str, message: str) -> None:
    """What cannot be written is named with the cause."""
    with pytest.raises(StoreError, match=message):
        files.write(path, b"x" * 100_000)


def test_device_is_written_directly() -> None:
    """What is no regular file is not replaced by one."""
    files.write("/dev/null", b"x")
    assert Path("/dev/null").is_char_device()
