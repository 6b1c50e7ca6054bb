"""Membership by a classifier that learned on models of the attacker's own what members look like."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Knowledge
from attacks.membership.confidence_membership import ConfidenceMembership
from attacks.membership.model_confidence import Classifier, class_numbers, shadows
from defenses.base.parameters import check_integer
from metrics.arrays import Floats


class ShadowModels(ConfidenceMembership):
    """Trains models like the published one, and on their answers a classifier of members and others.

    Each shadow model is trained on one sample of the attacker's own people; its answers about them and about as many
    others teach a classifier (trees, boosted) what an answer about a member looks like, class by class: it sees the
    person's class, the probability of it, the largest of the other classes', and the entropy. Against `LossThreshold`
    it learns which answers only members get, such as certainty about a rare class; that a person is easy for every
    model it cannot see, which `LikelihoodRatioAttack` does.

    Parameters
    ----------
    shadows : int
        How many models to train, at least 1.

    References
    ----------
    Shokri, Stronati, Song and Shmatikov (2017), Membership inference attacks against machine learning models.
    """

    def __init__(self, *, shadows: int = 8) -> None:
        check_integer("shadows", shadows, low=1)
        self.shadows = shadows

    def scores(self, model: Classifier, knowledge: Knowledge, rng: Generator) -> Floats:
        """Probability of being a member, by the classifier that learned on the shadow models."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        own = _answers(model, knowledge.candidates)
        pool = knowledge.auxiliary
        size = min(len(knowledge.candidates) // 2, len(pool) // 2)
        seen, truth = [], []
        for shadow in shadows(knowledge, pool, size, self.shadows, rng):
            others = rng.permutation(np.flatnonzero(~shadow.member))[:size]
            asked = np.concatenate([np.flatnonzero(shadow.member), others])
            seen.append(_answers(shadow.model, pool.frame.iloc[asked]))
            truth.append(shadow.member[asked])
        learner = HistGradientBoostingClassifier(max_depth=4, random_state=int(rng.integers(2**31)))
        learner.fit(np.concatenate(seen), np.concatenate(truth))
        return np.asarray(learner.predict_proba(own)[:, 1])


def _answers(model: Classifier, people: pd.DataFrame) -> Floats:
    """What a model says about people, shape (people, 4): class, its probability, the next one's, and the entropy."""
    number, probability = class_numbers(model, people), np.array(model.predict_proba(people), dtype=float)
    row = np.arange(len(people))
    own = probability[row, number].copy()
    entropy = -np.sum(np.where(probability > 0, probability * np.log(np.maximum(probability, 1e-300)), 0.0), axis=1)
    probability[row, number] = -1.0
    return np.column_stack([number, own, probability.max(axis=1), entropy])
