"""``tokumei run``."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    from scenarios.running.runner import Backend, Played
    from scenarios.running.units import Catalogue
    from scenarios.studies.experiment import ExperimentPlan

# Options of ``tokumei run``.

BACKENDS = ("local", "dask")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What the user asks of ``tokumei run``; None where an option is not given.

    Attributes
    ----------
    scenarios : tuple of str
        Names of shipped scenarios and paths of scenario files; empty for the default one.
    defenses, attacks : tuple of str
        Methods to play; empty for all of the scenario.
    plays, seed : int, optional
        Replace those of the scenario.
    jobs : int, optional
        Worker processes.
    data, roles : Path, optional
        The user's own table, and the roles of its columns.
    db : str
        Database of results: a file or an SQLAlchemy URL.
    html : Path, optional
        Page to write.
    form : str
        Form of the board, one of `scenarios.commands.common.FORMATS`.
    matrix : bool
        Show the success of every attack against every defense.
    fresh : bool
        Play trials again whose results are stored.
    explain : bool
        Play nothing; say why each trial would be played.
    time_limit : float, optional
        Seconds that a trial may take.
    memory_limit : int, optional
        Bytes that a trial may use.
    backend : {"local", "dask"}
        Where trials are played.
    scheduler : str, optional
        URL of the Dask scheduler.
    min_utility, max_success : float, optional
        Gate on every defense, each in [0, 1].
    max_advantage : dict of str or None to float
        Gate on the advantage by goal; None for all goals together.
    junit : Path, optional
        File of checks to write.
    annotate : bool
        Write failed checks as annotations of GitHub Actions.
    quiet : bool
        Show neither progress nor failures.
    """

    scenarios: tuple[str, ...]
    defenses: tuple[str, ...]
    attacks: tuple[str, ...]
    plays: int | None
    seed: int | None
    jobs: int | None
    data: Path | None
    roles: Path | None
    db: str
    html: Path | None
    form: str
    matrix: bool
    fresh: bool
    explain: bool
    time_limit: float | None
    memory_limit: int | None
    backend: str
    scheduler: str | None
    min_utility: float | None
    max_success: float | None
    max_advantage: dict[str | None, float]
    junit: Path | None
    annotate: bool
    quiet: bool

    @property
    def board_only(self) -> dict[str, object]:
        """Options that an experiment does not take, with their values."""
        return {
            "--defense": self.defenses,
            "--attack": self.attacks,
            "--data": self.data,
            "--roles": self.roles,
            "--matrix": self.matrix,
            "--min-utility": self.min_utility,
            "--max-advantage": self.max_advantage,
            "--explain": self.explain,
            "--backend dask": self.backend == "dask",
        }


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
def run(**given: Any) -> None:
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
    from scenarios.running.runner import catalogues_of, play_catalogues
    from scenarios.running.workers.fork_server import start_server

    options = RunOptions(**given)
    display = Display(quiet=options.quiet)
    display.say_on_terminal("reading data and scenario")
    experiment = sole_experiment(options.scenarios, options.board_only)
    if experiment is not None:
        run_experiment(experiment, options, display)
        return
    if options.backend == "local" and not options.explain:
        start_server()
    plans = _plans(options, display)
    check_goals(options.max_advantage, plans)
    backend = _backend(options)
    # Modules and data stay in memory until the end: the garbage collector need not visit them again and again.
    gc.freeze()
    catalogues = catalogues_of(plans, None if options.data is None else display.say)
    if options.explain:
        _explain(catalogues, options)
        return
    played = play_catalogues(catalogues, backend, options.db, display.listener, fresh=options.fresh)
    _show(played, options, display)
    sys.exit(_exit_code(played, options))


def _plans(options: RunOptions, display: Display) -> list[Plan]:
    """The scenarios as the options change them."""
    from scenarios.running.runner import Changes, changed_plans
    from scenarios.tables.dataset import load_table

    refuse(options.roles is not None and options.data is None, "--roles describes a table; name it with --data")
    dataset = None if options.data is None else load_table(options.data, options.roles)
    changes = Changes(
        defenses=options.defenses,
        attacks=options.attacks,
        plays=options.plays,
        seed=options.seed,
        time_limit=options.time_limit,
        memory_limit=options.memory_limit,
    )
    return changed_plans(options.scenarios, dataset, changes, display.say_notes)


