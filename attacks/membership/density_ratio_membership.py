"""Membership by the ratio of the release's density at a person to that of tables that hold others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attacks.base.attack import Knowledge
from attacks.base.sides import gower_distance, shared_columns
from attacks.membership.calibrated_membership import CalibratedMembership
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats


class DensityRatioMembership(CalibratedMembership):
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

    def __init__(self, *, bandwidth: float = 0.5, rounds: int = 6) -> None:
        check_real("bandwidth", bandwidth, low=0, open_low=True)
        super().__init__(rounds=rounds)
        self.bandwidth = bandwidth

    def scores(self, release: MicrodataRelease, tables: Iterator[MicrodataRelease], knowledge: Knowledge) -> Floats:
        """Log-density of the release less the mean one of the tables; 0 for all where the release has no row."""
        others = [self._density(table, knowledge) for table in tables]
        if not len(release.frame):
            return np.zeros(len(knowledge.candidates))
        return np.asarray(self._density(release, knowledge) - np.mean(others, axis=0))

    def _density(self, table: MicrodataRelease, knowledge: Knowledge) -> Floats:
        """Log-density of a table at each candidate, up to a constant, shape (candidates,)."""
        from scipy.special import logsumexp

        columns = shared_columns(table, knowledge)
        if not len(table.frame):
            return np.zeros(len(knowledge.candidates))
        different = gower_distance(columns) * len(columns)
        return np.asarray(logsumexp(-different / self.bandwidth, axis=0) - np.log(len(different)))
