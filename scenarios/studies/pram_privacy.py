"""Privacy of optimal PRAM: the published matrix, the distinguishing audit, the Pk game."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator

from attacks import BestPosterior, LeakagePosterior, histogram_from_matrix
from attacks.pram.posterior_from_counts import with_row
from defenses import Defense, OptimalRetention, RetentionReplacement, project_to_simplex
from defenses.pram.conversions import epsilon_for_k
from defenses.pram.matrix import transition_matrix
from defenses.pram.optimal import optimal_retention
from defenses.pram.perturbation import noisy_histogram, retention_by_objective, retention_by_output
from metrics.columns.arrays import Floats, Integers
from scenarios.datasets import load
from scenarios.games.pk_anonymity import PkAnonymity, PkSummary, summarize_pk
from scenarios.games.playing import play_alone
from scenarios.studies.pram_case import PramCase
from scenarios.tables.seeds import generator

# Distinguishing audit of PRAM with a matrix that may be tuned to the records: exact for few records, or by sampling.

Histogram = tuple[int, ...]


def released_law(histogram: Histogram, retention: Floats) -> Floats:
    """Exact distribution of the released histogram, shape (n + 1,) * (d - 1); the last category has no axis."""
    matrix, n = transition_matrix(retention), sum(histogram)
    law = np.zeros((n + 1,) * (len(histogram) - 1))
    law[(0,) * law.ndim] = 1.0
    for category in np.repeat(np.arange(len(histogram)), histogram):
        law = with_row(law, matrix[:, category])
    return law


def secret_matrix_epsilon(n: int, d: int, tune: Callable[[Histogram], Floats]) -> float:
    """Exact epsilon of releasing n records through the matrix that `tune` derives from them and keeps secret."""
    histograms = list(_histograms(n, d))
    laws = np.array([released_law(histogram, tune(histogram)).ravel() for histogram in histograms])
    return float(np.log(_largest_ratios(laws, *_neighbours(histograms)).max()))


def noisy_histogram_epsilon(n: int, d: int, matrix_level: float, release_level: float, margin: int) -> float:
    """Epsilon of publishing noisy counts z together with a release through the matrix that is optimal for z.

    Integer noise with probability proportional to e^(-matrix_level |noise| / 2) is added to each count. The matrix is a
    function of z, so this is an upper bound on the epsilon of publishing matrix and release. All z from -margin to
    n + margin are enumerated.
    """
    largest = 0.0
    histograms = list(_histograms(n, d))
    one, other = _neighbours(histograms)
    # Many noisy counts, such as those that are all larger by 1, have the same projection.
    of_releases: dict[tuple[float, ...], Floats] = {}
    for noisy in product(range(-margin, n + margin + 1), repeat=d):
        projected = project_to_simplex(noisy, n)
        key = tuple(np.round(projected, 9).tolist())
        if key not in of_releases:
            retention = optimal_retention(projected, release_level)
            laws = np.array([released_law(histogram, retention).ravel() for histogram in histograms])
            of_releases[key] = np.log(_largest_ratios(laws, one, other))
        distance = np.abs(np.array(noisy) - np.array(histograms)).sum(axis=1)
        losses = matrix_level / 2 * (distance[other] - distance[one]) + of_releases[key]
        largest = max(largest, float(losses.max()))
    return largest


def sampled_epsilon(tune: Callable[[Histogram, Generator], Floats], runs: int, rng: Generator) -> float:
    """Lower bound at 95 % on the epsilon of publishing matrix and release, from releases of two neighbouring tables.

    The candidate events compare a feature with its deciles. Features are the first retention probability, the excess of
    the second over it, the first released count, and a mix of count and probability. One half of the runs selects the
    event with the largest ratio, in either direction. The other half gives Clopper-Pearson bounds on both probabilities
    of the selected event; all four bounds hold jointly at 95 %.
    """
    from scipy.stats import beta

    seen = [np.array([_features(histogram, tune, rng) for _ in range(runs)]) for histogram in ((3, 2, 0), (2, 3, 0))]
    cuts = np.quantile(np.concatenate(seen), np.linspace(0.1, 0.9, 9), axis=0)
    half = runs // 2
    events = [np.stack([side[:, None, :] >= cuts, side[:, None, :] <= cuts], axis=1).reshape(runs, -1) for side in seen]
    bounds = []
    for first, second in (events, events[::-1]):
        picked = int(np.argmax((first[:half].sum(axis=0) + 1) / (second[:half].sum(axis=0) + 1)))
        often, rarely = int(first[half:, picked].sum()), int(second[half:, picked].sum())
        rest = runs - half
        low = beta.ppf(0.0125, often, rest - often + 1) if often else 0.0
        high = beta.ppf(0.9875, rarely + 1, rest - rarely) if rarely < rest else 1.0
        bounds.append(np.log(low / high) if low > 0 else 0.0)
    return max(0.0, float(max(bounds)))


def _features(histogram: Histogram, tune: Callable[[Histogram, Generator], Floats], rng: Generator) -> list[float]:
    retention = tune(histogram, rng)
    columns = transition_matrix(retention).T
    released = sum(int(rng.multinomial(count, column)[0]) for count, column in zip(histogram, columns, strict=True))
    return [retention[0], retention[1] - retention[0], released, released + 10 * retention[0]]


def _largest_ratios(laws: Floats, one: Integers, other: Integers) -> Floats:
    """Largest ratio of each pair of distributions; infinite where only the first is positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(laws[one] > 0, laws[one] / laws[other], 0.0).max(axis=1))


