"""Which trajectory is graded for which test."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rightcall.errors import TestSetError, UsageError
from support.runs import grade, lines, record, write_tests

A = {"required_tools": ["a"]}
B = {"required_tools": ["b"]}


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A test set of two tests."""
    return write_tests(tmp_path / "two.rightcall.json", wants_a=A, wants_b=B)


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (record("wants_a", "a"), {"wants_a": "pass", "wants_b": "error"}),
        (record("x", "a", test_id="wants_a"), {"wants_a": "pass", "wants_b": "error"}),
        (record("wants_b", "a", test_id="wants_a"), {"wants_a": "pass", "wants_b": "error"}),
        (record("x", "a", case_id="wants_a"), {"wants_a": "pass", "wants_b": "error"}),
        (record("wants_b", "a", case_id="wants_a"), {"wants_a": "pass", "wants_b": "error"}),
        (record("x", "b", test_id="wants_b", case_id="wants_a"), {"wants_a": "error", "wants_b": "pass"}),
        (record("x", "b", test_id=None, case_id="wants_b"), {"wants_a": "error", "wants_b": "pass"}),
        (record("x", "b", conversation_id="wants_b"), {"wants_a": "error", "wants_b": "pass"}),
        (record("wants_a", "a", conversation_id="wants_b"), {"wants_a": "pass", "wants_b": "error"}),
        (record("x", "a"), {"wants_a": "error", "wants_b": "error"}),
        (record("wants_a", "a", test_id="another"), {"wants_a": "error", "wants_b": "error"}),
        (record(None, "a"), {"wants_a": "error", "wants_b": "error"}),
    ],
)
def test_trajectory_belongs_to_a_test(
    tmp_path: Path, two: Path, trace: dict[str, object], expected: dict[str, str]
) -> None:
    """By the test that it names, else by its own id, else by its conversation's; what it names comes first."""
    assert expected == grade(lines(tmp_path / "t.jsonl", trace), tests=[two]).outcomes


def test_metadata_can_name_the_test(tmp_path: Path, two: Path) -> None:
    """The key that names a test can be chosen; without it in a trajectory, the others decide."""
    traces = lines(
        tmp_path / "t.jsonl",
        record("x", "a", metadata={"case": "wants_a"}),
        record("wants_b", "b"),
    )
    assert grade(traces, tests=[two], id_key="case").outcomes == {"wants_a": "pass", "wants_b": "pass"}


def test_one_trajectory_and_one_test_belong_together(tmp_path: Path) -> None:
    """Where there is only one of each, nothing needs to say so."""
    tests = write_tests(tmp_path / "one.rightcall.json", wants_a=A)
    assert grade(lines(tmp_path / "t.jsonl", record(None, "a")), tests=[tests]).outcomes == {"wants_a": "pass"}


def test_one_of_each_with_ids_that_differ_is_graded_and_noted(tmp_path: Path) -> None:
    """Two explicit ids that disagree may be a mistake, so the pairing is told."""
    tests = write_tests(tmp_path / "one.rightcall.json", wants_a=A)
    kept = grade(lines(tmp_path / "t.jsonl", record("cancel", "a")), tests=[tests])
    assert kept.outcomes == {"wants_a": "pass"}
    assert kept.end_note.warnings == ("`cancel` was graded for `wants_a`: there is one of each, of other ids",)


@pytest.mark.parametrize(
    "traces",
    [
        [record("x", "a"), record("y", "a")],
        [record("x", "a"), record("wants_a", "a")],
        [record("x", "a", test_id="another")],
    ],
)
def test_two_trajectories_and_one_test_are_not_paired_by_chance(tmp_path: Path, traces: list[object]) -> None:
    """With a second trajectory, or another test named, only what is said counts; the rest is listed."""
    tests = write_tests(tmp_path / "one.rightcall.json", wants_a=A)
    kept = grade(lines(tmp_path / "t.jsonl", *traces), tests=[tests])
    assert any(unused.startswith("x") for unused in kept.end_note.unused)


