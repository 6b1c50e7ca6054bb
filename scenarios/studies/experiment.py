"""Experiments: scenarios that report tables and charts of their own instead of a board."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from defenses.base.parameters import check_list
from defenses.base.parametrized import Parametrized
from leaderboard.pages.report import Section
from scenarios.running.methods.methods import build
from scenarios.studies.measuring import Measuring, measured_anew
from scenarios.tables.toml.scenario_file import MethodTable, ScenarioTable, scenario_path, scenario_tables, within
from scenarios.tables.toml.toml_file import validated


def check_each(name: str, values: Any, check: Callable[..., None], **bounds: Any) -> None:
    """Raise ValueError naming the parameter unless it is a filled list whose entries all pass the check."""
    check_list(name, values)
    for value in values:
        check(name, value, **bounds)


class Experiment(Parametrized, ABC):
    """A study that runs by itself and reports in sections."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the shipped data sets that it reads."""
        return ()

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

    Attributes
    ----------
    name, title : str
        Name and title of the scenario.
    experiment : Experiment
        The experiment.
    plays, seed : int
        See `Experiment.run`.
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

    Parameters
    ----------
    source : str
        The name of a shipped scenario, or the path of a TOML file.

    Raises
    ------
    ValueError
        If there is no such scenario, or a table or key is wrong; names file, table and key.
    """
    path = scenario_path(source)
    tables = scenario_tables(path)
    if "experiment" not in tables:
        return None
    file = validated(path, tables, _ExperimentFile)
    head = file.scenario
    experiment = within(path, "experiment", build, file.experiment.model_dump(), "experiments")
    return ExperimentPlan(head.name, head.title or head.name, experiment, head.plays, head.seed)
