"""Match weights of the Fellegi-Sunter model, learned by expectation maximization."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attacks.linkage.agreement import Agreement
from metrics.arrays import Booleans, Floats

# Pairs that each outcome of a column counts for beforehand in each class (Jeffreys' prior), and each class by itself:
# an outcome that no pair of a class shows is unlikely in it, not impossible.
PRIOR = 0.5
# Start of the iteration: the share of matches is SELDOM. Columns of matches agree in the first comparison with
# probability OFTEN. Those of other pairs disagree with it. The other outcomes of a column share SELDOM.
OFTEN, SELDOM = 0.9, 0.1
MOST_ITERATIONS = 100
# Pairs whose weights are computed at a time.
BLOCK = 8192
# Relative part of the tolerance, beside the absolute one that the caller chooses.
RELATIVE_TOLERANCE = 1e-5


@dataclass(frozen=True)
class MatchWeights:
    """Log-ratios of the probability of a pattern among matches and among other pairs, linear in the comparisons.

    Attributes
    ----------
    intercept : float
        Weight of a pair that disagrees in all comparisons.
    names : tuple of str
        The comparisons that the weights are of.
    gains : ndarray of float, shape (names,)
        What agreement in each comparison adds.
    """

    intercept: float
    names: tuple[str, ...]
    gains: Floats

    def of_pairs(self, agreement: Agreement) -> Floats:
        """Weight of each pair, shape (pairs,); comparisons that one of the two lacks are left out."""
        shared = [position for position, name in enumerate(self.names) if name in agreement.names]
        patterns = agreement.of_comparisons([self.names[position] for position in shared])
        gains, weights = self.gains[shared], np.empty(len(patterns))
        # In blocks of rows, whose numbers fit into the processor's cache; the last one takes the rest.
        starts = np.arange(max(1, len(patterns) // BLOCK)) * BLOCK
        for start, end in pairwise([*starts.tolist(), len(patterns)]):
            np.matmul(patterns[start:end].astype(float), gains, out=weights[start:end])
        weights += self.intercept
        return weights


def fitted_weights(agreement: Agreement, tolerance: float) -> MatchWeights:
    """Learn match weights by expectation maximization, without known matches.

    Matches and other pairs are two latent classes, within which columns are independent. A column with a second
    comparison has three outcomes: a pair agrees in the first, in the second or in neither. The iteration runs on the
    distinct patterns with their counts. It ends when no probability moves by more than `tolerance`, or after 100
    rounds.

    Parameters
    ----------
    agreement : Agreement
        The pairs to learn from; comparisons in which all of them are alike are left out.
    tolerance : float
        In probabilities, positive.

    References
    ----------
    Jaro (1989), Advances in record-linkage methodology, section 4, for the start; Winkler (1990), String comparator
    metrics and enhanced decision rules in the Fellegi-Sunter model, for columns that agree in part; Enamorado, Fifield
    and Imai (2019), Using a probabilistic model to assist merging of large-scale administrative records, for priors;
    Herzog, Scheuren and Winkler (2007), Data quality and record linkage techniques, chapter 9.
    """
    patterns = agreement.patterns
    varied = np.flatnonzero(patterns.min(axis=0, initial=1) < patterns.max(axis=0, initial=0))
    if not varied.size:
        return MatchWeights(0.0, (), np.zeros(0))
    columns = np.array(agreement.columns)[varied]
    first = np.r_[True, columns[1:] != columns[:-1]]
    log_probability = latent_classes(patterns[:, varied], first, tolerance)
    weights = log_probability[1] - log_probability[0]
    agree = np.arange(varied.size) + np.cumsum(first)
    disagree = agree[first] - 1
    gains = weights[agree] - weights[disagree][np.cumsum(first) - 1]
    return MatchWeights(float(weights[disagree].sum()), tuple(agreement.names[number] for number in varied), gains)


def latent_classes(patterns: NDArray[np.int8], first: Booleans, tolerance: float, prior: float = PRIOR) -> Floats:
    """Log-probabilities of the outcomes of each column, by class, shape (2, outcomes).

    The first class are the other pairs, the second one the matches. The outcomes of a column are disagreement and
    agreement in each of its comparisons; those of the next column follow.

    Parameters
    ----------
    patterns : ndarray of int8, shape (pairs, comparisons)
        0 or 1; every column holds both.
    first : ndarray of bool, shape (comparisons,)
        Whether a comparison is the first of its column. Those of one column stand side by side and exclude each other.
    tolerance : float
        In probabilities, positive.
    prior : float
        Pairs that each outcome, and each class, counts for beforehand.
    """
    distinct, counts = distinct_patterns(patterns)
    starts = np.flatnonzero(first)
    none = 1 - np.add.reduceat(distinct, starts, axis=1)
    outcomes = np.insert(distinct, starts, none, axis=1).astype(float)
    comparisons = np.diff(np.r_[starts, first.size])
    start = [
        np.array([[OFTEN, *[SELDOM / size] * size], [SELDOM / size, OFTEN, *[SELDOM / size] * (size - 1)]])
        for size in comparisons.tolist()
    ]
    log_share = np.log([OFTEN, SELDOM])
    log_probability: Floats = np.log(np.hstack(start))
    levels = np.repeat(comparisons + 1, comparisons + 1)
    for _ in range(MOST_ITERATIONS):
        expected = _posterior(outcomes @ log_probability.T + log_share) * counts[:, None]
        size = expected.sum(axis=0)
        new_share = np.log(size + prior) - np.log(len(patterns) + 2 * prior)
        new_probability = np.log(expected.T @ outcomes + prior) - np.log(size[:, None] + prior * levels)
        settled = _close(new_share, log_share, tolerance) and _close(new_probability, log_probability, tolerance)
        log_share, log_probability = new_share, new_probability
        if settled:
            break
    return log_probability


def distinct_patterns(patterns: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Distinct rows of 0 and 1 in lexicographic order, and how often each of them occurs.

    Rows are sorted as packed bits: ``np.unique(patterns, axis=0)`` takes fifty times as long.
    """
    packed = np.packbits(patterns, axis=1)
    order = np.lexsort(packed.T[::-1])
    ascending = packed[order]
    starts = np.flatnonzero(np.r_[True, (ascending[1:] != ascending[:-1]).any(axis=1)])
    return patterns[order[starts]], np.diff(np.r_[starts, len(patterns)])


def _posterior(log_joint: Floats) -> Floats:
    """Probability of each of two classes, shape (n, 2), from the logarithms of joint probabilities."""
    high, low = log_joint.max(axis=1), log_joint.min(axis=1)
    log_total = np.where(high == low, np.log(2), np.log1p(np.exp(low - high))) + high
    posterior: Floats = np.exp(log_joint - log_total[:, None])
    return posterior


def _close(new: Floats, old: Floats, tolerance: float) -> bool:
    """Whether no probability moved by more than the tolerance, from logarithms."""
    before = np.exp(old)
    return bool((np.abs(np.exp(new) - before) <= tolerance + RELATIVE_TOLERANCE * before).all())
