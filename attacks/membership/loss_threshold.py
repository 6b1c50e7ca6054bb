"""Membership by the loss of a model alone."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Knowledge
from attacks.membership.confidence_membership import ConfidenceMembership
from attacks.membership.model_confidence import Classifier, own_class_probability
from metrics.arrays import Floats


class LossThreshold(ConfidenceMembership):
    """Calls those members on whose own class the model has the smallest loss.

    The score is the log-probability of the person's own class: a model is surer of those it was trained on. It takes
    people who are easy for members, and members who are hard for others.

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
