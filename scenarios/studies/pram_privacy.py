"""Privacy of optimal PRAM: the published matrix, the distinguishing audit, the Pk game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from attacks.pram.best_posterior import BestPosterior
from attacks.pram.leakage_posterior import LeakagePosterior
from attacks.pram.matrix_histogram import histogram_from_matrix
from defenses.base.defense import Defense
from defenses.pram.conversions import epsilon_for_k
from defenses.pram.matrix import transition_matrix
from defenses.pram.optimal import optimal_retention
from defenses.pram.optimal_retention_defense import OptimalRetention
from defenses.pram.perturbation import noisy_histogram, retention_by_objective, retention_by_output
from defenses.pram.retention_replacement import RetentionReplacement
from metrics.arrays import Floats, Integers
from scenarios.datasets import load
from scenarios.games.pk_anonymity import PkAnonymity
from scenarios.games.pk_summary import PkSummary, summarize_pk
from scenarios.games.playing import play_alone
from scenarios.studies.pram_audit import Histogram, noisy_histogram_epsilon, sampled_epsilon, secret_matrix_epsilon
from scenarios.studies.pram_case import PramCase
from scenarios.tables.seeds import generator

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
