"""``tokumei run``."""

from __future__ import annotations

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
    from scenarios.plan import Plan

EPILOG = """\b
Examples:
  tokumei run
  tokumei run bank --plays 50 --html board.html
  tokumei run bank -d Mondrian -d Microaggregation -a LikelihoodAssignment
  tokumei run --data people.csv --roles roles.toml --db people.db
  tokumei run bank -d mymodule:MyDefense
  tokumei run my-scenario.toml --format csv > board.csv
  tokumei run pram-histogram --html pram.html
"""
INTERRUPTED = 130


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
) -> None:
    """Play scenarios and show their board.

    SCENARIO is the name of a shipped scenario (`tokumei list scenarios`) or a TOML file; if none is given `bank`,
    or `table` with --data.
    Results are kept: a second run plays only what is missing. A scenario that is an experiment (`pram-histogram`)
    runs alone, reports in tables of its own and keeps nothing.
    """
    from scenarios.commands.experiment import run_experiment, sole_experiment
    from scenarios.display import Display

    display = Display()
    display.say_on_terminal("reading data and scenario")
    with bad_input():
        if html is not None and not html.absolute().parent.is_dir():
            raise ValueError(f"--html: there is no folder {html.absolute().parent}")
        of_boards = {"--defense": defenses, "--attack": attacks, "--data": data, "--roles": roles, "--matrix": matrix}
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
    from scenarios.runner import guarantees
    from scenarios.runner import run as run_plan
    from scenarios.units import Catalogue

    with bad_input():
        catalogues = [Catalogue(plan, tuple(str(promise) for promise in guarantees(plan))) for plan in plans]
        store = Store(db)
    with store:
        failed, interrupted = 0, False
        for plan, catalogue in zip(plans, catalogues, strict=True):
            listener = display.listener(plan, catalogue, store)
            with listener:
                summary = run_plan(plan, catalogue, store, listener, jobs=jobs or _cores(), fresh=fresh)
            failed += summary.failed
            interrupted = interrupted or summary.interrupted
            if interrupted:
                break
        keys = {key for catalogue in catalogues for key in catalogue.keys}
        results = [result for plan in plans for result in store.results(plan.name) if result.key in keys]
    if results:
        echo_board(written_board(results, form, matrix=matrix))
        if html is not None:
            with bad_input():
                write_page(results, html)
            display.say(f"page written to {html}")
    if interrupted:
        display.say("interrupted; the same command plays what is missing")
        sys.exit(INTERRUPTED)
    sys.exit(FAILED_TRIALS if any(result.status not in ("ok", "skipped") for result in results) else 0)


def _plans(
    scenarios: tuple[str, ...],
    data: Path | None,
    roles: Path | None,
    defenses: tuple[str, ...],
    attacks: tuple[str, ...],
    plays: int | None,
    seed: int | None,
    display: object,
) -> list[Plan]:
    from dataclasses import replace

    from scenarios.display import Display
    from scenarios.plan import read_plan
    from scenarios.tables import load_table

    if roles is not None and data is None:
        raise ValueError("--roles describes a table; name it with --data")
    dataset = load_table(data, roles) if data is not None else None
    if dataset is not None and isinstance(display, Display):
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


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
