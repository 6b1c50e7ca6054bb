"""``tokumei pictures``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from scenarios.commands.common import NOTHING, bad_input, echo

EPILOG = """\b
Examples:
  tokumei run bank --html board.html && tokumei pictures board.html -o figures
  tokumei pictures board.html -o figures --format pdf          for LaTeX
  tokumei pictures board.html -o figures --format png --scale 3
"""


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
def pictures(page: Path, output: Path, forms: tuple[str, ...], scale: float) -> None:
    """Write the pictures of a page as files, for papers and slides.

    PAGE is a page of Tokumei: a board, a report, a risk page, a tournament. Each picture becomes an SVG, PDF or PNG
    file of its own, with its legend, in the colours of the light theme. The files need no style sheet, script or
    network.
    """
    from leaderboard.pictures import pictures_of

    with bad_input():
        try:
            text = page.read_text(encoding="utf-8")
            drawn = pictures_of(text)
        except UnicodeDecodeError:
            raise ValueError(f"{page}: is no page of Tokumei") from None
        except ValueError as error:
            raise ValueError(f"{page}: {error}") from None
        if not drawn:
            echo(f"there is no picture in {page}", err=True)
            sys.exit(NOTHING)
        output.mkdir(parents=True, exist_ok=True)
        for picture in drawn:
            for form in dict.fromkeys(forms):
                echo(picture.save(output / f"{picture.name}.{form}", scale))
