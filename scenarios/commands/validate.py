"""``tokumei validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from leaderboard.pages.number_text import counted
from metrics.columns import refuse
from scenarios.commands.common import echo, echo_notes, memory_option, reading_options, roles_option

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
    categories that occur. Guarantees of privacy need domains that are declared, not read from the records.
    """
    if file.suffix == ".toml" and not file.is_dir():
        refuse(write_roles is not None, "--write-roles is for tables, not for scenarios")
        _validate_scenario(file)
        return
    from tabulate import tabulate

    from scenarios.assessment.evaluation.blocked_guarantees import blocked_guarantees
    from scenarios.tables import (
        is_large,
        memory_bytes,
        refuse_existing,
        reviewed_table,
        table_notes,
        text_notes,
        without_domains,
        write_text,
    )
    from scenarios.tables.review.summary import ColumnSummary, summary

    if write_roles is not None:
        refuse_existing([write_roles], inputs=[file, roles], force=force)
    memory_given = memory_bytes(memory) // 2 if is_large(file, asked=memory is not None) else None
    with reviewed_table(file, roles, reading=reading, memory=memory_given) as table:
        dataset, rows = table.dataset, table.rows
        columns, notes = summary(dataset, table), table_notes(dataset, table=table)
    echo(tabulate(columns, headers=ColumnSummary._fields, tablefmt="simple", maxcolwidths=40))
    blocked = text_notes(blocked_guarantees(dataset.records, MOST_NAMED))
    echo_notes([*blocked, *without_domains(notes)], err=False)
    if write_roles is not None:
        from scenarios.tables.roles_file import reviewable_roles

        text = reviewable_roles(dataset, roles, Path(write_roles), reading=reading, rows=rows)
        write_text(text, write_roles, private=True)
        echo(f"roles written to {write_roles}; review every domain that was read from the data", err=True)
    size = f"{counted(rows, 'record')}, {counted(len(columns), 'column')}"
    echo(f"{file}: {size}: valid")


def _validate_scenario(file: Path) -> None:
    """Read a scenario or an experiment, and ask its defenses for their guarantees."""
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
