"""Released histograms of the published experiment on optimal PRAM, sampled again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.pram.conversions import epsilon_for_k, retention_for_epsilon
from defenses.pram.matrix import retention_epsilon, retention_pk
from defenses.pram.optimal import expected_distance, optimal_retention
from defenses.pram.sampling import replace
from metrics.columns import Floats, Integers
from scenarios.studies.experiment import Losses, by_play
from scenarios.studies.pram_privacy import PramCase


@dataclass(frozen=True)
class Releases:
    """Releases of one histogram through one matrix.

    Attributes
    ----------
    first, mean : ndarray, shape (d,)
        The histogram of the first release, and the mean of all.
    distances : tuple of float
        Distance from the original of the mean, of the expected histogram, of the nearest and of the farthest release.
    by_release : tuple of float
        Distance of each release from the original.
    """

    first: Floats
    mean: Floats
    distances: tuple[float, ...]
    by_release: tuple[float, ...] = ()


@dataclass(frozen=True)
class CaseLevel:
    """Both methods on one histogram at one k.

    Attributes
    ----------
    k : int
        Pk-anonymity asked for.
    epsilon_allowed : float
        Largest epsilon at which every matrix is Pk-anonymous with this k.
    epsilon, exact_k : float
        Those of the optimal matrix.
    conventional, optimal : Releases
        Releases under retention-replacement and under the optimal matrix.
    """

    k: int
    epsilon_allowed: float
    epsilon: float
    exact_k: float
    conventional: Releases
    optimal: Releases


@dataclass(frozen=True)
class CaseResult:
    """Both methods on one histogram.

    Attributes
    ----------
    case : PramCase
        The histogram.
    plays : int
        Releases of each matrix.
    levels : tuple of CaseLevel
        One for each k.
    """

    case: PramCase
    plays: int
    levels: tuple[CaseLevel, ...]


def measure_case(case: PramCase, ks: Sequence[int], plays: int, rng: Generator) -> CaseResult:
    """Release a histogram `plays` times by both methods for each k.

    Raises
    ------
    ValueError
        If a k exceeds the number of records.
    """
    counts, total = case.counts, int(case.counts.sum())
    levels = []
    for k in ks:
        allowed = epsilon_for_k(k, total)
        conventional = np.full(counts.size, retention_for_epsilon(allowed, counts.size))
        optimal = optimal_retention(counts, allowed)
        levels.append(
            CaseLevel(
                k=int(k),
                epsilon_allowed=allowed,
                epsilon=retention_epsilon(optimal),
                exact_k=retention_pk(optimal, total),
                conventional=releases(counts, conventional, plays, rng),
                optimal=releases(counts, optimal, plays, rng),
            )
        )
    return CaseResult(case, plays, tuple(levels))


def releases(counts: Integers, retention: Floats, plays: int, rng: Generator) -> Releases:
    """Release the records of a histogram `plays` times.

    Parameters
    ----------
    counts : ndarray of int, shape (d,)
        The histogram.
    retention : ndarray, shape (d,)
        Retention probabilities.
    plays : int
        Number of releases.
    rng : Generator
        Draws the releases.
    """
    records = np.repeat(np.arange(counts.size), counts)
    released = np.array([np.bincount(replace(records, retention, rng), minlength=counts.size) for _ in range(plays)])
    distances = np.linalg.norm(released - counts, axis=1)
    mean: Any = released.mean(axis=0)
    summary = (
        float(np.linalg.norm(mean - counts)),
        expected_distance(counts, retention),
        float(distances.min()),
        float(distances.max()),
    )
    return Releases(released[0].astype(float), mean, summary, tuple(distances.tolist()))


def losses_of_case(result: CaseResult) -> Losses:
    """Distance of each release from the original, for both methods and each k."""
    return by_play(
        **{
            f"distance_{method}_k_{level.k}": releases.by_release
            for level in result.levels
            for method, releases in (("conventional", level.conventional), ("optimal", level.optimal))
        }
    )