def _backend(options: RunOptions) -> Backend:
    """Where trials are played."""
    if options.backend == "dask":
        from scenarios.running.workers.cluster import DaskCluster

        if options.scheduler is None:
            raise ValueError("--backend dask: name its scheduler, as in --scheduler tcp://host:8786")
        refuse(options.jobs is not None, "--jobs: the workers of the cluster say how many trials they play at a time")
        return DaskCluster(options.scheduler)
    refuse(options.scheduler is not None, "--scheduler: goes with --backend dask")
    from scenarios.running.workers.supervisor import LocalProcesses, cores

    return LocalProcesses(options.jobs or cores())


def _explain(catalogues: list[Catalogue], options: RunOptions) -> None:
    """Say why each trial would be played; a database that does not exist is not created."""
    from scenarios.running.explanation import explain, written_explanations

    absent = "://" not in options.db and not Path(options.db).exists()
    with lb.Store("sqlite://" if absent else options.db) as store:
        explanations = [
            explanation for catalogue in catalogues for explanation in explain(catalogue, store, fresh=options.fresh)
        ]
    echo_board(written_explanations(explanations, options.form))


def _show(played: Played, options: RunOptions, display: Display) -> None:
    """Write the board to standard output, and the page where one is asked for."""
    if played.results:
        if shows_summary(played.results, options.form, matrix=options.matrix):
            echo_board(written_summary(played.results, options.form))
        else:
            echo_board(written_board(played.results, options.form, matrix=options.matrix, guarantees=played.guarantees))
        if options.html is not None:
            write_page(played.results, options.html, played.guarantees)
            display.say(f"page written to {options.html}")
    if played.interrupted:
        display.say("interrupted; the same command plays what is missing")


def _exit_code(played: Played, options: RunOptions) -> int:
    """Exit code of the run; what the gate refuses goes to standard error, and to the file of `--junit`."""
    from leaderboard.results.goals import goal_words
    from leaderboard.statistics.gate import few_plays_note, not_sure_note

    if played.interrupted:
        return SIGNALLED + played.interrupted
    bounds = lb.GateBounds(
        min_utility=options.min_utility, max_success=options.max_success, max_advantage=options.max_advantage
    )
    trials = lb.trial_checks(played.results)
    failed = any(check.error for check in trials)
    judged = lb.gate_checks(played.results, bounds) if bounds else []
    report_checks([*trials, *map(as_check, judged)], options.junit, annotate=options.annotate)
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
    refuse(len(scenarios) > 1, f"{experiment.name} is an experiment and must be run alone")
    for name, value in options.items():
        refuse(value, f"{experiment.name} is an experiment, it takes no {name}")
    return experiment


def run_experiment(plan: ExperimentPlan, options: RunOptions, display: Display) -> None:
    """Make the measurements of an experiment that are not stored, and write its report; exits with the run's code.

    The report goes to standard output in one of `FORMATS`, and into an HTML page. It is stored beside the measurements.
    """
    from leaderboard.pages.report import StoredReport, keep_report
    from scenarios.running.runner import record_run_of
    from scenarios.studies.recorded_measurements import MeasurementFailed, RecordedMeasurements

    plan = replace(plan, plays=options.plays or plan.plays, seed=plan.seed if options.seed is None else options.seed)
    about = {"scenario": plan.name, "plays": str(plan.plays), "seed": str(plan.seed)}
    with lb.Store(options.db) as store:
        recorded = RecordedMeasurements(store, plan, fresh=options.fresh)
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
    write_report(plan.title, about, sections, options.form, options.html)
    reasons = gate_reasons(recorded.results, options.max_success)
    checks = [lb.ReportedCheck(plan.name, "claims and bounds", failure=reason) for reason in reasons or [""]]
    report_checks(checks, options.junit, annotate=options.annotate)
    echo_each("gate", reasons)
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
