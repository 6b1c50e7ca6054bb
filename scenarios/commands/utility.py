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
    suppressed_option,
)

if TYPE_CHECKING:
    import pandas as pd

    from scenarios.tables import Comparison, Dataset

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
@suppressed_option
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

    Of large tables, classifiers, rank correlations and the noise of associations are measured on drawn rows, and a note
    says so. A column that RELEASED lacks counts as suppressed, and a second figure leaves it out. That figure is below
    0 for a release worse than constants. If the roles declare a weight, rows are also counted by it.
    """
    import json

    from scenarios.assessment.choosing.column_costs import correlation_warnings, rank_correlations
    from scenarios.assessment.reporting.release_report import association_words
    from scenarios.tables import (
        compared,
        input_path,
        load_table,
        measured_utility,
        memory_bytes,
        read_in_parts,
        release_notes,
        reviewed_table,
        table_notes,
    )

    paths = [input_path(original), input_path(released)]
    others = None if held_out is None else input_path(held_out)
    in_parts = read_in_parts([original, released], asked=memory is not None or scheduler is not None)
    # Two connections are open, and the rest is for blocks.
    given = memory_bytes(memory) // 4 if in_parts else None
    with (
        engine_of(scheduler) as engine,
        reviewed_table(paths[0], roles, reading=reading, memory=given, engine=engine) as reviewed,
    ):
        records, dates = reviewed.dataset.records, reviewed.dataset.written.dates
        tested = records.frame[:0] if others is None else load_table(others, roles, reading=reading).records.frame
        with compared(reviewed, paths[1], roles, reading=reading, memory=given, engine=engine) as both:
            domains = both.domains
            measured = measured_utility(both, tested, records.sensitive, seed)
            loss, cells = both.penalty(records.quasi_identifiers), both.cells
            numbers = {name: domain for name, domain in domains.items() if dates(name) is None}
            doubts = release_notes(reviewed.cells(list(cells)), cells, numbers)
            further = _further_figures(both, measured.value, reviewed.dataset, tested, seed)
        pairs = rank_correlations(*measured.numbers, domains)
        said = table_notes(reviewed.dataset, table=reviewed)
        echo_notes([*both.notes, *said, *doubts, *measured.notes])
    result: dict[str, Any] = {"utility": max(0.0, measured.value), **further, **measured.components}
    result |= {"normalized_certainty_penalty": loss, "rows": both.released.rows}
    echo_each("note", filter(None, [association_words(measured.components["associations"], len(both.domains))]))
    echo_each("warning", correlation_warnings(pairs))
    if form == "json":
        result["rank_correlations"] = [
            {"columns": one.columns, "before": one.before, "after": one.after} for one in pairs
        ]
        echo(json.dumps(result, indent=2))
        return
    from leaderboard.pages.tables import text_table

    lines = [[name, _shown(value)] for name, value in result.items()]
    lines += [[f"rank correlation of {one.name}", f"{one.before:.4f} before, {one.after:.4f} after"] for one in pairs]
    echo(text_table((), lines, style="plain"))


def _further_figures(
    both: Comparison, value: float, dataset: Dataset, tested: pd.DataFrame, seed: int
) -> dict[str, float | None]:
    """Utility without the columns that the release lacks, and weighted marginals if the roles declare a weight.

    A utility (`value`) below that of a release without information is shown as that of the released columns, too.
    """
    from numpy.random import default_rng

    from scenarios.tables import measured_utility

    figures: dict[str, float | None] = {"utility_of_released_columns": value} if value < 0 else {}
    only = both.of_released_columns
    if only is not None:
        shared = measured_utility(only, tested, dataset.records.sensitive, seed)
        figures["utility_of_released_columns"] = shared.value
    if dataset.weight is not None:
        figures["weighted_marginals"] = both.weighted_marginals(dataset.weight, default_rng(seed))
    return figures


def _shown(value: float | None) -> str:
    """A measure with four decimals, or a count."""
    if value is None:
        return "not measured"
    return str(value) if isinstance(value, int) else f"{value:.4f}"
