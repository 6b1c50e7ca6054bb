"""``tokumei describe``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scenarios.commands.common import bad_input, echo, reading_options, roles_option

EPILOG = """\b
Examples:
  tokumei describe people.csv -o roles.toml
  tokumei describe people.csv --roles started.toml -o roles.toml
  tokumei validate people.csv --roles roles.toml
"""


@click.command(epilog=EPILOG)
@click.argument("table")
@roles_option
@reading_options
@click.option("-o", "--output", default="-", show_default=True, help="The roles file; - is standard output.")
@click.option("--force", is_flag=True, help="Replace a roles file that exists.")
def describe(table: str, roles: Path | None, output: str, *, reading: dict[str, Any], force: bool) -> None:
    """Describe TABLE (CSV or Parquet; - is standard input) as a roles file to be reviewed.

    Each column gets a suggested role, its type, and its bounds or categories, with a reason as a comment. The key
    `undecided` lists the columns whose role is a guess. The file shows no value of identifiers and free text. It shows
    the bounds and categories of other columns, so it is for the owner of the table.
    """
    from scenarios.tables.description import describe_table
    from scenarios.tables.released import STANDARD, input_path, refuse_existing, write_text

    with bad_input():
        refuse_existing([output], inputs=[table, roles], force=force)
        # Standard output has no folder; paths stay relative to the current one.
        description = describe_table(
            input_path(table), roles, Path() if output == STANDARD else Path(output), reading=reading
        )
        write_text(description.text, output)
    for note in description.notes:
        echo(f"note: {note}", err=True)
    if output != STANDARD:
        echo(f"roles written to {output}; review every domain that was read from the data", err=True)
    if description.roles.undecided:
        echo(f"undecided: {', '.join(description.roles.undecided)}; their roles are guesses", err=True)
