"""Bound on the loss that private federated learning adds, and the number of rounds that makes it least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrics.columns import Floats, check_integer, check_real, require


@dataclass(frozen=True)
class LossBound:
    """Bound on the expected loss gap of federated learning with noise in both directions.

    After T rounds the bound is P^T Theta + (kappa1 u + kappa0 u^2) (1 - P^T), where u = C T / (m sqrt(N) epsilon). The
    first part is what training has left. The second part is the loss by noise.

    Parameters
    ----------
    decay : float
        P, the factor by which a round without noise reduces the gap, in (0, 1).
    start : float
        Theta, the gap before training, not negative.
    kappa1, kappa0 : float
        Factors of the linear and of the quadratic term of the noise, not negative.
    clip : float
        The bound C on parameters, positive.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Wei et al. (2020), Federated learning with differential privacy, Theorem 2. The constants depend on the loss
    function, and no guarantee of privacy rests on the bound.

    Examples
    --------
    >>> bound = LossBound(decay=0.9, start=1.0, kappa1=1.0, kappa0=1.0)
    >>> bound.best_rounds(records=100, clients=50, epsilon=1.0)
    39
    """

    decay: float
    start: float
    kappa1: float
    kappa0: float
    clip: float = 1.0

    def __post_init__(self) -> None:
        check_real("decay", self.decay, low=0, high=1, open_low=True, open_high=True)
        for name in ("start", "kappa1", "kappa0"):
            check_real(name, getattr(self, name), low=0)
        check_real("clip", self.clip, low=0, open_low=True)

    def gap(self, rounds: ArrayLike, *, records: int, clients: ArrayLike, epsilon: ArrayLike) -> Floats:
        """Bound at numbers of rounds, of clients and at budgets, which broadcast.

        Parameters
        ----------
        rounds, clients : array_like of int
            T and N, at least 1.
        records : int
            m, the records of the smallest client, at least 1.
        epsilon : array_like of float
            Budget of the whole training, positive; infinite without noise.

        Raises
        ------
        ValueError
            If a number is out of range.
        """
        terms = noise_terms(self.decay, rounds, self.clip, records, clients, epsilon)
        return np.asarray(terms @ np.array([self.start, self.kappa1, self.kappa0]))

    def best_rounds(self, *, records: int, clients: int, epsilon: float, most: int = 10_000) -> int:
        """Number of rounds from 1 to `most` at which the bound is least; the smallest of several.

        Raises
        ------
        ValueError
            If a number is out of range.
        """
        tried = np.arange(1, check_integer("most", most, low=1) + 1)
        return int(tried[np.argmin(self.gap(tried, records=records, clients=clients, epsilon=epsilon))])


def noise_terms(
    decay: float, rounds: ArrayLike, clip: float, records: int, clients: ArrayLike, epsilon: ArrayLike
) -> Floats:
    """Factors of Theta, kappa1 and kappa0, shape (..., 3).

    Raises ValueError if a number is out of range.
    """
    turns, parties, budgets = (np.asarray(values, dtype=float) for values in (rounds, clients, epsilon))
    check_integer("records", records, low=1)
    for name, values in (("rounds", turns), ("clients", parties)):
        require((np.isfinite(values) & (values >= 1)).all(), f"{name} must be finite and at least 1")
    require((budgets > 0).all(), "epsilon must be positive")
    left = decay**turns
    noise = clip * turns / (records * np.sqrt(parties) * budgets)
    return np.stack(np.broadcast_arrays(left, noise * (1 - left), noise**2 * (1 - left)), axis=-1)
