"""A survey under local differential privacy: every protocol on real columns, its error beside theory, its privacy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.reports.value_guess import ValueGuess
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.simplex import project_to_simplex
from defenses.ldp.best import best_protocol
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON, FrequencyOracle
from defenses.ldp.local_reports import LocalReports, protocols
from leaderboard.report import Bars, Section, Table, Value
from metrics.arrays import Floats
from scenarios.experiments.experiment import Experiment
from scenarios.games.playing import play
from scenarios.games.reports import Reports
from scenarios.seeds import generator

COLUMNS = ("adult.sex", "adult.age", "adult.education", "adult.native-country", "bank.job", "bank.balance")
# Sketches of a size that fits some tens of thousands of reports.
SKETCH = {"m": 256, "k": 512}
# Plays of the report game for each protocol, and persons in one.
GUESSES, PERSONS = 3, 1000


@dataclass(frozen=True)
class Question:
    """One column that is asked for.

    Attributes
    ----------
    name : str
        Data set and column.
    records : Microdata
        The data set.
    column : str
        The column.
    values : ndarray of int, shape (n,)
        Positions in its domain, missing values left out.
    d : int
        Size of the domain.
    """

    name: str
    records: Microdata
    column: str
    values: NDArray[np.intp]
    d: int

    @property
    def counts(self) -> NDArray[np.intp]:
        """True counts, shape (d,)."""
        return np.bincount(self.values, minlength=self.d)


class Survey(Experiment):
    """Asks columns of Adult and of the bank under every protocol that takes a domain of any size.

    Reports the root mean square error of the estimated shares beside the one that theory says, and how often the value
    of one person is guessed from the report.

    Parameters
    ----------
    columns : sequence of str
        ``data set.column`` each.
    epsilon : sequence of float
        Privacy of one report, each in [1e-6, 100].

    Raises
    ------
    ValueError
        If a list is empty, or a column or an epsilon is none.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), section 6, for the comparison.
    """

    def __init__(self, *, columns: Sequence[str] = COLUMNS, epsilon: Sequence[float] = (1.0, 4.0)) -> None:
        for name, value in (("columns", columns), ("epsilon", epsilon)):
            if isinstance(value, str) or not isinstance(value, Sequence) or not value:
                raise ValueError(f"{name} must be a list, got {value!r}")
        for column in columns:
            if not isinstance(column, str) or "." not in column:
                raise ValueError(f"columns must be texts such as 'adult.age', got {column!r}")
        for level in epsilon:
            check_real("epsilon", level, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        self.columns = columns
        self.epsilon = epsilon

    def run(self, plays: int, seed: int, say: Callable[[str], None]) -> tuple[Section, ...]:
        """Ask every column `plays` times under every protocol and epsilon.

        Raises
        ------
        ValueError
            If there is no such data set or column.
        """
        questions = [question(name) for name in self.columns]
        sections, ratios = [], dict[tuple[str, float], list[Floats]]()
        for asked in questions:
            say(f"{asked.name}: {asked.values.size} persons, {asked.d} values, {plays} surveys for each protocol")
            sections.append(self._section(asked, plays, seed, ratios))
        return (self._overview(ratios, len(questions), plays), *sections)

    def _section(
        self, asked: Question, plays: int, seed: int, ratios: dict[tuple[str, float], list[Floats]]
    ) -> Section:
        n, counts = asked.values.size, asked.counts
        game = Reports(records=asked.records, column=asked.column, persons=PERSONS)
        errors: list[list[Value]] = []
        guesses: list[list[Value]] = []
        chance = 0.0
        for name in protocols():
            if name == "BinaryRandomizedResponse" and asked.d != 2:
                continue
            error_row: list[Value] = [name]
            guess_row: list[Value] = [name]
            for level in self.epsilon:
                rng = generator(seed, "survey", asked.name, name, repr(float(level)))
                squares, variance = surveyed(asked, name, float(level), plays, rng)
                ratios.setdefault((name, float(level)), []).append(squares / variance)
                error_row += [100 / n * float(np.sqrt(part.mean())) for part in (squares, variance)]
                defense = LocalReports(protocol=name, epsilon=float(level), options=options(name))
                scores = [play(defense, ValueGuess(), game, each).scores for each in rng.spawn(GUESSES)]
                guess_row.append(100 * float(np.mean([score["value"].rate for score in scores])))
                chance = 100 * float(scores[0]["value"].chance or 0)
            errors.append([*error_row, protocol(name, float(self.epsilon[0]), asked.d, 0).report_bits])
            guesses.append(guess_row)
        levels = [f"ε = {level:g}" for level in self.epsilon]
        return Section(
            asked.name,
            (
                f"n = {n:,} persons, d = {asked.d} values. Bars: one survey, projected onto possible counts; outline: "
                "the truth.",
            ),
            (
                Table(
                    f"Root mean square error of an estimated share, percentage points, {plays} surveys",
                    ("protocol", *(text for level in levels for text in (level, "theory")), "bits of a report"),
                    errors,
                    digits=3,
                    note=f"Unbiased estimates. Bits at {levels[0]}.",
                ),
                Table(
                    "Persons whose value is guessed from one report, percent",
                    ("protocol", *levels),
                    guesses,
                    note=f"{GUESSES} plays of {PERSONS} persons. Without any report the commonest value is right for "
                    f"{chance:.1f} %.",
                ),
            ),
            tuple(self._bars(asked, float(level), seed, float(counts.max())) for level in self.epsilon),
        )

    def _bars(self, asked: Question, level: float, seed: int, top: float) -> Bars:
        best = best_protocol(level, asked.d, asked.values.size)
        rng = generator(seed, "survey", asked.name, "picture", repr(level))
        estimated = project_to_simplex(best.estimate(best.privatize(asked.values, rng)), asked.values.size)
        title = f"ε = {level:g}, {type(best).__name__}"
        height = max(top, float(estimated.max()))
        return Bars(title, estimated.tolist(), asked.counts.tolist(), height, ends(asked))

    def _overview(self, ratios: dict[tuple[str, float], list[Floats]], columns: int, plays: int) -> Section:
        rows: list[list[Value]] = []
        for name in protocols():
            if (name, float(self.epsilon[0])) not in ratios:
                continue
            row: list[Value] = [name]
            for level in self.epsilon:
                # The errors of one survey of a column depend on each other, surveys do not.
                surveys = np.concatenate(ratios[name, float(level)], axis=1).mean(axis=1)
                error = None if plays == 1 else 2 * float(surveys.std(ddof=1) / np.sqrt(plays))
                row += [float(surveys.mean()), error]
            rows.append(row)
        return Section(
            "Error against theory",
            (
                "Each person randomizes their own value before sending it; the server knows only the reports. A "
                "protocol keeps what it promises to the analyst if its mean squared error is the variance that its "
                "formula says, a ratio of 1.",
            ),
            (
                Table(
                    "Mean squared error of an estimated count / its theoretical variance",
                    ("protocol", *(text for level in self.epsilon for text in (f"ε = {level:g}", "±"))),
                    rows,
                    digits=2,
                    note=f"{columns} columns, {plays} surveys each, every value of a column counted alike; hash "
                    f"functions of sketches (m = {SKETCH['m']}, k = {SKETCH['k']}) drawn anew in each. ±: two standard "
                    "errors, across surveys. BinaryRandomizedResponse takes columns of two values alone.",
                ),
            ),
        )


def question(name: str) -> Question:
    """A column of a shipped data set, named ``data set.column``.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    from scenarios.datasets import load

    dataset, _, column = name.partition(".")
    records = load(dataset).records
    if column not in records.domains:
        raise ValueError(f"columns: {dataset!r} has no column {column!r}; it has {', '.join(records.domains)}")
    domain = records.domains[column]
    codes = domain.codes(records.frame[column])
    return Question(name, records, column, codes[codes < domain.size], domain.size)


