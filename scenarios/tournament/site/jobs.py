"""Work of the site that runs in worker processes. Arguments and outcomes are plain, so that they can be pickled."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from metrics.columns import one_line, refuse, require
from metrics.columns.printable import printable
from scenarios.tournament.host.exporting import export
from scenarios.tournament.host.late import admit
from scenarios.tournament.host.messages import write_notices
from scenarios.tournament.host.presenting import present
from scenarios.tournament.rules.advancing import publish_again
from scenarios.tournament.rules.checking import preview
from scenarios.tournament.rules.folder import Tournament, opened_tournament
from scenarios.tournament.rules.log import own_files
from scenarios.tournament.rules.problems import FileError, InvalidFileError
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.submitting import (
    Receipt,
    accepted_outcome,
    counted_problems,
    refused_outcome,
    submit_content,
    take_into_force,
)
from scenarios.tournament.rules.validating import check_kind, check_report_to_json
from scenarios.tournament.site.host_jobs import on_page
from scenarios.tournament.site.posted_form import UploadedContent
from scenarios.tournament.site.refusal_error import noticing_damage
from scenarios.tournament.site.workers import apart

_ATTACK_FILE = re.compile(r"(?P<attacker>[A-Za-z0-9-]+)_attack_(?P<target>[A-Za-z0-9-]+)\.csv")
_LONGEST_NAME = 80
"""Largest number of characters of a client's file name that messages show."""


def submit_file(
    folder: Path,
    team: str,
    claimed: str,
    chosen: str,
    content: UploadedContent,
    now: datetime,
    phase: Phase,
    arrival: str,
) -> dict[str, Any]:
    """Submit an uploaded file.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    team : str
        The team.
    claimed : str
        Name that the client gave the file. It says which team an attack is about, and messages show it.
    chosen : str
        Team that the client chose as the target of an attack; empty if it chose none.
    content : UploadedContent
        Its content.
    now : datetime
        Moment at which the upload was complete.
    phase : Phase
        Phase in which it was.
    arrival : str
        Name of the file in the record of its arrival.

    Returns
    -------
    dict
        ``file``, ``accepted``, ``message``, and ``problems`` or ``receipt``.
    """

    def accept(name: str, against: str | None) -> Receipt:
        data = content.read()
        return submit_content(
            tournament, team, name, data, now, against=against, measure=False, phase=phase, arrival=arrival
        )

    def attacking() -> bool:
        end = tournament.state().end(phase)
        if end is not None and now < end:
            check_kind(tournament, phase, team, shown_name(claimed), chosen or None)
        return phase is Phase.ATTACK

    tournament = opened_tournament(folder)
    return _accepted(tournament, team, claimed, chosen, accept, attacking)


def _accepted(
    tournament: Tournament,
    team: str,
    claimed: str,
    chosen: str,
    accept: Callable[[str, str | None], Receipt],
    attacking: Callable[[], bool],
) -> dict[str, Any]:
    """Outcome of a file, which `accept` knows by the server's name and its team by the name that it gave it."""
    shown = shown_name(claimed)
    try:
        with noticing_damage(tournament.folder):
            return accepted_outcome(shown, accept(*file_name(tournament, team, claimed, chosen, attacking=attacking())))
    except FileError as error:
        return refused_outcome(shown, FileError(shown, error.reason))
    except ValueError as error:
        return refused_outcome(shown, error)


def shown_name(claimed: str) -> str:
    """Name that the client gave a file, for messages alone: without folders, in one printable line and shortened."""
    return " ".join(printable(re.split(r"[/\\]", claimed)[-1]).split())[:_LONGEST_NAME] or "the file"


