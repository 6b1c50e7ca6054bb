"""Membership inference from the confidence of a published classifier."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge
from attacks.membership.model_confidence import Classifier, classifier, own_class_probability
from defenses.base import ModelRelease
from metrics.columns import Floats


class ConfidenceMembership(Attack):
    """Base class of attacks that infer membership in the training set of a published classifier."""

    kind = "model"
    goal = "membership"

    @abstractmethod
    def scores(self, model: Classifier, knowledge: Knowledge, rng: Generator) -> Floats:
        """Membership score of each candidate, shape (candidates,); higher means more likely a member."""

    def run(self, release: ModelRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        `NotApplicable` is raised if the model does not declare what it predicts. It is also raised if the attack trains
        models, and the attacker cannot repeat the training or has too few people. A ValueError is raised if the
        candidates lack a column that the model needs, or if a candidate's class is unknown to the model.
        """
        return Decisions(self.scores(classifier(release.model), knowledge, rng))


# Membership inference by thresholding a model's loss.


class LossThreshold(ConfidenceMembership):
    """Membership inference by a threshold on the model's loss.

    The score is the log-probability of the person's class, since a model is more confident about its training
    records. The attack assumes only access to the model and the person's true class. It is the baseline of the other
    attacks on models. It confuses easy non-members with members, and hard members with non-members.

    References
    ----------
    Yeom, Giacomelli, Fredrikson and Jha (2018), Privacy risk in machine learning: analyzing the connection to
    overfitting, section 3.
    """

    called = ("Loss threshold", "Yeom", "LOSS attack")

    def scores(self, model: Classifier, knowledge: Knowledge, rng: Generator) -> Floats:
        """Log-probability of each candidate's class."""
        probability = own_class_probability(model, knowledge.candidates)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(probability))
