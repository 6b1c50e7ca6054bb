"""Running an experiment from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.commands.common import bad_input, write_report

if TYPE_CHECKING:
    from scenarios.experiments.experiment import ExperimentPlan
    from scenarios.running.display import Display


def sole_experiment(scenarios: tuple[str, ...], options: Mapping[str, Any]) -> ExperimentPlan | None:
    """The experiment among the scenarios named, which must then be the only one; None if there is none.

    Parameters
    ----------
    scenarios : tuple of str
        Names and paths.
    options : mapping of str
        Options that make no sense with an experiment, with what was given for them.

    Raises
    ------
    ValueError
        If an experiment is named among other scenarios or with such an option, or its file is wrong.
    """
    from scenarios.experiments.experiment import read_experiment

    found = [plan for plan in map(read_experiment, scenarios) if plan is not None]
    if not found:
        return None
    if len(scenarios) > 1:
        raise ValueError(f"{found[0].name} is an experiment and must be run alone")
    unfit = [name for name, value in options.items() if value]
    if unfit:
        raise ValueError(f"{found[0].name} is an experiment, it takes no {unfit[0]}")
    return found[0]


def run_experiment(
    plan: ExperimentPlan, plays: int | None, seed: int | None, form: str, html: Path | None, display: Display
) -> None:
    """Run an experiment, write its tables in a form of `FORMATS` to standard output, and its page."""
    plays, seed = plays or plan.plays, plan.seed if seed is None else seed
    with bad_input():
        sections = plan.experiment.run(plays, seed, display.say)
    about = {"scenario": plan.name, "plays": str(plays), "seed": str(seed)}
    write_report(plan.title, about, sections, form, html)
