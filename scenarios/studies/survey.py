"""Experiment: a survey under local differential privacy, with every protocol on real columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from attacks.reports.inference_from_reports import ValueGuess
from defenses import Microdata, project_to_simplex
from defenses.ldp.best import best_protocol
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON, FrequencyOracle
from defenses.ldp.local_reports import LocalReports, protocols
from leaderboard.pages import Bars, Section, Table, Value, counted
from leaderboard.results import grouped_by
from metrics.columns import Floats, Integers, check_list, check_real, refuse
from scenarios.games import Reports, play
from scenarios.studies.experiment import Experiment, Losses, Measuring, by_play, measured_anew, no_losses
from scenarios.tables.seeds import generator

# Records of a shipped data set, for experiments that name its columns.


def shipped_records(dataset: str, columns: Sequence[str]) -> Microdata:
    """Records of a shipped data set.

    - dataset: Name of the data set.
    - columns: Columns that the experiment needs.

    Raises ValueError if there is no such data set, or it has no such column with a declared domain.
    """
    from scenarios.datasets import load

    records = load(dataset).records
    for name in columns:
        refuse(
            name not in records.domains,
            f"columns: {dataset!r} has no column {name!r}; it has {', '.join(records.domains)}",
        )
    return records


# Measurements of the survey: errors of every protocol on a column, and how often a value is guessed.

# Size of sketches, which fits some tens of thousands of reports.
SKETCH = {"m": 256, "k": 512}
# Plays of the report game for each protocol, and persons in each play.
GUESSES, PERSONS = 3, 1000


@dataclass(frozen=True)
class SurveyQuestion:
    """One column that the survey asks for.

    - values, shape (n,): Positions in the column's domain, without missing values.
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

    - protocol: Class name of the protocol.
    - squares, shape (plays, d): Squared errors of the estimated counts.
    - variance, shape (d,): Variance of the estimated counts in theory.
    - guessed: Share of persons whose value is guessed from one report.
    - baseline: Share of persons whose value is guessed without any report.
    - guesses: Share of persons whose value is guessed, in each play of the game.
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

    - protocol: Class name of the protocol.
    - estimated, shape (d,): Estimated counts, projected onto possible counts.
    """

    epsilon: float
    protocol: str
    estimated: Floats


@dataclass(frozen=True)
class ColumnResult:
    """Results of every protocol on one column.

    - results: For each protocol that takes a domain of this size, one result for each epsilon.
    - report_bits: Length of a report of each of these protocols at the first epsilon, in bits.
    """

    question: SurveyQuestion
    results: tuple[tuple[ProtocolResult, ...], ...]
    report_bits: tuple[float, ...]
    histograms: tuple[EstimatedHistogram, ...]


def survey_question(name: str) -> SurveyQuestion:
    """A column of a shipped data set.

    - name: ``data set.column``.

    Raises ValueError if there is no such data set or column.
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

    - plays: Number of surveys for each protocol and epsilon.
    - measured: Makes each measurement, or returns its stored value.
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


# Report of the survey: error against theory, one section a column, and histograms.


def overview_section(columns: Sequence[ColumnResult], plays: int) -> Section:
    """Mean squared error over theoretical variance, for each protocol over all columns."""
    results = grouped_by(
        (result for column in columns for protocol in column.results for result in protocol),
        lambda result: (result.protocol, result.epsilon),
    )
    played = {name for name, _ in results}
    levels = [histogram.epsilon for histogram in columns[0].histograms]
    rows: list[list[Value]] = []
    for name in (name for name in protocols() if name in played):
        row: list[Value] = [name]
        for level in levels:
            parts = [result.squares / result.variance for result in results[name, level]]
            # Errors of the values of a column depend on each other within a survey; surveys are independent.
            surveys = np.concatenate(parts, axis=1).mean(axis=1)
            error = None if plays == 1 else 2 * float(surveys.std(ddof=1) / np.sqrt(plays))
            row += [float(surveys.mean()), error]
        rows.append(row)
    return Section(
        "Error against theory",
        (
            "Each person randomizes their own value before sending it; the server sees only the reports. A protocol is "
            "as accurate as stated if its mean squared error equals the variance that its formula states, a ratio "
            "of 1.",
        ),
        (
            Table(
                "Mean squared error of an estimated count / its theoretical variance",
                ("protocol", *(text for level in levels for text in (f"ε = {level:g}", "±"))),
                rows,
                digits=2,
                note=f"{len(columns)} columns, {counted(plays, 'survey')} each; every value of a column has the same "
                f"weight. Hash functions of sketches (m = {SKETCH['m']}, k = {SKETCH['k']}) are drawn anew in each "
                "survey. ±: two standard errors, across surveys. BinaryRandomizedResponse takes only columns of two "
                "values.",
            ),
        ),
    )


