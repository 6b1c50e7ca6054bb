"""Private selection of an option with a high score: the exponential mechanism and report noisy maximum."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import Guarantee
from defenses.dp.exact import WORD, ExponentialChance, fraction, geometric, integer_below, settle_below, words
from defenses.dp.mechanism import (
    PureMechanism,
    checked_numbers,
    drawn_in_bulk,
    on_lattice,
    steps_between,
)
from metrics.columns import Floats, Integers, Integers64, Words64, check_integer, require
from metrics.estimate import check_confidence


class Selection(PureMechanism):
    """A mechanism that selects one of several options by their scores.

    - epsilon: In [2^-20, 2^20].
    - sensitivity: Largest change of any option's score between neighbouring tables; positive.
    """

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon for tables between which each option's score differs by at most the sensitivity."""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=0.0,
            statement=f"neighbours: tables between which no option's score differs by more than {self.sensitivity:g}",
        )

    @drawn_in_bulk
    def release(self, scores: ArrayLike, rng: Generator) -> int:
        """Return the position of the selected option.

        Parameters
        ----------
        scores : array_like, shape (options,)
            One score an option, the higher the better; at least one.
        rng : Generator
            Draws the selection.

        Raises
        ------
        ValueError
            If there is no score, or one is NaN or infinite; nothing is selected then.
        """
        return int(self.repeated(scores, 1, rng)[0])

    def repeated(self, scores: ArrayLike, runs: int, rng: Generator) -> Integers:
        """Select in `runs` independent runs, shape (runs,). For simulations: every run costs epsilon.

        Raises ValueError if there is no score, one is NaN or infinite, or `runs` is not an integer of at least 1.
        """
        check_integer("runs", runs, low=1)
        return self._selected(checked_scores(scores), runs, rng)

    @abstractmethod
    def _selected(self, values: Floats, runs: int, rng: Generator) -> Integers:
        """Positions of the selected options, shape (runs,)."""

    @abstractmethod
    def probabilities(self, scores: ArrayLike) -> Floats:
        """Probability of each option, shape (options,)."""

    def _exponents(self, values: Floats) -> Floats:
        """Exponents epsilon (score - highest) / (2 sensitivity), shape (options,)."""
        return np.asarray((values - values.max()) * (float(self.epsilon) / (2 * float(self.sensitivity))))

    def bias(self, scores: ArrayLike) -> float:
        """Expected score of the selected option, less the highest score."""
        values = checked_scores(scores)
        return float(self.probabilities(values) @ (values - values.max()))

    def variance(self, scores: ArrayLike) -> float:
        """Variance of the selected option's score."""
        values = checked_scores(scores) - np.max(scores)
        probabilities = self.probabilities(values)
        return float(probabilities @ values**2 - (probabilities @ values) ** 2)

    def error_bound(self, confidence: float, options: int, best: int = 1) -> float:
        """Return a bound on the regret, the highest score less the selected option's score.

        The regret exceeds it with probability at most 1 - confidence. The bound is (2 sensitivity / epsilon)
        (ln(options / best) + t) with e^-t = 1 - confidence. Proof for the exponential mechanism: an option of regret
        above c has a share of at most e^(-epsilon c / (2 sensitivity)) / best of the weight, and there are at most
        `options` of them. Report noisy maximum does no worse (McKenna and Sheldon 2020, theorem 3).

        Parameters
        ----------
        confidence : float
            In (0, 1).
        options : int
            Number of options, at least 1.
        best : int
            Number of options with the highest score, at least 1.

        Raises
        ------
        ValueError
            If a parameter is refused.
        """
        check_confidence(confidence)
        check_integer("options", options, low=1)
        check_integer("best", best, low=1)
        require(best <= options, f"best must be at most the {options} options, got {best}")
        return 2 * float(self.sensitivity) / float(self.epsilon) * (math.log(options / best) - math.log1p(-confidence))


def checked_scores(scores: ArrayLike) -> Floats:
    """Return scores as floats, shape (options,).

    Raises ValueError if there is none, or one is NaN or infinite.
    """
    values = checked_numbers(scores)
    require(
        values.ndim == 1 and values.size,
        f"scores must be one number an option, at least one, got shape {values.shape}",
    )
    return values


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


class ReportNoisyMax(Selection):
    """Report noisy maximum: it selects the highest score after adding one-sided geometric noise to each score.

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
    d = ceil(s / step) + 1 steps. Noise G >= 0 has P(G >= k) = e^(-epsilon k / (2 d)) for k >= 0.

    Proof. Fix the noise of all options but i. Option i is selected if and only if its noise is at least some
    threshold r (the first of equal options wins). Between neighbours r rises by 2 d at most: the score of i falls by d
    and another score rises by d. P(G >= r + 2 d) >= e^-epsilon P(G >= r), also for r below 0. So the probability of i
    falls by a factor of e^epsilon at most, whatever the noise of the others.

    Sampling is exact (`defenses.dp.exact`). Up to the lattice, the selection has the law of permute-and-flip, whose
    expected score is never below that of the exponential mechanism.

    References
    ----------
    Dwork and Roth (2014), section 3.3; McKenna and Sheldon (2020), Permute-and-flip; Ding et al. (2021), The
    permute-and-flip mechanism is identical to report-noisy-max with exponential noise.
    """

    called = ("Report noisy max", "RNM", "Noisy max")

    def _selected(self, values: Floats, runs: int, rng: Generator) -> Integers:
        between = steps_between(self.sensitivity, self._step())
        noise = geometric(fraction(self.epsilon) / (2 * between), runs * values.size, rng)
        return np.asarray(np.argmax(on_lattice(values, self._step()) + noise.reshape(runs, values.size), axis=1))

    def probabilities(self, scores: ArrayLike) -> Floats:
        """Probability of each option up to the lattice, shape (options,).

        The probability of option i is p_i times the integral over u in [0, 1] of the product over j != i of 1 - p_j u,
        with p = e^(epsilon (score - highest) / (2 s)). The integrand is a polynomial, and Gauss-Legendre quadrature
        integrates it exactly.
        """
        values = checked_scores(scores)
        p = np.exp(self._exponents(values))
        nodes, weights = np.polynomial.legendre.leggauss(values.size // 2 + 1)
        u = (nodes + 1) / 2
        # The factor of option i is divided out of the product of all; u < 1 keeps it positive.
        factors = 1 - np.outer(u, p)
        product = factors.prod(axis=1)
        return np.asarray(p * ((weights / 2) @ (product[:, None] / factors)))
