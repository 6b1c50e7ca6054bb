"""``tokumei utility``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenarios.commands.common import (
    echo,
    echo_each,
    echo_notes,
    engine_of,
    engine_options,
    memory_option,
    reading_options,
    roles_option,
)

if TYPE_CHECKING:
    from scenarios.assessment.reporting.rank_correlations import RankCorrelation
    from scenarios.tables.note import Note

EPILOG = """\b
Examples:
  tokumei utility people.csv released.csv --roles roles.toml
  tokumei utility people.csv released.csv --roles roles.toml --held-out others.csv --format json
  tokumei utility people/ released.parquet --roles roles.toml --memory 4GB
"""


@click.command(epilog=EPILOG)
@click.argument("original")
@click.argument("released")
@roles_option
@reading_options
@click.option("--held-out", help="Further real records, on which a classifier trained on the release is tested.")
@memory_option
@engine_options
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the range queries.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def utility(
    original: str,
    released: str,
    roles: Path | None,
    held_out: str | None,
    memory: str | None,
    seed: int,
    form: str,
    *,
    reading: dict[str, Any],
    scheduler: str | None,
) -> None:
    """Measure the utility of RELEASED compared with ORIGINAL: 1 for an identical table, 0 for a table of constants.

    Of large tables, classifiers and the noise of associations are measured on drawn rows, and a note says so. Tables in
    memory also have the rank correlations of pairs of numbers before and after.
    """
    import json

    from metrics.table_utility import headline_utility
    from scenarios.assessment.reporting.rank_correlations import correlation_warnings
    from scenarios.assessment.reporting.release_report import association_words
    from scenarios.tables.parts.files.table_files import memory_bytes, read_in_parts
    from scenarios.tables.released import input_path

    paths = [input_path(original), input_path(released)]
    others = None if held_out is None else input_path(held_out)
    if read_in_parts([original, released], asked=memory is not None or scheduler is not None):
        measured = _large(paths, roles, others, seed, reading, memory_bytes(memory), scheduler)
    else:
        measured = _small(paths, roles, others, seed, reading)
    scores, loss, rows, columns, pairs, notes = measured
    echo_notes(notes)
    value, components = headline_utility(scores)
    result: dict[str, Any] = {"utility": value, **components, "normalized_certainty_penalty": loss, "rows": rows}
    if words := association_words(components["associations"], columns):
        echo(f"note: {words}", err=True)
    echo_each("warning", correlation_warnings(pairs or ()))
    if form == "json":
        result["rank_correlations"] = pairs and [
            {"columns": one.columns, "before": one.before, "after": one.after} for one in pairs
        ]
        echo(json.dumps(result, indent=2))
        return
    from leaderboard.pages.tables import text_table

    lines = [[name, _shown(value)] for name, value in result.items()]
    lines += [
        [f"rank correlation of {one.name}", f"{one.before:.4f} before, {one.after:.4f} after"] for one in pairs or ()
    ]
    echo(text_table((), lines, style="plain"))


def _shown(value: float | None) -> str:
    """A measure with four decimals, or a count."""
    if value is None:
        return "not measured"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


_Measured = tuple[dict[str, float | None], float, int, int, "list[RankCorrelation] | None", "tuple[Note, ...]"]
"""Components, penalty, released rows, compared columns, rank correlations if measured, and notes."""


def _small(paths: list[Path], roles: Path | None, others: Path | None, seed: int, reading: dict[str, Any]) -> _Measured:
    """Utility of tables in memory."""
    import numpy as np

    from metrics.information_loss import normalized_certainty_penalty
    from metrics.table_utility import TableUtility, prediction_target
    from scenarios.assessment.reporting.rank_correlations import rank_correlations
    from scenarios.tables.dataset import load_table
    from scenarios.tables.finished_table import read_finished
    from scenarios.tables.note import READ
    from scenarios.tables.released import refuse_lacking
    from scenarios.tables.review.notes import release_notes, table_notes
    from scenarios.tables.roles import read_roles
    from scenarios.tables.toml.toml_file import read_bytes

    dataset = load_table(paths[0], roles, reading=reading)
    records = dataset.records
    held_out = records.take([]) if others is None else load_table(others, roles, reading=reading).records
    domains = {name: records.domain(name) for name in records.released_columns}
    declared, content = read_roles(roles, reading), read_bytes(paths[1])
    table = read_finished(str(paths[1]), content, dataset, declared, domains, widen=False)
    cells = table.frame
    refuse_lacking(paths[1], [*cells, *table.unknown], domains)
    target = prediction_target(records.sensitive, domains)
    scorer = TableUtility(records.frame, domains, held_out.frame, target, np.random.default_rng(seed))
    scores = scorer.score(cells)
    loss = normalized_certainty_penalty(cells, {name: domains[name] for name in records.quasi_identifiers})
    numbers = {name: domain for name, domain in domains.items() if dataset.written.dates(name) is None}
    pairs = rank_correlations(records.frame, cells, domains)
    of_release = (note for note in table.notes if note.kind not in READ)
    notes = (*of_release, *table_notes(dataset), *release_notes(records.frame, cells, numbers))
    return scores, loss, len(cells), len(domains), pairs, notes


def _large(
    paths: list[Path],
    roles: Path | None,
    others: Path | None,
    seed: int,
    reading: dict[str, Any],
    memory: int,
    scheduler: str | None,
) -> _Measured:
    """Utility of tables that are read in parts."""
    from metrics.table_utility import prediction_target
    from scenarios.tables.dataset import load_table
    from scenarios.tables.note import Note
    from scenarios.tables.parts.records import large_records
    from scenarios.tables.parts.released import large_released
    from scenarios.tables.parts.utility import large_utility
    from scenarios.tables.parts.validation import large_table_notes
    from scenarios.tables.reading.text_table import HINT, rows_from_one

    # Two connections are open, and the rest is for blocks.
    with (
        engine_of(scheduler) as engine,
        large_records(paths[0], roles, reading=reading, memory=memory // 4, engine=engine) as records,
    ):
        held_out = load_table(others, roles, reading=reading).records.frame if others else records.roles.frame[:0]
        written, names = records.dataset.written, tuple(records.columns)
        domains = {name: records.roles.domain(name) for name in names}
        with large_released(
            paths[1],
            roles,
            reading=reading,
            written=written,
            domains=domains,
            never_missing=[name for name, column in records.columns.items() if not column.has_missing],
            others=names,
            memory=memory // 4,
            engine=engine,
        ) as released:
            target = prediction_target(records.roles.sensitive, domains)
            with rows_from_one(f"{paths[1]}: ", "" if roles is not None else f"; {HINT}"):
                utility = large_utility(records, released, held_out, target, seed)
            notes = (*large_table_notes(records), *released.unknown, *utility.notes, Note("no rank correlations"))
            return utility.scores, utility.penalty, released.rows, len(domains), None, notes
