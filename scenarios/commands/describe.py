"""``tokumei describe``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from metrics.columns import refuse
from scenarios.commands.common import echo, echo_notes, memory_option, reading_options, roles_option

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
@memory_option
@click.option("-o", "--output", default="-", show_default=True, help="The roles file; - is standard output.")
@click.option("--force", is_flag=True, help="Replace a roles file that exists.")
def describe(
    table: str, roles: Path | None, memory: str | None, output: str, *, reading: dict[str, Any], force: bool
) -> None:
    """Describe TABLE as a roles file to be reviewed.

    TABLE is a CSV or Parquet file, or a folder of Parquet files; - is standard input.

    Each column gets a suggested role, its type, and its bounds or categories, with a reason as a comment. The key
    `undecided` lists the columns whose role is a guess. The file shows no value of identifiers and free text. It shows
    the bounds and categories of other columns, so it is for the owner of the table.
    """
    from scenarios.tables import (
        STANDARD,
        describe_file,
        input_path,
        is_large,
        memory_bytes,
        refuse_existing,
        write_text,
    )

    refuse_existing([output], inputs=[table, roles], force=force)
    # Standard output has no folder; paths stay relative to the current one.
    path, target = input_path(table), Path() if output == STANDARD else Path(output)
    refuse(memory is not None and table == STANDARD, "--memory: standard input cannot be read in parts; name a file")
    given = memory_bytes(memory) if is_large(path, asked=memory is not None) else None
    description = describe_file(path, roles, target, reading=reading, memory=given)
    write_text(description.text, output, private=True)
    echo_notes(description.notes)
    if output != STANDARD:
        echo(f"roles written to {output}; review every domain that was read from the data", err=True)
    if description.roles.undecided:
        echo(f"undecided: {', '.join(description.roles.undecided)}; their roles are guesses", err=True)
