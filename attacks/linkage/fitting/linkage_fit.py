"""Expectation maximization from several starts; the end of largest marginal likelihood is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attacks.linkage.fitting.column_models import (
    ByColumn,
    ColumnModels,
    Fit,
    candidate_weights,
    gains,
    marginal_log_likelihood,
)
from attacks.linkage.fitting.column_tables import FIRST_SCALE, GAUSSIAN, LAPLACE, ColumnTables, sum_over_grid
from attacks.linkage.linkage_answers import matching_posterior
from metrics.columns import Array, Booleans, Floats, Integers, Singles

# Most likely mechanism of each column, from expected counts of cells and values.

# Pairs of cell and value that stand for all of a column, for each released row, and their least number.
PAIRS_FOR_ROW, LEAST_PAIRS = 4, 400
# Steps of a fit; factor between the scales of noise that the first fit tries, and how many it tries.
STEPS, FACTOR, TRIED = 6, 6.0, 4
# Least share of what is not ruled out, so that later rounds can raise it.
LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class Pairs(ByColumn):
    """Weighted pairs of released cell and value, of shape (columns, pairs); entries of weight 0 fill up.

    - weight: Expected number of rows with this pair.
    - kept, by_frequency, evenly: Probability of the cell if the value was kept, replaced by frequency or replaced
      evenly.
    - residual, width: Released minus original number, infinite where there is no noise, and the interval of the
      released number.
    - mistyped: Probability of the cell if the value was released with a typing error; 0 for columns without typing
      errors.
    - can_be_even, noisy, shape (columns,): Columns whose values may be replaced evenly, and those whose values may have
      noise.
    - least_scale, deviation, shape (columns,): Lower bound of the scale of noise, and its value at the start.
    """

    weight: Floats
    kept: Floats
    by_frequency: Floats
    evenly: Floats
    residual: Floats
    width: Floats
    mistyped: Floats
    can_be_even: Booleans
    noisy: Booleans
    least_scale: Floats
    deviation: Floats


def weighted_pairs(tables: list[ColumnTables], counts: list[Floats]) -> Pairs:
    """Draw pairs of cell and value systematically from expected counts; few pairs are all taken.

    `counts` are expected numbers of rows, in the memory order of each column's tables.
    """
    most = max(LEAST_PAIRS, PAIRS_FOR_ROW * tables[0].column.cells.codes.size)
    chosen = [_systematic(count, most) for count in counts]
    shape = (len(tables), max(1, max(entries.size for entries, _ in chosen)))
    pairs = Pairs(
        weight=np.zeros(shape),
        kept=np.ones(shape),
        by_frequency=np.ones(shape),
        evenly=np.ones(shape),
        residual=np.full(shape, np.inf),
        width=np.ones(shape),
        mistyped=np.zeros(shape),
        can_be_even=np.array([one.evenly is not None for one in tables]),
        noisy=np.array([one.noisy for one in tables]),
        least_scale=np.array([one.least_scale for one in tables]),
        deviation=np.array([one.deviation for one in tables]),
    )
    for number, (one, (entries, weights)) in enumerate(zip(tables, chosen, strict=True)):
        cells, values = np.unravel_index(entries, one.given_kept.shape, order=one.order)
        part = number, slice(entries.size)
        pairs.weight[part] = weights
        learned_from = {
            "kept": one.given_kept,
            "by_frequency": one.by_frequency,
            "evenly": one.by_frequency if one.evenly is None else one.evenly,
            "residual": one.residual,
            "width": one.width,
            "mistyped": one.mistyped,
        }
        for name, table in learned_from.items():
            if table is not None:
                getattr(pairs, name)[part] = np.broadcast_to(table, one.given_kept.shape)[cells, values]
    pairs.residual[np.isnan(pairs.residual)] = np.inf
    return pairs


def _systematic(count: Floats, most: int) -> tuple[Integers, Floats]:
    """Entries and their weights: all that count, or `most` of them at equal steps of the cumulative count."""
    entries = np.flatnonzero(count)
    if entries.size <= most:
        return entries, count[entries]
    cumulative = np.cumsum(count[entries])
    points = (np.arange(most) + 0.5) / most * cumulative[-1]
    drawn, times = np.unique(np.minimum(np.searchsorted(cumulative, points), entries.size - 1), return_counts=True)
    return entries[drawn], times * (cumulative[-1] / most)


def improved(best: Fit, pairs: Pairs, others: list[tuple[Fit, Booleans]], least: Floats | float = 0.0) -> Fit:
    """Refine other fits of some columns; one replaces the best of a column if its score gains more than `least`."""
    columns = [np.flatnonzero(those) for _, those in others]
    starts = [other.of(some) for (other, _), some in zip(others, columns, strict=True)]
    # All at once, since a step costs little more for many columns than for few.
    tried = refined(pairs.of(np.concatenate(columns)), _together(starts))
    fits, chosen = _together([best, tried]), np.arange(best.score.size)
    end = chosen.size
    for some in columns:
        start, end = end, end + some.size
        gained = fits.score[start:end] > (fits.score[chosen] + least)[some]
        chosen[some[gained]] = np.arange(start, end)[gained]
    return fits.of(chosen)


def _together(fits: list[Fit]) -> Fit:
    """Several fits as one of all their columns."""
    return Fit(*(np.concatenate(entries) for entries in zip(*(vars(fit).values() for fit in fits), strict=True)))


def refined(pairs: Pairs, fit: Fit, steps: int = STEPS) -> Fit:
    """Steps of expectation maximization on weighted pairs, for all columns at once."""
    # Columns without noise have nothing to do with residuals and scales.
    noisy, rows = pairs.noisy, pairs.weight.sum(axis=1)
    laplace, width = fit.laplace[noisy], pairs.width[noisy]
    given_replaced = np.where(fit.even[:, None], pairs.evenly, pairs.by_frequency)
    distance = np.abs(pairs.residual[noisy] - fit.offset[noisy, None])
    finite = np.where(np.isfinite(distance), distance, 0.0)
    power = np.where(laplace[:, None], finite, finite * finite)
    exponent = np.where(np.isfinite(distance), -power * np.where(laplace, 1.0, 0.5)[:, None], -np.inf)
    peak = np.where(laplace, 0.5, 1 / np.sqrt(2 * np.pi))
    shares, scale = fit.shares.copy(), fit.scale[noisy]
    least = np.where(shares > 0, LEAST_SHARE, 0.0)
    score, changed = np.zeros(rows.size), pairs.mistyped.copy()
    for step in range(steps + 1):
        order = np.where(laplace, scale, scale * scale)
        noise = np.exp(exponent / order[:, None])
        noise *= width * (peak / scale)[:, None]
        np.minimum(1.0, noise, out=noise)
        for family, those in ((GAUSSIAN, ~laplace), (LAPLACE, laplace)):
            noise[those] /= sum_over_grid(family, scale[those, None] / width[those])
        changed[noisy] = noise
        kept, disturbed = shares[:, :1] * pairs.kept, shares[:, 1:2] * changed
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
        total = totals[noisy, 1]
        mean = np.einsum("ij,ij->i", disturbed[noisy], power) / np.maximum(total, 1e-300)
        moved = np.where(laplace, mean, np.sqrt(mean))
        scale = np.where(total > 0, np.maximum(moved, pairs.least_scale[noisy]), scale)
    scales = fit.scale.copy()
    scales[noisy] = scale
    return replace(fit, shares=shares, scale=scales, score=score)


def first_fit(pairs: Pairs, fit: Fit) -> Fit:
    """Best of fits from several scales of noise."""
    others, scale = [(fit, np.full(fit.score.size, True))], pairs.deviation
    for _ in range(TRIED):
        scale = scale / FACTOR
        others.append((replace(fit, scale=np.maximum(scale, pairs.least_scale)), pairs.noisy))
    return improved(fit, pairs, others)


def chosen_fit(pairs: Pairs, fit: Fit) -> Fit:
    """Best of fits with Gaussian or Laplace noise, with and without offset, and replacement by frequency or evenly."""
    rows, every = pairs.weight.sum(axis=1), np.full(fit.score.size, True)
    families = [replace(fit, laplace=laplace, offset=np.zeros(rows.size)) for laplace in (~every, every)]
    best = improved(fit, pairs, [(fit, every), *((one, pairs.noisy) for one in families)])
    # An offset is another parameter: it must gain as in the Bayesian information criterion.
    least = 0.5 * np.log(np.maximum(rows, 1)) + 1
    best = improved(best, pairs, [(replace(best, offset=_centre(pairs, best)), pairs.noisy)], least)
    return improved(best, pairs, [(replace(best, even=~best.even), pairs.can_be_even)])


def _centre(pairs: Pairs, fit: Fit) -> Floats:
    """Weighted median of the residuals of each column, of disturbed values within four scales."""
    near = np.abs(pairs.residual - fit.offset[:, None]) <= 4 * np.maximum(fit.scale, 2 * pairs.least_scale)[:, None]
    weight = pairs.weight * near
    order = np.argsort(pairs.residual, axis=1)
    cumulative = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
    middle = (cumulative < cumulative[:, -1:] / 2).sum(axis=1)
    centre = np.take_along_axis(pairs.residual, np.take_along_axis(order, middle[:, None], axis=1), axis=1)[:, 0]
    return np.where(np.isfinite(centre) & pairs.noisy, centre, 0.0)


# Starts of expectation maximization: sets of columns, half of whose values are taken as kept.

# Largest number of columns that the greedy start adds, and sets of largest entropy that are tried.
ADDED, ENTROPY_SETS = 12, 2


def entropy_sizes(columns: int) -> list[int]:
    """Sizes of the sets of columns of largest entropy: 2, 3, 4, 6, 9, 13, ..., fewer than all columns."""
    sizes, size = [], 2.0
    while int(size) < columns:
        sizes.append(int(size))
        size = max(size * 1.5, size + 1)
    return sizes


def starting_evidence(tables: list[ColumnTables]) -> Iterator[Singles]:
    """Evidence of several sets of columns: log-likelihood ratios of shape (rows, candidates).

    The sets are all columns, the 2, 3, 4, 6, ... columns of largest entropy, and a greedy set. It begins with the
    column of largest entropy and adds the column of largest gain in marginal likelihood, one by one. Of the sets of
    largest entropy, only the two of largest marginal likelihood are tried.
    """
    evidence = _Evidence(tables)
    order = np.argsort([-one.information() for one in tables], kind="stable").tolist()
    total, sizes, sets = evidence.nothing(), entropy_sizes(len(order)), []
    for position, number in enumerate(order):
        total = evidence.added(total, number)
        if position + 1 in sizes:
            sets.append((marginal_log_likelihood(total), total))
            sets = sorted(sets, key=lambda one: -one[0])[:ENTROPY_SETS]
    yield total
    for _, one in sets:
        yield one
    yield evidence.greedy(order)


class _Evidence:
    """Log-likelihood ratios of kept or disturbed against replaced values, added up column by column."""

    def __init__(self, tables: list[ColumnTables]) -> None:
        self.columns = [one.column for one in tables]
        self.ratios = [one.starting_ratio() for one in tables]

    def nothing(self) -> Singles:
        """Evidence of no column."""
        column = self.columns[0]
        return np.zeros((column.cells.codes.size, column.codes.size), dtype=np.float32)

    def added(self, total: Singles, number: int) -> Singles:
        """Evidence with one more column."""
        logarithm = np.log(self.ratios[number]).astype(np.float32)
        return np.asarray(total + self.columns[number].expand(logarithm), dtype=np.float32)

    def greedy(self, order: list[int]) -> Singles:
        """Evidence of the first column and of those that gain most, one by one, while a column gains."""
        chosen, total = order[:1], self.added(self.nothing(), order[0])
        while len(chosen) <= ADDED:
            others = [number for number in order if number not in chosen]
            columns, ratios = [self.columns[one] for one in others], [self.ratios[one] for one in others]
            gain = gains(candidate_weights(total), columns, ratios)
            if not gain.size or gain.max() <= 0:
                break
            chosen.append(others[int(gain.argmax())])
            total = self.added(total, chosen[-1])
        return total


# Rounds end when no share changes by more than this.
SETTLED = 2e-3
# Number of ends that go on after the first round, and rounds before the best of them is taken.
FINALISTS, SCREENED = 2, 2
# Rounds of messages in the posterior of each round.
ROUNDS = 5
# Rounds after noise and replacement were chosen.
CHOSEN = 3
# Share of replaced or widely disturbed values, and nats lost by replacement, from which a column disagrees with a
# matching; largest difference of the shares of two ends in one optimum.
REPLACED, ALIKE = 0.1, 0.02
# Scale from which noise is wide and hardly tells two values apart, in standard deviations of the column.
WIDE = 0.5
# Gain in marginal log-likelihood, in nats, from which another end replaces the usual one.
MARGIN = 10.0


@dataclass(frozen=True)
class End:
    """Where some rounds of expectation maximization led.

    - fit: The mechanisms.
    - evidence, shape (rows, candidates): Log-likelihood of each row under each candidate.
    - moved: Largest change of a share in the last round.
    """

    fit: Fit
    evidence: Array
    moved: float

    @cached_property
    def value(self) -> float:
        """Marginal log-likelihood."""
        return marginal_log_likelihood(self.evidence)


def _matched(evidence: Array) -> Array:
    return matching_posterior(evidence, ROUNDS)


def fitted(models: ColumnModels, distance_posterior: Array, iterations: int) -> End:
    """Fit the models from several starts; they end at the result.

    The usual start is Gower's distance. The others are those of `starting_evidence`. The best of their ends replaces
    the usual one if its marginal log-likelihood is larger by `MARGIN`. So does the end with the families of noise and
    replacement that fit best.

    - distance_posterior, shape (rows, candidates): Posterior by Gower's distance.
    - iterations: Largest number of rounds from each start.
    """
    start = models.fit
    best = _settled(models, _step(models, distance_posterior), iterations - 1)
    if _misleading(models, best):
        other = _screened(models, start)
        if other.value > best.value - MARGIN and not _alike(other, best):
            other = _settled(models, other, iterations - 1 - SCREENED)
        if other.value > best.value + MARGIN:
            best = other
    other = _settled(models, _round(models, best.fit, _matched(best.evidence), chosen_fit), CHOSEN)
    if other.value > best.value + MARGIN:
        best = other
    models.adopt(best.fit)
    return replace(best, evidence=models.log_likelihood(np.float64))


def _misleading(models: ColumnModels, end: End) -> bool:
    """Whether some column disagrees with the matching, so that another start may find a better one."""
    for (_, disturbed, replaced), scale, tables in zip(end.fit.shares, end.fit.scale, models.tables, strict=True):
        if replaced > REPLACED and replaced * tables.information() > REPLACED:
            return True
        if tables.noisy and disturbed > REPLACED and scale > WIDE / FIRST_SCALE * tables.deviation:
            return True
    return False


def _alike(end: End, other: End) -> bool:
    """Whether two ends have nearly the same shares, and so lead to the same optimum."""
    return bool(np.abs(end.fit.shares - other.fit.shares).max() < ALIKE)


def _screened(models: ColumnModels, start: Fit) -> End:
    """The best of the other starts after a few rounds."""
    ends = [_round(models, start, _matched(evidence), first_fit) for evidence in starting_evidence(models.tables)]
    for _ in range(SCREENED):
        ends = [_next(models, end) for end in sorted(ends, key=lambda end: -end.value)[:FINALISTS]]
    return max(ends, key=lambda end: end.value)


def _settled(models: ColumnModels, end: End, rounds: int, posterior: Callable[[Array], Array] = _matched) -> End:
    """At most so many rounds more, until shares settle."""
    for _ in range(rounds):
        if end.moved < SETTLED:
            break
        end = _next(models, end, posterior)
    return end


def refitted_by_row(models: ColumnModels, end: End, iterations: int) -> End:
    """Go on from an end as if each row's candidate were drawn by itself, so that several rows may have one."""
    end = _settled(models, _next(models, end, candidate_weights), iterations - 1, candidate_weights)
    return replace(end, evidence=models.log_likelihood(np.float64))


def _next(models: ColumnModels, end: End, posterior: Callable[[Array], Array] = _matched) -> End:
    models.adopt(end.fit)
    return _step(models, posterior(end.evidence))


def _step(models: ColumnModels, posterior: Array) -> End:
    moved = models.maximize(posterior)
    return End(models.fit, models.log_likelihood(), moved)


def _round(models: ColumnModels, before: Fit, posterior: Array, fit: Callable[[Pairs, Fit], Fit]) -> End:
    """One round: the most likely mechanisms under a posterior, and the evidence that they give."""
    # Scores were reached on other pairs.
    start = replace(before, score=np.full_like(before.score, -np.inf))
    after = fit(weighted_pairs(models.tables, models.expected_counts(posterior)), start)
    models.adopt(after)
    return End(after, models.log_likelihood(), float(np.abs(after.shares - before.shares).max()))
