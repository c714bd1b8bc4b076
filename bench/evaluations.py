"""Evaluations per second of the compiled trajectory assertion, beside a hand-written loop and other tools."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.cases import ATTEMPTS, EXPECTED, MADE, SETTINGS, as_json, cases
from bench.competitors import OURS, PEERS, Competitor, Round, by_hand, ours, peer
from bench.measure import ratios, show_table, spread
from bench.scale import Scale

COLUMNS = ("match/arguments", "tool", "µs each", "each second", "times rightcall's", "passed")


def run(scale: Scale) -> bool:
    """Measure and print; whether all competitors passed the same number of trajectories."""
    made = cases(scale.evaluations)
    with ExitStack() as stack, tempfile.TemporaryDirectory() as directory:
        competitors = [*ours(made), by_hand(made)]
        file = Path(directory) / "cases.json"
        file.write_text(json.dumps(as_json(made)), encoding="utf-8")
        skipped = []
        for package in PEERS:
            try:
                if not scale.peers:
                    raise OSError("--quick measures no other tools")
                competitors.append(stack.enter_context(peer(package, file)))
            except OSError as error:
                skipped.append(f"skipped {package}: {error}")
        rounds = _measure(competitors, scale.rounds)
    _print(competitors, skipped, rounds, len(made) * ATTEMPTS)
    return all(_agree(rounds, setting) for setting in SETTINGS)


Rounds = dict[tuple[str, str], list[Round]]
"""The rounds of a setting and a competitor's name."""


def _measure(competitors: list[Competitor], count: int) -> Rounds:
    """Setting by setting, every competitor in turn in each round, beginning with another one each time."""
    rounds: Rounds = {}
    for setting in SETTINGS:
        able = [competitor for competitor in competitors if setting in competitor.settings]
        for number in range(count):
            start = number % len(able)
            for competitor in able[start:] + able[:start]:
                rounds.setdefault((setting, competitor.name), []).append(competitor.run(setting))
    return rounds


def _print(competitors: list[Competitor], skipped: list[str], rounds: Rounds, evaluations: int) -> None:
    about = [(competitor.name, competitor.version, competitor.answers) for competitor in competitors]
    show_table("Evaluations: who is measured, and what one evaluation returns", ("tool", "version", "returns"), about)
    print("\n".join(skipped))
    title = f"Evaluations: {EXPECTED} expected calls, {MADE} made, {evaluations} evaluations a round"
    rows = [_row(rounds, setting, name, evaluations) for setting, name in rounds]
    show_table(title, COLUMNS, sorted(rows, key=lambda row: SETTINGS.index(row[0])))


def _row(rounds: Rounds, setting: str, name: str, evaluations: int) -> tuple[str, ...]:
    seconds = [each.seconds for each in rounds[setting, name]]
    base = [each.seconds for each in rounds[setting, OURS]]
    micros = spread(value / evaluations * 1e6 for value in seconds)
    passed = {each.passed for each in rounds[setting, name]}
    return (
        setting,
        name,
        micros.show(1),
        f"{1e6 / micros.median:,.0f}",
        ratios(seconds, base).show(),
        "/".join(map(str, sorted(passed))),
    )


def _agree(rounds: Rounds, setting: str) -> bool:
    passed = {name: {each.passed for each in made} for (where, name), made in rounds.items() if where == setting}
    if len(set.union(*passed.values())) == 1:
        return True
    print(f"{setting}: the competitors disagree: {passed}")
    return False
