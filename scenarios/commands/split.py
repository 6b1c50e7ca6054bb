"""``tokumei split``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.columns import refuse
from scenarios.commands.common import echo, echo_each, heavy_imports, reading_options, roles_option, share

if TYPE_CHECKING:
    from metrics.columns import Booleans
    from scenarios.tables.split_table import SplitFile

EPILOG = """\b
Examples:
  tokumei split people.csv -o treated.csv --control others.csv
  tokumei split people.csv --roles roles.toml --share 0.3 -o treated.csv --control others.csv
  tokumei split visits.csv --person "Patient ID" --drop-repeated --one-row -o treated.csv --control others.csv
"""


@click.command(epilog=EPILOG)
@click.argument("table")
@click.option("-o", "--output", required=True, help="File for the records to release.")
@click.option("--control", required=True, help="File for the control group.")
@click.option(
    "--share",
    "fraction",
    type=float,
    default=0.2,
    show_default=True,
    callback=share,
    help="Share of the people who go to the control group.",
)
@roles_option
@click.option("--person", metavar="COLUMN", help="Column that identifies the person of each row.")
@reading_options
@click.option("--drop-repeated", is_flag=True, help="Leave out rows that equal an earlier row in every column.")
@click.option(
    "--one-row",
    is_flag=True,
    help="Keep one row of each person, drawn at random; k and epsilon then count people. Needs --person.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed that repeats a split. Whoever knows it may find out who is in the release; without it, nobody can.",
)
@click.option("--force", is_flag=True, help="Replace output files that exist.")
def split(
    table: str,
    output: str,
    control: str,
    fraction: float,
    roles: Path | None,
    person: str | None,
    seed: int | None,
    *,
    drop_repeated: bool,
    one_row: bool,
    reading: dict[str, Any],
    force: bool,
) -> None:
    """Split TABLE at random into the records to release and a control group, for --control of `tokumei report`.

    TABLE is a CSV file (also gzip-compressed), a Parquet file or an Excel workbook; - is standard input. Both files
    have its format, and keep the order of the rows; lines of a CSV stay as they are. If --person or the roles file
    names the column of the person, all rows of a person go to the same file, as do those of a declared group. Only the
    owner can read the files.
    """
    with heavy_imports():
        import numpy as np

        from leaderboard.pages.number_text import counted
        from scenarios.assessment.evaluation.control_people import control_words
        from scenarios.tables import (
            STANDARD,
            SplitFile,
            drawn_control,
            input_path,
            output_files,
            read_bytes,
            read_roles,
            refuse_existing,
            rows_of_each,
        )

    refuse(STANDARD in (output, control), "both parts name people and must be files of their own, not standard output")
    refuse_existing([output, control], inputs=[table, roles], force=force)
    declared = read_roles(roles, reading)
    if person is not None:
        declared = declared.model_copy(update={"person": person})
    refuse(
        one_row and declared.person is None,
        "--one-row: name the column of the person by --person or in the roles file",
    )
    path = input_path(table)
    file = SplitFile.of(path, read_bytes(path), declared)
    file.check_name("-o", output)
    file.check_name("--control", control)
    kept = ~file.repeated if drop_repeated else np.ones(file.repeated.size, dtype=bool)
    rng = np.random.default_rng(seed)
    before = int(kept.sum())
    if one_row:
        kept[kept] = rows_of_each(file.person[kept], 1, rng)
    held = np.zeros(kept.size, dtype=bool)
    held[kept] = drawn_control(file.group[kept], fraction, rng)
    with output_files() as outputs:
        for name, rows in ((output, kept & ~held), (control, held)):
            outputs.open(name, private=True).write(file.part(rows))
    _say_who_counts(file, declared.person, before, kept, drop_repeated=drop_repeated, one_row=one_row)
    (people, records), (others, other_rows) = (
        (np.unique(file.person[rows]).size, int(rows.sum())) for rows in (kept & ~held, held)
    )
    echo(
        f"{output}: {people:,} people, {counted(records, 'row')}; {control}: {others:,} people, "
        f"{counted(other_rows, 'row')}. Control group for {control_words(others, records)}"
    )


def _say_who_counts(
    file: SplitFile, person: str | None, before: int, kept: Booleans, *, drop_repeated: bool, one_row: bool
) -> None:
    """Say what counts as a person, and which rows were left out."""
    import numpy as np

    from leaderboard.pages.number_text import counted

    echo_each("note", file.notes)
    if person is None:
        echo("note: each row counts as a person; if people have several, name their column by --person", err=True)
    repeated = int(file.repeated.sum())
    if drop_repeated:
        echo(f"{counted(repeated, 'repeated row')} left out", err=True)
    elif repeated and person is None:
        echo(
            f"warning: {repeated:,} of the rows equal an earlier row in every column; if they were exported twice, a "
            "person may be in both files: repeat with --drop-repeated, or give --person",
            err=True,
        )
    left, people = before - int(kept.sum()), np.unique(file.person[kept]).size
    if one_row:
        echo(f"one row of each person kept at random; {counted(left, 'row')} left out", err=True)
    elif person is not None and people < kept.sum():
        echo(
            f"note: {int(kept.sum()):,} rows of {people:,} people: k and epsilon count rows; --one-row keeps one "
            "row of each person at random",
            err=True,
        )
