"""Learning an event that tells two inputs of a mechanism apart, from outputs on both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.arrays import Floats
from metrics.empirical_epsilon import epsilon_lower_bound

# A feature with more distinct values than this is binned.
DISTINCT = 1024
# Thresholds that are tried on a score.
THRESHOLDS = 1000
# Outputs on each input that a regression is fitted to.
FITTED = 20_000
# Features whose combinations are tabled together; more are combined by regression alone.
TABLED = 24

OutputScore = Callable[[Floats], Floats]


@dataclass(frozen=True)
class LearnedEvent:
    """An event of outputs that is far likelier on one input than on the other.

    Parameters
    ----------
    score : callable
        Maps outputs, shape (n, features), to numbers, shape (n,); the higher, the likelier on the favoured input.
    threshold : float
        The event is a score of at least this.
    first : bool
        Whether the first input is the favoured one.
    """

    score: OutputScore
    threshold: float
    first: bool

    def happens(self, outputs: Floats) -> NDArray[np.bool_]:
        """Whether the event happened, for outputs of shape (n, features)."""
        happened: NDArray[np.bool_] = self.score(outputs) >= self.threshold
        return happened

    def bound(self, first: Floats, second: Floats, *, delta: float = 0.0, confidence: float) -> float:
        """Lower bound on epsilon from fresh outputs on the first and the second input, shape (n, features) each.

        The bound holds with probability `confidence` if the event was learned on other outputs.
        """
        favoured, other = (first, second) if self.first else (second, first)
        hits, misses = int(self.happens(favoured).sum()), int(self.happens(other).sum())
        found = epsilon_lower_bound(hits, len(favoured), misses, len(other), delta=delta, confidence=confidence)
        return float(found)


def learn_event(first: Floats, second: Floats, *, delta: float = 0.0, confidence: float) -> LearnedEvent:
    """Find the event that proves the largest epsilon.

    Scores that order outputs by how much likelier they are on one input are learned on a half of the outputs; score,
    side and threshold are chosen on the other half, by the bound that they would prove there. Tried are: each feature
    as it is; the likelihood ratio of each feature's values or quantile bins; for small numbers of features that of
    their combinations; the lowest bit that is set in each feature's floating-point number (noise of doubles that is
    added in floating point leaves it different on different inputs); and a logistic regression over all of these.

    Parameters
    ----------
    first, second : ndarray of float, shape (n, features), (m, features)
        Outputs on either input; NaN stands for no answer. At least 4 each.
    delta, confidence : float
        Of the bound that is aimed at.

    Raises
    ------
    ValueError
        If the shapes differ in their features or there are fewer than 4 outputs.

    References
    ----------
    Mironov (2012), On significance of the least significant bits for differential privacy.
    Neyman and Pearson (1933): the likelihood ratio orders outputs best.
    """
    if first.ndim != 2 or first.shape[1:] != second.shape[1:] or not first.shape[1]:
        raise ValueError("outputs must be tables of the same features, one row a run")
    if min(len(first), len(second)) < 4:
        raise ValueError("an event needs at least 4 outputs on each input to be learned from")
    half_first, half_second = len(first) // 2, len(second) // 2
    choosing = first[half_first:], second[half_second:]
    best: tuple[float, LearnedEvent] | None = None
    for score in _scores(first[:half_first], second[:half_second]):
        offer = _choose(score, *choosing, delta, confidence)
        if best is None or offer[0] > best[0]:
            best = offer
    assert best is not None  # noqa: S101 (there is a score for every feature)
    return best[1]


def _choose(
    score: OutputScore, first: Floats, second: Floats, delta: float, confidence: float
) -> tuple[float, LearnedEvent]:
    """The best threshold of a score, on either side, and the bound that it proves."""
    offers = []
    for sign, favoured_first in ((1.0, True), (-1.0, False)):
        signed = _Signed(score, sign)
        favoured, other = (first, second) if favoured_first else (second, first)
        a, b = np.sort(signed(favoured)), np.sort(signed(other))
        candidates = _thresholds(np.concatenate([a, b]))
        hits = a.size - np.searchsorted(a, candidates, side="left")
        misses = b.size - np.searchsorted(b, candidates, side="left")
        bounds = epsilon_lower_bound(hits, a.size, misses, b.size, delta=delta, confidence=confidence)
        # Where nothing can be proved yet, the event that separates best may still prove something on more runs.
        merit = bounds + 1e-9 * (hits / a.size - misses / b.size)
        place = int(np.argmax(merit))
        offers.append((float(merit[place]), LearnedEvent(signed, float(candidates[place]), favoured_first)))
    return max(offers, key=lambda offer: offer[0])


@dataclass(frozen=True)
class _Signed:
    score: OutputScore
    sign: float

    def __call__(self, outputs: Floats) -> Floats:
        return self.sign * self.score(outputs)


def _thresholds(values: Floats) -> Floats:
    distinct = np.unique(values)
    if distinct.size <= THRESHOLDS:
        return distinct
    # Both tails finely: with a delta, the best event may be rare.
    steps = np.geomspace(1, distinct.size, THRESHOLDS // 2).astype(int)
    kept: Floats = distinct[np.unique(np.concatenate([steps - 1, distinct.size - steps]))]
    return kept


def _scores(first: Floats, second: Floats) -> Iterator[OutputScore]:
    features = first.shape[1]
    parts: list[OutputScore] = [Feature(column) for column in range(features)]
    tables: list[OutputScore] = []
    for column in range(features):
        tables.append(_table([Feature(column)], first, second))
        whole = np.concatenate([first[:, column], second[:, column]])
        whole = whole[np.isfinite(whole)]
        if (whole != np.floor(whole)).any():
            tables.append(_table([LowestBit(column)], first, second))
    yield from parts
    yield from tables
    if 1 < features <= TABLED:
        yield _table(list(parts), first, second)
    if features > 1:
        yield Combined.fit([*parts, *tables], first, second)


@dataclass(frozen=True)
class Feature:
    """A feature as it is; no answer is lower than any.

    Parameters
    ----------
    column : int
        Which.
    """

    column: int

    def __call__(self, outputs: Floats) -> Floats:
        """Values, shape (n,)."""
        values = outputs[:, self.column]
        return np.where(np.isnan(values), -np.inf, values)


@dataclass(frozen=True)
class LowestBit:
    """Exponent of the lowest bit that is set in a feature's floating-point number; that of 0 is highest.

    Parameters
    ----------
    column : int
        Which feature.
    """

    column: int

    def __call__(self, outputs: Floats) -> Floats:
        """Exponents, shape (n,)."""
        values = outputs[:, self.column]
        known = np.isfinite(values) & (values != 0)
        fraction, exponent = np.frexp(np.where(known, values, 1.0))
        mantissa = np.ldexp(fraction, 53).astype(np.int64)
        _, lowest = np.frexp((mantissa & -mantissa).astype(float))
        return np.where(known, exponent + lowest - 54.0, 2000.0)


@dataclass(frozen=True)
class LikelihoodRatio:
    """Logarithm of how much likelier a cell of a table is on the first input, with half a count added to each.

    Parameters
    ----------
    parts : list of callable
        What the table's dimensions are.
    edges : list of ndarray
        Interior cut points of each dimension, ascending.
    cells : ndarray of int, shape (cells,)
        Cells that were seen, ascending.
    ratios : ndarray of float, shape (cells + 1,)
        Of each, and of a cell that was not.
    """

    parts: list[OutputScore]
    edges: list[Floats]
    cells: NDArray[np.int64]
    ratios: Floats

    def __call__(self, outputs: Floats) -> Floats:
        """Log-likelihood ratios, shape (n,)."""
        codes = _codes(self.parts, self.edges, outputs)
        place = np.minimum(np.searchsorted(self.cells, codes), self.cells.size - 1)
        found: Floats = np.where(self.cells[place] == codes, self.ratios[place], self.ratios[-1])
        return found


def _codes(parts: list[OutputScore], edges: list[Floats], outputs: Floats) -> NDArray[np.int64]:
    codes = np.zeros(len(outputs), dtype=np.int64)
    for part, cuts in zip(parts, edges, strict=True):
        codes = codes * (cuts.size + 1) + np.searchsorted(cuts, part(outputs), side="right")
    return codes


def _table(parts: list[OutputScore], first: Floats, second: Floats) -> LikelihoodRatio:
    # Together the dimensions make about DISTINCT cells.
    allowed = max(2, int(DISTINCT ** (1 / len(parts))))
    edges = [_cuts(np.concatenate([part(first), part(second)]), allowed) for part in parts]
    codes = _codes(parts, edges, first), _codes(parts, edges, second)
    cells, place = np.unique(np.concatenate(codes), return_inverse=True)
    counts = [np.bincount(side, minlength=cells.size) for side in (place[: codes[0].size], place[codes[0].size :])]
    ratios = [np.log((count + 0.5) / (len(side) + 1.0)) for count, side in zip(counts, (first, second), strict=True)]
    return LikelihoodRatio(parts, edges, cells, np.append(ratios[0] - ratios[1], 0.0))


def _cuts(values: Floats, allowed: int) -> Floats:
    """Cut points of at most about `allowed` bins: between all distinct values, or at quantiles with fine tails."""
    distinct = np.unique(values)
    if distinct.size <= allowed:
        return distinct[1:]
    middle = np.linspace(0, 1, max(3, allowed // 4) + 1)[1:-1]
    tails = np.geomspace(1e-4, middle[0], 16) if allowed >= 64 else np.array([])
    levels = np.unique(np.concatenate([tails, middle, 1 - tails]))
    return np.unique(np.quantile(distinct if values.size < 64 else values, levels, method="lower"))


@dataclass(frozen=True)
class Combined:
    """Logistic regression over several scores.

    Parameters
    ----------
    parts : list of callable
        The scores.
    shift, scale, weights : ndarray of float, shape (parts,)
        How each is standardized, and its weight.
    """

    parts: list[OutputScore]
    shift: Floats
    scale: Floats
    weights: Floats

    @classmethod
    def fit(cls, parts: list[OutputScore], first: Floats, second: Floats) -> Combined:
        """Fit to the first `FITTED` outputs on either input."""
        from sklearn.linear_model import LogisticRegression

        first, second = first[:FITTED], second[:FITTED]
        rows = np.concatenate([_columns(parts, first), _columns(parts, second)])
        shift, scale = rows.mean(axis=0), rows.std(axis=0)
        scale[scale == 0] = 1.0
        labels = np.repeat([1, 0], [len(first), len(second)])
        weights = LogisticRegression(max_iter=200).fit((rows - shift) / scale, labels).coef_[0]
        return cls(parts, shift, scale, weights)

    def __call__(self, outputs: Floats) -> Floats:
        """Log-odds of the first input up to a constant, shape (n,)."""
        total: Floats = ((_columns(self.parts, outputs) - self.shift) / self.scale) @ self.weights
        return total


def _columns(parts: list[OutputScore], outputs: Floats) -> Floats:
    return np.stack([np.nan_to_num(part(outputs), posinf=1e12, neginf=-1e12) for part in parts], axis=1)
