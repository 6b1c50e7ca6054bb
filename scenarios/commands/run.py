"""``tokumei run``."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import leaderboard as lb
from metrics.columns import refuse
from scenarios.commands.common import (
    BOUND_OPTIONS,
    FAILED_TRIALS,
    GATE_FAILED,
    NOTHING,
    REPORT_OPTIONS,
    SIGNALLED,
    as_check,
    check_goals,
    db_option,
    echo,
    echo_board,
    echo_each,
    ending_if_interrupted,
    format_option,
    html_option,
    matrix_option,
    report_checks,
    roles_option,
    shows_summary,
    write_page,
    write_report,
    written_board,
    written_summary,
)

if TYPE_CHECKING:
    from scenarios.running.display import Display
    from scenarios.running.plan import Plan
    from scenarios.running.runner import Backend, Changes, Played
    from scenarios.running.units import Catalogue
    from scenarios.studies.experiment import ExperimentPlan

# Options of ``tokumei run``.

BACKENDS = ("local", "dask")


def _bytes(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Number of bytes of a size such as ``4G``."""
    from scenarios.running.workers.isolation import read_size

    try:
        return None if value is None else read_size(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


EPILOG = """\b
Examples:
  tokumei run
  tokumei run bank --plays 50 --html board.html
  tokumei run bank -d Mondrian -d Microaggregation -a LikelihoodAssignment
  tokumei run bank -d "Mondrian k=3" -d "Mondrian k=7"
  tokumei run --data people.csv --roles roles.toml --db people.db
  tokumei run bank -d mymodule:MyDefense --min-utility 0.4 --max-advantage 0.3
  tokumei run bank -d mymodule:MyDefense --max-advantage rows=0.1 --junit gate.xml
  tokumei run my-scenario.toml --format csv > board.csv
  tokumei run bank --explain
  tokumei run bank --time-limit 60 --memory-limit 2G
  tokumei run bank --backend dask --scheduler tcp://host:8786 --db postgresql+psycopg://host/board
  tokumei run pram-histogram --html pram.html
"""


@click.command(epilog=EPILOG)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO...]")
@click.option(
    "-d",
    "--defense",
    "defenses",
    multiple=True,
    help="Play only this defense (repeatable); module:Class, or 'Mondrian k=3', is added.",
)
@click.option(
    "-a",
    "--attack",
    "attacks",
    multiple=True,
    help="Play only this attack (repeatable); module:Class, or 'LearnedLinkage simulations=2', is added.",
)
@click.option("--plays", type=click.IntRange(min=1), help="How often each pair plays.  [default: the scenario's own]")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of all randomness.  [default: the scenario's own]")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), help="Number of worker processes.  [default: number of cores]"
)
@click.option(
    "--data",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Play on this table (CSV or Parquet) instead of the scenario's data set.",
)
@roles_option
@db_option
@html_option
@format_option
@matrix_option
@click.option("--fresh", is_flag=True, help="Play every trial again, even if its result is stored.")
@click.option("--explain", is_flag=True, help="Play nothing; say why each trial would be played.")
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="Time limit of each trial.  [default: the scenario's own, or 600]",
)
@click.option(
    "--memory-limit",
    callback=_bytes,
    metavar="SIZE",
    help="Memory limit of each trial, such as 4G.  [default: the scenario's own, or 4G]",
)
@click.option(
    "--backend", type=click.Choice(BACKENDS), default="local", show_default=True, help="Where trials are played."
)
@click.option("--scheduler", metavar="URL", help="Scheduler of the Dask cluster, such as tcp://host:8786.")
@BOUND_OPTIONS[0]
@BOUND_OPTIONS[1]
@BOUND_OPTIONS[2]
@REPORT_OPTIONS[0]
@REPORT_OPTIONS[1]
@click.option("--quiet", is_flag=True, help="Show no progress and no failures, only the board and the exit code.")
def run(
    scenarios: tuple[str, ...],
    defenses: tuple[str, ...],
    attacks: tuple[str, ...],
    plays: int | None,
    seed: int | None,
    jobs: int | None,
    data: Path | None,
    roles: Path | None,
    db: str,
    html: Path | None,
    form: str,
    time_limit: float | None,
    memory_limit: int | None,
    backend: str,
    scheduler: str | None,
    min_utility: float | None,
    max_success: float | None,
    max_advantage: dict[str | None, float],
    junit: Path | None,
    *,
    matrix: bool,
    fresh: bool,
    explain: bool,
    annotate: bool,
    quiet: bool,
) -> None:
    """Play scenarios and show their board.

    SCENARIO is the name of a shipped scenario (`tokumei list scenarios`) or a TOML file. The default is `bank`, or
    `table` with --data.

    Results are stored. A second run plays only trials that failed, are new, or whose source, parameters, data, seed or
    numeric packages changed; `--explain` lists the reasons. A trial that exceeds a limit is stopped, and the others go
    on.

    A scenario that is an experiment (such as `pram-histogram`) runs alone and reports in tables of its own. Its
    measurements are stored, too; `tokumei board` shows the report again.
    """
    from scenarios.running.display import Display
    from scenarios.running.runner import Changes, catalogues_of, play_catalogues
    from scenarios.running.workers.fork_server import start_server

    display = Display(quiet=quiet)
    display.say_on_terminal("reading data and scenario")
    bounds = lb.GateBounds(min_utility=min_utility, max_success=max_success, max_advantage=max_advantage)
    report = partial(report_checks, junit=junit, annotate=annotate)
    board_only = {
        "--defense": defenses,
        "--attack": attacks,
        "--data": data,
        "--roles": roles,
        "--matrix": matrix,
        "--min-utility": min_utility,
        "--max-advantage": max_advantage,
        "--explain": explain,
        "--backend dask": backend == "dask",
    }
    experiment = sole_experiment(scenarios, board_only)
    if experiment is not None:
        plan = replace(experiment, plays=plays or experiment.plays, seed=experiment.seed if seed is None else seed)
        run_experiment(plan, db, display, bounds, report, partial(write_report, form=form, html=html), fresh=fresh)
        return
    if backend == "local" and not explain:
        start_server()
    changes = Changes(
        defenses=defenses,
        attacks=attacks,
        plays=plays,
        seed=seed,
        time_limit=time_limit,
        memory_limit=memory_limit,
    )
    plans = _plans(scenarios, data, roles, changes, display)
    check_goals(max_advantage, plans)
    processes = _backend(backend, scheduler, jobs)
    # Modules and data stay in memory until the end: the garbage collector need not visit them again and again.
    gc.freeze()
    catalogues = catalogues_of(plans, None if data is None else display.say)
    if explain:
        _explain(catalogues, db, form, fresh=fresh)
        return
    played = play_catalogues(catalogues, processes, db, display.listener, fresh=fresh)
    _show(played, form, html, display, matrix=matrix)
    sys.exit(_exit_code(played, bounds, report))


