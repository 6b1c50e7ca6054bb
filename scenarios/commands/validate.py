"""``tokumei validate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from metrics.columns import refuse
from scenarios.commands.common import bad_input, echo, echo_each, memory_option, reading_options, roles_option

if TYPE_CHECKING:
    from scenarios.tables.dataset import Dataset
    from scenarios.tables.review.summary import ColumnSummary

MOST_NAMED = 3
"""Number of defenses up to which a note names them; a longer list hides what it says."""
EPILOG = """\b
Examples:
  tokumei validate people.csv
  tokumei validate people.csv --roles roles.toml
  tokumei validate people.csv --write-roles roles.toml
  tokumei validate my-scenario.toml
"""


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@roles_option
@reading_options
@click.option(
    "--write-roles",
    metavar="FILE",
    help="Write a roles file that declares all domains read from the table. Review each before you rely on it.",
)
@memory_option
@click.option("--force", is_flag=True, help="Replace a roles file that exists.")
def validate(
    file: Path,
    roles: Path | None,
    write_roles: str | None,
    memory: str | None,
    *,
    reading: dict[str, Any],
    force: bool,
) -> None:
    """Check a table (CSV or Parquet, with its roles) or a scenario (TOML) before it is used.

    The output shows no record, except for a cell that cannot be read. A roles file written by --write-roles names all
    categories that occur. Promises of privacy need domains that are declared, not read from the records.
    """
    from leaderboard.pages.number_text import counted

    with bad_input():
        if file.suffix == ".toml" and not file.is_dir():
            refuse(write_roles is not None, "--write-roles is for tables, not for scenarios")
            _validate_scenario(file)
            return
        from scenarios.tables.parts.files.table_files import is_large, memory_bytes

        if write_roles is not None:
            from scenarios.tables.released import refuse_existing

            refuse_existing([write_roles], inputs=[file, roles], force=force)
        if is_large(file, asked=memory is not None):
            dataset, table = _large(file, roles, reading, memory_bytes(memory))
        else:
            dataset, table = _small(file, roles, reading)
    from tabulate import tabulate

    from scenarios.assessment.evaluation.blocked_promises import blocked_promises
    from scenarios.tables.review.notes import NOTHING_SENSITIVE, grouped_notes
    from scenarios.tables.review.summary import ColumnSummary
    from scenarios.tables.review.undeclared_identifiers import hierarchy_notes

    echo(tabulate(table.columns, headers=ColumnSummary._fields, tablefmt="simple", maxcolwidths=40))
    notes = (
        *grouped_notes(dataset),
        *hierarchy_notes(dataset),
        *blocked_promises(dataset.records, MOST_NAMED),
        *table.notes,
    )
    echo_each("note", notes, err=False)
    echo_each("warning", (*table.warnings, None if dataset.records.sensitive else NOTHING_SENSITIVE), err=False)
    if dataset.undecided:
        echo(f"undecided: {', '.join(dataset.undecided)}; decide their roles, then delete them from {roles}")
    if write_roles is not None:
        from scenarios.tables.released import write_text
        from scenarios.tables.roles_file import reviewable_roles

        with bad_input():
            text = reviewable_roles(dataset, roles, Path(write_roles), reading=reading, rows=table.rows)
            write_text(text, write_roles, private=True)
        echo(f"roles written to {write_roles}; review every domain that was read from the data", err=True)
    rows, columns = counted(table.rows, "record"), counted(len(dataset.records.frame.columns), "column")
    echo(f"{file}: {rows}, {columns}: valid")


def _validate_scenario(file: Path) -> None:
    """Read a scenario or an experiment, and ask its defenses for their guarantees."""
    from leaderboard.pages.number_text import counted
    from scenarios.running.plan import read_plans
    from scenarios.running.runner import guarantees
    from scenarios.studies.experiment import read_experiment

    experiment = read_experiment(str(file))
    if experiment is not None:
        echo(f"{file}: experiment {experiment.name!r}, {counted(experiment.plays, 'play')}: valid")
        return
    for plan in read_plans(str(file)):
        guarantees(plan)
        counts = ", ".join(
            counted(count, what)
            for count, what in (
                (len(plan.defenses), "defense"),
                (len(plan.attacks), "attack"),
                (plan.plays, "play"),
            )
        )
        echo(f"{file}: scenario {plan.name!r}, {counts}: valid")


class _Table(NamedTuple):
    """What is said of a table beside its data set."""

    rows: int
    columns: list[ColumnSummary]
    warnings: list[str]
    notes: list[str]


def _small(file: Path, roles: Path | None, reading: dict[str, Any]) -> tuple[Dataset, _Table]:
    """A table in memory."""
    from scenarios.tables.dataset import load_table
    from scenarios.tables.impossible_rows import rule_notes
    from scenarios.tables.review.notes import record_notes, repeated_rows_warnings, table_warnings
    from scenarios.tables.review.rows_of_people import RowsOfPeople
    from scenarios.tables.review.summary import summary

    dataset = load_table(file, roles, reading=reading)
    notes = rule_notes(dataset.records, dataset.impossible, dataset.written)
    notes += record_notes(dataset)
    warnings = [*table_warnings(dataset), *repeated_rows_warnings(RowsOfPeople.of(dataset.records))]
    return dataset, _Table(len(dataset.records), summary(dataset), warnings, notes)


def _large(file: Path, roles: Path | None, reading: dict[str, Any], memory: int) -> tuple[Dataset, _Table]:
    """A table that is read in parts."""
    from scenarios.tables.impossible_rows import rule_notes
    from scenarios.tables.parts.records import large_records
    from scenarios.tables.parts.validation import (
        large_repeated_people_warnings,
        large_rows_of_people,
        large_summary,
        sampled_frame,
    )
    from scenarios.tables.review.notes import record_notes, repeated_rows_warnings, table_warnings

    with large_records(file, roles, reading=reading, memory=memory // 2) as records:
        frame, is_sample = sampled_frame(records)
        notes = [f"warnings rest on a random sample of {len(frame):,} records"] if is_sample else []
        dataset = records.dataset
        sample = dataset.records.with_frame(frame.reindex(columns=dataset.records.frame.columns))
        notes += [*rule_notes(sample, dataset.impossible, dataset.written), *record_notes(dataset, frame)]
        warnings = [
            *table_warnings(dataset, frame),
            *large_repeated_people_warnings(records),
            *repeated_rows_warnings(large_rows_of_people(records)),
        ]
        return dataset, _Table(records.rows, large_summary(records), warnings, notes)
