"""Most likely mechanism of each column, from expected counts of cells and values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from attacks.linkage.column_mechanism import ColumnMechanism
from attacks.linkage.column_tables import ColumnTables
from attacks.linkage.noise_families import GAUSSIAN, LAPLACE, Noise, sum_over_grid
from metrics.arrays import Booleans, Floats, Integers

# Pairs of cell and value that stand for all of a column, for each released row, and their least number.
PAIRS_FOR_ROW, LEAST_PAIRS = 4, 400
# Steps of a fit; factor between the scales of noise that the first fit tries, and how many it tries.
STEPS, FACTOR, TRIED = 6, 6.0, 4
# Least share of what is not ruled out, so that later rounds can raise it.
LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class Pairs:
    """Weighted pairs of released cell and value, of shape (columns, pairs); entries of weight 0 fill up.

    Attributes
    ----------
    weight : ndarray of float
        Expected number of rows with this pair.
    kept, by_frequency, evenly : ndarray of float
        Probability of the cell if the value was kept, replaced by frequency or replaced evenly.
    residual, width : ndarray of float
        Released minus original number, infinite where there is no noise, and the interval of the released number.
    can_be_even, noisy : ndarray of bool, shape (columns,)
        Columns whose values may be replaced evenly, and those whose values may be disturbed.
    least_scale, deviation : ndarray of float, shape (columns,)
        Lower bound of the scale of noise, and its value at the start.
    """

    weight: Floats
    kept: Floats
    by_frequency: Floats
    evenly: Floats
    residual: Floats
    width: Floats
    can_be_even: Booleans
    noisy: Booleans
    least_scale: Floats
    deviation: Floats


def weighted_pairs(tables: list[ColumnTables], counts: list[Floats]) -> Pairs:
    """Draw pairs of cell and value systematically from expected counts; few pairs are all taken.

    Parameters
    ----------
    tables : list of ColumnTables
        The columns.
    counts : list of ndarray of float, shape (cells x values,)
        Expected number of rows, in the memory order of each column's tables.
    """
    rows = tables[0].column.cells.codes.size
    most = max(LEAST_PAIRS, PAIRS_FOR_ROW * rows)
    chosen = [_systematic(count, most) for count in counts]
    shape = (len(tables), max(1, max(entries.size for entries, _ in chosen)))
    weight, kept, by_frequency = np.zeros(shape), np.ones(shape), np.ones(shape)
    evenly, residual, width = np.ones(shape), np.full(shape, np.inf), np.ones(shape)
    for number, (one, (entries, weights)) in enumerate(zip(tables, chosen, strict=True)):
        cells, values = np.unravel_index(entries, one.given_kept.shape, order=one.order)
        part = number, slice(entries.size)
        weight[part] = weights
        kept[part] = one.given_kept[cells, values]
        by_frequency[part] = one.by_frequency[cells, 0]
        evenly[part] = by_frequency[part] if one.evenly is None else one.evenly[cells, 0]
        if one.residual is not None:
            distance = one.residual[cells, values]
            residual[part] = np.where(np.isnan(distance), np.inf, distance)
            width[part] = one.width[cells, 0]
    return Pairs(
        weight,
        kept,
        by_frequency,
        evenly,
        residual,
        width,
        np.array([one.evenly is not None for one in tables]),
        np.array([one.noisy for one in tables]),
        np.array([one.least_scale for one in tables]),
        np.array([one.deviation for one in tables]),
    )


def _systematic(count: Floats, most: int) -> tuple[Integers, Floats]:
    """Entries and their weights: all that count, or `most` of them at equal steps of the cumulative count."""
    entries = np.flatnonzero(count)
    if entries.size <= most:
        return entries, count[entries]
    cumulative = np.cumsum(count[entries])
    points = (np.arange(most) + 0.5) / most * cumulative[-1]
    drawn, times = np.unique(np.minimum(np.searchsorted(cumulative, points), entries.size - 1), return_counts=True)
    return entries[drawn], times * (cumulative[-1] / most)


@dataclass(frozen=True)
class Fit:
    """Parameters of all columns: arrays of one entry a column, and the log-likelihood that they reach."""

    shares: Floats
    scale: Floats
    offset: Floats
    laplace: Booleans
    even: Booleans
    score: Floats

    def where(self, better: Booleans, other: Fit) -> Fit:
        """Return the fit with the other's entries where these are better."""
        return Fit(
            *(
                np.where(better.reshape(-1, *[1] * (mine.ndim - 1)), theirs, mine)
                for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)
            )
        )


def fit_of(mechanisms: list[ColumnMechanism]) -> Fit:
    """Parameters of these mechanisms."""
    return Fit(
        np.array([one.shares for one in mechanisms]),
        np.array([one.noise.scale for one in mechanisms]),
        np.array([one.noise.offset for one in mechanisms]),
        np.array([one.noise.family == LAPLACE for one in mechanisms]),
        np.array([one.evenly for one in mechanisms]),
        np.full(len(mechanisms), -np.inf),
    )