def _plans(
    scenarios: tuple[str, ...], data: Path | None, roles: Path | None, changes: Changes, display: Display
) -> list[Plan]:
    """The scenarios with the user's table and changes."""
    from scenarios.running.runner import changed_plans
    from scenarios.tables.dataset import load_table

    refuse(roles is not None and data is None, "--roles describes a table; name it with --data")
    dataset = None if data is None else load_table(data, roles)
    return changed_plans(scenarios, dataset, changes, display.say_notes)


def _backend(backend: str, scheduler: str | None, jobs: int | None) -> Backend:
    """Where trials are played."""
    if backend == "dask":
        from scenarios.running.workers.cluster import DaskCluster

        if scheduler is None:
            raise ValueError("--backend dask: name its scheduler, as in --scheduler tcp://host:8786")
        refuse(jobs is not None, "--jobs: the workers of the cluster say how many trials they play at a time")
        return DaskCluster(scheduler)
    refuse(scheduler is not None, "--scheduler: goes with --backend dask")
    from scenarios.running.workers.local_processes import LocalProcesses, cores

    return LocalProcesses(jobs or cores())


def _explain(catalogues: list[Catalogue], db: str, form: str, *, fresh: bool) -> None:
    """Say why each trial would be played; a database that does not exist is not created."""
    from scenarios.running.explanation import explain, written_explanations

    absent = "://" not in db and not Path(db).exists()
    with lb.Store("sqlite://" if absent else db) as store:
        explanations = [each for catalogue in catalogues for each in explain(catalogue, store, fresh=fresh)]
    echo_board(written_explanations(explanations, form))


def _show(played: Played, form: str, html: Path | None, display: Display, *, matrix: bool) -> None:
    """Write the board to standard output, and the page where one is asked for."""
    if played.results:
        if shows_summary(played.results, form, matrix=matrix):
            echo_board(written_summary(played.results, form))
        else:
            echo_board(written_board(played.results, form, matrix=matrix, guarantees=played.guarantees))
        if html is not None:
            write_page(played.results, html, played.guarantees)
            display.say(f"page written to {html}")
    if played.interrupted:
        display.say("interrupted; the same command plays what is missing")


