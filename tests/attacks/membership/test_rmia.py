"""RMIA beats LiRA with few reference models; its ratio by hand."""

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored

from attacks import RMIA, Knowledge, LikelihoodRatioAttack, LossThreshold, NotApplicable, OfflineLikelihoodRatioAttack
from attacks.membership.rmia import HIGHEST, dominated_share
from defenses import Constant, Identity, Microdata, ModelRelease
from metrics.columns.domains import CategoricalDomain
from scenarios import ClassifierMembership

PLAYS = 3


def areas(attack, game, defense=None):
    """Mean area under the ROC curve over a few plays."""
    scores = [
        scored(defense or Identity(), attack, game, np.random.default_rng(seed)).measures["membership_auc"]
        for seed in range(PLAYS)
    ]
    return float(np.mean(scores))


@pytest.fixture(scope="module")
def game(adult):
    return ClassifierMembership(records=adult, members=300, held_out=0)


@pytest.fixture(scope="module")
def of_two(game):
    """The area of the offline attack with two reference models."""
    return areas(RMIA(references=2), game)


@pytest.mark.long
def test_offline_it_beats_lira_with_as_many_reference_models(game, of_two):
    """Measured over eight plays: .91 and .93, LiRA .88, loss .86; each with a standard error below .01."""
    lira = areas(OfflineLikelihoodRatioAttack(shadows=2), game)
    assert min(areas(RMIA(references=1), game), of_two) > lira + 0.01
    assert of_two > areas(LossThreshold(), game) + 0.03


@pytest.mark.long
def test_online_it_beats_lira_with_two_reference_models(game, of_two):
    """Measured over eight plays: .93 and .91."""
    rmia = areas(RMIA(references=2, offline=False), game)
    assert rmia > areas(LikelihoodRatioAttack(shadows=2), game)
    assert rmia > of_two - 0.02


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("offline", [True, False])
def test_a_constant_release_reveals_nobody(game, offline):
    # Models of equal tables differ by nothing; 600 candidates give a standard deviation of .024 in each play.
    assert areas(RMIA(offline=offline), game, Constant()) == pytest.approx(0.5, abs=0.06)


def knowledge(*, simulate=True, own=4):
    domains = {"x": CategoricalDomain(("0.5", "1.0")), "y": CategoricalDomain(("no", "yes"))}
    people = pd.DataFrame({"x": np.linspace(0.2, 0.8, own), "y": ["yes"] * own})
    auxiliary = Microdata(people, quasi_identifiers=("x",), sensitive=("y",), domains={"y": domains["y"]})
    candidates = pd.DataFrame({"x": [0.9, 0.3, 0.6, 0.5], "y": ["yes", "yes", "no", "no"]})
    published = ModelRelease(Halfway())
    return Knowledge(candidates, auxiliary, (lambda records, rng: published) if simulate else None)


class Certain:
    """The probability of "yes" is the column x."""

    target, classes = "y", ("no", "yes")

    def predict_proba(self, people):
        yes = people["x"].to_numpy(dtype=float)
        return np.column_stack([1 - yes, yes])


class Halfway(Certain):
    """A reference model that knows nothing."""

    def predict_proba(self, people):
        return np.full((len(people), 2), 0.5)


def test_the_share_by_hand():
    """All reference logits are 0, so that the published model's logits decide alone."""
    scores = RMIA(references=2).run(ModelRelease(Certain()), knowledge(), np.random.default_rng(0)).scores
    # The own-class probabilities of the others are .2, .4, .6 and .8; those of the candidates .9, .3, .4 and .5.
    assert np.floor(scores * 5).tolist() == [4, 1, 2, 2]
    assert scores.argsort().tolist() == [1, 2, 3, 0]


def test_the_share_of_dominated_people():
    others = np.array([0.0, 1.0, 2.0])
    shares = dominated_share(np.array([-1.0, 1.0, 1.5, 9.0]), others, 1.0)
    assert np.floor(shares * 4).tolist() == [0, 2, 2, 3]
    assert shares[1] < shares[2]
    # A factor e shifts every ratio by 1.
    assert np.floor(dominated_share(np.array([1.0]), others, np.e) * 4).tolist() == [1]


def test_the_scaling_moves_the_mean_logit_towards_the_highest():
    logits = np.array([-2.0, 0.0])
    assert RMIA(scaling=1.0)._scaled(logits) == pytest.approx(logits)
    assert RMIA(scaling=0.0)._scaled(logits) == pytest.approx((logits + HIGHEST) / 2)


def test_what_it_needs():
    with pytest.raises(NotApplicable, match="how the model was trained"):
        RMIA().run(ModelRelease(Certain()), knowledge(simulate=False), np.random.default_rng(0))
    with pytest.raises(NotApplicable, match="too few people"):
        RMIA().run(ModelRelease(Certain()), knowledge(own=1), np.random.default_rng(0))
    with pytest.raises(NotApplicable, match="no people of its own"):
        RMIA(offline=False).run(ModelRelease(Certain()), knowledge(own=0), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"references": 0}, "references"),
        ({"references": 1, "offline": False}, "references"),
        ({"offline": 1}, "offline"),
        ({"scaling": -0.1}, "scaling"),
        ({"scaling": 1.1}, "scaling"),
        ({"gamma": 0.0}, "gamma"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RMIA(**parameters)
