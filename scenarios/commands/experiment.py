"""Experiments on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.commands.common import bad_input, write_report

if TYPE_CHECKING:
    from scenarios.experiments.experiment import ExperimentPlan
    from scenarios.running.display import Display


def sole_experiment(scenarios: tuple[str, ...], options: Mapping[str, Any]) -> ExperimentPlan | None:
    """The experiment among the named scenarios, None if there is none; an experiment must be run alone.

    Parameters
    ----------
    scenarios : tuple of str
        Names and paths.
    options : mapping of str
        Options that an experiment does not take, with their values.

    Raises
    ------
    ValueError
        If an experiment is named among other scenarios or with such an option, or its file is wrong.
    """
    from scenarios.experiments.experiment import read_experiment

    experiments = [plan for plan in map(read_experiment, scenarios) if plan is not None]
    if not experiments:
        return None
    experiment = experiments[0]
    if len(scenarios) > 1:
        raise ValueError(f"{experiment.name} is an experiment and must be run alone")
    for name, value in options.items():
        if value:
            raise ValueError(f"{experiment.name} is an experiment, it takes no {name}")
    return experiment


def run_experiment(
    plan: ExperimentPlan, plays: int | None, seed: int | None, form: str, html: Path | None, display: Display
) -> None:
    """Run an experiment and write its report: to standard output in one of `FORMATS`, and as an HTML page."""
    plays, seed = plays or plan.plays, plan.seed if seed is None else seed
    with bad_input():
        sections = plan.experiment.run(plays, seed, display.say)
    about = {"scenario": plan.name, "plays": str(plays), "seed": str(seed)}
    write_report(plan.title, about, sections, form, html)
