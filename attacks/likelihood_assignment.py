"""Linkage by the likelihood of the mechanism that the publisher disclosed."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.attack import Attack, Knowledge, NotApplicable
from attacks.claims import RankedAnswers
from attacks.linkage import assignment_answers, common_columns, matching_posterior
from defenses.release import MicrodataRelease

# A column in which a pair is impossible costs as much as a factor of e^-1000: pairs are then ranked by the number of
# such columns, and an assignment exists even where a candidate file and a release contradict each other.
IMPOSSIBLE = -1000.0


class LikelihoodAssignment(Attack):
    """Finds the one-to-one assignment under which the release is most likely, by the release's own channel.

    For a mechanism that treats records independently this is the maximum-likelihood matching: with all matchings
    equally likely beforehand, log-likelihoods of the pairs add up.

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
        if release.channel is None:
            raise NotApplicable("the release discloses no channel")
        domains = dict(knowledge.domains(common_columns(release, knowledge)))
        parts = release.channel.likelihoods(release.frame, knowledge.candidates, domains)
        scores = np.sum([np.maximum(part.table(), IMPOSSIBLE) for part in parts.values()], axis=0)
        return assignment_answers(scores, matching_posterior(scores), rng)
