"""Membership by the loss of a model alone."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.attack import Attack, Knowledge
from attacks.claims import Decisions
from attacks.model_confidence import classifier, own_class_probability
from defenses.release import ModelRelease


class LossThreshold(Attack):
    """Calls those members on whose own class the model has the smallest loss.

    The score is the log-probability of the person's own class: a model is surer of those it was trained on. It takes
    people who are easy for members, and members who are hard for others.

    References
    ----------
    Yeom, Giacomelli, Fredrikson and Jha (2018), Privacy risk in machine learning: analyzing the connection to
    overfitting, section 3.
    """

    kind = "model"
    goal = "membership"

    def run(self, release: ModelRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the model does not say what it predicts.
        ValueError
            If the candidates lack a column of the model's, or somebody's class is none of its.
        """
        probability = own_class_probability(classifier(release.model), knowledge.candidates)
        with np.errstate(divide="ignore"):
            return Decisions(np.log(probability))
