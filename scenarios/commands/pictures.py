"""``tokumei pictures``."""

from __future__ import annotations

from pathlib import Path

import click

from metrics.columns import require
from scenarios.commands.common import echo, exit_without

EPILOG = """\b
Examples:
  tokumei run bank --html board.html && tokumei pictures board.html -o figures
  tokumei pictures board.html -o figures --format pdf --width 8.5cm     for a column of a paper
  tokumei pictures board.html -o figures --format png --scale 3
"""


_POINTS = {"cm": 72 / 2.54, "mm": 72 / 25.4, "in": 72.0, "pt": 72 / 72.27}
"""Units of a width in points of PDF; a ``pt`` is one of LaTeX."""


def _points(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A width such as ``8.5cm`` in points."""
    if value is None:
        return None
    number, unit = value.strip()[:-2], value.strip()[-2:]
    try:
        width = float(number) * _POINTS[unit]
    except (KeyError, ValueError):
        width = 0.0
    require(
        50 <= width <= 3000,
        f"{value!r} is no width from 2cm to 100cm; write a number and cm, mm, in or pt, such as 8.5cm",
        click.BadParameter,
    )
    return width


@click.command(epilog=EPILOG)
@click.argument("page", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for the pictures; it is made if it does not exist.",
)
@click.option(
    "--format",
    "forms",
    type=click.Choice(["svg", "pdf", "png"]),
    multiple=True,
    default=("svg",),
    show_default=True,
    help="Form of the files (repeatable). PDF needs the extra `pdf`, PNG the extra `png`.",
)
@click.option(
    "--scale",
    type=click.FloatRange(min=0.1, max=10),
    default=2.0,
    show_default=True,
    help="Pixels of a PNG for each unit of the picture.",
)
@click.option(
    "--width",
    callback=_points,
    metavar="WIDTH",
    help="Width on paper, such as 8.5cm for a column, 12cm or 345pt for a line. Drawn with type legible in that width.",
)
def pictures(page: Path, output: Path, forms: tuple[str, ...], scale: float, width: float | None) -> None:
    """Write the pictures of a page as files, for papers and slides.

    PAGE is a page of Tokumei with pictures: a board, a choice, a study, a tournament. A report on a release and a risk
    page have none. Each picture becomes an SVG, PDF or PNG
    file of its own, with its legend, in the colours of the light theme. The files need no style sheet, script or
    network. The matrix of a board is a heat map for each goal. Pages of earlier releases are refused: write them anew.
    """
    from leaderboard.pages.pictures import pictures_of
    from scenarios.tables.toml.toml_file import read_bytes

    content = read_bytes(page)
    try:
        drawn = pictures_of(content.decode(), width)
    except UnicodeDecodeError:
        raise ValueError(f"{page}: is no page of Tokumei") from None
    except ValueError as error:
        raise ValueError(f"{page}: {error}") from None
    if not drawn:
        exit_without(f"there is no picture in {page}")
    output.mkdir(parents=True, exist_ok=True)
    for picture in drawn:
        for form in dict.fromkeys(forms):
            echo(picture.save(output / f"{picture.name}.{form}", scale))
