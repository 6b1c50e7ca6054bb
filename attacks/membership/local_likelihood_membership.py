"""Gen-LRA: membership inference by the likelihood of the release near a candidate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, applicable, common_columns
from attacks.membership.fitted_kernels import fitted_kernels
from attacks.membership.kernel_evidence import local_ratio
from attacks.membership.mixture_kernel import log_kernel, mean_over_rows
from defenses.base import MicrodataRelease


class LocalLikelihoodMembership(Attack):
    r"""Likelihood ratio of the released rows with and without a candidate among the reference people (Gen-LRA).

    The density of a released row r is estimated from reference people as p₀(r). With the candidate x among n members, a
    row stems from x with probability 1/n, so that its density is (1 - 1/n) p₀(r) + K(r \| x) / n. The score is the sum
    over the rows of the log-ratio of the two densities, which the rows near x dominate.

    Both densities use the mixture kernel of `DensityRatioMembership`: K is fitted to members of shadow syntheses, p₀ to
    people outside. The reference people are the auxiliary people in clear.

    The attack assumes auxiliary people of the same population. It extends `DensityRatioMembership`, which compares
    densities at the candidate, to densities at the rows: a row that is rare in the population weighs more. It needs no
    reference tables and repeats the defense only twice. It does not beat that attack: both have a mean area under the
    curve of .76 (seven generators, Adult and Bank, 1,000 members and 1,000 others).

    Notes
    -----
    The original takes the k rows nearest to x and a Gaussian kernel of numbers. Here the fitted kernel decides which
    rows are near.

    References
    ----------
    Ward, Wang and Cheng (2025), Privacy auditing synthetic data release through local likelihood attacks (Gen-LRA).
    """

    called = ("Gen-LRA",)

    goal = "membership"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker has no people.
        ValueError
            If release and candidates share no column, or a cell or a value lies outside the column's domain.
        """
        columns = common_columns(release, knowledge)
        applicable(len(knowledge.auxiliary), "the attacker has no people of its own to compare with")
        if not len(release.frame):
            return Decisions(np.zeros(len(knowledge.candidates)))
        kernels = fitted_kernels(release, knowledge)
        people = knowledge.auxiliary.frame.reindex(columns=columns)
        reference = mean_over_rows(
            log_kernel(release, replace(knowledge, candidates=people), kernels.other, kernels.populations).T
        )
        near = log_kernel(release, knowledge, kernels.member, kernels.populations)
        return Decisions(local_ratio(near - reference[:, None].astype(np.float32)))
