"""Linkage by the likelihood of the mechanism that the publisher disclosed."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.attack import Knowledge, NotApplicable
from attacks.channel_factors import IMPOSSIBLE
from attacks.claims import RankedAnswers
from attacks.linkage import common_columns
from attacks.linkage_answers import Linkage
from attacks.row_matching import Floats
from defenses.channel import Likelihood
from defenses.release import MicrodataRelease

# Pairs up to which all of them are weighed and matched.
DENSE = 10**6


class LikelihoodAssignment(Linkage):
    """Finds the one-to-one assignment under which the release is most likely, by the release's own channel.

    For a mechanism that treats records independently this is the maximum-likelihood matching: with all matchings
    equally likely beforehand, log-likelihoods of the pairs add up. Confidences are the marginals of a random matching,
    exact for at most 12 candidates. Where rows are equal in groups (microaggregation) `NearestNeighbour` may find more,
    and `GroupLinkage` does.

    Tables of more than a million pairs are matched sparsely: every row keeps its 40 likeliest candidates
    (`attacks.candidate_search`), which the assignment and the confidences are then computed from. Bank customers
    (10,000 among 20,000, noise and PRAM) were assigned the same way as by the full table.

    References
    ----------
    Jaro (1989), Advances in record-linkage methodology, section 5, for assignment on pair weights; Gouweleeuw and
    others (1998), Post randomisation for statistical disclosure control, for mechanisms that are public.
    """

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Assign one to one by log-likelihood.

        Raises
        ------
        NotApplicable
            If the release discloses no channel.
        """
        rows, candidates = len(release.frame), len(knowledge.candidates)
        if rows * candidates <= DENSE:
            return super().run(release, knowledge, rng)
        from attacks.candidate_search import search
        from attacks.sparse_matching import sparse_answers

        near = search(_likelihoods(release, knowledge), rows, candidates, rng)
        return sparse_answers(near, candidates, rng)

    def evidence(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Floats:
        """Log-likelihood of each released row under each candidate, shape (rows, candidates).

        Raises
        ------
        NotApplicable
            If the release discloses no channel.
        """
        parts = _likelihoods(release, knowledge)
        total: Floats = np.sum([np.maximum(part.table(), IMPOSSIBLE) for part in parts], axis=0)
        return total


def _likelihoods(release: MicrodataRelease, knowledge: Knowledge) -> list[Likelihood]:
    if release.channel is None:
        raise NotApplicable("the release discloses no channel")
    domains = dict(knowledge.domains(common_columns(release, knowledge)))
    return list(release.channel.likelihoods(release.frame, knowledge.candidates, domains).values())
