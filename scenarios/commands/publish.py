"""``tokumei publish``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import leaderboard as lb
from leaderboard.pages.number_text import counted
from scenarios.commands.common import (
    FAILED_TRIALS,
    GATE_FAILED,
    db_option,
    echo,
    end_interrupted,
    write_page,
    written_board,
    written_summary,
)

if TYPE_CHECKING:
    from scenarios.running.display import Display
    from scenarios.running.runner import Played
    from scenarios.running.units import Catalogue

EPILOG = """\b
Examples:
  tokumei publish arena docs/board           play what is missing or stale, and write the board
  tokumei publish arena docs/board --check   say which results are stale; exit 1 if any is
"""


FILES = ("index.html", "board.csv", "settings.csv", "matrix.csv", "summary.md")
"""Files of a standing board beside its results and record."""


@click.command(epilog=EPILOG)
@click.argument("scenario")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@db_option
@click.option("--check", is_flag=True, help="Play and write nothing; say which results are missing or stale.")
@click.option("--plays", type=click.IntRange(min=1), help="How often each pair plays.  [default: the scenario's own]")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Number of worker processes.  [default: all cores]")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def publish(
    scenario: str, folder: Path, db: str, plays: int | None, jobs: int | None, *, check: bool, quiet: bool
) -> None:
    """Make or refresh a standing board: a folder with a scenario's board and all results behind it.

    The folder gets the page (index.html), board.csv, matrix.csv and summary.md. settings.csv has the worst attack on
    each setting over all goals. All results are in results.jsonl.gz. The record of the run (record.json) states
    version, revision, packages, seed and machine.

    A result is stale if anything that it depends on has changed: sources, parameters, data, seed or packages. Only
    missing and stale results are played.
    """
    from dataclasses import replace

    from scenarios.running.boards.standing_board import check_folder, read_results, stale
    from scenarios.running.display import Display
    from scenarios.running.plan import read_plans
    from scenarios.running.runner import guarantees, provenance
    from scenarios.running.units import Catalogue

    plans = [replace(plan, plays=plays or plan.plays) for plan in read_plans(scenario)]
    catalogues = [Catalogue(plan, guarantees(plan)) for plan in plans]
    stored = read_results(folder)
    check_folder(folder, [plan.name for plan in plans], FILES)
    if check:
        missing = [(catalogue.plan.name, stale(catalogue, stored)) for catalogue in catalogues]
        _show_stale(missing)
        sys.exit(GATE_FAILED if any(cells for _, cells in missing) else 0)
    # The files that are written below would make a clean checkout look changed.
    about = provenance([plan.name for plan in plans], Path.cwd())
    folder.mkdir(parents=True, exist_ok=True)
    results, stated, interrupted = _played(catalogues, stored, db, jobs, Display(quiet=quiet))
    if interrupted:
        end_interrupted(partial(echo, err=True), "plays what is missing", interrupted)
    _write(folder, results, stated, catalogues, about)
    echo(f"{counted(len(results), 'result')} published in {folder}", err=True)
    sys.exit(FAILED_TRIALS if any(result.status not in ("ok", "skipped") for result in results) else 0)


def _show_stale(missing: list[tuple[str, dict[tuple[str, str], int]]]) -> None:
    """List the stale attacks of each defense; defenses with the same ones share a line."""
    from leaderboard.results import grouped_by

    for name, cells in missing:
        if not cells:
            echo(f"{name}: every result is up to date")
            continue
        echo(f"{name}: {counted(sum(cells.values()), 'result')} missing or stale")
        attacks = {
            defense: ", ".join(sorted({attack or "release" for _, attack in some}))
            for defense, some in sorted(grouped_by(cells, itemgetter(0)).items())
        }
        for written, defenses in grouped_by(attacks, attacks.__getitem__).items():
            echo(f"  {', '.join(defenses)}: {written}")


def _played(
    catalogues: list[Catalogue], stored: list[lb.Result], db: str, jobs: int | None, display: Display
) -> Played:
    """All results of the catalogues, the guarantees of their defenses, and the signal that stopped the run, or 0.

    Stored results are played again only if something that they depend on has changed.
    """
    from scenarios.running.runner import play_catalogues
    from scenarios.running.workers.local_processes import LocalProcesses, cores

    with lb.Store(db) as store:
        stored_keys = store.known([result.key for result in stored])
        store.add([result for result in stored if result.key not in stored_keys])
    return play_catalogues(catalogues, LocalProcesses(jobs or cores()), db, display.listener)


def _write(
    folder: Path,
    results: list[lb.Result],
    guarantees: list[lb.StatedGuarantee],
    catalogues: list[Catalogue],
    about: Mapping[str, Any],
) -> None:
    """Write the files of the board."""
    from metrics.columns import write_atomically
    from scenarios.running.boards.standing_board import write_record, write_results

    write_results(folder, results)
    texts = {
        "board.csv": written_board(results, "csv", matrix=False),
        "settings.csv": lb.setting_records(lb.exposures(results)).csv(),
        "matrix.csv": written_board(results, "csv", matrix=True),
        "summary.md": written_summary(results, "markdown"),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text.encode(), mode=None)
    write_page(results, folder / "index.html", guarantees)
    plans = [catalogue.plan for catalogue in catalogues]
    facts = {
        "seeds": {plan.name: plan.seed for plan in plans},
        "plays": {plan.name: plan.plays for plan in plans},
        "played": max((result.created for result in results), default=""),
    }
    write_record(folder, {**about, **facts})
