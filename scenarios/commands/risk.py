"""``tokumei risk``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenarios.commands.common import bad_input, echo, reading_options, roles_option

if TYPE_CHECKING:
    from scenarios.tables.risk import RiskReport

EPILOG = """\b
Examples:
  tokumei risk released.csv --roles roles.toml
  tokumei risk released.csv --roles roles.toml --population-size 45211 --html risk.html
  tokumei defend Mondrian people.csv --roles roles.toml | tokumei risk - --roles roles.toml
"""

PLAIN = (
    "No cell is an interval, a set or *. If the rows are synthetic, classes mean little: see what attacks find with "
    "`tokumei rank` or `tokumei report`."
)


@click.command(epilog=EPILOG)
@click.argument("released")
@roles_option
@reading_options
@click.option("--population", help="The whole population, generalized in the same way, for the journalist risk.")
@click.option(
    "--population-size", type=click.IntRange(min=1), help="Size of the population that the records were sampled from."
)
@click.option("--cells", type=click.IntRange(min=1), help="Number of possible combinations of values.")
@click.option("--html", help="Write a one-page report that works offline.")
@click.option("--force", is_flag=True, help="Replace the report if it exists.")
def risk(
    released: str,
    roles: Path | None,
    population: str | None,
    population_size: int | None,
    cells: int | None,
    html: str | None,
    *,
    reading: dict[str, Any],
    force: bool,
) -> None:
    """Measure the re-identification risk of RELEASED (CSV or Parquet; - is standard input).

    Reports equivalence classes, uniques, and the risk under each attacker model.
    """
    from scenarios.tables.released import input_path, read_released, refuse_existing, write_text
    from scenarios.tables.risk import risk_report

    with bad_input():
        refuse_existing([html], inputs=[released, roles, population], force=force)
        table = read_released(input_path(released), roles, reading=reading)
        everybody = None if population is None else read_released(input_path(population), roles, reading=reading).frame
        report = risk_report(table, population=everybody, population_size=population_size, cells=cells)
    for note in table.notes:
        echo(f"note: {note}", err=True)
    echo(_text(report))
    if html is not None:
        with bad_input():
            write_text(_page(report, released), html)
        echo(f"report written to {html}", err=True)


def _text(report: RiskReport) -> str:
    """The report as text for a terminal."""
    from tabulate import tabulate

    def table(rows: list[tuple[object, ...]]) -> str:
        return tabulate(rows, tablefmt="plain", floatfmt=".4g")

    heads = [
        ("records", str(report.rows)),
        ("classes", str(report.classes)),
        ("alone in their class", _share(report.uniques, report.rows)),
        *((f"in a class with one value of {name}", _share(count, report.rows)) for name, count in report.one_value),
    ]
    parts = [
        table(list(heads)) + (f"\n{PLAIN}" if report.plain else ""),
        "risk by model\n" + table([(name, value, about) for name, about, value in report.models]),
        "measures\n" + table([(name, value, about) for name, about, value in report.measures]),
        "records by size of their class\n" + table(list(report.sizes.items())),
    ]
    if report.estimates:
        rows = [(name, value, about) for name, about, value in report.estimates]
        title = "records unique in table and population, estimated"
        parts.append(f"{title}\n{table(list(rows))}\n{_fitting(report)}")
    parts.append("records singled out with the help of a column\n" + table(list(report.columns)))
    if report.sets:
        parts.append("smallest sets of columns that single out most\n" + table(list(report.sets)))
    return "\n\n".join(parts)


def _page(report: RiskReport, name: str) -> str:
    """The report as an HTML page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("scenarios"), autoescape=True, undefined=StrictUndefined)
    title = "a table" if name == "-" else Path(name).name
    return environment.get_template("risk.html").render(
        report=report, title=title, share=_share, plain=PLAIN, fitting=_fitting(report)
    )


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.1%})"


def _fitting(report: RiskReport) -> str:
    """Which estimator of population uniques fits, and why."""
    if report.fraction is None:
        return ""
    return (
        f"{report.estimates[0][0]} fits: {report.fraction:.1%} of the population are in the table. Pitman fits up to "
        "10 %, above it the smaller of Zayatz and SNB (Dankar, El Emam, Neisa and Roffey 2012)."
    )