def _exit_code(played: Played, bounds: lb.GateBounds, report: Callable[[Sequence[lb.ReportedCheck]], None]) -> int:
    """Exit code of the run; what the gate refuses goes to standard error, and to `report` with what failed."""
    from leaderboard.results.goals import goal_words
    from leaderboard.statistics.gate import few_plays_note, not_sure_note

    if played.interrupted:
        return SIGNALLED + played.interrupted
    trials = lb.trial_checks(played.results)
    failed = any(check.error for check in trials)
    judged = lb.gate_checks(played.results, bounds) if bounds else []
    report([*trials, *map(as_check, judged)])
    if failed:
        return FAILED_TRIALS
    echo_each("gate: warning", [few_plays_note(played.results) or None] if bounds else [])
    echo_each("gate", [not_sure_note(judged) or None])
    unmeasured = lb.unmeasured_goals(played.results, bounds)
    echo_each("gate", (f"no attack on {goal_words(goal)} was measured by enough trials" for goal in unmeasured))
    refused = [check.reason for check in judged if not check.passed]
    echo_each("gate", refused)
    if refused:
        return GATE_FAILED
    return NOTHING if unmeasured else 0


# Experiments on the command line.


def sole_experiment(scenarios: tuple[str, ...], options: Mapping[str, Any]) -> ExperimentPlan | None:
    """The experiment among the named scenarios, None if there is none; an experiment must be run alone.

    A ValueError is raised if it is named among other scenarios or with an option that it does not take, or its file is
    wrong. `options` are such options, with their values.
    """
    from scenarios.studies.experiment import read_experiment

    experiments = [plan for plan in map(read_experiment, scenarios) if plan is not None]
    if not experiments:
        return None
    experiment = experiments[0]
    refuse(len(scenarios) > 1, f"{experiment.name} is an experiment and must be run alone")
    for name, value in options.items():
        refuse(value, f"{experiment.name} is an experiment, it takes no {name}")
    return experiment


def run_experiment(
    plan: ExperimentPlan,
    db: str,
    display: Display,
    bounds: lb.GateBounds,
    report: Callable[[Sequence[lb.ReportedCheck]], None],
    write: Callable[[str, Mapping[str, str], Sequence[lb.Section]], None],
    *,
    fresh: bool,
) -> None:
    """Make the measurements of an experiment that are not stored, and write its report; exits with the run's code.

    The report goes to standard output in one of `FORMATS`, and into an HTML page. It is stored beside the measurements.
    """
    from leaderboard.pages.report import StoredReport, keep_report
    from scenarios.running.runner import record_run_of
    from scenarios.studies.recorded_measurements import MeasurementFailed, RecordedMeasurements

    about = {"scenario": plan.name, "plays": str(plan.plays), "seed": str(plan.seed)}
    with lb.Store(db) as store:
        recorded = RecordedMeasurements(store, plan, fresh=fresh)
        try:
            with ending_if_interrupted(display.say, "makes the measurements that are missing"):
                sections = plan.experiment.run(plan.plays, plan.seed, display.say, recorded)
        except MeasurementFailed as failure:
            record_run_of(store, [plan.name], {result.key for result in recorded.results})
            echo(f"failed: {failure}; the same command tries it again", err=True)
            sys.exit(FAILED_TRIALS)
        record_run_of(store, [plan.name], {result.key for result in recorded.results})
        keep_report(store, StoredReport(plan.name, plan.title, about, sections))
    reused = len({result.parts for result in recorded.results}) - recorded.made
    display.say(f"{plan.name}: {recorded.made} measurements made, {reused} known from earlier runs")
    write(plan.title, about, sections)
    reasons = gate_reasons(recorded.results, bounds.max_success)
    checks = [lb.ReportedCheck(plan.name, "claims and bounds", failure=reason) for reason in reasons or [""]]
    report(checks)
    echo_each("gate", reasons)
    if reasons:
        sys.exit(GATE_FAILED)


def gate_reasons(results: Sequence[lb.Result], max_success: float | None) -> list[str]:
    """Reasons why the gate of an experiment fails, one line each: a refuted claim, or an attack's success rate.

    - max_success: Upper bound of the mean success rate of each attack that the experiment plays.
    """
    from leaderboard.pages.number_text import number
    from leaderboard.results import grouped_by
    from scenarios.studies.experiment import REFUTED, SUCCESS

    measured = [
        (f"{one.scenario}: {lb.label(one.defense, one.parameters)}", one.values.get(REFUTED), one.values.get(SUCCESS))
        for one in results
    ]
    reasons = [
        f"{name}: the measured epsilon refutes the claim by {excess:.3g}"
        for name, excess, _ in measured
        if excess is not None
    ]
    rates = [(name, rate) for name, _, rate in measured if rate is not None]
    for name, pairs in grouped_by(rates, itemgetter(0)).items():
        mean = sum(rate for _, rate in pairs) / len(pairs)
        if max_success is not None and mean > max_success:
            reasons.append(f"{name}: success {number(mean, 3)} is above {number(max_success, 3)}")
    return reasons
