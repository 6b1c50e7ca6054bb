"""Bundle of a tournament for the platform Codabench, which scores each submission alone."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from metrics.columns import require
from scenarios.running.methods.fingerprint import PACKAGES, closure
from scenarios.tables.toml.json_text import json_text
from scenarios.tournament.codabench.scoring_program import COLUMNS, reference_data
from scenarios.tournament.host.archives import write_archive
from scenarios.tournament.rules import PUBLISHED, Phase, Tournament, zip_bytes

# The modules of this software that a scoring program needs, and the packages for its image.

PROGRAM = "scenarios.tournament.codabench.scoring_program"


@cache
def modules() -> dict[str, Path]:
    """Source files of the scoring program and of all project modules that it imports, by path in the archive."""
    # To import a module is to import the packages above it, of which some import modules.
    names: set[str] = set()
    wanted = {PROGRAM}
    while wanted - names:
        names |= {*closure(wanted), *wanted}
        wanted = {".".join(name.split(".")[:depth]) for name in names for depth in range(1, name.count(".") + 1)}
    files: dict[str, Path] = {}
    for name in sorted(names):
        spec = find_spec(name)
        if spec is None or spec.origin is None or name.partition(".")[0] not in PACKAGES:
            continue
        file = Path(spec.origin)
        folder = name.replace(".", "/") if file.name == "__init__.py" else name.rpartition(".")[0].replace(".", "/")
        files[f"{folder}/{file.name}"] = file
        # Packages read the names that they export from the stub beside them.
        stub = file.with_suffix(".pyi")
        if file.name == "__init__.py" and stub.is_file():
            files[f"{folder}/{stub.name}"] = stub
    return files


def archive() -> bytes:
    """The modules as a ZIP archive."""
    return zip_bytes((name, path.read_bytes()) for name, path in modules().items())


@cache
def requirements() -> str:
    """Packages that the modules import, in the versions of this installation, so that the numbers are the same."""
    tops = {top for path in modules().values() if path.suffix == ".py" for top in _imported(path)}
    distributions = metadata.packages_distributions()
    names = sorted(
        {
            distribution.lower()
            for top in tops - set(sys.stdlib_module_names) - set(PACKAGES)
            for distribution in distributions.get(top, ())
        }
    )
    return "".join(f"{name}=={metadata.version(name)}\n" for name in names)


def dockerfile() -> str:
    """Recipe of an image that runs the scoring program."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"FROM python:{python}-slim\n"
        "COPY requirements.txt /requirements.txt\n"
        "RUN pip install --no-cache-dir -r /requirements.txt\n"
        "ENV OMP_NUM_THREADS=1\n"
    )


def _imported(path: Path) -> Iterator[str]:
    """Top-level names of the modules that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


# Content of a Codabench bundle's ``competition.yaml``: phases, tasks and the leaderboard.

_IMAGE = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?(/[a-z0-9]([a-z0-9._-]*[a-z0-9])?)*(:[\w][\w.-]{0,127})?")
_SECONDS = 1200
"""Longest time that the scoring of a submission may take."""


def check_image(name: str) -> str:
    """Check the name of an image of the scoring program."""
    require(
        _IMAGE.fullmatch(name), f"--docker-image must be the name of an image such as name/tournament:1, got {name!r}"
    )
    return name


def competition(
    tournament: Tournament, image: str, pages: Mapping[str, str], public: Mapping[Phase, str]
) -> dict[str, Any]:
    """Content of ``competition.yaml``."""
    return {
        "version": 2,
        "title": tournament.settings.title,
        "description": "Teams anonymize their tables and try to trace each other's.",
        "image": "logo.png",
        "terms": "terms.md",
        "docker_image": image,
        "registration_auto_approve": False,
        "make_programs_available": False,
        "make_input_data_available": False,
        "enable_detailed_results": True,
        "show_detailed_results_in_submission_panel": True,
        "show_detailed_results_in_leaderboard": False,
        # Submissions hold the origins of the rows.
        "can_participants_make_submissions_public": False,
        "pages": [{"title": title, "file": file} for title, file in pages.items()],
        "phases": _phases(tournament, public),
        "tasks": [
            {
                "index": index,
                "name": f"{tournament.settings.title[:80]}: {name}",
                "description": description,
                "scoring_program": "scoring_program.zip",
                "reference_data": f"reference_{name}.zip",
            }
            for index, (name, description) in enumerate(
                (
                    ("anonymize", "Utility of a table, and its defense against the built-in attacks."),
                    ("attack", "Mean advantage of a team's attacks over the other teams' tables."),
                )
            )
        ],
        "leaderboards": [
            {
                "title": "Results",
                "key": "results",
                "submission_rule": "Force_Last",
                "columns": [
                    {
                        "title": title,
                        "key": key,
                        "index": index,
                        "sorting": sorting,
                        "precision": 4,
                    }
                    for index, (key, (title, sorting)) in enumerate(COLUMNS.items())
                ],
            }
        ],
    }


def _phases(tournament: Tournament, public: Mapping[Phase, str]) -> list[dict[str, Any]]:
    """The phases with what is submitted in each; all phases but the attack share one task."""
    return [
        {
            "index": index,
            "name": str(phase).replace("-", " ").capitalize(),
            "description": "Attack the published tables." if phase is Phase.ATTACK else "Anonymize your table.",
            "start": _moment(start),
            "end": _moment(end),
            "max_submissions": 100,
            "max_submissions_per_day": 20,
            "execution_time_limit": _SECONDS,
            "accepts_only_result_submissions": True,
            "starting_kit": "starting_kit.zip",
            **({"public_data": public[phase]} if phase in public else {}),
            "tasks": [int(phase is Phase.ATTACK)],
        }
        for index, (phase, (start, end)) in enumerate(phase_periods(tournament).items())
    ]


def phase_periods(tournament: Tournament) -> dict[Phase, tuple[datetime, datetime]]:
    """Begin and end of each phase as announced or moved; each begins when the former ends."""
    state = tournament.state(tournament.log.entries())
    start = datetime.fromisoformat(state.entries[0].time)
    periods: dict[Phase, tuple[datetime, datetime]] = {}
    for phase in tournament.settings.phases[:-1]:
        end = state.end(phase)
        if end is None or end <= start:
            raise ValueError(f"phase {phase} ends before it begins at {_moment(start)}; `extend` moves its end")
        periods[phase] = start, end
        start = end
    return periods


def _moment(moment: datetime) -> str:
    """A moment in UTC, in the form of the platform. It is a string, since the platform cuts the time off a date."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


