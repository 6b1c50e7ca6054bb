"""``tokumei defend``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenarios.commands.common import bad_input, roles_option

if TYPE_CHECKING:
    from defenses.base.microdata import Microdata

EPILOG = """\b
Examples:
  tokumei defend Mondrian -p k=5 people.csv --roles roles.toml -o released.csv
  tokumei defend GlobalRecoding -p 'levels={age=2, job=1}' people.csv --roles roles.toml -o released.csv
  tokumei defend AdditiveNoise -p scale=0.5 people.csv --channel channel.toml --truth who.csv -o noisy.csv
  cat people.csv | tokumei defend Mondrian - | head
"""


@click.command(epilog=EPILOG)
@click.argument("method")
@click.argument("table")
@click.option(
    "-p", "--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="Parameter of METHOD (repeatable)."
)
@roles_option
@click.option(
    "-o", "--output", default="-", show_default=True, help="Where the released table goes; - is standard output."
)
@click.option("--truth", help="Write which record each released row stems from; readable by its owner alone.")
@click.option("--channel", help="Write what is public about the mechanism, for attackers who know it.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Repeat a release. Whoever knows the seed can undo what is random; without it, nobody can.",
)
@click.option("--force", is_flag=True, help="Replace output files that exist.")
def defend(
    method: str,
    table: str,
    parameters: tuple[str, ...],
    roles: Path | None,
    output: str,
    truth: str | None,
    channel: str | None,
    seed: int | None,
    *,
    force: bool,
) -> None:
    """Anonymize TABLE (CSV or Parquet; - is standard input) with the defense METHOD.

    Rows come out in random order, since the order of records gives everybody away. Columns that the roles file names as
    identifiers never come out; without one nothing is known to be an identifier.
    """
    import numpy as np
    import pandas as pd

    from defenses.base.defense import MicrodataDefense
    from scenarios.methods import build
    from scenarios.tables.dataset import load_table
    from scenarios.tables.released import STANDARD, as_csv, input_path, read_roles, refuse_existing, write_text

    with bad_input():
        defense = build({"use": method, **given_parameters(parameters)}, "defenses")
        if not isinstance(defense, MicrodataDefense):
            raise ValueError(f"{method} releases {defense.kind}, no table")
        if truth == STANDARD:
            raise ValueError("--truth is secret and must be a file of its own")
        refuse_existing([output, truth, channel], inputs=[table, roles], force=force)
        dataset = load_table(input_path(table), roles)
        records = dataset.records
        defense.check(records)
        release_rng, order_rng = np.random.default_rng(seed).spawn(2)
        release = defense.apply(records, release_rng).shuffled(order_rng)
        if channel is not None and release.channel is None:
            raise ValueError(f"--channel: this release of {method} has none")
        text = as_csv(release.frame, read_roles(roles).separator or ",")
    for note in dataset.notes:
        click.echo(f"note: {note}", err=True)
    for name in _alone(records):
        click.echo(
            f"warning: {name}: differs in every record and is no declared identifier; it may name people", err=True
        )
    with bad_input():
        if truth is not None:
            rows = pd.DataFrame({"released_row": np.arange(len(release.frame)), "record": release.origin})
            write_text(as_csv(rows), truth, private=True)
        if channel is not None and release.channel is not None:
            write_text(release.channel.to_toml(), channel)
        write_text(text, output)
    click.echo(f"{len(release.frame)} of {len(records)} records; promised: {defense.guarantee(records)}", err=True)


def _alone(records: Microdata) -> list[str]:
    """Text columns that are released and differ in every record."""
    frame, columns = records.frame, records.released_columns
    return [name for name in columns if frame[name].dtype == object and len(frame) > 1 and frame[name].is_unique]


def given_parameters(texts: tuple[str, ...]) -> dict[str, Any]:
    """Parameters given as NAME=VALUE; a value is TOML, or text where it is none."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"-p must be NAME=VALUE, got {text!r}")
        if name.strip() in found:
            raise ValueError(f"parameter {name.strip()!r} is given twice")
        try:
            found[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = value
    return found