def _histograms(n: int, d: int) -> Iterator[Histogram]:
    return (counts for counts in product(range(n + 1), repeat=d) if sum(counts) == n)


def _neighbours(histograms: Sequence[Histogram]) -> tuple[Integers, Integers]:
    """Positions of both histograms of each ordered pair that differs in one record."""
    positions = {histogram: position for position, histogram in enumerate(histograms)}
    pairs = []
    for histogram in histograms:
        for i, j in product(range(len(histogram)), repeat=2):
            other = tuple(count - (c == i) + (c == j) for c, count in enumerate(histogram))
            if i != j and other in positions:
                pairs.append((positions[histogram], positions[other]))
    one, another = np.array(pairs).T
    return one, another


PRIOR = (3, 2, 1)
"""A public histogram, for the form that takes one."""


@dataclass(frozen=True)
class MatrixReading:
    """Histogram read out of one published matrix, compared with the original.

    Attributes
    ----------
    k : int
        Pk-anonymity asked for.
    matrix_level : float or None
        Epsilon of the noisy histogram that the matrix is tuned to; None where it is tuned to the records.
    ages : int
        Number of ages that can be read.
    share, error, correlation : float or None
        Share of the records with these ages, largest relative error of a count, and correlation of read and true
        counts. None if fewer than two ages can be read.
    """

    k: int
    matrix_level: float | None
    ages: int
    share: float | None = None
    error: float | None = None
    correlation: float | None = None


@dataclass(frozen=True)
class AuditedForm:
    """Distinguishing audit of one form of PRAM.

    Attributes
    ----------
    form : str
        The form.
    claimed : float
        Epsilon that is claimed for it.
    measured : float
        Epsilon that the audit finds: exact, or a lower bound at 95 %.
    """

    form: str
    claimed: float
    measured: float

    @property
    def refuted(self) -> bool:
        """Whether the audit finds more than is claimed, beyond rounding."""
        return self.measured > self.claimed + 1e-9


@dataclass(frozen=True)
class DistinguishingAudits:
    """All audits.

    Attributes
    ----------
    runs : int
        Samples of each of two neighbours.
    exact, sampled : tuple of AuditedForm
        Audits by enumeration and by sampling.
    """

    runs: int
    exact: tuple[AuditedForm, ...]
    sampled: tuple[AuditedForm, ...]


@dataclass(frozen=True)
class PkPlays:
    """The Pk game of one attack against one defense.

    Attributes
    ----------
    size : int
        Number of records.
    defense, attack : str
        Class names.
    summary : PkSummary
        Rates over all plays.
    """

    size: int
    defense: str
    attack: str
    summary: PkSummary


