"""Expectation maximization from several starts; the end of largest marginal likelihood is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attacks.linkage.column_fits import Fit, chosen_fit, first_fit, fit_of, mechanisms_of, weighted_pairs
from attacks.linkage.column_mechanism import ColumnMechanism
from attacks.linkage.column_models import ColumnModels
from attacks.linkage.linkage_starts import starting_evidence
from attacks.linkage.marginal_likelihood import marginal_log_likelihood
from attacks.linkage.row_matching import matching_posterior

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
# Gain in marginal log-likelihood, in nats, from which another end replaces the usual one.
MARGIN = 10.0


@dataclass(frozen=True)
class End:
    """Where some rounds of expectation maximization led.

    Attributes
    ----------
    mechanisms : list of ColumnMechanism
        The models, one a column.
    evidence : ndarray of float, shape (rows, candidates)
        Log-likelihood of each row under each candidate.
    value : float
        Marginal log-likelihood.
    moved : float
        Largest change of a share in the last round.
    """

    mechanisms: list[ColumnMechanism]
    evidence: NDArray[Any]
    value: float
    moved: float


def fitted(models: ColumnModels, distance_posterior: NDArray[Any], iterations: int) -> End:
    """Fit the models from several starts.

    The usual start is Gower's distance. The others are those of `starting_evidence`. The best of their ends replaces
    the usual one if its marginal log-likelihood is larger by `MARGIN`. So does the end with the families of noise and
    replacement that fit best.

    Parameters
    ----------
    models : ColumnModels
        The models; they end at the result.
    distance_posterior : ndarray of float, shape (rows, candidates)
        Posterior by Gower's distance.
    iterations : int
        Largest number of rounds from each start.
    """
    start = models.mechanisms()
    best = _settled(models, _step(models, distance_posterior), iterations - 1)
    if _misleading(models, best):
        other = _screened(models, start)
        if other.value > best.value - MARGIN and not _alike(other, best):
            other = _settled(models, other, iterations - 1 - SCREENED)
        if other.value > best.value + MARGIN:
            best = other
    other = _settled(
        models, _round(models, best.mechanisms, matching_posterior(best.evidence, ROUNDS), chosen_fit), CHOSEN
    )
    if other.value > best.value + MARGIN:
        best = other
    models.adopt(best.mechanisms)
    return replace(best, evidence=models.log_likelihood(np.float64))


def _misleading(models: ColumnModels, end: End) -> bool:
    """Whether some column disagrees with the matching, so that another start may find a better one."""
    for one, tables in zip(end.mechanisms, models.tables, strict=True):
        _, disturbed, replaced = one.shares
        if replaced > REPLACED and replaced * tables.information() > REPLACED:
            return True
        if tables.noisy and disturbed > REPLACED and one.noise.scale > tables.wide_scale:
            return True
    return False


def _alike(end: End, other: End) -> bool:
    """Whether two ends have nearly the same shares, and so lead to the same optimum."""
    shares, others = (np.array([one.shares for one in each.mechanisms]) for each in (end, other))
    return bool(np.abs(shares - others).max() < ALIKE)


def _screened(models: ColumnModels, start: list[ColumnMechanism]) -> End:
    """The best of the other starts after a few rounds."""
    ends = [
        _round(models, start, matching_posterior(evidence, ROUNDS), first_fit)
        for evidence in starting_evidence(models.tables)
    ]
    for _ in range(SCREENED):
        ends = sorted(ends, key=lambda end: -end.value)[:FINALISTS]
        ends = [_next(models, end) for end in ends]
    return max(ends, key=lambda end: end.value)


def _settled(models: ColumnModels, end: End, rounds: int) -> End:
    """At most so many rounds more, until shares settle."""
    for _ in range(rounds):
        if end.moved < SETTLED:
            break
        end = _next(models, end)
    return end


def _next(models: ColumnModels, end: End) -> End:
    models.adopt(end.mechanisms)
    return _step(models, matching_posterior(end.evidence, ROUNDS))


def _step(models: ColumnModels, posterior: NDArray[Any]) -> End:
    moved = models.maximize(posterior)
    evidence = models.log_likelihood()
    return End(models.mechanisms(), evidence, marginal_log_likelihood(evidence), moved)


def _round(
    models: ColumnModels, mechanisms: list[ColumnMechanism], posterior: NDArray[Any], fit: Callable[..., Fit]
) -> End:
    """One round: the most likely mechanisms under a posterior, and the evidence that they give."""
    before = fit_of(mechanisms)
    after = fit(weighted_pairs(models.tables, models.expected_counts(posterior)), before)
    learned = mechanisms_of(after)
    models.adopt(learned)
    evidence = models.log_likelihood()
    moved = float(np.abs(after.shares - before.shares).max())
    return End(learned, evidence, marginal_log_likelihood(evidence), moved)
