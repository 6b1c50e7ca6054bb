"""Membership inference from the final model of a training."""

import numpy as np
import pytest
from playing_tools import scored

from attacks import GradientInversion, ModelMembership
from defenses import FederatedAveraging
from defenses.federated import EqualSplit
from scenarios import Training
from scenarios.running.methods.methods import find


def test_model_membership_hands_shadow_training_on(adult):
    attack = ModelMembership(attack=find("OfflineLikelihoodRatioAttack", "attacks")())
    defense = FederatedAveraging(split=EqualSplit(clients=5), rounds=3)
    game = Training(records=adult, members=40, auxiliary=200, held_out=300)
    assert 0 <= scored(defense, attack, game, np.random.default_rng(16))["membership"].rate <= 1
    with pytest.raises(ValueError, match="attack"):
        ModelMembership(attack=GradientInversion())
