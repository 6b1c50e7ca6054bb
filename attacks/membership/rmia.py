"""RMIA: membership inference by a likelihood ratio against other people, with few reference models."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base import Knowledge, applicable
from attacks.membership.likelihood_ratio_attack import candidates_as_people
from attacks.membership.loss_threshold import ConfidenceMembership
from attacks.membership.model_confidence import CLIPPED, Classifier, logit_confidence, shadows
from metrics.columns import Booleans, Floats, check_boolean, check_integer, check_real

# Logit of a person whom the model knows by heart.
HIGHEST = float(np.log1p(-CLIPPED) - np.log(CLIPPED))


class RMIA(ConfidenceMembership):
    r"""Relative membership inference on a published classifier (RMIA), with few reference models.

    Let p(x) be the odds that the published model gives to a person's class, and q(x) their geometric mean over
    reference models. Half of these have the person in their training set and half have not. The score is the share of
    other people z for whom p(x) / q(x) is at least gamma times p(z) / q(z). Ties are broken by the ratio itself.

    Offline, the reference models are trained once on the attacker's people, so that none has seen the person. Let l
    be their mean logit, and h the largest logit. Then log q is taken as (1 + a) l / 2 + (1 - a) h / 2. The scaling a
    says how far training on a person leaves its logit at l: entirely for a = 1, while a = 0 takes it to h. Online, the
    reference models are trained on random halves of the candidates, and each pair of models has each candidate once.

    The attack assumes that the attacker can repeat the training. It estimates no variance, so that offline one
    reference model suffices. The paper takes probabilities and arithmetic means. Ensembles give most members the
    probability 1, where odds distinguish more.

    It extends `OfflineLikelihoodRatioAttack` and `LikelihoodRatioAttack`. These are areas under the ROC curve on
    extremely randomized trees (300 people of Adult, means over eight plays). Offline, RMIA has .91 with one reference
    model and .93 with two; LiRA has .88 with two and .89 with four. Online, RMIA has .93 with two and .94 with four;
    LiRA has .91 and .94. On logistic regression with two models, RMIA has .61 online (LiRA .52). Offline it does not
    beat LiRA there (.56 against .57): models that do not overfit need a scaling near 1.

    Parameters
    ----------
    references : int
        Number of reference models, at least 1; online at least 2.
    offline : bool
        True to train the reference models on the attacker's people.
    scaling : float
        The scaling a of the offline form, in [0, 1].
    gamma : float
        Factor of the comparison with others, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Zarifzadeh, Liu and Shokri (2024), Low-cost high-power membership inference attacks, section 3 and appendix B.2.2.
    """

    called = ("RMIA", "Relative membership inference attack")

    def __init__(self, *, references: int = 2, offline: bool = True, scaling: float = 0.3, gamma: float = 1.0) -> None:
        self.offline = check_boolean("offline", offline)
        self.references = check_integer("references", references, low=1 if offline else 2)
        self.scaling = check_real("scaling", scaling, low=0, high=1)
        self.gamma = check_real("gamma", gamma, low=0, open_low=True)

    def scores(self, model: Classifier, knowledge: Knowledge, rng: Generator) -> Floats:
        """Share of other people with a smaller likelihood ratio."""
        people, others = knowledge.candidates, knowledge.auxiliary.frame
        pool = knowledge.auxiliary if self.offline else candidates_as_people(knowledge)
        # Half of the attacker's people stay outside, for comparison.
        size = min(len(people) // 2, len(pool) // 2) if self.offline else len(people) // 2
        seen = [
            (logit_confidence(reference.model, people), logit_confidence(reference.model, others), reference.member)
            for reference in shadows(knowledge, pool, size, self.references, rng)
        ]
        own, of_others, trained = map(np.array, zip(*seen, strict=True))
        # Only models that have not seen a person tell how likely the person is without training.
        unseen = ~trained if self.offline else np.ones((len(own), len(others)), dtype=bool)
        compared = unseen.any(axis=0)
        applicable(compared.any(), "the attacker has no people of its own to compare the candidates with")
        typical = self._scaled(own.mean(axis=0)) if self.offline else (_mean(own, trained) + _mean(own, ~trained)) / 2
        typical_of_others = self._scaled(_mean(of_others[:, compared], unseen[:, compared]))
        ratio = logit_confidence(model, people) - typical
        return dominated_share(ratio, logit_confidence(model, others)[compared] - typical_of_others, self.gamma)

    def _scaled(self, logits: Floats) -> Floats:
        """Mean logit over models with and without the person, from that without it."""
        return ((1 + self.scaling) * logits + (1 - self.scaling) * HIGHEST) / 2


def dominated_share(ratio: Floats, others: Floats, gamma: float) -> Floats:
    """Share of the other people whose log-likelihood ratio is smaller by log(gamma), shape (people,).

    There is at least one other person. Ties are broken by the ratio, which adds less than one other person.
    """
    below = np.searchsorted(np.sort(others), ratio - np.log(gamma), side="right")
    return np.asarray((below + 0.5 + np.arctan(ratio) / np.pi) / (others.size + 1))


def _mean(logits: Floats, counted: Booleans) -> Floats:
    """Mean of each person's logits over the models that count, shape (people,); at least one counts."""
    return np.asarray(np.where(counted, logits, 0.0).sum(axis=0) / counted.sum(axis=0))
