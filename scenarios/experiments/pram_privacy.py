"""Sections of the PRAM experiment on privacy: the published matrix, the distinguishing audit, the Pk game."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

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
from leaderboard.report import Section, Table, Value
from leaderboard.tables import number
from metrics.arrays import Floats
from metrics.estimate import Estimate
from scenarios.datasets import load
from scenarios.experiments.pram_audit import Histogram, noisy_histogram_epsilon, sampled_epsilon, secret_matrix_epsilon
from scenarios.experiments.pram_cases import Case
from scenarios.games.pk_anonymity import PkAnonymity
from scenarios.games.pk_summary import summarize_pk
from scenarios.games.playing import play_alone
from scenarios.seeds import generator

Row = tuple[Value, ...]

PRIOR = (3, 2, 1)
"""A public histogram, for the form that takes one."""


def matrix_section(case: Case, ks: Sequence[int], rng: Generator) -> Section:
    """What a published matrix tells of the histogram that it is optimal for, or of a noisy one."""
    counts = case.counts
    rows: list[Row] = []
    total = int(counts.sum())
    for k in ks:
        level = epsilon_for_k(k, total)
        rows.append(_read(f"k = {k}, tuned to the records", optimal_retention(counts, level), counts))
        for matrix_level in (1.0, 0.1):
            noisy = noisy_histogram(counts, matrix_level, rng)
            title = f"k = {k}, tuned to a noisy histogram of epsilon {matrix_level:g}"
            rows.append(_read(title, optimal_retention(noisy, level), counts))
    table = Table(
        f"Histogram read out of the matrix: {case.title}",
        ("matrix", "ages read", "share of the records", "largest relative error", "correlation"),
        rows,
        digits=3,
        note="Counts relative to each other; ages whose flip probability may stand at a bound are not read.",
    )
    text = (
        "Away from its bounds the optimal matrix flips a category with a probability that goes with one over its "
        "count. Whoever publishes the matrix publishes those counts, up to scale. A matrix that was tuned to a "
        "differentially private histogram gives that one away, and no more.",
    )
    return Section("The published matrix", text, (table,))


def _read(title: str, retention: Floats, counts: NDArray[np.intp]) -> Row:
    shares = histogram_from_matrix(transition_matrix(retention))
    known = ~np.isnan(shares)
    if known.sum() < 2:
        return (title, int(known.sum()), None, None, None)
    truth = counts[known] / counts[known].sum()
    error = float(np.abs(shares[known] / truth - 1).max())
    return (
        title,
        int(known.sum()),
        float(counts[known].sum() / counts.sum()),
        error,
        float(np.corrcoef(shares[known], truth)[0, 1]),
    )


def leak_section(audits: int, rng: Generator) -> Section:
    """The distinguishing audit on neighbouring histograms: exactly, and from samples where the noise is continuous."""

    def tuned(histogram: Histogram) -> Floats:
        return optimal_retention(histogram, 1.0)

    def public(histogram: Histogram) -> Floats:
        return optimal_retention(PRIOR, 1.0)

    def from_noise(histogram: Histogram, level: float, rng: Generator) -> Floats:
        return optimal_retention(noisy_histogram(histogram, level, rng), 0.4)

    exact: list[tuple[str, float, float]] = [
        ("tuned to the records, N = 4, matrix kept secret", 1.0, secret_matrix_epsilon(4, 3, tuned)),
        ("tuned to the records, N = 6, matrix kept secret", 1.0, secret_matrix_epsilon(6, 3, tuned)),
        ("tuned to a public histogram, N = 4", 1.0, secret_matrix_epsilon(4, 3, public)),
        ("tuned to a noisy histogram, N = 3, matrix published", 1.0, noisy_histogram_epsilon(3, 3, 0.5, 0.5, 2)),
    ]
    forms: dict[str, Callable[[Histogram, Generator], Floats]] = {
        "tuned to the records": lambda histogram, _: optimal_retention(histogram, 0.8),
        "tuned to a noisy histogram, a tenth of the noise": lambda histogram, rng: from_noise(histogram, 4.0, rng),
        "tuned to a noisy histogram": lambda histogram, rng: from_noise(histogram, 0.4, rng),
        "noise on the objective": lambda histogram, rng: retention_by_objective(histogram, 0.4, 0.4, rng),
        "noise on the matrix": lambda histogram, rng: retention_by_output(histogram, 0.4, 0.4, rng),
    }
    sampled = [(name, 0.8, sampled_epsilon(tune, audits, rng)) for name, tune in forms.items()]
    columns = ("form", "epsilon claimed")
    return Section(
        "The distinguishing audit",
        (
            "Two histograms that differ in one record: by what factor can the probability of a release differ? A form "
            "whose matrix is tuned to the records has only the epsilon of a fixed matrix; claimed for the whole "
            "procedure, it is refuted, even where the matrix is kept secret. The private forms claim the sum of what "
            "the matrix and the release cost, and keep to it.",
        ),
        (
            Table(
                "Exactly, over all neighbouring histograms of three categories",
                (*columns, "epsilon found", "verdict"),
                [(*row, _verdict(*row[1:])) for row in exact],
                digits=2,
            ),
            Table(
                f"From {audits} published matrices and releases of each of two neighbours, N = 5",
                (*columns, "epsilon is at least", "verdict"),
                [(*row, _verdict(*row[1:])) for row in sampled],
                digits=2,
                note="Lower bounds at 95 %; 0 where the samples cannot tell the neighbours apart. The second form "
                "claims falsely, to show that the audit tells. For noise on the objective and on the matrix it tells "
                "less: with this many samples a tenth of their noise would survive, a hundredth is refuted. What "
                "speaks for them is the proof.",
            ),
        ),
    )


def _verdict(claimed: float, found: float) -> str:
    return "refuted" if found > claimed + 1e-9 else "survives"


def pk_section(plays: int, seed: int) -> Section:
    """The Pk game for few and for many records."""
    people = load("adult").records
    rows: list[Row] = []
    for size in (4, 6, 100, 1000):
        game = PkAnonymity(records=people, column="sex", size=size)
        defenses: list[Defense] = [RetentionReplacement(k=2), OptimalRetention(k=2)]
        for defense in defenses:
            for attack in (BestPosterior(), LeakagePosterior()):
                names = (type(defense).__name__, type(attack).__name__)
                scores = [
                    play_alone(defense, attack, game, generator(seed, "pram-histogram", "pk", size, *names, play))[2]
                    for play in range(plays)
                ]
                found = summarize_pk(scores)
                rows.append(
                    (
                        f"N = {size}, {' against '.join(reversed(names))}",
                        found.win.value,
                        found.answered.value,
                        _interval(found.win_answered),
                        found.worst,
                        found.typical,
                        found.bound,
                    )
                )
    table = Table(
        f"Worst-case table of two categories, k = 2 asked for, {plays} plays",
        ("adversary", "won", "answered", "won of answers, 95 %", "worst posterior", "typical posterior", "bound 1/k"),
        rows,
        digits=3,
        note="Bound: the exact k of the matrix in use. With two categories the optimum for the worst table may be a "
        "matrix whose k exceeds the one asked for.",
    )
    text = (
        "The adversary picks the table, one record alone in its category, and names a row and a record. With few "
        "records, one that answers only after telling releases wins nearly as often as 1/k allows. With many, such "
        "releases practically never come, and the typical posterior is far below the bound.",
    )
    return Section("The Pk game", text, (table,))


def _interval(rate: Estimate | None) -> str:
    return "–" if rate is None else f"{number(rate.low)}–{number(rate.high)}"
