"""Bundle of a tournament for the platform Codabench, which scores each submission alone."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path

from metrics.columns import require
from scenarios.tournament.codabench import vendored
from scenarios.tournament.codabench.competition import check_image, competition, yaml_text
from scenarios.tournament.codabench.reference_data import reference_data
from scenarios.tournament.host.exporting import write_archive
from scenarios.tournament.rules.folder import Tournament, zip_bytes
from scenarios.tournament.rules.settings import Phase

# Pages of a Codabench bundle, from the guides for hosts and teams.

TITLES = {
    "Submitting": "pages/submitting.md",
    "Rules": "pages/rules.md",
    "Playing": "pages/playing.md",
    "What the scores mean": "pages/scores.md",
}
"""File of each page by its title."""


def pages(tournament: Tournament, share: float) -> dict[str, str]:
    """Content of each page, the terms and the host's steps by the name of its file.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    share : float
        Share of each table's rows that counts.

    Raises
    ------
    ValueError
        If no team's folder has the rules.
    """
    host, team = (_file(name, "scenarios.tournament").decode() for name in ("HOST.md", "TEAM.md"))
    copies = [tournament.team_folder(name) / "RULES.md" for name in tournament.settings.teams]
    rules = [path for path in copies if path.is_file()]
    require(rules, f"{tournament.folder / 'teams'}: RULES.md is missing from the teams' folders; put it back")
    counted = "all rows and membership" if share == 1 else f"a secret {share:.0%} of each table's rows, not membership"
    scores = [section(host, title) for title in ("What the scores mean", "Tricks that do not win")]
    return {
        "pages/submitting.md": _file("SUBMITTING.md").decode().replace("COUNTED", counted),
        "pages/rules.md": rules[0].read_text(encoding="utf-8"),
        "pages/playing.md": team.replace(section(team, "On the site"), ""),
        "pages/scores.md": "\n".join(scores),
        "terms.md": _file("TERMS.md").decode(),
        "README.md": _file("STEPS.md").decode(),
    }


def section(text: str, title: str) -> str:
    """A section of a Markdown text with its heading, up to the next heading of its level.

    Raises
    ------
    ValueError
        If there is no such section.
    """
    found = re.findall(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    require(found, f"the guide has no section {title!r}")
    return str(found[0])


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
    if tournament.state(tournament.log.entries()).phase is Phase.CLOSED:
        share = 1.0
    public = {phase: files for phase in tournament.settings.phases[:-1] if (files := _public_data(tournament, phase))}
    names = {phase: f"public_{phase}.zip" for phase in public}
    texts = pages(tournament, share)
    contents = {
        "competition.yaml": yaml_text(competition(tournament, image, TITLES, names)).encode(),
        "logo.png": _file("logo.png"),
        **{name: text.encode() for name, text in texts.items()},
        "scoring_program.zip": scoring_program(),
        "starting_kit.zip": _starting_kit(tournament, texts),
        **{name: zip_bytes(public[phase].items()) for phase, name in names.items()},
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
    return zip_bytes(
        [
            ("metadata.yaml", f"command: {_COMMAND}\n".encode()),
            ("score.py", _file("score.py")),
            ("tokumei.zip", vendored.archive()),
        ]
    )


def _starting_kit(tournament: Tournament, texts: dict[str, str]) -> bytes:
    """What helps a team to submit; nothing in it belongs to one team."""
    return zip_bytes(
        [
            ("make_submission.py", _file("make_submission.py")),
            ("roles.toml", tournament.roles_path.read_bytes()),
            ("SUBMITTING.md", texts["pages/submitting.md"].encode()),
            ("RULES.md", texts["pages/rules.md"].encode()),
        ]
    )


def _public_data(tournament: Tournament, phase: Phase) -> dict[str, bytes]:
    """Published files of a phase: candidate files from the second round on, and tables once attacks begin."""
    if phase is Phase.ANONYMIZE:
        return {}
    endings = ("_candidate.csv", "_anonymized.csv") if phase is Phase.ATTACK else ("_candidate.csv",)
    files = (tournament.public / f"{team}{ending}" for team in tournament.settings.teams for ending in endings)
    return {file.name: file.read_bytes() for file in files if file.is_file()}


def _file(name: str, package: str = "scenarios.tournament.codabench") -> bytes:
    """A file that stands beside the modules of a package."""
    return (resources.files(package) / name).read_bytes()
