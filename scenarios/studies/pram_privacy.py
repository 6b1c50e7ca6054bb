"""Privacy of optimal PRAM: the published matrix, the distinguishing audit, the Pk game."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.random import Generator

from attacks import BestPosterior, LeakagePosterior, histogram_from_matrix
from attacks.pram.posteriors import with_row
from defenses import OptimalRetention, RetentionReplacement, project_to_simplex
from defenses.pram import epsilon_for_k, optimal_retention, transition_matrix
from defenses.pram.perturbation import noisy_histogram, retention_by_objective, retention_by_output
from metrics.columns import Floats, Integers
from scenarios.datasets import load
from scenarios.games import PkAnonymity, PkSummary, play_alone, summarize_pk
from scenarios.tables.seeds import generator

# Histograms of the published experiment on optimal PRAM, with the published epsilons and distances.

CATEGORIES = 74
"""Ages from 17 to 90; the other two cases have the same number of categories."""
FIRST_AGE = 17
FLOOR, EXPONENT = 24, 2.081
"""Offset and exponent of the bell curve of case 1.

The publication says only that the curve is raised slightly. Its distances of retention-replacement fix the histogram's
variance: |v - mean(v)| = 1498.1. A normal curve of this N and height reaches at most 1472 with any offset, so the
published one was not exactly normal. Exponent 2.081 and offset 24 meet all six published distances of expected
releases up to 0.2. Exponent 2 and offset 50 miss them by up to 37.
"""


@dataclass(frozen=True)
class PramCase:
    """A histogram with its published epsilons and distances.

    - counts, shape (d,): The histogram.
    - epsilons: The published epsilon of each k.
    - published: For each k the distances of retention-replacement and of the optimal matrix. Each has four: of the mean
      of 100 releases, of the expected release, and the smallest and largest of the 100.
    - rebuilt: Description of the rebuilt histogram; empty if the histogram is published as data.
    """

    title: str
    counts: Integers
    epsilons: Mapping[int, float]
    published: Mapping[int, Sequence[Sequence[float]]]
    rebuilt: str = ""


def bell() -> PramCase:
    """Case 1, rebuilt: a generalized normal curve with an offset; its width follows from N = 46,938 and height 850."""
    from scipy.optimize import brentq

    total, height = 46_938, 850
    positions = np.abs(np.arange(CATEGORIES) - (CATEGORIES - 1) / 2)

    def shape(deviation: float) -> Floats:
        return np.asarray(FLOOR + (height - FLOOR) * np.exp(-np.power(positions / deviation, EXPONENT) / 2))

    deviation = float(brentq(lambda width: float(shape(width).sum()) - total, 1, 200))
    published = {
        2: ((380.9, 382.7, 371.7, 439.4), (15.5, 0.0, 117.9, 195.6)),
        10: ((764.1, 763.4, 730.2, 857.6), (196.9, 200.5, 237.5, 331.1)),
        100: ((1168.5, 1169.7, 1117.8, 1242.3), (841.0, 845.1, 803.3, 930.2)),
    }
    rebuilt = (
        f"a bell exp(-|x|^{EXPONENT:g}) of N = {total:,}, d = {CATEGORIES} and height {height} on a floor of {FLOOR}, "
        "fitted to the published distances"
    )
    epsilons = {2: 5.38, 10: 4.28, 100: 3.08}
    counts = _rounded(shape(deviation), total)
    return PramCase("Case 1, normal distribution (rebuilt)", counts, epsilons, published, rebuilt)


def power_law() -> PramCase:
    """Case 2, rebuilt: 895/i rounded up, for i = 1..74; this sums to the published N = 4,405.

    It meets all six published distances of expected releases to the printed digit.
    """
    height = 895
    counts = -(-height // np.arange(1, CATEGORIES + 1))
    published = {
        2: ((544.7, 543.5, 505.0, 574.7), (493.9, 493.4, 465.5, 522.2)),
        10: ((797.6, 796.2, 763.5, 834.6), (785.7, 786.7, 757.7, 818.5)),
        100: ((952.1, 950.6, 930.8, 975.9), (946.6, 947.2, 919.3, 975.3)),
    }
    rebuilt = f"{height}/i rounded up, which has the published N = {int(counts.sum()):,} and d = {CATEGORIES}"
    epsilons = {2: 4.20, 10: 3.10, 100: 1.90}
    return PramCase("Case 2, power law (rebuilt)", counts, epsilons, published, rebuilt)


def ages() -> PramCase:
    """Case 3: ages of the training records of Adult."""
    people = load("adult").records.frame["age"].to_numpy(dtype=np.intp)
    counts = np.bincount(people - FIRST_AGE, minlength=CATEGORIES)
    published = {
        2: ((840.9, 841.7, 809.5, 890.4), (736.5, 736.4, 714.4, 799.7)),
        10: ((1604.0, 1602.2, 1570.9, 1671.8), (1508.7, 1510.2, 1470.5, 1570.6)),
        100: ((2338.5, 2340.7, 2286.7, 2399.1), (2289.6, 2290.9, 2226.8, 2337.5)),
    }
    epsilons = {2: 5.20, 10: 4.10, 100: 2.90}
    return PramCase("Case 3, ages of Adult", counts, epsilons, published)


def _rounded(heights: Floats, total: int) -> Integers:
    """Round to integer counts with the given sum; those with the largest remainders are rounded up."""
    counts = np.floor(heights).astype(np.intp)
    rest = np.argsort(counts - heights, kind="stable")[: total - int(counts.sum())]
    counts[rest] += 1
    return counts


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
    moves = (
        (histogram, tuple(count - (c == i) + (c == j) for c, count in enumerate(histogram)))
        for histogram in histograms
        for i, j in permutations(range(len(histogram)), 2)
    )
    pairs = [(positions[histogram], positions[other]) for histogram, other in moves if other in positions]
    one, another = np.array(pairs).T
    return one, another


PRIOR = (3, 2, 1)
"""A public histogram, for the form that takes one."""


@dataclass(frozen=True)
class MatrixReading:
    """Histogram read out of one published matrix, compared with the original.

    - matrix_level: Epsilon of the noisy histogram that the matrix is tuned to; None where it is tuned to the records.
    - ages: Number of ages that can be read.
    - share, error, correlation: Share of the records with these ages, largest relative error of a count, and
      correlation of read and true counts. None if fewer than two ages can be read.
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

    - claimed: Epsilon that is claimed for it.
    - measured: Epsilon that the audit finds: exact, or a lower bound at 95 %.
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

    - runs: Samples of each of two neighbours.
    - exact, sampled: Audits by enumeration and by sampling.
    """

    runs: int
    exact: tuple[AuditedForm, ...]
    sampled: tuple[AuditedForm, ...]


@dataclass(frozen=True)
class PkPlays:
    """The Pk game of one attack against one defense."""

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
        for defense, attack in product(
            (RetentionReplacement(k=2), OptimalRetention(k=2)), (BestPosterior(), LeakagePosterior())
        ):
            names = (type(defense).__name__, type(attack).__name__)
            rngs = (generator(seed, "pram-histogram", "pk", size, *names, play) for play in range(plays))
            scores = [play_alone(defense, attack, game, rng)[2].measures for rng in rngs]
            results.append(PkPlays(size, *names, summarize_pk(scores)))
    return tuple(results)