def file_name(
    tournament: Tournament, team: str, claimed: str, chosen: str, *, attacking: bool
) -> tuple[str, str | None]:
    """The server's name for an uploaded file, and the team that it attacks; see `submit_file`.

    The name consists of names in the settings only, whatever the client claims.

    Raises
    ------
    ValueError
        If it does not follow which team an attack is about.
    """
    teams = tournament.settings.teams
    if not attacking:
        owner = claimed.removesuffix("_anonymized.csv")
        return f"{owner if owner in teams else team}_anonymized.csv", None
    match = _ATTACK_FILE.fullmatch(claimed)
    named = (match["attacker"], match["target"]) if match else (team, "")
    if chosen in teams and not (named[0] in teams and named[1] in teams):
        named = team, chosen
    refuse(
        named[0] not in teams or named[1] not in teams,
        f"which team does it attack? The phase is attack; choose the team, or name the file {team}_attack_TEAM.csv",
    )
    return f"{named[0]}_attack_{named[1]}.csv", chosen if chosen in teams else None


def admit_file(
    folder: Path, team: str, claimed: str, chosen: str, content: UploadedContent, reason: str, now: datetime
) -> dict[str, Any]:
    """Admit a late file of a team, with the host's reason; see `submit_file`."""
    tournament = opened_tournament(folder)

    @on_page()
    def accept(name: str, against: str | None) -> Receipt:
        receipt = admit(tournament, team, name, content.read(), reason, now, against=against)
        write_notices(tournament)
        return receipt

    return _accepted(tournament, team, claimed, chosen, accept, lambda: bool(chosen) or "_attack_" in claimed)


def take(folder: Path, team: str, number: int, now: datetime) -> str:
    """Take an older submission of a team into force; return a message in one line.

    Raises
    ------
    ValueError
        If the rules do not allow it.
    """
    one = take_into_force(opened_tournament(folder), team, number, now)
    return f"submission {one.number} counts now as your {one.kind}"


@apart
def preview_table(
    folder: Path, team: str, claimed: str, content: UploadedContent | None, number: int | None
) -> dict[str, Any]:
    """Utility of a table and success of the built-in attacks on it, from the team's own files; nothing is recorded.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    team : str
        The team.
    claimed : str
        Name that the client gave the table; empty for an accepted one.
    content : UploadedContent or None
        An uploaded table.
    number : int or None
        Number of an accepted table of the team, instead of an uploaded one.

    Returns
    -------
    dict
        ``valid``, ``file``, and the report as JSON or ``message`` and ``problems``.
    """
    tournament = opened_tournament(folder)
    name = f"{team}_anonymized.csv" if content is None else shown_name(claimed)
    try:
        with noticing_damage(tournament.folder):
            data = _accepted_table(tournament, team, number) if content is None else content.read()
            report = preview(tournament, team, name, data)
    except InvalidFileError as error:
        return {"valid": False, "message": counted_problems(error), **error.as_json()}
    except ValueError as error:
        return {"valid": False, "message": one_line(error), "file": name, "total": 0, "problems": []}
    return {"valid": True, "number": number, "file": name, **json.loads(check_report_to_json(report))}


def _accepted_table(tournament: Tournament, team: str, number: int | None) -> bytes:
    """Content of an accepted table of a team."""
    own = [one for one, _ in tournament.state().submissions[team] if one.number == number and one.against is None]
    require(own, f"{team} has no table {number}")
    return tournament.content(own[0].content)


def publish_decided(folder: Path) -> None:
    """Publish the tables of which the last file was checked after the phase was closed."""
    publish_again(opened_tournament(folder))


def store_presentation(
    folder: Path, team: str, text: str, picture: UploadedContent | None, keep_picture: bool, now: datetime
) -> None:
    """Store a team's presentation; see `present`."""
    data = None if picture is None else picture.read()
    present(opened_tournament(folder), team, text, data, now, keep_picture=keep_picture)


@own_files()
def export_all(folder: Path, path: Path) -> None:
    """Write everything of a tournament into a ZIP archive, except for its secret seed."""
    export(Tournament(folder), path, everything=True)
