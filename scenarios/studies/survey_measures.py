"""Measurements of the survey: errors of every protocol on a column, and how often a value is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from attacks.reports.value_guess import ValueGuess
from defenses import Microdata, project_to_simplex
from defenses.ldp.best import best_protocol
from defenses.ldp.frequency_oracle import FrequencyOracle
from defenses.ldp.local_reports import LocalReports, protocols
from metrics.columns.arrays import Floats, Integers
from scenarios.games.playing import play
from scenarios.games.reports import Reports
from scenarios.studies.measuring import Losses, Measuring, by_play, measured_anew, no_losses
from scenarios.studies.shipped_records import shipped_records
from scenarios.tables.seeds import generator

# Size of sketches, which fits some tens of thousands of reports.
SKETCH = {"m": 256, "k": 512}
# Plays of the report game for each protocol, and persons in each play.
GUESSES, PERSONS = 3, 1000


@dataclass(frozen=True)
class SurveyQuestion:
    """One column that the survey asks for.

    Attributes
    ----------
    name : str
        Data set and column.
    records : Microdata
        The data set.
    column : str
        The column.
    values : ndarray of int, shape (n,)
        Positions in the column's domain, without missing values.
    d : int
        Size of the domain.
    """

    name: str
    records: Microdata
    column: str
    values: Integers
    d: int

    @property
    def counts(self) -> Integers:
        """True counts, shape (d,)."""
        return np.bincount(self.values, minlength=self.d)

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the first and the last value."""
        domain = self.records.domains[self.column]
        names = getattr(domain, "categories", None) or domain.cells()  # type: ignore[union-attr]
        return names[0], names[-1]


@dataclass(frozen=True)
class ProtocolResult:
    """Errors and guesses of one protocol with one epsilon on one column.

    Attributes
    ----------
    protocol : str
        Class name of the protocol.
    epsilon : float
        Privacy of one report.
    squares : ndarray of float, shape (plays, d)
        Squared errors of the estimated counts.
    variance : ndarray of float, shape (d,)
        Variance of the estimated counts in theory.
    guessed : float
        Share of persons whose value is guessed from one report.
    baseline : float
        Share of persons whose value is guessed without any report.
    guesses : tuple of float
        Share of persons whose value is guessed, in each play of the game.
    """

    protocol: str
    epsilon: float
    squares: Floats
    variance: Floats
    guessed: float
    baseline: float
    guesses: tuple[float, ...] = ()


@dataclass(frozen=True)
class EstimatedHistogram:
    """Estimated counts of one survey by the best protocol.

    Attributes
    ----------
    epsilon : float
        Privacy of one report.
    protocol : str
        Class name of the protocol.
    estimated : ndarray of float, shape (d,)
        Estimated counts, projected onto possible counts.
    """

    epsilon: float
    protocol: str
    estimated: Floats


@dataclass(frozen=True)
class ColumnResult:
    """Results of every protocol on one column.

    Attributes
    ----------
    question : SurveyQuestion
        The column.
    results : tuple of tuple of ProtocolResult
        For each protocol that takes a domain of this size, one result for each epsilon.
    report_bits : tuple of int or float
        Length of a report of each of these protocols at the first epsilon, in bits.
    histograms : tuple of EstimatedHistogram
        One for each epsilon.
    """

    question: SurveyQuestion
    results: tuple[tuple[ProtocolResult, ...], ...]
    report_bits: tuple[float, ...]
    histograms: tuple[EstimatedHistogram, ...]


def survey_question(name: str) -> SurveyQuestion:
    """A column of a shipped data set.

    Parameters
    ----------
    name : str
        ``data set.column``.

    Raises
    ------
    ValueError
        If there is no such data set or column.
    """
    dataset, _, column = name.partition(".")
    records = shipped_records(dataset, [column])
    domain = records.domains[column]
    codes = domain.codes(records.frame[column])
    return SurveyQuestion(name, records, column, codes[codes < domain.size], domain.size)


