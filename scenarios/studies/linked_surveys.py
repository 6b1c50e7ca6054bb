"""Experiment: re-identification of people from several surveys under local differential privacy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from defenses.base.parameters import check_integer, check_list, check_real
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON
from defenses.ldp.reported_table import SPLITTINGS, ReportedTable
from leaderboard.pages.report import Section
from scenarios.studies.experiment import Experiment
from scenarios.studies.linked_surveys_measures import (
    SurveysResult,
    linked_population,
    losses_of_surveys,
    measure_surveys,
)
from scenarios.studies.linked_surveys_report import guess_section, splitting_section
from scenarios.studies.measuring import Measuring, measured_anew

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
        for name, value in (("columns", columns), ("protocols", protocols), ("epsilon", epsilon)):
            check_list(name, value)
        if len(columns) < 2:
            raise ValueError("columns must name at least two columns")
        check_integer("persons", persons, low=2)
        check_integer("surveys", surveys, low=1)
        for level in epsilon:
            check_real("epsilon", level, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        for protocol in protocols:
            ReportedTable(protocol=protocol)
        self.dataset = dataset
        self.columns = columns
        self.persons = persons
        self.surveys = surveys
        self.protocols = protocols
        self.epsilon = epsilon

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data set."""
        return (self.dataset,)

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
