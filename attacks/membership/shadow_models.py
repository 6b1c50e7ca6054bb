"""Membership inference by a classifier trained on the outputs of shadow models."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Knowledge
from attacks.membership.loss_threshold import ConfidenceMembership
from attacks.membership.model_confidence import Classifier, class_numbers, shadows
from metrics.columns import Floats, check_integer


class ShadowModels(ConfidenceMembership):
    """Membership inference by shadow models.

    Each shadow model is trained on one sample of the attacker's people. Its outputs on these people, and on as many
    others, train a classifier of members (gradient-boosted trees). The classifier's features are the person's class,
    its probability, the largest probability of another class, and the entropy.

    The attack assumes that the attacker can repeat the training on its people. It extends `LossThreshold`: it
    learns which outputs only members receive, such as high confidence in a rare class. It cannot see that a person is
    easy for every model; `LikelihoodRatioAttack` can.

    Parameters
    ----------
    shadows : int
        Number of shadow models, at least 1.

    References
    ----------
    Shokri, Stronati, Song and Shmatikov (2017), Membership inference attacks against machine learning models.
    """

    called = ("Shadow models",)

    def __init__(self, *, shadows: int = 8) -> None:
        self.shadows = check_integer("shadows", shadows, low=1)

    def scores(self, model: Classifier, knowledge: Knowledge, rng: Generator) -> Floats:
        """Membership probability by the classifier trained on the shadow models."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        targets = _confidence_features(model, knowledge.candidates)
        pool = knowledge.auxiliary
        size = min(len(knowledge.candidates) // 2, len(pool) // 2)
        features, labels = [], []
        for shadow in shadows(knowledge, pool, size, self.shadows, rng):
            others = rng.permutation(np.flatnonzero(~shadow.member))[:size]
            queried = np.concatenate([np.flatnonzero(shadow.member), others])
            features.append(_confidence_features(shadow.model, pool.frame.iloc[queried]))
            labels.append(shadow.member[queried])
        learner = HistGradientBoostingClassifier(max_depth=4, random_state=int(rng.integers(2**31)))
        learner.fit(np.concatenate(features), np.concatenate(labels))
        return np.asarray(learner.predict_proba(targets)[:, 1])


def _confidence_features(model: Classifier, people: pd.DataFrame) -> Floats:
    """Own class, its probability, the largest other probability and the entropy; shape (people, 4)."""
    number, probability = class_numbers(model, people), np.array(model.predict_proba(people), dtype=float)
    row = np.arange(len(people))
    own = probability[row, number].copy()
    entropy = -np.sum(np.where(probability > 0, probability * np.log(np.maximum(probability, 1e-300)), 0.0), axis=1)
    probability[row, number] = -1.0
    return np.column_stack([number, own, probability.max(axis=1), entropy])
