"""The membership games: scores, draws and refusals."""

import math

import numpy as np
import pytest

from attacks import Decisions, RankedAnswers
from scenarios import Membership, StatisticsMembership, load
from scenarios.games.questions.person_questions import membership_scores


def test_scores_need_decisions_about_the_candidates(membership_game):
    secret = membership_game.draw(np.random.default_rng(0))
    with pytest.raises(TypeError, match="decisions"):
        membership_game.score(secret, None, RankedAnswers(1, 1, [], [], []), np.random.default_rng(0))
    member = np.array([True, False, True, False])
    with pytest.raises(ValueError, match="3 candidates, there are 4"):
        membership_scores(Decisions(np.zeros(3)), member, np.random.default_rng(0))
    perfect = membership_scores(Decisions(np.array([1, -math.inf, 2, 0])), member, np.random.default_rng(0))
    assert perfect["membership"].rate == perfect.measures["membership_auc"] == 1


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"members": 0}, "members"),
        ({"members": 10**6}, "members"),
        ({"members": 2.5}, "members"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"held_out": float("nan")}, "held_out"),
        ({"attacker_knows": "all"}, "attacker_knows"),
    ],
)
def test_bad_parameters(change, word):
    records = load("adult").records
    for kind in (Membership, StatisticsMembership):
        with pytest.raises(ValueError, match=word):
            kind(records=records, **change)


def test_the_people_of_a_play_are_different(membership_game):
    secret = membership_game.draw(np.random.default_rng(0))
    assert secret.member.sum() == 120
    members = secret.candidates[secret.member].reset_index(drop=True)
    order = members["fnlwgt"].argsort(kind="stable")
    other = secret.records.frame["fnlwgt"].argsort(kind="stable")
    assert members["fnlwgt"].iloc[order].tolist() == secret.records.frame["fnlwgt"].iloc[other].tolist()
    assert len(secret.auxiliary) == 400