def read_matrices(case: PramCase, ks: Sequence[int], rng: Generator) -> tuple[MatrixReading, ...]:
    """Read the histogram out of matrices that are optimal for it, or for a noisy one."""
    counts = case.counts
    readings = []
    for k in ks:
        level = epsilon_for_k(k, int(counts.sum()))
        readings.append(_reading(k, None, optimal_retention(counts, level), counts))
        for matrix_level in (1.0, 0.1):
            noisy = noisy_histogram(counts, matrix_level, rng)
            readings.append(_reading(k, matrix_level, optimal_retention(noisy, level), counts))
    return tuple(readings)


def _reading(k: int, matrix_level: float | None, retention: Floats, counts: Integers) -> MatrixReading:
    shares = histogram_from_matrix(transition_matrix(retention))
    readable = ~np.isnan(shares)
    ages = int(readable.sum())
    if ages < 2:
        return MatrixReading(k, matrix_level, ages)
    truth = counts[readable] / counts[readable].sum()
    return MatrixReading(
        k,
        matrix_level,
        ages,
        share=float(counts[readable].sum() / counts.sum()),
        error=float(np.abs(shares[readable] / truth - 1).max()),
        correlation=float(np.corrcoef(shares[readable], truth)[0, 1]),
    )


def audit_forms(runs: int, rng: Generator) -> DistinguishingAudits:
    """Audit every form on neighbouring histograms: exactly, and from samples where the noise is continuous."""

    def tuned(histogram: Histogram) -> Floats:
        return optimal_retention(histogram, 1.0)

    def public(histogram: Histogram) -> Floats:
        return optimal_retention(PRIOR, 1.0)

    def from_noise(histogram: Histogram, level: float, rng: Generator) -> Floats:
        return optimal_retention(noisy_histogram(histogram, level, rng), 0.4)

    exact = (
        AuditedForm("tuned to the records, N = 4, matrix kept secret", 1.0, secret_matrix_epsilon(4, 3, tuned)),
        AuditedForm("tuned to the records, N = 6, matrix kept secret", 1.0, secret_matrix_epsilon(6, 3, tuned)),
        AuditedForm("tuned to a public histogram, N = 4", 1.0, secret_matrix_epsilon(4, 3, public)),
        AuditedForm(
            "tuned to a noisy histogram, N = 3, matrix published", 1.0, noisy_histogram_epsilon(3, 3, 0.5, 0.5, 2)
        ),
    )
    forms: dict[str, Callable[[Histogram, Generator], Floats]] = {
        "tuned to the records": lambda histogram, _: optimal_retention(histogram, 0.8),
        "tuned to a noisy histogram, a tenth of the noise": lambda histogram, rng: from_noise(histogram, 4.0, rng),
        "tuned to a noisy histogram": lambda histogram, rng: from_noise(histogram, 0.4, rng),
        "noise on the objective": lambda histogram, rng: retention_by_objective(histogram, 0.4, 0.4, rng),
        "noise on the matrix": lambda histogram, rng: retention_by_output(histogram, 0.4, 0.4, rng),
    }
    sampled = tuple(AuditedForm(name, 0.8, sampled_epsilon(tune, runs, rng)) for name, tune in forms.items())
    return DistinguishingAudits(runs, exact, sampled)


def play_pk(plays: int, seed: int) -> tuple[PkPlays, ...]:
    """Play the Pk game for few and for many records."""
    people = load("adult").records
    results = []
    for size in (4, 6, 100, 1000):
        game = PkAnonymity(records=people, column="sex", size=size)
        defenses: list[Defense] = [RetentionReplacement(k=2), OptimalRetention(k=2)]
        for defense in defenses:
            for attack in (BestPosterior(), LeakagePosterior()):
                names = (type(defense).__name__, type(attack).__name__)
                scores = [
                    play_alone(defense, attack, game, generator(seed, "pram-histogram", "pk", size, *names, play))[
                        2
                    ].measures
                    for play in range(plays)
                ]
                results.append(PkPlays(size, *names, summarize_pk(scores)))
    return tuple(results)
