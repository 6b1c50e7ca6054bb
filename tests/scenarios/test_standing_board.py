"""The published board of the arena agrees with what its trials give today."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playing_tools import replay

from leaderboard.results.store import result_of
from scenarios.running.boards.standing_board import RECORD, RESULT_COLUMNS, RESULTS, read_results
from scenarios.running.plan import read_plans
from scenarios.running.runner import guarantees, provenance
from scenarios.running.units import Catalogue

BOARD = Path(__file__).parents[2] / "docs" / "board"
SAMPLE = 6
SLOWEST = 1.0
# Standard normal quantile. With 6 trials of two data sets, at most two rates each, a false alarm has probability 3e-4.
FAR = 4.3


@pytest.fixture(scope="module")
def published():
    """Published results as objects of JSON. To make a hundred thousand results of them would take ten seconds."""
    text = gzip.decompress((BOARD / RESULTS).read_bytes()).decode()
    return json.loads(f"[{','.join(text.splitlines())}]")


@pytest.fixture(scope="module")
def record():
    return json.loads((BOARD / RECORD).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("number", "size"),
    [
        pytest.param(0, SAMPLE // 2, id="few"),
        pytest.param(0, SAMPLE, id="0", marks=pytest.mark.long),
        pytest.param(1, SAMPLE, id="1", marks=pytest.mark.long),
    ],
)
def test_a_seeded_sample_of_the_published_trials_is_played_again(published, record, number, size):
    # The first play is the same however many follow, and the keys of all would take seconds.
    plan = replace(read_plans("arena")[number], plays=1)
    trials = [
        row
        for row in published
        if row["scenario"] == plan.name
        and row["attack"] is not None
        and row["status"] == "ok"
        and row["seconds"] < SLOWEST
        and row["play"] == 0
    ]
    chosen = np.random.default_rng(number).choice(len(trials), size, replace=False)
    rows = [trials[position] for position in chosen]
    guaranteed = {repr(entry): guarantee for entry, guarantee in zip(plan.defenses, guarantees(plan), strict=True)}
    # A trial and its key do not depend on the other methods, whose keys would take a second.
    plan = plan.filtered(*(sorted({row[role] for row in rows}) for role in ("defense", "attack")))
    catalogue = Catalogue(plan, tuple(guaranteed[repr(entry)] for entry in plan.defenses))
    replays = replay(catalogue, [result_of([0, *(row[name] for name in RESULT_COLUMNS)]) for row in rows])
    assert len(replays) == size
    same_packages = provenance([plan.name])["packages"] == record["packages"]
    for stored, ending in replays:
        assert ending.status == "ok", ending.reason
        if same_packages and stored.key in catalogue.keys:
            assert dict(ending.scores) == dict(stored.scores), stored.defense
        for goal, score in stored.scores.items():
            again = ending.scores[goal]
            assert (again.trials, again.control_trials) == (score.trials, score.control_trials)
            if not score.trials:
                # The attack claimed nothing, so that there is no rate.
                assert score.rate is again.rate is None
                continue
            pooled = (score.rate + again.rate) / 2
            # One success more and one failure more, so that rates of 0 and 1 have a deviation.
            deviation = np.sqrt(2 * max(pooled * (1 - pooled), 1 / score.trials) / score.trials)
            assert abs(again.rate - score.rate) <= FAR * deviation, (stored.defense, stored.attack, goal)


@pytest.mark.long
def test_every_published_result_can_be_read(published):
    assert [result.key for result in read_results(BOARD)] == [row["key"] for row in published]


@pytest.mark.thorough
def test_the_published_board_is_whole(published, record):
    for plan in read_plans("arena"):
        own = [row for row in published if row["scenario"] == plan.name]
        settings = {(row["defense"], row["parameters"]) for row in own}
        defenses, attacks = ({entry.name for entry in entries} for entries in (plan.defenses, plan.attacks))
        played = {defense for defense, _ in settings}, {row["attack"] for row in own if row["attack"]}
        if "superseded" in record:
            # Newer methods join the board when it is played again.
            defenses, attacks = defenses & played[0], attacks & played[1]
        assert played == (defenses, attacks)
        assert len(settings) == sum(entry.name in defenses for entry in plan.defenses)
        assert {row["play"] for row in own} == set(range(record["plays"][plan.name]))
        assert {row["status"] for row in own} <= {"ok", "skipped"}


def test_the_published_files_are_of_these_results(published, record):
    assert set(record) >= {"version", "revision", "packages", "machine", "seeds", "plays", "played"}
    board = (BOARD / "board.csv").read_text(encoding="utf-8").splitlines()
    releases = {(row["scenario"], row["defense"], row["parameters"]) for row in published}
    assert len(board) - 1 == len(releases)
    assert (BOARD / "index.html").stat().st_size < 2_500_000
