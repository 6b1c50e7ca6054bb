"""``tokumei risk``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenarios.commands.common import (
    echo,
    echo_notes,
    engine_of,
    engine_options,
    heavy_imports,
    memory_option,
    reading_options,
    roles_option,
    suppressed_option,
)

if TYPE_CHECKING:
    from scenarios.tables import RiskReport

EPILOG = """\b
Examples:
  tokumei risk released.csv --roles roles.toml
  tokumei risk released.csv --roles roles.toml --population-size 45211 --html risk.html
  tokumei risk released/ --roles roles.toml --memory 8GB
  tokumei defend Mondrian people.csv --roles roles.toml | tokumei risk - --roles roles.toml
"""

TEMPLATES = Path(__file__).parent / "templates"
POISSON_GAMMA = "Poisson-gamma model of the records unique in the population"


@click.command(epilog=EPILOG)
@click.argument("released")
@roles_option
@reading_options
@suppressed_option
@click.option("--population", help="The whole population, generalized in the same way, for the journalist risk.")
@click.option(
    "--population-size", type=click.IntRange(min=1), help="Size of the population that the records were sampled from."
)
@click.option("--cells", type=click.IntRange(min=1), help="Number of possible combinations of values.")
@memory_option
@engine_options
@click.option("--html", help="Write a one-page report that works offline.")
@click.option("--force", is_flag=True, help="Replace the report if it exists.")
def risk(
    released: str,
    roles: Path | None,
    population: str | None,
    population_size: int | None,
    cells: int | None,
    memory: str | None,
    html: str | None,
    *,
    reading: dict[str, Any],
    scheduler: str | None,
    force: bool,
) -> None:
    """Measure the re-identification risk of RELEASED.

    RELEASED is a CSV or Parquet file, or a folder of Parquet files; - is standard input.

    Reports equivalence classes, uniques, and the risk under each attacker model.
    """
    with heavy_imports():
        from scenarios.tables import input_path, memory_bytes, read_in_parts, refuse_existing, risk_of_file, write_text

    refuse_existing([html], inputs=[released, roles, population], force=force)
    paths = [input_path(released), *([] if population is None else [input_path(population)])]
    in_parts = read_in_parts([released, population], asked=memory is not None or scheduler is not None)
    with engine_of(scheduler) as engine:
        report, notes = risk_of_file(
            paths[0],
            roles,
            reading=reading,
            population=paths[1] if population is not None else None,
            population_size=population_size,
            cells=cells,
            memory=memory_bytes(memory) if in_parts else None,
            engine=engine,
        )
    echo_notes(notes)
    echo(_text(report))
    if html is not None:
        write_text(_page(report, released), html)
        echo(f"report written to {html}", err=True)


def _text(report: RiskReport) -> str:
    """The report as text for a terminal."""
    from leaderboard.pages import measure, number, text_table
    from leaderboard.pages.number_text import with_share

    def table(rows: Iterable[tuple[str, ...]]) -> str:
        lines = list(rows)
        return text_table((), lines, ("left", "right", "left")[: len(lines[0])] if lines else None, "plain")

    heads = [
        ("records", f"{report.rows:,}"),
        ("classes", f"{report.classes:,}"),
        ("alone in their class", with_share(report.uniques, report.rows)),
        *((f"in a class with one value of {name}", with_share(count, report.rows)) for name, count in report.one_value),
    ]
    head = "\n".join((text_table((), heads, style="plain"), *map(str, report.notes)))
    # Each part: whether it is shown, its title, its rows, and what stands below them.
    parts: list[tuple[object, str, Iterable[tuple[str, ...]], str]] = [
        (True, "risk by model", ((name, measure(value), about) for name, about, value in report.models), ""),
        (True, "measures", ((name, measure(value), about) for name, about, value in report.measures), ""),
        (True, "records by size of their class", ((size, measure(count)) for size, count in report.sizes.items()), ""),
        (
            report.estimates,
            "records unique in table and population, estimated",
            ((name, number(value, 1), about) for name, about, value in report.estimates),
            f"\n{_fitting(report)}",
        ),
        (
            report.poisson_gamma,
            POISSON_GAMMA,
            _model(report),
            "",
        ),
        (
            report.searched,
            "records singled out with the help of a column",
            ((name, measure(count)) for name, count in report.columns),
            "",
        ),
        (
            report.sets,
            "smallest sets of columns that single out most",
            ((names, measure(count)) for names, count in report.sets),
            "",
        ),
    ]
    shown = (f"{title}\n{table(rows)}{below}" for present, title, rows, below in parts if present)
    return "\n\n".join([head, *shown])


def _page(report: RiskReport, name: str) -> str:
    """The report as an HTML page."""
    from leaderboard.pages.documents import render
    from leaderboard.pages.number_text import with_share
    from leaderboard.results.version import version

    return render(
        "risk.html",
        {},
        folder=TEMPLATES,
        title=f"Risk of {'a table' if name == '-' else Path(name).name}",
        about={"version": f"tokumei {version()}"},
        report=report,
        share=with_share,
        fitting=_fitting(report),
        poisson_gamma=(POISSON_GAMMA, _model(report)),
    )


def _model(report: RiskReport) -> list[tuple[str, str, str]]:
    """The Poisson-gamma model as symbol, value and meaning; numbers that are no counts have four digits."""
    from leaderboard.pages.number_text import exact

    rounded = (
        (name, value if value == int(value) else float(f"{value:.4g}"), about)
        for name, about, value in report.poisson_gamma
    )
    return [(name, exact(value), about) for name, value, about in rounded]


def _fitting(report: RiskReport) -> str:
    """Which estimator of population uniques fits, and why."""
    if report.fraction is None:
        return ""
    return (
        f"{report.estimates[0][0]} fits: {report.fraction:.1%} of the population are in the table. Pitman fits up to "
        "10 %, above it the smaller of Zayatz and SNB (Dankar, El Emam, Neisa and Roffey 2012)."
    )
