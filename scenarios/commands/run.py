"""``tokumei run``."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import leaderboard as lb
from scenarios.commands.common import (
    FAILED_TRIALS,
    GATE_FAILED,
    NOTHING,
    SIGNALLED,
    bad_input,
    echo,
    echo_board,
    shows_summary,
    write_page,
    written_board,
    written_summary,
)
from scenarios.commands.gate_options import as_check, check_goals, report_checks
from scenarios.commands.run_options import RunOptions, run_options

if TYPE_CHECKING:
    from scenarios.running.boards.playing import Played
    from scenarios.running.display import Display
    from scenarios.running.plan import Plan
    from scenarios.running.runner import Backend
    from scenarios.running.units import Catalogue

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
@run_options
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
    from scenarios.commands.experiment import run_experiment, sole_experiment
    from scenarios.running.boards.playing import catalogues_of, play_catalogues
    from scenarios.running.display import Display
    from scenarios.running.workers.fork_server import start_server

    options = RunOptions(**given)
    display = Display(quiet=options.quiet)
    display.say_on_terminal("reading data and scenario")
    with bad_input():
        experiment = sole_experiment(options.scenarios, options.board_only)
    if experiment is not None:
        run_experiment(experiment, options, display)
        return
    with bad_input():
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
    with bad_input():
        played = play_catalogues(catalogues, backend, options.db, display.listener, fresh=options.fresh)
    _show(played, options, display)
    sys.exit(_exit_code(played, options))


def _plans(options: RunOptions, display: Display) -> list[Plan]:
    """The scenarios as the options change them."""
    from scenarios.running.boards.playing import Changes, changed_plans
    from scenarios.tables.dataset import load_table

    if options.roles is not None and options.data is None:
        raise ValueError("--roles describes a table; name it with --data")
    dataset = None if options.data is None else load_table(options.data, options.roles)
    changes = Changes(
        defenses=options.defenses,
        attacks=options.attacks,
        plays=options.plays,
        seed=options.seed,
        time_limit=options.time_limit,
        memory_limit=options.memory_limit,
    )
    return changed_plans(options.scenarios, dataset, changes, display.say)


def _backend(options: RunOptions) -> Backend:
    """Where trials are played."""
    if options.backend == "dask":
        from scenarios.running.workers.cluster import DaskCluster

        if options.scheduler is None:
            raise ValueError("--backend dask: name its scheduler, as in --scheduler tcp://host:8786")
        if options.jobs is not None:
            raise ValueError("--jobs: the workers of the cluster say how many trials they play at a time")
        return DaskCluster(options.scheduler)
    if options.scheduler is not None:
        raise ValueError("--scheduler: goes with --backend dask")
    from scenarios.running.workers.local import LocalProcesses, cores

    return LocalProcesses(options.jobs or cores())


def _explain(catalogues: list[Catalogue], options: RunOptions) -> None:
    """Say why each trial would be played; a database that does not exist is not created."""
    from scenarios.running.explanation import explain, written_explanations

    absent = "://" not in options.db and not Path(options.db).exists()
    with bad_input(), lb.Store("sqlite://" if absent else options.db) as store:
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
            echo_board(written_board(played.results, options.form, matrix=options.matrix, promises=played.promises))
        if options.html is not None:
            with bad_input():
                write_page(played.results, options.html, played.promises)
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
    if bounds and (note := few_plays_note(played.results)):
        echo(f"gate: warning: {note}", err=True)
    if note := not_sure_note(judged):
        echo(f"gate: {note}", err=True)
    unmeasured = lb.unmeasured_goals(played.results, bounds)
    for goal in unmeasured:
        echo(f"gate: no attack on {goal_words(goal)} was measured by enough trials", err=True)
    refused = [check for check in judged if not check.passed]
    for check in refused:
        echo(f"gate: {check.reason}", err=True)
    if refused:
        return GATE_FAILED
    return NOTHING if unmeasured else 0
