"""What attacks share that tell members from others by what a published classifier says about them."""

from __future__ import annotations

from abc import abstractmethod

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Decisions
from attacks.membership.model_confidence import Classifier, classifier
from defenses.base.release import ModelRelease
from metrics.arrays import Floats


class ConfidenceMembership(Attack):
    """Membership in the training of a published classifier."""

    kind = "model"
    goal = "membership"

    @abstractmethod
    def scores(self, model: Classifier, knowledge: Knowledge, rng: Generator) -> Floats:
        """How surely each candidate is a member, shape (candidates,)."""

    def run(self, release: ModelRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the model does not say what it predicts; if the attack trains models of its own, also if the attacker
            cannot repeat the training or has nobody to train on.
        ValueError
            If the candidates lack a column of the model's, or somebody's class is none of its.
        """
        return Decisions(self.scores(classifier(release.model), knowledge, rng))