def test_test_without_trajectory_is_an_error(tmp_path: Path, two: Path) -> None:
    """What was not recorded could not be judged."""
    kept = grade(lines(tmp_path / "t.jsonl", record("wants_a", "a")), tests=[two])
    assert kept.results[1].reason == "no trajectory for test `wants_b`"
    assert kept.end_note.decision.exit_code == 3


def test_trajectory_without_test_is_listed(tmp_path: Path, two: Path) -> None:
    """No trajectory is dropped without a word."""
    traces = lines(tmp_path / "t.jsonl", record("wants_a", "a"), record("stray"), record("wants_b", "b", test_id="z"))
    expected = ("stray", "wants_b (names the test `z`, which there is not)")
    assert expected == grade(traces, tests=[two]).end_note.unused


def test_several_trajectories_are_attempts(tmp_path: Path, two: Path) -> None:
    """G37: trajectories for one test are its attempts, also from different files."""
    first = lines(tmp_path / "1.jsonl", record("wants_a", "a"), record("wants_b", "b"))
    second = lines(tmp_path / "2.jsonl", record("wants_a", "z"))
    kept = grade(first, second, tests=[two])
    assert kept.outcomes == {"wants_a": "fail", "wants_b": "pass"}
    assert [len(result.attempts) for result in kept.results] == [2, 1]


def test_apply_all_makes_each_pair_a_result(tmp_path: Path, two: Path) -> None:
    """A policy over many trajectories: each trajectory for each test is a result, not an attempt."""
    kept = grade(lines(tmp_path / "t.jsonl", record("p", "a"), record("q", "b")), tests=[two], apply_all=True)
    expected = {"wants_a[p]": "pass", "wants_b[p]": "fail", "wants_a[q]": "fail", "wants_b[q]": "pass"}
    assert expected == kept.outcomes


def test_apply_all_needs_tests(tmp_path: Path) -> None:
    """Every trajectory against no test is a mistake."""
    with pytest.raises(UsageError, match="--apply-all needs a test set"):
        grade(lines(tmp_path / "t.jsonl", record("p", "a", **A)), apply_all=True)


def test_records_carry_their_own_expectations(tmp_path: Path) -> None:
    """Records that say what they expect need no test set."""
    traces = lines(tmp_path / "t.jsonl", record("p", "a", **A), record("q", "a", **B), record(None, "a", **A))
    kept = grade(traces)
    assert kept.outcomes == {"p": "pass", "q": "fail", f"{traces}[3]": "pass"}


def test_records_of_one_id_are_attempts(tmp_path: Path) -> None:
    """Records that share an id and expect the same are attempts, in whatever order they come."""
    again = {**record("p", "z"), **A}
    kept = grade(lines(tmp_path / "t.jsonl", record("p", "a", **A), record("q", "b", **B), again))
    assert kept.outcomes == {"q": "pass", "p": "fail"}
    assert [(result.id, len(result.attempts)) for result in kept.results] == [("q", 1), ("p", 2)]


