"""Linkage by several attacks together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Knowledge, NotApplicable, RankedAnswers, applicable
from attacks.linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage
from attacks.linkage.likelihood_assignment import LikelihoodAssignment
from attacks.linkage.linkage_answers import Linkage, surest_answers
from defenses.base import MicrodataRelease
from metrics.columns import refuse_any, require


class EnsembleLinkage(Attack):
    """Linear opinion pool of several linkage attacks: averages their confidences.

    Each row is answered with the candidate of the highest mean confidence. The error of an average of calibrated
    probabilities is at most that of its worst member. Members that do not fit the release are left out. The pool does
    not beat its best member: on the bank's customers it lies between `LikelihoodAssignment` and
    `ExpectationMaximizationLinkage` where the channel is disclosed.

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
        posteriors, reasons = [], []
        for attack, member_rng in zip(attacks, rng.spawn(len(attacks)), strict=True):
            try:
                posteriors.append(attack.posterior(release, knowledge, member_rng))
            except NotApplicable as reason:
                reasons.append(str(reason))
        applicable(posteriors, "; ".join(reasons))
        return surest_answers(np.mean(posteriors, axis=0), rng)
