"""The exponential mechanism."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.dp.exact import WORD, ExponentialChance, fraction, integer_below, settle_below, words
from defenses.dp.mechanism import on_lattice, steps_between
from defenses.dp.selection import Selection, checked_scores
from metrics.columns import Floats, Integers, Integers64, Words64

MOST_PROPOSALS = 1 << 20
"""Largest number of proposals that are held in memory at a time, unless one run needs more."""
GROUP_BITS, NEGLIGIBLE = 128, 89
"""Leading bits of weights of groups, all of which are 0 for e^-x with x above the second number."""


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

    called = ("Exponential mechanism",)

    def release_grouped(self, scores: ArrayLike, sizes: Integers64, rng: Generator) -> tuple[int, int]:
        """Select one of many options, which are given as groups of equal scores.

        It has the law of `release` on the options themselves, so that groups may depend on the records.

        Parameters
        ----------
        scores : array_like, shape (groups,)
            Score of every option of a group.
        sizes : ndarray of int64, shape (groups,)
            Number of options in each group, at least 1; below 2^62 in all.
        rng : Generator
            Draws the selection.

        Returns
        -------
        tuple of int
            The group, and the position of the option in it.

        Notes
        -----
        An integer below the sum of floor(2^128 weight) + 1 over all options proposes one and the first bits of a
        uniform number, which is below the option's weight with the right probability. Hardly any proposal is rejected,
        however rare good options are.
        """
        weights, level = self._weights(checked_scores(scores))
        order = np.argsort(level, kind="stable")
        ends = np.cumsum(sizes[order])
        level_ends = ends[np.searchsorted(level[order], np.arange(len(weights)), side="right") - 1]
        counts = np.diff(level_ends, prepend=0).tolist()
        floors = [
            2**GROUP_BITS - 1 if weight is None else weight.floors(1, GROUP_BITS)[0] if weight.rate < NEGLIGIBLE else 0
            for weight in weights
        ]
        shares = list(accumulate(count * (floor + 1) for count, floor in zip(counts, floors, strict=True)))
        while True:
            drawn = integer_below(shares[-1], rng)
            chosen = bisect_right(shares, drawn)
            option, word = divmod(drawn - (shares[chosen - 1] if chosen else 0), floors[chosen] + 1)
            weight = weights[chosen]
            if weight is None or word < floors[chosen] or settle_below(weight, word, rng, GROUP_BITS):
                option += int(level_ends[chosen]) - counts[chosen]
                place = int(np.searchsorted(ends, option, side="right"))
                group = int(order[place])
                return group, option - int(ends[place]) + int(sizes[group])

    def _weights(self, values: Floats) -> tuple[list[ExponentialChance | None], Integers]:
        """Weights of the distinct scores, the highest first, which has weight 1 (None); and each option's score."""
        unit = fraction(self.epsilon) / (2 * steps_between(self.sensitivity, self._step()))
        scores = on_lattice(values, self._step())
        # Scores are clamped to 2^61, so that differences fit.
        levels, level = np.unique(scores.max() - scores, return_inverse=True)
        return [None, *(ExponentialChance(unit * int(below)) for below in levels[1:])], level

    def _selected(self, values: Floats, runs: int, rng: Generator) -> Integers:
        weights, level = self._weights(values)
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
