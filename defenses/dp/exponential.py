"""The exponential mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.dp.exact import WORD, ExponentialChance, fraction, settle_below, words
from defenses.dp.mechanism import lattice_step, on_lattice, steps_between
from defenses.dp.selection import Selection, checked_scores
from metrics.arrays import Floats, Integers, Words64

MOST_PROPOSALS = 1 << 20
"""Largest number of proposals that are held in memory at a time, unless one run needs more."""


class Exponential(Selection):
    """Exponential mechanism: it selects an option with probability proportional to e^(epsilon score / (2 s)).

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest change s of any option's score between neighbouring tables; positive.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Scores are rounded to a lattice of at most 2^-20 of s and of s / epsilon; a score then moves by at most
    d = ceil(s / step) + 1 steps. An option that lies k steps below the highest score has weight e^(-epsilon k / (2 d)).

    Proof. Between neighbours every weight relative to a fixed score changes by a factor of e^(epsilon / 2) at most, and
    so does their sum. The logarithm of the ratio of probabilities even has a range of at most epsilon.

    Sampling is exact (`defenses.dp.exact`), by rejection: an option is proposed uniformly, and accepted with its weight
    as probability. At least one of `options` proposals is accepted on average.

    References
    ----------
    McSherry and Talwar (2007), Mechanism design via differential privacy, theorem 6.

    Examples
    --------
    >>> import math
    >>> from defenses.dp import Exponential
    >>> Exponential(epsilon=2 * math.log(2), sensitivity=1).probabilities([1, 0, 0]).round(3).tolist()
    [0.5, 0.25, 0.25]
    """

    def _selected(self, values: Floats, runs: int, rng: Generator) -> Integers:
        sensitivity = float(self.sensitivity)
        step = lattice_step(sensitivity, sensitivity / float(self.epsilon))
        unit = fraction(self.epsilon) / (2 * steps_between(sensitivity, step))
        scores = on_lattice(values, step).tolist()
        highest = max(scores)
        levels, level = np.unique(np.array([highest - score for score in scores], dtype=object), return_inverse=True)
        # Entry 0 belongs to the highest score, of weight 1.
        weights = [None, *(ExponentialChance(unit * int(below)) for below in levels[1:])]
        floors = np.array([0, *(weight.floors(1, WORD)[0] for weight in weights if weight)], dtype=np.uint64)
        likely = float(np.sum((level == 0) + floors[level] * 2.0**-WORD))
        return _rejected(weights, floors, level, max(1, int(values.size / likely)), runs, rng)

    def probabilities(self, scores: ArrayLike) -> Floats:
        """Probability of each option up to the lattice, shape (options,)."""
        weights = np.exp(self._exponents(checked_scores(scores)))
        return np.asarray(weights / weights.sum())


def _rejected(
    weights: Sequence[ExponentialChance | None], floors: Words64, level: Integers, block: int, runs: int, rng: Generator
) -> Integers:
    """Positions of accepted proposals, shape (runs,); every run makes `block` proposals at a time and takes the first.

    `level` is the position of each option's weight among `weights`; `floors` are the first 64 bits of these.
    """
    result = np.empty(runs, dtype=np.intp)
    waiting = np.arange(runs)
    while waiting.size:
        trying = waiting[: max(1, MOST_PROPOSALS // block)]
        proposed = rng.integers(0, level.size, (trying.size, block))
        levels, drawn = level[proposed], words(proposed.size, rng).reshape(proposed.shape)
        accepts = (levels == 0) | (drawn < floors[levels])
        for row, column in np.argwhere((levels > 0) & (drawn == floors[levels])):
            weight = weights[levels[row, column]]
            assert weight is not None  # noqa: S101 (only the first is)
            accepts[row, column] = settle_below(weight, int(drawn[row, column]), rng)
        rows = np.flatnonzero(accepts.any(axis=1))
        result[trying[rows]] = proposed[rows, accepts[rows].argmax(axis=1)]
        waiting = np.concatenate([np.delete(trying, rows), waiting[trying.size :]])
    return result
