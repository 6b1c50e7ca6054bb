"""``tokumei run``."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenarios.commands.common import (
    FAILED_TRIALS,
    bad_input,
    db_option,
    echo_board,
    format_option,
    html_option,
    matrix_option,
    roles_option,
    write_page,
    written_board,
)

if TYPE_CHECKING:
    from leaderboard.result import Result
    from leaderboard.store import Store
    from scenarios.running.display import Display
    from scenarios.running.plan import Plan
    from scenarios.running.runner import Backend
    from scenarios.running.units import Catalogue

EPILOG = """\b
Examples:
  tokumei run
  tokumei run bank --plays 50 --html board.html
  tokumei run bank -d Mondrian -d Microaggregation -a LikelihoodAssignment
  tokumei run --data people.csv --roles roles.toml --db people.db
  tokumei run bank -d mymodule:MyDefense --min-utility 0.5 --max-success 0.3
  tokumei run my-scenario.toml --format csv > board.csv
  tokumei run bank --explain
  tokumei run bank --time-limit 60 --memory-limit 2G
  tokumei run bank --backend dask --scheduler tcp://host:8786 --db postgresql+psycopg://host/board
  tokumei run pram-histogram --html pram.html
"""
BACKENDS = ("local", "dask")
GATE_FAILED = 1
# A process that a signal ends has this and the signal's number as its exit code.
SIGNALLED = 128


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Bytes of a size such as ``4G``."""
    from scenarios.running.limits import read_size

    try:
        return None if value is None else read_size(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _bound(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """A share in [0, 1]; NaN, below and above which there is nothing, would let everything pass."""
    if value is not None and not 0 <= value <= 1:
        raise click.BadParameter(f"must lie between 0 and 1, got {value:g}")
    return value


@click.command(epilog=EPILOG)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO...]")
@click.option(
    "-d", "--defense", "defenses", multiple=True, help="Play only this defense (repeatable); or module:Class."
)
@click.option("-a", "--attack", "attacks", multiple=True, help="Play only this attack (repeatable); or module:Class.")
@click.option("--plays", type=click.IntRange(min=1), help="How often each pair plays; the scenario's own otherwise.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of everything; the scenario's own otherwise.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes; as many as cores otherwise.")
@click.option(
    "--data", type=click.Path(dir_okay=False, path_type=Path), help="Play on this table (CSV or Parquet) instead."
)
@roles_option
@db_option
@html_option
@format_option
@matrix_option
@click.option("--fresh", is_flag=True, help="Play everything again, known or not.")
@click.option("--explain", is_flag=True, help="Say why each trial would be played, and play none.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Of each trial; the scenario's own otherwise (600).")
@click.option(
    "--memory-limit", callback=_size, metavar="SIZE", help="Of each trial, as in 4G; the scenario's own otherwise (4G)."
)
@click.option(
    "--backend", type=click.Choice(BACKENDS), default="local", show_default=True, help="Where trials are played."
)
@click.option("--scheduler", metavar="URL", help="Scheduler of the Dask cluster, as in tcp://host:8786.")
@click.option(
    "--min-utility", type=float, callback=_bound, help="Gate: exit with 1 if a defense's utility is below this."
)
@click.option(
    "--max-success",
    type=float,
    callback=_bound,
    help="Gate: exit with 1 if an attack on a defense succeeds more often.",
)
@click.option("--quiet", is_flag=True, help="Show no progress and no failures; the board and the exit code tell.")
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
    *,
    matrix: bool,
    fresh: bool,
    explain: bool,
    time_limit: float | None,
    memory_limit: int | None,
    backend: str,
    scheduler: str | None,
    min_utility: float | None,
    max_success: float | None,
    quiet: bool,
) -> None:
    """Play scenarios and show their board.

    SCENARIO is the name of a shipped scenario (`tokumei list scenarios`) or a TOML file; if none is given `bank`,
    or `table` with --data.
    Results are kept: a second run plays only what is missing, which is what failed, and what changed since in source,
    parameters, data, seed or numeric packages (`--explain` says what). A trial that passes a limit is stopped; the
    others go on. A scenario that is an experiment (`pram-histogram`)
    runs alone, reports in tables of its own and keeps nothing.
    """
    from scenarios.commands.experiment import run_experiment, sole_experiment
    from scenarios.running.display import Display

    display = Display(quiet=quiet)
    display.say_on_terminal("reading data and scenario")
    with bad_input():
        if html is not None and not html.absolute().parent.is_dir():
            raise ValueError(f"--html: there is no folder {html.absolute().parent}")
        of_boards: dict[str, object] = {"--defense": defenses, "--attack": attacks, "--data": data, "--roles": roles}
        of_boards |= {"--matrix": matrix, "--min-utility": min_utility, "--max-success": max_success}
        experiment = sole_experiment(scenarios, of_boards)
    if experiment is not None:
        run_experiment(experiment, plays, seed, form, html, display)
        return
    with bad_input():
        plans = _plans(
            scenarios or (("bank",) if data is None else ("table",)),
            data,
            roles,
            defenses,
            attacks,
            plays,
            seed,
            display,
        )
    from leaderboard.store import Store
    from scenarios.running.interrupts import terminable
    from scenarios.running.runner import guarantees
    from scenarios.running.runner import run as run_plan
    from scenarios.running.units import Catalogue

    # What is loaded by now stays: the collector need not look through it again for every thousand results.
    gc.freeze()
    with bad_input():
        plans = [_limited(plan, time_limit, memory_limit) for plan in plans]
        where = _backend(backend, scheduler, jobs)
        catalogues = [Catalogue(plan, tuple(str(promise) for promise in guarantees(plan))) for plan in plans]
    if explain:
        _explain(catalogues, db, form, fresh=fresh)
        return
    interrupted = 0
    with bad_input(), Store(db) as store:
        _remember(store, catalogues)
        for plan, catalogue in zip(plans, catalogues, strict=True):
            with terminable(), display.listener(plan, catalogue, store) as listener:
                interrupted = run_plan(plan, catalogue, store, listener, backend=where, fresh=fresh).interrupted
            if interrupted:
                break
        results = [
            result
            for plan, catalogue in zip(plans, catalogues, strict=True)
            for result in store.results(plan.name, catalogue.keys)
        ]
    if results:
        echo_board(written_board(results, form, matrix=matrix))
        if html is not None:
            with bad_input():
                write_page(results, html)
            display.say(f"page written to {html}")
    if interrupted:
        display.say("interrupted; the same command plays what is missing")
        sys.exit(SIGNALLED + interrupted)
    if any(result.status not in ("ok", "skipped") for result in results):
        sys.exit(FAILED_TRIALS)
    sys.exit(_gate(results, min_utility, max_success))


