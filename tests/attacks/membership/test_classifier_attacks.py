"""All membership attacks on models: private models, what they need, bad input."""

import numpy as np
import pytest
from model_tools import PEOPLE, Fixed
from playing_tools import scored

from attacks import (
    DistanceToClosestRecord,
    LikelihoodRatioAttack,
    LossThreshold,
    OfflineLikelihoodRatioAttack,
    ShadowModels,
)
from attacks.base.attack import Knowledge, NotApplicable
from defenses import Constant, GlobalRecoding, Identity, Microdata, ModelRelease, RetentionReplacement
from scenarios import ClassifierMembership, play

ATTACKS = (
    LossThreshold(),
    ShadowModels(shadows=2),
    LikelihoodRatioAttack(shadows=4),
    OfflineLikelihoodRatioAttack(shadows=4),
)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: type(attack).__name__)
@pytest.mark.parametrize("private", ["a model of shares alone", "constant records", "local differential privacy"])
def test_private_and_constant_models_bring_attacks_to_chance(adult, attack, private):
    # One play with 200 of 400: standard error of the rate .025 and of the rate at 1 % .011; four of them.
    defense, model = {
        "a model of shares alone": (Identity(), "constant"),
        "constant records": (Constant(), "extra_trees"),
        "local differential privacy": (RetentionReplacement(epsilon=0.5), "extra_trees"),
    }[private]
    columns = None if private != "local differential privacy" else tuple(adult.released_columns)
    if columns:
        defense = RetentionReplacement(epsilon=0.5, columns=columns)
    game = ClassifierMembership(records=adult, model=model, members=200, auxiliary=400, held_out=0)
    scores = scored(defense, attack, game, np.random.default_rng(1))
    assert scores["membership"].rate == pytest.approx(0.5, abs=0.1)
    assert scores.measures["tpr_at_1_percent_fpr"] < 0.055


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: type(attack).__name__)
def test_bad_candidates(attack):
    others = Microdata(PEOPLE)

    def run(people, model=None):
        knowledge = Knowledge(people, others, lambda records, rng: ModelRelease(Fixed()))
        attack.run(ModelRelease(model or Fixed()), knowledge, np.random.default_rng(0))

    with pytest.raises(ValueError, match="'y'"):
        run(PEOPLE.drop(columns="y"))
    with pytest.raises(ValueError, match="candidate 1: no class"):
        run(PEOPLE.assign(y=["no", "maybe", "yes"]))
    with pytest.raises(ValueError, match="candidate 2: no class"):
        run(PEOPLE.assign(y=["no", "yes", None]))
    with pytest.raises(NotApplicable, match="target"):
        run(PEOPLE, object())


@pytest.mark.parametrize("attack", ATTACKS[1:], ids=lambda attack: type(attack).__name__)
def test_who_cannot_train_is_skipped(attack):
    with pytest.raises(NotApplicable, match="how the model was trained"):
        attack.run(ModelRelease(Fixed()), Knowledge(PEOPLE, Microdata(PEOPLE)), np.random.default_rng(0))
    if not isinstance(attack, LikelihoodRatioAttack):
        nobody = Knowledge(PEOPLE, Microdata(PEOPLE.iloc[:0]), lambda records, rng: ModelRelease(Fixed()))
        with pytest.raises(NotApplicable, match="too few people"):
            attack.run(ModelRelease(Fixed()), nobody, np.random.default_rng(0))


def test_attacks_on_tables_do_not_fit(adult):
    game = ClassifierMembership(records=adult, members=20)
    with pytest.raises(NotApplicable, match="publishes model"):
        play(Identity(), DistanceToClosestRecord(), game, np.random.default_rng(0))


@pytest.mark.thorough
def test_who_knows_nothing_has_the_loss_alone(adult):
    game = ClassifierMembership(records=adult, members=50, held_out=0, attacker_knows="nothing")
    assert scored(Identity(), LossThreshold(), game, np.random.default_rng(0))["membership"].rate > 0.6
    with pytest.raises(NotApplicable, match="trained"):
        play(Identity(), LikelihoodRatioAttack(), game, np.random.default_rng(0))


@pytest.mark.thorough
def test_one_seed_one_result(adult):
    game = ClassifierMembership(records=adult, model="decision_tree", members=30, auxiliary=60, held_out=50)
    for attack in ATTACKS:
        first, second = (scored(GlobalRecoding(levels=1), attack, game, np.random.default_rng(8)) for _ in range(2))
        assert first == second
