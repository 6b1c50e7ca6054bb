"""DOMIAS: membership inference by a density ratio."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attacks.base.attack import Knowledge
from attacks.base.sides import shared_columns, shared_distance
from attacks.membership.calibrated_membership import CalibratedMembership
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats


class DensityRatioMembership(CalibratedMembership):
    r"""Membership inference by the ratio of the release's density to the population's density (DOMIAS).

    The score of a candidate x is log p(x) - log p₀(x), where p is the density of the released rows at x. The kernel is
    exp(-∑ⱼ \|xⱼ - rⱼ\| / bandwidth) over the columns j, scaled as in Gower's distance. The reference p₀ is the density
    of tables of other people; their log-densities are averaged.

    The attack assumes auxiliary people of the same population. It extends `DistanceToClosestRecord` from single copies
    to regions where a generator places more rows than the population would. On synthetic tables both attacks find about
    as many members; on tables whose rows stem from records `DistanceToClosestRecord` finds more.

    Parameters
    ----------
    bandwidth : float
        Kernel bandwidth in columns, positive. Two rows that differ by this many columns have weight 1/e.
    rounds : int
        Number of reference tables, at least 1.

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
        """Log-density of the release minus the mean log-density of the tables; all 0 if the release has no row."""
        reference = [self._density(table, knowledge) for table in tables]
        if not len(release.frame):
            return np.zeros(len(knowledge.candidates))
        return np.asarray(self._density(release, knowledge) - np.mean(reference, axis=0))

    def _density(self, table: MicrodataRelease, knowledge: Knowledge) -> Floats:
        """Log-density of a table at each candidate, up to a constant, shape (candidates,)."""
        from scipy.special import logsumexp

        columns = shared_columns(table, knowledge)
        if not len(table.frame):
            return np.zeros(len(knowledge.candidates))
        distance = shared_distance(table, knowledge) * len(columns)
        return np.asarray(logsumexp(-distance / self.bandwidth, axis=0) - np.log(len(distance)))