def options(name: str) -> dict[str, int] | None:
    """Further parameters of a protocol in the survey."""
    return dict(SKETCH) if "hash_seed" in protocols()[name].parameter_names() else None


def protocol(name: str, epsilon: float, d: int, play_number: int) -> FrequencyOracle:
    """A protocol for d values, with hash functions of its own in each play where they are shared."""
    more = options(name)
    numbered = more if more is None else {**more, "hash_seed": play_number}
    return LocalReports(protocol=name, epsilon=epsilon, options=numbered).protocol_for(d)


def surveyed(asked: Question, name: str, epsilon: float, plays: int, rng: Generator) -> tuple[Floats, Floats]:
    """Squared errors of the estimated counts, shape (plays, d), and their variance in theory, shape (d,)."""
    squares = np.empty((plays, asked.d))
    for number, each in enumerate(rng.spawn(plays)):
        made = protocol(name, epsilon, asked.d, number)
        squares[number] = np.square(made.estimate(made.privatize(asked.values, each)) - asked.counts)
    return squares, protocol(name, epsilon, asked.d, 0).variance(asked.values.size, asked.counts / asked.values.size)


def ends(asked: Question) -> tuple[str, str]:
    """Names of the first and the last value."""
    domain = asked.records.domains[asked.column]
    names = getattr(domain, "categories", None) or domain.cells()  # type: ignore[union-attr]
    return names[0], names[-1]
