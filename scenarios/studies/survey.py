"""Experiment: a survey under local differential privacy, with every protocol on real columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON
from defenses.ldp.local_reports import protocols
from leaderboard.pages.number_text import counted
from leaderboard.pages.report import Bars, Section, Table, Value
from metrics.columns.arrays import Floats
from metrics.columns.parameters import check_list, check_real
from scenarios.studies.experiment import Experiment
from scenarios.studies.measuring import Measuring, measured_anew
from scenarios.studies.survey_measures import (
    GUESSES,
    PERSONS,
    SKETCH,
    ColumnResult,
    EstimatedHistogram,
    SurveyQuestion,
    measure_column,
    survey_question,
)

# Report of the survey: error against theory, one section a column, and histograms.


def overview_section(columns: Sequence[ColumnResult], plays: int) -> Section:
    """Mean squared error over theoretical variance, for each protocol over all columns."""
    ratios: dict[str, dict[float, list[Floats]]] = {}
    for column in columns:
        for protocol in column.results:
            for result in protocol:
                of_level = ratios.setdefault(result.protocol, {}).setdefault(result.epsilon, [])
                of_level.append(result.squares / result.variance)
    levels = [histogram.epsilon for histogram in columns[0].histograms]
    rows: list[list[Value]] = []
    for name in (name for name in protocols() if name in ratios):
        row: list[Value] = [name]
        for level in levels:
            parts = ratios[name][level]
            # Errors of the values of a column depend on each other within a survey; surveys are independent.
            surveys = np.concatenate(parts, axis=1).mean(axis=1)
            error = None if plays == 1 else 2 * float(surveys.std(ddof=1) / np.sqrt(plays))
            row += [float(surveys.mean()), error]
        rows.append(row)
    return Section(
        "Error against theory",
        (
            "Each person randomizes their own value before sending it; the server sees only the reports. A protocol is "
            "as accurate as it promises if its mean squared error equals the variance that its formula states, a ratio "
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
    guesses: list[list[Value]] = []
    for results, bits in zip(column.results, column.report_bits, strict=True):
        roots = [
            100 / n * float(np.sqrt(part.mean())) for result in results for part in (result.squares, result.variance)
        ]
        errors.append([results[0].protocol, *roots, bits])
        guesses.append([results[0].protocol, *(100 * result.guessed for result in results)])
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
        check_list("columns", columns)
        check_list("epsilon", epsilon, check_real, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        for column in columns:
            if not isinstance(column, str) or "." not in column:
                raise ValueError(f"columns must be texts such as 'adult.age', got {column!r}")
        self.columns = columns
        self.epsilon = epsilon

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
