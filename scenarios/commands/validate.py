"""``tokumei validate``."""

from __future__ import annotations

from pathlib import Path

import click

from scenarios.commands.common import bad_input, roles_option

EPILOG = """\b
Examples:
  tokumei validate people.csv
  tokumei validate people.csv --roles roles.toml
  tokumei validate my-scenario.toml
"""


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@roles_option
def validate(file: Path, roles: Path | None) -> None:
    """Check a table (CSV or Parquet, with its roles) or a scenario (TOML) before it is used.

    The output shows no record, except for a cell that cannot be read.
    """
    with bad_input():
        if file.suffix == ".toml":
            from scenarios.experiments.experiment import read_experiment
            from scenarios.running.plan import read_plan
            from scenarios.running.runner import guarantees

            experiment = read_experiment(str(file))
            if experiment is not None:
                click.echo(f"{file}: experiment {experiment.name!r}, {experiment.plays} plays: valid")
                return
            plan = read_plan(str(file))
            guarantees(plan)
            defenses, attacks = len(plan.defenses), len(plan.attacks)
            click.echo(
                f"{file}: scenario {plan.name!r}, {defenses} defenses, {attacks} attacks, {plan.plays} plays: valid"
            )
            return
        from scenarios.tables.dataset import load_table

        dataset = load_table(file, roles)
    from tabulate import tabulate

    from scenarios.tables.summary import ColumnSummary, summary

    click.echo(tabulate(summary(dataset), headers=ColumnSummary._fields, tablefmt="simple", maxcolwidths=40))
    for note in dataset.notes:
        click.echo(f"note: {note}")
    click.echo(f"{file}: {len(dataset.records)} records, {len(dataset.records.frame.columns)} columns: valid")
