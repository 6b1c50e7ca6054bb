"""What an attacker of a statistics release knows (which answers combine to somebody's secret), and attacks on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from attacks.base.claims import ValueClaims
from defenses.base.queries import Query


@dataclass(frozen=True)
class LinearSecret:
    """A secret that is a weighted sum of exact answers.

    Parameters
    ----------
    queries : tuple of Query
        What to ask.
    weights : tuple of float
        The secret is the sum of weights times exact answers; where answers are histograms, its largest entry.
    """

    queries: tuple[Query, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StatisticsKnowledge(Knowledge):
    """What is known to an attacker who wants values of persons out of statistics.

    Parameters
    ----------
    targets : sequence of LinearSecret
        One for each secret, in the order of the claims.
    low, high : float
        Public bounds of numeric secrets.
    categories : tuple of str
        Public categories of secrets that are none.
    total : callable, optional
        ``total(mask)``, mask of bool with shape (targets,), not empty, is the sum of the secrets of these persons, from
        the answer to one query; None where the game has no such query.
    """

    targets: Sequence[LinearSecret] = ()
    low: float = 0.0
    high: float = 1.0
    categories: tuple[str, ...] = ()
    total: Callable[[NDArray[np.bool_]], LinearSecret] | None = field(default=None, repr=False)

    def claims(self, estimates: Sequence[NDArray[np.float64] | None]) -> ValueClaims:
        """Claims of estimated secrets: clipped into the public bounds, or the category of the largest entry.

        Parameters
        ----------
        estimates : sequence of ndarray or None
            One a target; None abstains.
        """
        values = [None if estimate is None else self._claim(np.asarray(estimate)) for estimate in estimates]
        sure = [float(value is not None) for value in values]
        return ValueClaims(pd.DataFrame({"value": pd.Series(values, dtype=object)}), np.array(sure))

    def _claim(self, estimate: NDArray[np.float64]) -> Any:
        if self.categories:
            return self.categories[int(np.argmax(estimate))]
        return float(np.clip(estimate, self.low, self.high))
