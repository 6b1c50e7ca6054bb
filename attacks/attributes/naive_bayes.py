"""Naive Bayes over public bins, with uncertain labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metrics.columns import Floats
from metrics.profile import Profile


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes classifier on binned columns.

    Attributes
    ----------
    prior : ndarray of float, shape (d,)
        P(v).
    bins : ndarray of float, shape (bins, d)
        P(bin | v); the bins of each column add up to 1 under each label.
    """

    prior: Floats
    bins: Floats

    @classmethod
    def fit(cls, people: Profile, labels: Floats, smoothing: float = 1.0) -> NaiveBayes:
        """Fit to labelled people with additive smoothing.

        Each bin gets a pseudo-count of `smoothing` / (number of bins of its column).

        Parameters
        ----------
        people : Profile
            The rows, n of them, spread over public bins.
        labels : ndarray of float, shape (n, d)
            Weight of each label in each row.
        smoothing : float
            Total pseudo-count of each column under each label, above 0.
        """
        weight = labels.sum(axis=0)
        sizes = np.diff(np.append(people.starts, people.bins))
        counts = people.mass.T @ labels + np.repeat(smoothing / sizes, sizes)[:, None]
        prior = (weight + smoothing / weight.size) / (weight.sum() + smoothing)
        return cls(prior, counts / (weight + smoothing))

    def posterior(self, people: Profile) -> Floats:
        """P(v | row), shape (n, d): P(v) times, for each column, the sum of mass P(bin | v), normalized."""
        log = np.broadcast_to(np.log(self.prior), (people.rows, self.prior.size)).copy()
        for block in people.blocks:
            log += np.log(people.mass[:, block] @ self.bins[block])
        odds = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))