def _remember(store: Store, catalogues: list[Catalogue]) -> None:
    """Record this run, and which results it is about."""
    from datetime import UTC, datetime

    from leaderboard.runs import record_run
    from scenarios.running.provenance import provenance

    about = provenance([catalogue.plan.name for catalogue in catalogues])
    record_run(
        store, datetime.now(UTC).isoformat(timespec="seconds"), about, set().union(*(c.keys for c in catalogues))
    )


def _gate(results: list[Result], min_utility: float | None, max_success: float | None) -> int:
    """Exit code of the gate; what does not hold goes to standard error."""
    import leaderboard as lb

    if min_utility is None and max_success is None:
        return 0
    reasons = lb.gate_reasons(lb.rank(results), min_utility=min_utility, max_success=max_success)
    for reason in reasons:
        click.echo(f"gate: {reason}", err=True)
    return GATE_FAILED if reasons else 0


def _plans(
    scenarios: tuple[str, ...],
    data: Path | None,
    roles: Path | None,
    defenses: tuple[str, ...],
    attacks: tuple[str, ...],
    plays: int | None,
    seed: int | None,
    display: Display,
) -> list[Plan]:
    from dataclasses import replace

    from scenarios.running.plan import read_plan
    from scenarios.tables.dataset import load_table

    if roles is not None and data is None:
        raise ValueError("--roles describes a table; name it with --data")
    dataset = load_table(data, roles) if data is not None else None
    if dataset is not None:
        for note in dataset.notes:
            display.say(note)
    plans = []
    for name in scenarios:
        plan = read_plan(name, dataset=dataset).filtered(defenses, attacks)
        plans.append(replace(plan, plays=plays or plan.plays, seed=plan.seed if seed is None else seed))
    names = [plan.name for plan in plans]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two scenarios are named {name!r}")
    return plans


def _limited(plan: Plan, time: float | None, memory: int | None) -> Plan:
    """The plan with the limits that the command line gives."""
    from dataclasses import replace

    limits = plan.limits
    if time is not None:
        limits = replace(limits, time=time)
    if memory is not None:
        limits = replace(limits, memory=memory)
    return replace(plan, limits=limits)


def _backend(name: str, scheduler: str | None, jobs: int | None) -> Backend:
    """Where trials are played."""
    if name == "dask":
        from scenarios.running.cluster import DaskCluster

        if scheduler is None:
            raise ValueError("--backend dask: name its scheduler, as in --scheduler tcp://host:8786")
        if jobs is not None:
            raise ValueError("--jobs: the workers of the cluster say how many trials they play at a time")
        return DaskCluster(scheduler)
    if scheduler is not None:
        raise ValueError("--scheduler: goes with --backend dask")
    from scenarios.running.local import LocalProcesses, cores

    return LocalProcesses(jobs or cores())


def _explain(catalogues: list[Catalogue], db: str, form: str, *, fresh: bool) -> None:
    """Say why each trial would be played; a database that does not exist is not made."""
    from leaderboard.store import Store
    from scenarios.running.explanation import explain
    from scenarios.running.explanation_text import written_explanations

    absent = "://" not in db and not Path(db).exists()
    with bad_input(), Store("sqlite://" if absent else db) as store:
        explanations = [one for catalogue in catalogues for one in explain(catalogue, store, fresh=fresh)]
    echo_board(written_explanations(explanations, form))