def measure_column(
    question: SurveyQuestion, levels: Sequence[float], plays: int, seed: int, measured: Measuring = measured_anew
) -> ColumnResult:
    """Ask for a column `plays` times under every protocol and epsilon.

    Parameters
    ----------
    question : SurveyQuestion
        The column.
    levels : sequence of float
        Epsilons of one report.
    plays : int
        Number of surveys for each protocol and epsilon.
    seed : int
        Seed of all randomness.
    measured : Measuring
        Makes each measurement, or returns its stored value.
    """

    def protocol(name: str, level: float) -> ProtocolResult:
        settings = {"column": question.name, "epsilon": level}
        return measured(
            name, settings, partial(_measure_protocol, question, name, level, plays, seed), _losses_of_protocol
        )

    def histogram(level: float) -> EstimatedHistogram:
        settings = {"column": question.name, "epsilon": level}
        return measured("histogram", settings, partial(_measure_histogram, question, level, seed), no_losses)

    names = [name for name in protocols() if name != "BinaryRandomizedResponse" or question.d == 2]
    return ColumnResult(
        question,
        tuple(tuple(protocol(name, level) for level in levels) for name in names),
        tuple(_protocol(name, levels[0], question.d, 0).report_bits for name in names),
        tuple(histogram(level) for level in levels),
    )


def _measure_protocol(question: SurveyQuestion, name: str, epsilon: float, plays: int, seed: int) -> ProtocolResult:
    rng = generator(seed, "survey", question.name, name, repr(epsilon))
    squares, variance = _survey_errors(question, name, epsilon, plays, rng)
    game = Reports(records=question.records, column=question.column, persons=PERSONS)
    defense = LocalReports(protocol=name, epsilon=epsilon, options=_options(name))
    scores = [play(defense, ValueGuess(), game, play_rng).scores for play_rng in rng.spawn(GUESSES)]
    guesses = tuple(float(score["value"].rate or 0) for score in scores)
    baseline = float(scores[0]["value"].chance or 0)
    return ProtocolResult(name, epsilon, squares, variance, float(np.mean(guesses)), baseline, guesses)


def _losses_of_protocol(result: ProtocolResult) -> Losses:
    """Squared error over its theoretical variance in each survey, and the share of guessed values in each play."""
    return by_play(error=(result.squares / result.variance).mean(axis=1).tolist(), success=result.guesses)


def _survey_errors(
    question: SurveyQuestion, name: str, epsilon: float, plays: int, rng: Generator
) -> tuple[Floats, Floats]:
    """Squared errors of the estimated counts, shape (plays, d), and their variance in theory, shape (d,)."""
    squares = np.empty((plays, question.d))
    for number, play_rng in enumerate(rng.spawn(plays)):
        protocol = _protocol(name, epsilon, question.d, number)
        estimated = protocol.estimate(protocol.privatize(question.values, play_rng))
        squares[number] = np.square(estimated - question.counts)
    n = question.values.size
    return squares, _protocol(name, epsilon, question.d, 0).variance(n, question.counts / n)


def _measure_histogram(question: SurveyQuestion, epsilon: float, seed: int) -> EstimatedHistogram:
    n = question.values.size
    best = best_protocol(epsilon, question.d, n)
    rng = generator(seed, "survey", question.name, "picture", repr(epsilon))
    estimated = project_to_simplex(best.estimate(best.privatize(question.values, rng)), n)
    return EstimatedHistogram(epsilon, type(best).__name__, estimated)


def _options(name: str) -> dict[str, int] | None:
    """Further parameters of a protocol in the survey."""
    return dict(SKETCH) if "hash_seed" in protocols()[name].parameter_names() else None


def _protocol(name: str, epsilon: float, d: int, play_number: int) -> FrequencyOracle:
    """A protocol for d values; shared hash functions are drawn anew in each play."""
    options = _options(name)
    numbered = options if options is None else {**options, "hash_seed": play_number}
    return LocalReports(protocol=name, epsilon=epsilon, options=numbered).protocol_for(d)
