"""Content of a Codabench bundle's ``competition.yaml``: phases, tasks and the leaderboard.

The form is version 2 of Codabench's documentation for organizers: the pages "Yaml Structure" (commit 980dbead of its
repository) and "Competition Bundle Structure" (commit 162ef1e6). How archives are unpacked and dates are read follows
the code of its compute worker and its unpacker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from metrics.columns import require
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.settings import Phase

# YAML of nested mappings and lists, whose scalars are written as in JSON.

_WORDS = {"no", "off", "on", "yes", "true", "false", "null"}
"""Words that are no strings in YAML."""


def yaml_text(content: Mapping[str, Any]) -> str:
    """A mapping as a YAML document; JSON scalars are valid YAML, and no string is read as a date or a number.

    Examples
    --------
    >>> print(yaml_text({"title": "a: b", "phases": [{"index": 0, "tasks": [0, 1]}]}), end="")
    title: "a: b"
    phases:
      - index: 0
        tasks:
          - 0
          - 1
    """
    return "".join(f"{line}\n" for line in _lines(content))


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping) and value:
        lines = []
        for name, one in value.items():
            if isinstance(one, Mapping | list) and one:
                lines += [f"{_key(name)}:", *(f"  {line}" for line in _lines(one))]
            else:
                lines.append(f"{_key(name)}: {_scalar(one)}")
        return lines
    if isinstance(value, list) and value:
        return [f"{'  ' if number else '- '}{line}" for one in value for number, line in enumerate(_lines(one))]
    return [_scalar(value)]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[a-z]\w+", name, re.ASCII) and name not in _WORDS else _scalar(name)


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


COLUMNS = {
    "score": ("Score", "desc"),
    "utility": ("Utility", "desc"),
    "utility_table": ("Utility of the table", "desc"),
    "utility_record": ("Utility of the records", "desc"),
    "advantage": ("Advantage of the strongest built-in attack", "asc"),
    "attacked": ("Tables attacked", "desc"),
}
"""Title and better direction of each column of the leaderboard; the first one ranks."""
_IMAGE = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?(/[a-z0-9]([a-z0-9._-]*[a-z0-9])?)*(:[\w][\w.-]{0,127})?")
_SECONDS = 1200
"""Longest time that the scoring of a submission may take."""


def check_image(name: str) -> str:
    """Check the name of an image of the scoring program.

    Raises
    ------
    ValueError
        If it is no name of an image such as ``name/tournament:1``.
    """
    require(
        _IMAGE.fullmatch(name), f"--docker-image must be the name of an image such as name/tournament:1, got {name!r}"
    )
    return name


def competition(
    tournament: Tournament, image: str, pages: Mapping[str, str], public: Mapping[Phase, str]
) -> dict[str, Any]:
    """Content of ``competition.yaml``.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    image : str
        Image in which the scoring program runs.
    pages : mapping of str to str
        File of each page by its title.
    public : mapping of Phase to str
        File of the public data of each phase that has some.

    Raises
    ------
    ValueError
        If a phase ends before it begins.
    """
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
    """Begin and end of each phase as announced or moved; each begins when the former ends.

    Raises
    ------
    ValueError
        If a phase ends before it begins.
    """
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
