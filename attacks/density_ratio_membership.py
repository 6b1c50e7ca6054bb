"""Membership by the ratio of the release's density at a person to that of tables that hold others."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.attack import Attack, Knowledge
from attacks.claims import Decisions
from attacks.linkage import gower_distance, shared_columns
from attacks.reference_tables import reference_tables
from defenses.parameters import check_real, check_whole
from defenses.release import MicrodataRelease


class DensityRatioMembership(Attack):
    r"""Calls those members around whom the release is denser than other people's tables are (DOMIAS).

    The score is log p(x) - log p₀(x), with p the density of the released rows at the candidate x, estimated with the
    kernel exp(-∑ⱼ \|xⱼ - rⱼ\| / bandwidth) over the columns j, scaled as Gower's distance scales them, and p₀ that of
    tables of other people, averaged as a logarithm. It sees where a generator puts more rows than the population would,
    rather than single copies: on tables whose rows stem from records `DistanceToClosestRecord` finds more, on
    synthetic ones this finds about as much.

    Parameters
    ----------
    bandwidth : float
        In columns: two rows that differ by this many columns weigh 1/e; positive.
    rounds : int
        How many tables of other people to compare with, at least 1.

    References
    ----------
    van Breugel, Sun, Qian and van der Schaar (2023), Membership inference attacks against synthetic data through
    overfitting detection (DOMIAS).
    """

    goal = "membership"

    def __init__(self, *, bandwidth: float = 0.5, rounds: int = 6) -> None:
        check_real("bandwidth", bandwidth, low=0, open_low=True)
        check_whole("rounds", rounds, low=1)
        self.bandwidth = bandwidth
        self.rounds = rounds

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker has no people of its own.
        ValueError
            If release and candidates share no column, or a cell or a value lies outside the column's domain.
        """
        others = [self._density(table, knowledge) for table in reference_tables(release, knowledge, self.rounds, rng)]
        if not len(release.frame):
            return Decisions(np.zeros(len(knowledge.candidates)))
        return Decisions(self._density(release, knowledge) - np.mean(others, axis=0))

    def _density(self, table: MicrodataRelease, knowledge: Knowledge) -> NDArray[np.float64]:
        """Log-density of a table at each candidate, up to a constant, shape (candidates,)."""
        from scipy.special import logsumexp

        columns = shared_columns(table, knowledge)
        if not len(table.frame):
            return np.zeros(len(knowledge.candidates))
        different = gower_distance(columns) * len(columns)
        return np.asarray(logsumexp(-different / self.bandwidth, axis=0) - np.log(len(different)))