def mechanisms_of(fit: Fit) -> list[ColumnMechanism]:
    """Mechanisms with these parameters."""
    return [
        ColumnMechanism(
            (float(shares[0]), float(shares[1]), float(shares[2])),
            Noise(LAPLACE if laplace else GAUSSIAN, float(scale), float(offset)),
            bool(even),
        )
        for shares, scale, offset, laplace, even in zip(
            fit.shares, fit.scale, fit.offset, fit.laplace, fit.even, strict=True
        )
    ]


def refined(pairs: Pairs, fit: Fit, steps: int = STEPS) -> Fit:
    """Steps of expectation maximization on weighted pairs, for all columns at once."""
    laplace, rows = fit.laplace[:, None], pairs.weight.sum(axis=1)
    given_replaced = np.where(fit.even[:, None], pairs.evenly, pairs.by_frequency)
    distance = np.abs(pairs.residual - fit.offset[:, None])
    finite = np.where(np.isfinite(distance), distance, 0.0)
    power = np.where(laplace, finite, finite * finite)
    exponent = np.where(np.isfinite(distance), -power * np.where(laplace, 1.0, 0.5), -np.inf)
    peak = np.where(fit.laplace, 0.5, 1 / np.sqrt(2 * np.pi))
    shares, scale = fit.shares.copy(), fit.scale.copy()
    least = np.where(shares > 0, LEAST_SHARE, 0.0)
    score = np.zeros(rows.size)
    for step in range(steps + 1):
        order = np.where(fit.laplace, scale, scale * scale)
        noise = np.exp(exponent / order[:, None])
        noise *= pairs.width * (peak / scale)[:, None]
        np.minimum(1.0, noise, out=noise)
        for family, those in ((GAUSSIAN, pairs.noisy & ~fit.laplace), (LAPLACE, pairs.noisy & fit.laplace)):
            noise[those] /= sum_over_grid(family, scale[those, None] / pairs.width[those])
        kept, disturbed = shares[:, :1] * pairs.kept, shares[:, 1:2] * noise
        likelihood = shares[:, 2:] * given_replaced
        likelihood += kept
        likelihood += disturbed
        if step == steps:
            score = np.einsum("ij,ij->i", pairs.weight, np.log(np.maximum(likelihood, 1e-300)))
            break
        weight = pairs.weight / np.maximum(likelihood, 1e-300)
        disturbed *= weight
        totals = np.empty_like(shares)
        totals[:, 0] = np.einsum("ij,ij->i", weight, kept)
        totals[:, 1] = disturbed.sum(axis=1)
        totals[:, 2] = np.maximum(rows - totals[:, 0] - totals[:, 1], 0.0)
        shares = np.maximum(totals / np.maximum(rows, 1e-300)[:, None], least)
        shares /= shares.sum(axis=1, keepdims=True)
        mean = np.einsum("ij,ij->i", disturbed, power) / np.maximum(totals[:, 1], 1e-300)
        moved = np.where(fit.laplace, mean, np.sqrt(mean))
        scale = np.where(pairs.noisy & (totals[:, 1] > 0), np.maximum(moved, pairs.least_scale), scale)
    return replace(fit, shares=shares, scale=scale, score=score)


def first_fit(pairs: Pairs, fit: Fit) -> Fit:
    """Best of fits from several scales of noise."""
    best = refined(pairs, fit)
    scale = pairs.deviation
    for _ in range(TRIED):
        scale = scale / FACTOR
        other = refined(pairs, replace(fit, scale=np.maximum(scale, pairs.least_scale)))
        best = best.where(other.score > best.score, other)
    return best


def chosen_fit(pairs: Pairs, fit: Fit) -> Fit:
    """Best of fits with Gaussian or Laplace noise, with and without offset, and replacement by frequency or evenly."""
    best = refined(pairs, fit)
    rows = pairs.weight.sum(axis=1)
    for laplace in (False, True):
        other = refined(pairs, replace(fit, laplace=np.full(rows.size, laplace), offset=np.zeros(rows.size)))
        best = best.where(pairs.noisy & (other.score > best.score), other)
    other = refined(pairs, replace(best, offset=_centre(pairs, best)))
    # An offset is another parameter: it must gain as in the Bayesian information criterion.
    best = best.where(pairs.noisy & (other.score > best.score + 0.5 * np.log(np.maximum(rows, 1)) + 1), other)
    other = refined(pairs, replace(best, even=~best.even))
    return best.where(pairs.can_be_even & (other.score > best.score), other)


def _centre(pairs: Pairs, fit: Fit) -> Floats:
    """Weighted median of the residuals of each column, of disturbed values within four scales."""
    near = np.abs(pairs.residual - fit.offset[:, None]) <= 4 * np.maximum(fit.scale, 2 * pairs.least_scale)[:, None]
    weight = pairs.weight * near
    order = np.argsort(pairs.residual, axis=1)
    cumulative = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
    middle = (cumulative < cumulative[:, -1:] / 2).sum(axis=1)
    centre = np.take_along_axis(pairs.residual, np.take_along_axis(order, middle[:, None], axis=1), axis=1)[:, 0]
    return np.where(np.isfinite(centre) & pairs.noisy, centre, 0.0)
