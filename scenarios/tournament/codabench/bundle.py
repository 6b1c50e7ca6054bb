"""Bundle of a tournament for the platform Codabench, which scores each submission alone."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from scenarios.tournament.codabench import vendored
from scenarios.tournament.codabench.competition import check_image, competition
from scenarios.tournament.codabench.logo import logo
from scenarios.tournament.codabench.pages import TITLES, pages
from scenarios.tournament.codabench.reference_data import reference_data, zipped
from scenarios.tournament.codabench.yaml_text import yaml_text
from scenarios.tournament.host.exporting import write_archive
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.settings import Phase

_COMMAND = "python3 /app/program/score.py /app/input /app/output"
"""Command of the scoring program; the platform splits it at blanks."""


def export_codabench(tournament: Tournament, path: Path, image: str, share: float = 0.5) -> int:
    """Write a competition bundle as a ZIP archive, which only its owner can read.

    The anonymization phases score a table by its utility and the built-in attacks. The attack phase scores attacks on
    the tables in force. The numbers are those of the tournament. Answers are in the reference data alone; what
    participants get is public data (published tables and candidate files), a starting kit and pages.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    path : Path
        The archive, a new file.
    image : str
        Image in which the scoring program runs, with the packages that the bundle's Dockerfile installs.
    share : float
        Share of each table's rows that counts until the tournament closes, in (0, 1]; all rows count afterwards.

    Returns
    -------
    int
        Number of files in it.

    Raises
    ------
    ValueError
        If the archive exists already, its folder does not or is published, the image's name is none, or a phase ends
        before it begins.
    OSError
        If it cannot be written; then there is no archive.
    """
    check_image(image)
    tournament.check_opening()
    if tournament.phase(tournament.log.entries()) is Phase.CLOSED:
        share = 1.0
    public = {phase: files for phase in tournament.settings.phases[:-1] if (files := _public_data(tournament, phase))}
    names = {phase: f"public_{phase}.zip" for phase in public}
    texts = pages(tournament, share)
    contents = {
        "competition.yaml": yaml_text(competition(tournament, image, TITLES, names)).encode(),
        "logo.png": logo(),
        **{name: text.encode() for name, text in texts.items()},
        "scoring_program.zip": scoring_program(),
        "starting_kit.zip": _starting_kit(tournament, texts),
        **{name: zipped(public[phase]) for phase, name in names.items()},
        **{
            f"reference_{phase}.zip": reference_data(tournament, phase, share)
            for phase in (Phase.ANONYMIZE, Phase.ATTACK)
        },
        "image/Dockerfile": vendored.dockerfile().encode(),
        "image/requirements.txt": vendored.requirements().encode(),
    }
    return write_archive(tournament, path, contents.items(), secret=True)


@cache
def scoring_program() -> bytes:
    """The scoring program as a ZIP archive without folders, since the platform would move their content."""
    files = {
        "metadata.yaml": f"command: {_COMMAND}\n".encode(),
        "score.py": _script("score.py"),
        "tokumei.zip": vendored.archive(),
    }
    return zipped(files)


def _starting_kit(tournament: Tournament, texts: dict[str, str]) -> bytes:
    """What helps a team to submit; nothing in it belongs to one team."""
    return zipped(
        {
            "make_submission.py": _script("make_submission.py"),
            "roles.toml": tournament.roles_path.read_bytes(),
            "SUBMITTING.md": texts["pages/submitting.md"].encode(),
            "RULES.md": texts["pages/rules.md"].encode(),
        }
    )


def _public_data(tournament: Tournament, phase: Phase) -> dict[str, bytes]:
    """Published files of a phase: candidate files from the second round on, and tables once attacks begin."""
    if phase is Phase.ANONYMIZE:
        return {}
    endings = ("_candidate.csv", "_anonymized.csv") if phase is Phase.ATTACK else ("_candidate.csv",)
    files = (tournament.public / f"{team}{ending}" for team in tournament.settings.teams for ending in endings)
    return {file.name: file.read_bytes() for file in files if file.is_file()}


def _script(name: str) -> bytes:
    return (resources.files("scenarios.tournament.codabench") / name).read_bytes()
