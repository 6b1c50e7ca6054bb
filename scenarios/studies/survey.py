"""Experiment: a survey under local differential privacy, with every protocol on real columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from defenses.base.parameters import check_list, check_real
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON
from leaderboard.pages.number_text import counted
from leaderboard.pages.report import Section
from scenarios.studies.experiment import Experiment
from scenarios.studies.measuring import Measuring, measured_anew
from scenarios.studies.survey_measures import measure_column, survey_question
from scenarios.studies.survey_report import column_section, overview_section

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
        for name, value in (("columns", columns), ("epsilon", epsilon)):
            check_list(name, value)
        for column in columns:
            if not isinstance(column, str) or "." not in column:
                raise ValueError(f"columns must be texts such as 'adult.age', got {column!r}")
        for level in epsilon:
            check_real("epsilon", level, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
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
