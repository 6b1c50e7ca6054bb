"""Experiment: re-identification of people from several surveys under local differential privacy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from defenses import LocalReports, Microdata
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON, PureOracle
from defenses.ldp.reported.reported_table import SPLITTINGS, ReportedTable
from leaderboard.pages import Section, Table, Value, counted, exact
from metrics.columns import Floats, check_integer, check_list, check_real, refuse, require
from scenarios.studies.experiment import Experiment, Losses, Measuring, by_play, measured_anew
from scenarios.studies.survey import shipped_records
from scenarios.tables.seeds import generator

# Measurements of linked surveys: likelihoods of all people, multiplied over the surveys.

# Number of people among whom the right one is looked for, beside the first.
SHORTLIST = 10


@dataclass(frozen=True)
class SurveysResult:
    """Re-identification after each survey, under one protocol, splitting and epsilon.

    - protocol, splitting: The protocol and the use of the budget.
    - epsilon: Privacy of a person in one survey.
    - right, listed, predicted, shape (plays, surveys): Share of people who are most likely for their own reports, and
      who are among the ten most likely; ties are broken at random. Mean posterior of the most likely.
    """

    protocol: str
    splitting: str
    epsilon: float
    right: Floats
    listed: Floats
    predicted: Floats


def linked_population(dataset: str, columns: Sequence[str], persons: int) -> Microdata:
    """The columns of a shipped data set.

    Raises ValueError if there is no such data set or column, or fewer people without a missing value.
    """
    records = shipped_records(dataset, columns)
    frame = records.frame[list(columns)].dropna().reset_index(drop=True)
    require(len(frame) >= persons, f"persons: {persons} are needed, but {dataset!r} has {len(frame)}")
    return Microdata(frame, quasi_identifiers=tuple(columns), domains={name: records.domains[name] for name in columns})


def measure_surveys(
    population: Microdata,
    persons: int,
    surveys: int,
    protocol: str,
    splitting: str,
    epsilon: float,
    plays: int,
    seed: int,
) -> SurveysResult:
    """Survey `plays` draws of people; people and asked columns are the same for all protocols and splittings.

    - persons, surveys: Number of people and of surveys in a play.
    - protocol, splitting: See `ReportedTable`.
    - epsilon: Privacy of a person in one survey.
    """
    names = population.released_columns
    shape = (plays, surveys)
    right, listed, predicted = np.empty(shape), np.empty(shape), np.empty(shape)
    for play in range(plays):
        people_rng = generator(seed, "linked-surveys", "people", play)
        people = population.take(people_rng.choice(len(population), persons, replace=False))
        sizes = people_rng.integers((len(names) + 1) // 2, len(names) + 1, size=surveys)
        asked = [sorted(people_rng.choice(len(names), size, replace=False)) for size in sizes]
        rng = generator(seed, "linked-surveys", protocol, splitting, repr(epsilon), play)
        logs = np.zeros((persons, persons))
        for survey, (positions, survey_rng) in enumerate(zip(asked, rng.spawn(surveys), strict=True)):
            defense = ReportedTable(
                protocol=protocol,
                epsilon=epsilon,
                splitting=splitting,
                amplified=splitting == "RS+FD",
                columns=[names[position] for position in positions],
                missing="refuse",
            )
            report_rng, tie_rng = survey_rng.spawn(2)
            logs += _log_likelihood(defense, people, report_rng)
            right[play, survey], listed[play, survey], predicted[play, survey] = _matched(logs, tie_rng)
    return SurveysResult(protocol, splitting, epsilon, right, listed, predicted)


def losses_of_surveys(result: SurveysResult) -> Losses:
    """Share of people who are re-identified after the last survey, in each play."""
    return by_play(success=result.right[:, -1].tolist())


def _log_likelihood(defense: ReportedTable, people: Microdata, rng: Generator) -> Floats:
    """Log-likelihood of each row of reports under each person, shape (persons, persons)."""
    assert defense.columns is not None  # noqa: S101 (the caller names them)
    asked = people.frame[list(defense.columns)]
    release = defense.apply(people, rng)
    assert release.channel is not None  # noqa: S101 (reports have a channel)
    parts = release.channel.likelihoods(release.frame[list(defense.columns)], asked, dict(people.domains))
    return np.asarray(sum(part.table() for part in parts.values()))


def _matched(logs: Floats, rng: Generator) -> tuple[float, float, float]:
    """Shares of rows whose own person is first, and among the first ten; mean largest posterior."""
    own = np.diag(logs)[:, None]
    # Log-likelihoods of equal people differ by rounding errors.
    tolerance = 1e-9 * np.maximum(1.0, np.abs(own))
    better, tied = (logs > own + tolerance).sum(axis=1), (np.abs(logs - own) <= tolerance).sum(axis=1)
    rank = better + rng.integers(tied)
    posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
    return float((rank == 0).mean()), float((rank < SHORTLIST).mean()), float((1 / posterior.sum(axis=1)).mean())


# Report of linked surveys: guesses of one value in theory, and re-identification by protocol and splitting.


def guess_section(population: Microdata, protocols: Sequence[str], levels: Sequence[float]) -> Section:
    """Closed forms of the best guess of one value from one report, mean over the columns."""
    rows: list[list[Value]] = []
    for name in protocols:
        row: list[Value] = [name]
        for level in levels:
            oracles = [
                LocalReports(protocol=name, epsilon=level).protocol_for(population.domains[column].size)
                for column in population.released_columns
            ]
            guesses = [protocol.best_guess for protocol in oracles if isinstance(protocol, PureOracle)]
            row.append(100 * float(np.mean(guesses)) if guesses else None)
        rows.append(row)
    return Section(
        "One value from one report",
        (
            "The best guess of a uniformly distributed value is right with this probability, by the protocol's closed "
            "form. Optimized unary encoding and local hashing stay near 1/2, since they drop the own value half of the "
            "time.",
        ),
        (
            Table(
                "Right guesses, percent",
                ("protocol", *(f"ε = {level:g}" for level in levels)),
                rows,
                note=f"Mean over the {len(population.released_columns)} columns.",
            ),
        ),
    )


def splitting_section(splitting: str, results: Sequence[Sequence[SurveysResult]], persons: int, plays: int) -> Section:
    """Re-identification under one splitting, by protocol, epsilon and number of surveys."""
    surveys = results[0][0].right.shape[1]
    rows: list[list[Value]] = [
        [
            result.protocol,
            result.epsilon,
            100 * float(result.right[:, 0].mean()),
            100 * float(result.right[:, -1].mean()),
            None if plays == 1 else 2 * 100 * float(result.right[:, -1].std(ddof=1) / np.sqrt(plays)),
            100 * float(result.predicted[:, -1].mean()),
            100 * float(result.listed[:, -1].mean()),
        ]
        for protocol in results
        for result in protocol
    ]
    return Section(
        f"Splitting {splitting}",
        ("The predicted rate is the mean posterior of the most likely person: the product of the likelihoods.",),
        (
            Table(
                f"Re-identified among {persons} persons, percent",
                (
                    "protocol",
                    "ε a survey",
                    "1 survey",
                    counted(surveys, "survey"),
                    "±",
                    "predicted",
                    f"among the first {SHORTLIST}",
                ),
                rows,
                digits=1,
                note=f"{counted(plays, 'draw')} of people. ±: two standard errors, across draws. "
                f"Chance: {exact(100 / persons)} %.",
            ),
        ),
    )


PROTOCOLS = (
    "GeneralizedRandomizedResponse",
    "SubsetSelection",
    "SymmetricUnaryEncoding",
    "OptimizedUnaryEncoding",
    "OptimizedLocalHashing",
)
COLUMNS = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
    "salary-class",
)


class LinkedSurveys(Experiment):
    """Several surveys of the same people, whose reports are linked to each other and then to the people.

    Every survey asks for a random half or more of the columns, and every person reports them afresh (`ReportedTable`).
    The attacker knows all columns of all people and names, for the reports of each person, whom they most probably stem
    from: the likelihoods of the surveys multiply.

    Parameters
    ----------
    dataset : str
        A shipped data set.
    columns : sequence of str
        Its columns that surveys ask for, at least two.
    persons, surveys : int
        Number of people, at least 2, and of surveys, at least 1.
    protocols : sequence of str
        Protocols of `ReportedTable`.
    epsilon : sequence of float
        Privacy of a person in one survey, each in [1e-6, 100].

    Raises
    ------
    ValueError
        If a list is empty, a parameter is out of range, or a protocol does not exist.

    Notes
    -----
    The predicted rate is the mean of the largest posterior, all people being equally probable at first. If the
    likelihoods are right, it differs from the observed rate by chance only.

    "RS+FD" is amplified as published, so that its reports have an epsilon of ln(m (e^epsilon - 1) + 1) for m columns.

    References
    ----------
    Arcolezi, Gambs, Couchot and Palamidessi (2023), On the risks of collecting multidimensional data under local
    differential privacy, sections 3 and 4.
    """

    def __init__(
        self,
        *,
        dataset: str = "adult",
        columns: Sequence[str] = COLUMNS,
        persons: int = 1000,
        surveys: int = 5,
        protocols: Sequence[str] = PROTOCOLS,
        epsilon: Sequence[float] = (1.0, 4.0, 7.0, 10.0),
    ) -> None:
        self.columns = check_list("columns", columns)
        self.protocols = check_list("protocols", protocols)
        self.epsilon = check_list("epsilon", epsilon, check_real, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        refuse(len(columns) < 2, "columns must name at least two columns")
        self.persons = check_integer("persons", persons, low=2)
        self.surveys = check_integer("surveys", surveys, low=1)
        for protocol in protocols:
            ReportedTable(protocol=protocol)
        self.dataset = dataset

    def run(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> tuple[Section, ...]:
        """Survey `plays` draws of people under every protocol, splitting and epsilon.

        Raises
        ------
        ValueError
            If there is no such data set or column, or it has fewer people.
        """
        population = linked_population(self.dataset, self.columns, self.persons)
        levels = [float(level) for level in self.epsilon]
        asked = {"dataset": self.dataset, "columns": list(self.columns), "persons": self.persons}

        def result(protocol: str, splitting: str, level: float) -> SurveysResult:
            settings = {"splitting": splitting, "epsilon": level, "surveys": self.surveys, **asked}
            arguments = (population, self.persons, self.surveys, protocol, splitting, level, plays, seed)
            return measured(protocol, settings, lambda: measure_surveys(*arguments), losses_of_surveys)

        sections = [guess_section(population, self.protocols, levels)]
        for splitting in SPLITTINGS:
            say(f"{splitting}: {self.persons} persons, {self.surveys} surveys, {len(self.protocols)} protocols")
            results = [[result(protocol, splitting, level) for level in levels] for protocol in self.protocols]
            sections.append(splitting_section(splitting, results, self.persons, plays))
        return tuple(sections)
