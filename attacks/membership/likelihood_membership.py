"""Membership by the likelihood of the released rows under the mechanism that the publisher disclosed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import Decisions
from attacks.base.sides import common_columns
from defenses.base.release import MicrodataRelease


class LikelihoodMembership(Attack):
    r"""Calls those members under whom the release is likeliest, by the release's own channel.

    Let rows r₁ … rₙ stem from n records each on its own, p(r \| x) be the channel and p₀(r) = E p(r \| x) its mean over
    the population. If x is one of the records, any row is its own with probability 1/n and the others are as from the
    population, so that

        P(release \| x in) / P(release \| x out) = 1/n ∑ᵢ p(rᵢ \| x) / p₀(rᵢ),

    the likelihood ratio, which no test beats (Neyman and Pearson). Its logarithm is the score. The population is what
    the attacker has: the candidates and the auxiliary people. Rows that were only sampled change nothing about the
    order. For mechanisms that treat records together (groups, swaps, columns shuffled) the rows are not independent,
    and the score is a good guess rather than the best test.

    Notes
    -----
    Where a channel rules a person out for every row, the score is minus infinity.

    References
    ----------
    Sankararaman, Obozinski, Jordan and Halperin (2009), Genomic privacy and limits of individual detection in a pool,
    for the likelihood-ratio test.
    """

    goal = "membership"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the release discloses no channel.
        ValueError
            If release and candidates share no column, or a cell or a value lies outside the column's domain.
        """
        from scipy.special import logsumexp

        if release.channel is None:
            raise NotApplicable("the release discloses no channel")
        columns = common_columns(release, knowledge)
        people = [knowledge.candidates[columns], knowledge.auxiliary.frame.reindex(columns=columns)]
        population = pd.concat([frame for frame in people if len(frame)], ignore_index=True)
        if release.frame.empty:
            return Decisions(np.zeros(len(knowledge.candidates)))
        parts = release.channel.likelihoods(release.frame, population, dict(knowledge.domains(columns)))
        table = np.sum([part.table() for part in parts.values()], axis=0)
        mean = logsumexp(table, axis=1) - np.log(len(population))
        # A row that nobody in the population can have says nothing about who has it.
        usable = mean > -np.inf
        ratio = table[usable, : len(knowledge.candidates)] - mean[usable, None]
        if not usable.any():
            return Decisions(np.zeros(len(knowledge.candidates)))
        return Decisions(logsumexp(ratio, axis=0) - np.log(len(release.frame)))
