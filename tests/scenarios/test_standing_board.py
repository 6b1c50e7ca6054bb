"""The published board of the arena agrees with what its trials give today."""

import json
from pathlib import Path

import numpy as np
import pytest

from scenarios.running.plan import read_plans
from scenarios.running.provenance import provenance
from scenarios.running.runner import guarantees
from scenarios.running.standing_board import RECORD, read_results, replay
from scenarios.running.units import Catalogue

BOARD = Path(__file__).parents[2] / "docs" / "board"
SAMPLE = 6
SLOWEST = 1.0
# Standard normal quantile. With 6 trials of two data sets, at most two rates each, a false alarm has probability 3e-4.
FAR = 4.3


@pytest.fixture(scope="module")
def published():
    return read_results(BOARD)


@pytest.fixture(scope="module")
def record():
    return json.loads((BOARD / RECORD).read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_seeded_sample_of_the_published_trials_is_played_again(published, record, number):
    plan = read_plans("arena")[number]
    trials = [
        result
        for result in published
        if result.scenario == plan.name
        and result.attack is not None
        and result.status == "ok"
        and result.seconds < SLOWEST
        and result.play == 0
    ]
    chosen = np.random.default_rng(number).choice(len(trials), SAMPLE, replace=False)
    catalogue = Catalogue(plan, tuple(map(str, guarantees(plan))))
    replays = replay(catalogue, [trials[position] for position in chosen])
    assert len(replays) == SAMPLE
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


def test_the_published_board_is_whole(published, record):
    for plan in read_plans("arena"):
        own = [result for result in published if result.scenario == plan.name]
        settings = {(result.defense, json.dumps(result.parameters, sort_keys=True)) for result in own}
        assert {defense for defense, _ in settings} == {entry.name for entry in plan.defenses}
        assert {result.attack for result in own if result.attack} == {entry.name for entry in plan.attacks}
        assert len(settings) == len(plan.defenses)
        assert {result.play for result in own} == set(range(record["plays"][plan.name]))
        assert {result.status for result in own} <= {"ok", "skipped"}


def test_the_published_files_are_of_these_results(published, record):
    assert set(record) >= {"version", "revision", "packages", "machine", "seeds", "plays", "played"}
    board = (BOARD / "board.csv").read_text(encoding="utf-8").splitlines()
    releases = {
        (result.scenario, result.defense, json.dumps(result.parameters, sort_keys=True)) for result in published
    }
    assert len(board) - 1 == len(releases)
    assert (BOARD / "index.html").stat().st_size < 2_500_000