def test_results_come_in_the_same_order_from_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is looked at twice, a stream cannot be: both give each result with the last attempt of its id (G5)."""
    again = {**record("p", "z"), **A}
    name = lines(tmp_path / "t.jsonl", record("p", "a", **A), record("q", "b", **B), again, record("r", "b", **B))
    with open(name, "rb") as stream:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
        streamed = [(result.id, result.outcome) for result in grade("-").results]
    assert streamed == [(result.id, result.outcome) for result in grade(name).results]
    assert [identity for identity, _ in streamed] == ["q", "p", "r"]


def test_records_without_id_are_never_attempts(tmp_path: Path) -> None:
    """Two records without an id are two tests."""
    kept = grade(lines(tmp_path / "t.jsonl", record(None, "a", **A), record(None, "a", **A)))
    assert [len(result.attempts) for result in kept.results] == [1, 1]


def test_records_of_one_id_that_expect_different_things_are_refused(tmp_path: Path) -> None:
    """Equal is as in JSON: `1` and `true` are different expectations."""
    call = {"name": "a"}
    one = {"expected_tool_calls": [{**call, "arguments": {"n": 1}}]}
    other = {"expected_tool_calls": [{**call, "arguments": {"n": True}}]}
    with pytest.raises(TestSetError, match="the records with id `p` expect different things"):
        grade(lines(tmp_path / "t.jsonl", record("p", "a", **one), record("p", "a", **other)))


def test_record_without_expectations_is_listed(tmp_path: Path) -> None:
    """Among records with expectations, one without is listed."""
    kept = grade(lines(tmp_path / "t.jsonl", record("p", "a", **A), record("q", "a", name="Only a name")))
    assert kept.outcomes == {"p": "pass"}
    assert kept.end_note.unused == ("q",)


def test_nothing_to_grade_is_refused(tmp_path: Path) -> None:
    """G27: traces without any expectation, and no test set, are a mistake."""
    with pytest.raises(UsageError, match="no trajectory carries expectations"):
        grade(lines(tmp_path / "t.jsonl", record("q", "a")))


def test_test_set_wins_over_expectations_in_records(tmp_path: Path, two: Path) -> None:
    """Expectations in records are listed as unused when a test set is given, an id of several attempts once."""
    attempts = [record("wants_a", "a", **B)] * 2
    kept = grade(lines(tmp_path / "t.jsonl", *attempts, record("wants_b", "b")), tests=[two])
    assert kept.outcomes == {"wants_a": "pass", "wants_b": "pass"}
    assert kept.end_note.warnings == ("unused, since a test set is given: the expectations of wants_a",)


def test_bad_record_is_one_error_result(tmp_path: Path) -> None:
    """G39: a bad record among good ones is one error, listed, and spoils no other."""
    traces = lines(tmp_path / "t.jsonl", record("p", "a", **A), '{"id": "q", "tool_calls": 5}', '{"id":')
    kept = grade(traces)
    assert list(kept.outcomes.values()) == ["pass", "error", "error"]
    assert kept.results[1].id == "q"
    assert kept.results[2].place == f"{traces}:3:6" or kept.results[2].place.startswith(f"{traces}:3")


def test_bad_record_is_an_attempt_at_the_test_it_names(tmp_path: Path, two: Path) -> None:
    """G37: an unreadable record with a test's id is an attempt that could not be judged, counted once."""
    traces = lines(tmp_path / "t.jsonl", '{"id": "wants_a", "tool_calls": 5}', record("wants_b", "b"))
    kept = grade(traces, tests=[two])
    assert kept.outcomes == {"wants_a": "error", "wants_b": "pass"}


def test_bad_record_is_an_error_under_every_test(tmp_path: Path, two: Path) -> None:
    """Graded against all tests, an unreadable record is one error, and expectations in records are unused."""
    kept = grade(lines(tmp_path / "t.jsonl", record("p", "a", **B), "nonsense"), tests=[two], apply_all=True)
    assert list(kept.outcomes.values()) == ["pass", "fail", "error"]
    assert kept.end_note.warnings == ("unused, since a test set is given: the expectations of p",)


def test_ids_are_unique_over_test_sets(tmp_path: Path, two: Path) -> None:
    """Two test sets graded together cannot have a test of the same id."""
    other = write_tests(tmp_path / "other.rightcall.json", wants_a=B)
    with pytest.raises(TestSetError, match="the test id `wants_a` is used twice"):
        grade(lines(tmp_path / "t.jsonl", record("wants_a", "a")), tests=[two, other])


def test_bad_expectation_in_a_record_names_the_record(tmp_path: Path) -> None:
    """G27: a bad expectation is refused with the record it stands in."""
    with pytest.raises(TestSetError, match="in the record `p`: ") as caught:
        grade(lines(tmp_path / "t.jsonl", record("p", "a", expected_tool_calls=[{"nam": "a"}])))
    assert "t.jsonl" in str(caught.value)


def test_run_knows_what_it_was_made_with(tmp_path: Path, two: Path) -> None:
    """G6: the head of a run has the versions and the hash of the test set."""
    kept = grade(lines(tmp_path / "t.jsonl", record("wants_a", "a")), tests=[two])
    head = kept.heads[0]
    assert head.rules == "1"
    assert head.test_set_hash
    assert head.test_set == str(two)
