"""Membership inference from the confidence of a published classifier."""

from __future__ import annotations

from abc import abstractmethod

from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge
from attacks.membership.model_confidence import Classifier, classifier
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

        Raises
        ------
        NotApplicable
            If the model does not declare what it predicts. For attacks that train their own models also if the
            attacker cannot repeat the training, or has too few people to train on.
        ValueError
            If the candidates lack a column that the model needs, or a candidate's class is unknown to the model.
        """
        return Decisions(self.scores(classifier(release.model), knowledge, rng))
