"""Linkage by several attacks together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, RankedAnswers, answers_of_parts, checked_parts
from attacks.linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage
from attacks.linkage.likeliest_candidates import TABLE
from attacks.linkage.likelihood_assignment import LikelihoodAssignment
from attacks.linkage.linkage_answers import Linkage, surest_answers
from defenses.base import MicrodataRelease


class EnsembleLinkage(Attack):
    """Linear opinion pool of several linkage attacks: averages their confidences.

    Each row is answered with the candidate of the highest mean confidence. The error of an average of calibrated
    probabilities is at most that of its worst member. Members that do not fit the release are left out. The pool does
    not beat its best member: on the bank's customers it lies between `LikelihoodAssignment` and
    `ExpectationMaximizationLinkage` where the channel is disclosed. Where pairs are more than five
    million, the first answers of the members are pooled.

    Parameters
    ----------
    attacks : sequence of Linkage, optional
        The members; by default `LikelihoodAssignment` and `ExpectationMaximizationLinkage`.

    References
    ----------
    Genest and Zidek (1986), Combining probability distributions: a critique and an annotated bibliography, section 3,
    for the linear opinion pool.
    """

    def __init__(self, *, attacks: Sequence[Linkage] | None = None) -> None:
        self.attacks = checked_parts(
            attacks,
            lambda attack: isinstance(attack, Linkage),
            "attacks must state calibrated confidences for all pairs",
        )

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Ask every member and average.

        Raises
        ------
        NotApplicable
            If no member fits the release.
        """
        attacks = self.attacks or (LikelihoodAssignment(), ExpectationMaximizationLinkage())
        if len(release.frame) * len(knowledge.candidates) > TABLE:
            return _pooled(answers_of_parts(attacks, lambda member, own: member.run(release, knowledge, own), rng))
        posteriors = answers_of_parts(attacks, lambda member, own: member.posterior(release, knowledge, own), rng)
        return surest_answers(np.mean(posteriors, axis=0), rng)


def _pooled(claims: Sequence[RankedAnswers]) -> RankedAnswers:
    """Mean of the confidences that several attacks state in their first answers; 0 where one gives no answer."""
    rows, candidates = claims[0].targets, claims[0].answers
    pairs = np.concatenate([one.target * candidates + one.answer for one in claims])
    stated = np.concatenate([np.zeros(one.target.size) if one.confidence is None else one.confidence for one in claims])
    distinct, position = np.unique(pairs, return_inverse=True)
    confidence = np.bincount(position, weights=stated) / len(claims)
    members = np.mean([one.membership.scores for one in claims if one.membership is not None], axis=0)
    row, candidate = np.divmod(distinct, candidates)
    return RankedAnswers(rows, candidates, row, candidate, confidence, Decisions(members), confidence)
