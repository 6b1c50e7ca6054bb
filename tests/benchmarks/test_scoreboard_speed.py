"""The scoreboard attack beside the loop over people and ratings that it replaces, on the generated ratings."""

import numpy as np
import pytest

from attacks import ScoreboardDeanonymization
from defenses import Identity
from scenarios import SparseRatings, load

ATTACK = ScoreboardDeanonymization(eccentricity=0.0, depth=1)


@pytest.fixture(scope="module")
def case():
    game = SparseRatings(records=load("ratings").records, targets=200)
    secret = game.draw(np.random.default_rng(0))
    release = game.publish(Identity().apply(secret.records, np.random.default_rng(0)), np.random.default_rng(0))
    return release, game.knowledge(secret, Identity())


def one_by_one(release, knowledge):
    """Best released person of each target."""
    support, people = {}, {}
    for row in release.frame.itertuples():
        support[row.item] = support.get(row.item, 0) + 1
        people.setdefault(row.person, {})[row.item] = (row.rating, row.day)
    best = {}
    for known in knowledge.candidates.itertuples():
        for person, rated in people.items():
            if known.item in rated:
                rating, day = rated[known.item]
                gain = np.exp(-abs(known.rating - rating) / 0.5) + np.exp(-abs(known.day - day) / 30)
                scores = best.setdefault(known.person, {})
                scores[person] = scores.get(person, 0.0) + gain / np.log(max(support[known.item], 2))
    return [max(best[target], key=best[target].get) for target in sorted(best)]


def vectorised(release, knowledge):
    return ATTACK.run(release, knowledge, np.random.default_rng(0)).best(np.random.default_rng(0)).tolist()


def test_both_ways_agree(case):
    assert one_by_one(*case) == vectorised(*case)


@pytest.mark.benchmark(group="scoreboard: 200 people, 8 known ratings, 14,000 released")
@pytest.mark.parametrize("way", [one_by_one, vectorised])
def test_scoreboard(benchmark, case, way):
    benchmark.pedantic(way, case, rounds=3, iterations=1)
