"""``tokumei utility``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scenarios.commands.common import bad_input, echo, reading_options, roles_option

EPILOG = """\b
Examples:
  tokumei utility people.csv released.csv --roles roles.toml
  tokumei utility people.csv released.csv --roles roles.toml --held-out others.csv --format json
"""


@click.command(epilog=EPILOG)
@click.argument("original")
@click.argument("released")
@roles_option
@reading_options
@click.option("--held-out", help="Further real records, on which a classifier trained on the release is tested.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the range queries.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def utility(
    original: str,
    released: str,
    roles: Path | None,
    held_out: str | None,
    seed: int,
    form: str,
    *,
    reading: dict[str, Any],
) -> None:
    """Measure the utility of RELEASED compared with ORIGINAL: 1 for an identical table, 0 for a table of constants."""
    import json

    import numpy as np

    from metrics.headline_utility import headline_utility
    from metrics.information_loss import normalized_certainty_penalty
    from metrics.table_utility import TableUtility, prediction_target
    from scenarios.reporting.utility_words import association_words
    from scenarios.tables.dataset import load_table
    from scenarios.tables.released import input_path, read_released

    with bad_input():
        dataset = load_table(input_path(original), roles, reading=reading)
        records = dataset.records
        others = load_table(input_path(held_out), roles, reading=reading).records if held_out else records.take([])
        cells = read_released(input_path(released), roles, reading=reading, written=dataset.written).frame
        domains = {name: records.domain(name) for name in records.released_columns}
        target = prediction_target(records.sensitive, domains)
        scorer = TableUtility(records.frame, domains, others.frame, target, np.random.default_rng(seed))
        try:
            scores = scorer.score(cells)
            loss = normalized_certainty_penalty(cells, {name: domains[name] for name in records.quasi_identifiers})
        except ValueError as error:
            hint = "; labels of a hierarchy need --roles, which declares it" if roles is None else ""
            raise ValueError(f"{released}: {error}{hint}") from None
    value, components = headline_utility(scores)
    result = {"utility": value, **components, "normalized_certainty_penalty": loss, "rows": len(cells)}
    if words := association_words(components["associations"], len(domains)):
        echo(f"note: {words}", err=True)
    if form == "json":
        echo(json.dumps(result, indent=2))
        return
    from tabulate import tabulate

    rows = [[name, value] for name, value in result.items()]
    echo(tabulate(rows, tablefmt="plain", floatfmt=".4f", missingval="not measured"))
