"""Membership inference by a likelihood ratio under the disclosed channel."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, common_columns, disclosed_channel
from defenses.base import MicrodataRelease


class LikelihoodMembership(Attack):
    r"""Likelihood-ratio test of membership under the channel that the release discloses.

    Let rows r₁ … rₙ stem independently from n records. Let p(r \| x) be the channel and p₀(r) = E p(r \| x) its mean
    over the population. If x is one of the records, each row stems from x with probability 1/n, and the other rows are
    distributed as in the population. Hence

        P(release \| x in) / P(release \| x out) = 1/n ∑ᵢ p(rᵢ \| x) / p₀(rᵢ).

    The score is the logarithm of this ratio. By the Neyman-Pearson lemma no test has more power. The population is
    estimated from the candidates and the auxiliary people. Sampling rows does not change the order of the scores.

    The attack assumes that the release discloses its channel. Mechanisms that treat records jointly (groups, swaps,
    shuffled columns) release dependent rows. There the score is an approximation, not the most powerful test.

    Notes
    -----
    A candidate whom the channel rules out for every row scores minus infinity.

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

        channel = disclosed_channel(release.channel)
        columns = common_columns(release, knowledge)
        frames = [knowledge.candidates[columns], knowledge.auxiliary.frame.reindex(columns=columns)]
        population = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
        if release.frame.empty:
            return Decisions(np.zeros(len(knowledge.candidates)))
        parts = channel.likelihoods(release.frame, population, dict(knowledge.domains(columns)))
        table = sum((part.table() for part in parts.values()), np.zeros((len(release.frame), len(population))))
        mean = logsumexp(table, axis=1) - np.log(len(population))
        # A row that no person of the population explains carries no information about the candidates.
        usable = mean > -np.inf
        ratio = table[usable, : len(knowledge.candidates)] - mean[usable, None]
        if not usable.any():
            return Decisions(np.zeros(len(knowledge.candidates)))
        return Decisions(logsumexp(ratio, axis=0) - np.log(len(release.frame)))
