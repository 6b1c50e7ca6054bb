"""Membership inference by thresholding a model's loss."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base import Knowledge
from attacks.membership.confidence_membership import ConfidenceMembership
from attacks.membership.model_confidence import Classifier, own_class_probability
from metrics.columns import Floats


class LossThreshold(ConfidenceMembership):
    """Membership inference by a threshold on the model's loss.

    The score is the log-probability of the person's own class, since a model is more confident about its training
    records. The attack assumes only access to the model and the person's true class. It is the baseline of the other
    attacks on models. It confuses easy non-members with members, and hard members with non-members.

    References
    ----------
    Yeom, Giacomelli, Fredrikson and Jha (2018), Privacy risk in machine learning: analyzing the connection to
    overfitting, section 3.
    """

    def scores(self, model: Classifier, knowledge: Knowledge, rng: Generator) -> Floats:
        """Log-probability of each candidate's own class."""
        probability = own_class_probability(model, knowledge.candidates)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(probability))
