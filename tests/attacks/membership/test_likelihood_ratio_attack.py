"""LiRA beats the loss threshold; its normal fit by hand."""

import numpy as np
import pytest
from playing_tools import scored

from attacks import (
    LikelihoodRatioAttack,
    LossThreshold,
    OfflineLikelihoodRatioAttack,
    ShadowModels,
)
from attacks.membership.likelihood_ratio_attack import _log_density, _normal
from defenses import Identity
from scenarios import ClassifierMembership


@pytest.mark.long
def test_lira_beats_the_loss_threshold_at_one_percent_false_positives(adult):
    # 400 non-members: .01 is met by four; measured about .4, .4 and .04 (loss).
    game = ClassifierMembership(records=adult, members=400, held_out=0)
    outcomes = {
        type(attack).__name__: scored(Identity(), attack, game, np.random.default_rng(0))
        for attack in (
            LossThreshold(),
            ShadowModels(shadows=4),
            LikelihoodRatioAttack(shadows=16),
            OfflineLikelihoodRatioAttack(shadows=16),
        )
    }
    rate = {name: scores.measures["tpr_at_1_percent_fpr"] for name, scores in outcomes.items()}
    assert rate["LikelihoodRatioAttack"] > rate["LossThreshold"] + 0.2
    assert rate["OfflineLikelihoodRatioAttack"] > rate["LossThreshold"] + 0.2
    area = {name: scores.measures["membership_auc"] for name, scores in outcomes.items()}
    assert area["LikelihoodRatioAttack"] > area["OfflineLikelihoodRatioAttack"]
    assert area["LikelihoodRatioAttack"] > area["LossThreshold"] > 0.75
    assert area["ShadowModels"] > 0.75


def test_the_normal_fit_by_hand():
    logits = np.array([[1.0, 0.0], [3.0, 1.0], [9.0, 5.0]])
    member = np.array([[True, False], [True, True], [False, True]])
    mean, deviation = _normal(logits, member)
    assert mean.tolist() == [2.0, 3.0]
    # Squares 1 + 1 and 4 + 4 over one degree of freedom each.
    assert deviation == pytest.approx(np.sqrt((2 + 8) / 2))
    outside, least = _normal(logits, ~member)
    assert outside.tolist() == [9.0, 0.0]
    assert 0 < least < 1e-3
    from scipy.stats import norm

    values = np.array([0.5, -2.0])
    ratio = _log_density(values, mean, 2.0) - _log_density(values, outside, 3.0)
    assert ratio == pytest.approx(norm.logpdf(values, mean, 2.0) - norm.logpdf(values, outside, 3.0))