# Pages of a Codabench bundle, from the guides for hosts and teams.

TITLES = {
    "Submitting": "pages/submitting.md",
    "Rules": "pages/rules.md",
    "Playing": "pages/playing.md",
    "What the scores mean": "pages/scores.md",
}
"""File of each page by its title."""


def pages(tournament: Tournament, share: float) -> dict[str, str]:
    """Content of each page, the terms and the host's steps by the name of its file."""
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
    """A section of a Markdown text with its heading, up to the next heading of its level."""
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
    """
    check_image(image)
    tournament.check_opening()
    if tournament.state(tournament.log.entries()).phase is Phase.CLOSED:
        share = 1.0
    public = {phase: files for phase in tournament.settings.phases[:-1] if (files := _public_data(tournament, phase))}
    names = {phase: f"public_{phase}.zip" for phase in public}
    texts = pages(tournament, share)
    contents = {
        # YAML holds JSON.
        "competition.yaml": json_text(competition(tournament, image, TITLES, names)).encode(),
        "logo.png": _file("logo.png"),
        **{name: text.encode() for name, text in texts.items()},
        "scoring_program.zip": scoring_program(),
        # Nothing in it belongs to one team.
        "starting_kit.zip": zip_bytes(
            [
                ("make_submission.py", _file("make_submission.py")),
                ("roles.toml", tournament.roles_path.read_bytes()),
                ("SUBMITTING.md", texts["pages/submitting.md"].encode()),
                ("RULES.md", texts["pages/rules.md"].encode()),
            ]
        ),
        **{name: zip_bytes(public[phase].items()) for phase, name in names.items()},
        **{
            f"reference_{phase}.zip": reference_data(tournament, phase, share)
            for phase in (Phase.ANONYMIZE, Phase.ATTACK)
        },
        "image/Dockerfile": dockerfile().encode(),
        "image/requirements.txt": requirements().encode(),
    }
    return write_archive(tournament, path, contents.items(), secret=True)


@cache
def scoring_program() -> bytes:
    """The scoring program as a ZIP archive without folders, since the platform would move their content."""
    return zip_bytes(
        [
            ("metadata.yaml", f"command: {_COMMAND}\n".encode()),
            ("score.py", _file("score.py")),
            ("tokumei.zip", archive()),
        ]
    )


def _public_data(tournament: Tournament, phase: Phase) -> dict[str, bytes]:
    """Published files of a phase: candidate files from the second round on, and tables once attacks begin."""
    kinds = {Phase.ANONYMIZE_AGAIN: PUBLISHED[1:], Phase.ATTACK: PUBLISHED}
    return tournament.published_files(kinds.get(phase, ()))


def _file(name: str, package: str = "scenarios.tournament.codabench") -> bytes:
    """A file that stands beside the modules of a package."""
    return (resources.files(package) / name).read_bytes()