def column_section(column: ColumnResult, plays: int) -> Section:
    """Errors, guesses and histograms of one column."""
    question = column.question
    n = question.values.size
    errors: list[list[Value]] = []
    guesses: list[list[Value]] = [
        [results[0].protocol, *(100 * result.guessed for result in results)] for results in column.results
    ]
    for results, bits in zip(column.results, column.report_bits, strict=True):
        roots = [
            100 / n * float(np.sqrt(part.mean())) for result in results for part in (result.squares, result.variance)
        ]
        errors.append([results[0].protocol, *roots, bits])
    baseline = 100 * column.results[-1][-1].baseline
    levels = [f"ε = {histogram.epsilon:g}" for histogram in column.histograms]
    return Section(
        question.name,
        (
            f"n = {n:,} persons, d = {question.d} values. Bars: one survey, projected onto possible counts; outline: "
            "the truth.",
        ),
        (
            Table(
                f"Root mean square error of an estimated share, percentage points, {counted(plays, 'survey')}",
                ("protocol", *(text for level in levels for text in (level, "theory")), "bits of a report"),
                errors,
                digits=3,
                note=f"Unbiased estimates. Bits at {levels[0]}.",
            ),
            Table(
                "Persons whose value is guessed from one report, percent",
                ("protocol", *levels),
                guesses,
                note=f"{GUESSES} plays of {PERSONS} persons. Without any report, guessing the most frequent value is "
                f"right for {baseline:.1f} %.",
            ),
        ),
        tuple(_bars(question, histogram) for histogram in column.histograms),
    )


def _bars(question: SurveyQuestion, histogram: EstimatedHistogram) -> Bars:
    title = f"ε = {histogram.epsilon:g}, {histogram.protocol}"
    height = max(float(question.counts.max()), float(histogram.estimated.max()))
    return Bars(title, histogram.estimated.tolist(), question.counts.tolist(), height, question.ends)


COLUMNS = ("adult.sex", "adult.age", "adult.education", "adult.native-country", "bank.job", "bank.balance")


class Survey(Experiment):
    """Survey of columns of Adult and bank data under every local protocol that takes a domain of any size.

    Reports the root mean square error of the estimated shares beside its theoretical value, and how often a person's
    value is guessed from one report.

    Parameters
    ----------
    columns : sequence of str
        Columns to ask for, as ``data set.column``.
    epsilon : sequence of float
        Privacy of one report, each in [1e-6, 100].

    Raises
    ------
    ValueError
        If a list is empty, a column is not given as ``data set.column``, or an epsilon is out of range.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), section 6, for the comparison.
    """

    def __init__(self, *, columns: Sequence[str] = COLUMNS, epsilon: Sequence[float] = (1.0, 4.0)) -> None:
        self.columns = check_list("columns", columns)
        self.epsilon = check_list("epsilon", epsilon, check_real, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        for column in columns:
            refuse(
                not isinstance(column, str) or "." not in column,
                f"columns must be texts such as 'adult.age', got {column!r}",
            )

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets of the columns."""
        return tuple(sorted({name.partition(".")[0] for name in self.columns}))

    def run(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> tuple[Section, ...]:
        """Ask every column `plays` times under every protocol and epsilon.

        Raises
        ------
        ValueError
            If there is no such data set or column.
        """
        questions = [survey_question(name) for name in self.columns]
        levels = [float(level) for level in self.epsilon]
        columns = []
        for question in questions:
            persons = f"{question.name}: {question.values.size:,} persons, {question.d} values"
            say(f"{persons}, {counted(plays, 'survey')} a protocol")
            columns.append(measure_column(question, levels, plays, seed, measured))
        return (overview_section(columns, plays), *(column_section(column, plays) for column in columns))
