"""Experiments on the command line."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import leaderboard as lb
from scenarios.commands.common import FAILED_TRIALS, GATE_FAILED, SIGNALLED, bad_input, echo, write_report
from scenarios.commands.gate_options import report_checks

if TYPE_CHECKING:
    from scenarios.commands.run import RunOptions
    from scenarios.running.display import Display
    from scenarios.studies.experiment import ExperimentPlan


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
    from scenarios.studies.experiment import read_experiment

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


def run_experiment(plan: ExperimentPlan, options: RunOptions, display: Display) -> None:
    """Make the measurements of an experiment that are not stored, and write its report; exits with the run's code.

    The report goes to standard output in one of `FORMATS`, and into an HTML page. It is stored beside the measurements.
    """
    from leaderboard.pages.report import StoredReport, keep_report
    from scenarios.running.boards.playing import record_run_of
    from scenarios.running.workers.interrupts import signal_of, terminable
    from scenarios.studies.recorded_measurements import MeasurementFailed, RecordedMeasurements

    seed = plan.seed if options.seed is None else options.seed
    plan = replace(plan, plays=options.plays or plan.plays, seed=seed)
    about = {"scenario": plan.name, "plays": str(plan.plays), "seed": str(plan.seed)}
    with bad_input(), lb.Store(options.db) as store:
        recorded = RecordedMeasurements(store, plan, fresh=options.fresh)
        try:
            with terminable():
                sections = plan.experiment.run(plan.plays, plan.seed, display.say, recorded)
        except KeyboardInterrupt as interrupt:
            display.say("interrupted; the same command makes the measurements that are missing")
            sys.exit(SIGNALLED + signal_of(interrupt))
        except MeasurementFailed as failure:
            record_run_of(store, [plan.name], {result.key for result in recorded.results})
            echo(f"failed: {failure}; the same command tries it again", err=True)
            sys.exit(FAILED_TRIALS)
        record_run_of(store, [plan.name], {result.key for result in recorded.results})
        keep_report(store, StoredReport(plan.name, plan.title, about, sections))
    reused = len({result.parts for result in recorded.results}) - recorded.made
    display.say(f"{plan.name}: {recorded.made} measurements made, {reused} known from earlier runs")
    write_report(plan.title, about, sections, options.form, options.html)
    reasons = gate_reasons(recorded.results, options.max_success)
    name = "claims and bounds"
    checks = [lb.ReportedCheck(plan.name, name, failure=reason) for reason in reasons] or [
        lb.ReportedCheck(plan.name, name)
    ]
    report_checks(checks, options.junit, annotate=options.annotate)
    for reason in reasons:
        echo(f"gate: {reason}", err=True)
    if reasons:
        sys.exit(GATE_FAILED)


def gate_reasons(results: Sequence[lb.Result], max_success: float | None) -> list[str]:
    """Reasons why the gate of an experiment fails, one line each: a refuted claim, or an attack's success rate.

    Parameters
    ----------
    results : sequence of Result
        Measurements.
    max_success : float, optional
        Upper bound of the mean success rate of each attack that the experiment plays.
    """
    from leaderboard.pages.number_text import number
    from scenarios.studies.experiment import REFUTED, SUCCESS

    rates: dict[str, list[float]] = {}
    reasons = []
    for result in results:
        name = f"{result.scenario}: {lb.label(result.defense, result.parameters)}"
        excess, rate = result.values.get(REFUTED), result.values.get(SUCCESS)
        if excess is not None:
            reasons.append(f"{name}: the measured epsilon refutes the claim by {excess:.3g}")
        if rate is not None:
            rates.setdefault(name, []).append(rate)
    for name, values in rates.items():
        mean = sum(values) / len(values)
        if max_success is not None and mean > max_success:
            reasons.append(f"{name}: success {number(mean, 3)} is above {number(max_success, 3)}")
    return reasons
