"""Linkage by several attacks together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, NotApplicable, RankedAnswers, applicable
from attacks.linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage
from attacks.linkage.likeliest_candidates import TABLE
from attacks.linkage.likelihood_assignment import LikelihoodAssignment
from attacks.linkage.linkage_answers import Linkage, surest_answers
from defenses.base import MicrodataRelease
from metrics.columns import refuse_any, require


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
        self.attacks = attacks
        if attacks is None:
            return
        require(
            isinstance(attacks, Sequence) and not isinstance(attacks, str) and attacks,
            "attacks must name at least one attack",
        )
        refuse_any(
            [attack for attack in attacks if not isinstance(attack, Linkage)],
            lambda attack: f"attacks must state calibrated confidences for all pairs, got {attack!r}",
        )

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Ask every member and average.

        Raises
        ------
        NotApplicable
            If no member fits the release.
        """
        attacks = self.attacks or (LikelihoodAssignment(), ExpectationMaximizationLinkage())
        large = len(release.frame) * len(knowledge.candidates) > TABLE
        posteriors, claims, reasons = [], [], []
        for attack, member_rng in zip(attacks, rng.spawn(len(attacks)), strict=True):
            try:
                if large:
                    claims.append(attack.run(release, knowledge, member_rng))
                else:
                    posteriors.append(attack.posterior(release, knowledge, member_rng))
            except NotApplicable as reason:
                reasons.append(str(reason))
        applicable(posteriors or claims, "; ".join(reasons))
        if large:
            return _pooled(claims)
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
