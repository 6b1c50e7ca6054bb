"""Experiments: scenarios that report tables and charts of their own instead of a board."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import Field

from defenses.base import Parametrized
from leaderboard.pages.report import Section
from scenarios.running.methods.methods import build
from scenarios.tables import MethodTable, ScenarioTable, scenario_path, scenario_tables, validated, within

# How an experiment measures: each measurement has a name and settings, so that its result can be stored.

Value = TypeVar("Value")
Losses = Sequence[Mapping[str, float]]
"""Measures of each play by name, of which smaller is better; those of a value without plays stand in one mapping."""

REFUTED = "refuted_by"
"""Measure by which a measurement refutes a claim; a run with one fails its gate."""
SUCCESS = "success"
"""Measure that is the success rate of an attack, which a gate may bound."""


class Measuring(Protocol):
    """Makes a measurement, or returns the stored value of an equal one."""

    def __call__(
        self, subject: str, settings: Mapping[str, Any], measure: Callable[[], Value], losses: Callable[[Value], Losses]
    ) -> Value:
        """Return the value of a measurement.

        - subject: What is measured, such as a mechanism.
        - settings: Everything that the value depends on besides the subject, the code, the data, the seed and the
          number of plays; JSON values. Subject and settings name the measurement within its experiment.
        - measure: Makes the measurement. Its value consists of numbers, texts, arrays, lists, dictionaries, and
          dataclasses of this project (`scenarios.studies.recorded_measurements`).
        - losses: Measures of each play in the value, for comparisons of two runs.
        """


def measured_anew(
    subject: str, settings: Mapping[str, Any], measure: Callable[[], Value], losses: Callable[[Value], Losses]
) -> Value:
    """Make a measurement without storing it (a `Measuring`)."""
    return measure()


def no_losses(value: object) -> Losses:
    """No measures, for values that are not compared."""
    return ()


def by_play(**rates: Sequence[float]) -> list[dict[str, float]]:
    """Measures of each play, from sequences over plays; a shorter sequence lacks the last plays.

    Examples
    --------
    >>> by_play(error=[0.5, 0.25], guessed=[0.75])
    [{'error': 0.5, 'guessed': 0.75}, {'error': 0.25}]
    """
    plays = max(map(len, rates.values()), default=0)
    return [
        {name: float(values[play]) for name, values in rates.items() if play < len(values)} for play in range(plays)
    ]


class Experiment(Parametrized, ABC):
    """A study that runs by itself and reports in sections."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the shipped data sets that it reads: the parameter `dataset`, if it has one."""
        return (self.dataset,) if hasattr(self, "dataset") else ()

    @abstractmethod
    def run(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> tuple[Section, ...]:
        """Run the experiment.

        Parameters
        ----------
        plays : int
            Number of repetitions of whatever is random.
        seed : int
            Seed of all randomness; equal seeds give equal reports.
        say : callable
            Called with one line of progress at a time.
        measured : Measuring
            Makes each measurement, or returns its stored value; by default all are made.
        """


@dataclass(frozen=True)
class ExperimentPlan:
    """An experiment as a scenario file describes it.

    - name, title: Name and title of the scenario.
    - plays, seed: See `Experiment.run`.
    """

    name: str
    title: str
    experiment: Experiment
    plays: int
    seed: int


class _ExperimentHead(ScenarioTable):
    name: str = Field(min_length=1)
    title: str = ""
    plays: int = Field(default=20, ge=1)
    seed: int = Field(default=1, ge=0)


class _ExperimentFile(ScenarioTable):
    scenario: _ExperimentHead
    experiment: MethodTable


def read_experiment(source: str) -> ExperimentPlan | None:
    """Read a scenario that is an experiment; None if its file has no table ``experiment``.

    - source: The name of a shipped scenario, or the path of a TOML file.

    Raises ValueError if there is no such scenario, or a table or key is wrong; names file, table and key.
    """
    path = scenario_path(source)
    tables = scenario_tables(path)
    if "experiment" not in tables:
        return None
    file = validated(path, tables, _ExperimentFile)
    head = file.scenario
    experiment = within(path, "experiment", build, file.experiment.model_dump(), "experiments")
    return ExperimentPlan(head.name, head.title or head.name, experiment, head.plays, head.seed)
