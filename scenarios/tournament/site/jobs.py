"""Work of the site that runs in worker processes. Arguments and outcomes are plain, so that they can be pickled."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from leaderboard.statistics.downtime import downtime_table
from metrics.columns import Sentence, one_line, refuse, require
from metrics.columns.printable import printable
from scenarios.tournament.host.archives import export
from scenarios.tournament.host.decisions import (
    admit,
    disqualify,
    extend,
    give_title,
    post,
    readmit,
    reopen,
    write_notices,
)
from scenarios.tournament.host.presenting import give_points, present
from scenarios.tournament.rules import (
    COPY,
    FileError,
    GuidedError,
    InvalidFileError,
    Phase,
    Receipt,
    Tournament,
    accepted_outcome,
    advance,
    advance_due,
    check_kind,
    check_report_to_json,
    counted_problems,
    named_owner,
    opened_tournament,
    preview,
    publish_again,
    refused_outcome,
    submit_content,
    take_into_force,
    tournament_files,
    tournament_incidents,
)
from scenarios.tournament.site.posted_form import UploadedContent
from scenarios.tournament.site.refusal_error import noticing_damage
from scenarios.tournament.site.workers import apart

# The host's decisions and lists, which run in worker processes.

Fields = Mapping[str, str]


@contextmanager
def on_page() -> Iterator[None]:
    """Let refusals say what to do on a page, which has no commands."""
    try:
        yield
    except GuidedError as error:
        raise ValueError(error.on_page) from None


@on_page()
def decide(folder: Path, action: str, fields: Fields, now: datetime) -> str:
    """Carry out a decision of the host; return a message in one line."""
    tournament = opened_tournament(folder)
    return Sentence.joined("; ", [ACTIONS[action](tournament, fields, now), *write_notices(tournament)])


def incidents(folder: Path, now: datetime) -> dict[str, Any]:
    """Failures, oldest first, and the downtime that they cost."""
    found = tournament_incidents(opened_tournament(folder))
    table = downtime_table(found, now)
    return {
        "incidents": [
            {
                "kind": one.kind,
                "began": one.began.isoformat(timespec="seconds"),
                "found": one.found.isoformat(timespec="seconds"),
                "repaired": one.repaired.isoformat(timespec="seconds") if one.repaired else None,
            }
            for one in found
        ],
        "columns": list(table.columns),
        "rows": [list(row) for row in table.rows],
        "note": table.note,
    }


def _advance(tournament: Tournament, fields: Fields, now: datetime) -> str:
    refuse(
        fields.get("phase") != str(tournament.state().phase),
        Sentence("the phase has changed since this page was loaded; load it again"),
    )
    phase = advance(tournament, now, early=bool(fields.get("early")))
    return Sentence("the tournament is closed" if phase is Phase.CLOSED else "phase {phase} is open", phase=phase)


def _move(move: Callable[..., datetime], tournament: Tournament, fields: Fields, now: datetime) -> str:
    """Move the end of a phase."""
    try:
        phase = Phase(fields.get("phase", ""))
    except ValueError:
        raise ValueError(Sentence("choose a phase")) from None
    end = move(tournament, phase, _utc(fields), fields.get("reason", ""), now).isoformat()
    return Sentence(
        "phase {phase} ends at {end}" if move is extend else "phase {phase} is open again until {end}",
        phase=phase,
        end=end,
    )


def _judge(judge: Callable[..., None], tournament: Tournament, fields: Fields, now: datetime) -> str:
    """Decide about a team."""
    team = fields.get("team", "")
    judge(tournament, team, fields.get("reason", ""), now)
    return Sentence("{team} is disqualified" if judge is disqualify else "{team} takes part again", team=team)


def _message(tournament: Tournament, fields: Fields, now: datetime) -> str:
    post(tournament, fields.get("text", ""), now)
    return Sentence("the message is posted")


def _title(tournament: Tournament, fields: Fields, now: datetime) -> str:
    title = give_title(tournament, fields.get("team", ""), fields.get("title", ""), now)
    return Sentence("{team} is shown as {title}", team=fields["team"], title=title)


def _utc(fields: Fields) -> str:
    """The moment in a form, as the page's script tells it; without the script the field is in UTC."""
    text = (fields.get("moment") or fields.get("until", "")).strip()
    try:
        # A date alone would be the end of a day in a zone that the form does not tell.
        if len(text) > len("2030-01-31"):
            return text if datetime.fromisoformat(text).tzinfo else f"{text}+00:00"
    except ValueError:
        pass
    raise ValueError(Sentence("name the new end with its time as 2030-01-31T12:00, in UTC"))


ACTIONS: Mapping[str, Callable[[Tournament, Fields, datetime], str]] = {
    "advance": _advance,
    "extend": partial(_move, extend),
    "reopen": partial(_move, reopen),
    "disqualify": partial(_judge, disqualify),
    "readmit": partial(_judge, readmit),
    "message": _message,
    "title": _title,
}


_ATTACK_FILE = re.compile(rf"(?P<attacker>[A-Za-z0-9-]+)_attack_(?P<target>[A-Za-z0-9-]+){COPY}\.csv")
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
    """Submit an uploaded file."""

    def accept(name: str, against: str | None) -> Receipt:
        return submit_content(
            tournament, team, name, content.read(), now, against=against, measure=False, phase=phase, arrival=arrival
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
    """
    teams = tournament.settings.teams
    if not attacking:
        owner = named_owner(claimed)
        return f"{owner if owner in teams else team}_anonymized.csv", None
    match = _ATTACK_FILE.fullmatch(claimed)
    named = (match["attacker"], match["target"]) if match else (team, "")
    if chosen in teams and not (named[0] in teams and named[1] in teams):
        named = team, chosen
    refuse(
        named[0] not in teams or named[1] not in teams,
        Sentence(
            "which team does it attack? The phase is attack; choose the team, or name the file {team}_attack_TEAM.csv",
            team=team,
        ),
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
    """Take an older submission of a team into force; return a message in one line."""
    one = take_into_force(opened_tournament(folder), team, number, now)
    kind = Sentence("table") if one.against is None else Sentence("attack on {team}", team=one.against)
    return Sentence("submission {number} counts now as your {kind}", number=one.number, kind=kind)


@apart
def preview_table(
    folder: Path, team: str, claimed: str, content: UploadedContent | None, number: int | None
) -> dict[str, Any]:
    """Utility of a table and success of the built-in attacks on it, from the team's own files; nothing is recorded."""
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
    # JSON would make texts of the sentences.
    said = {"dearest": report.costs.words() if report.costs else "", "warning": report.fit.words()}
    return {"valid": True, "number": number, "file": name, **json.loads(check_report_to_json(report)), **said}


def _accepted_table(tournament: Tournament, team: str, number: int | None) -> bytes:
    """Content of an accepted table of a team."""
    own = [one for one, _ in tournament.state().submissions[team] if one.number == number and one.against is None]
    require(own, Sentence("{team} has no table {number}", team=team, number=number))
    return tournament.content(own[0].content)


def close_ended(folder: Path, now: datetime) -> None:
    """Close the phases whose end has passed, and say so to all."""
    tournament = opened_tournament(folder)
    if advance_due(tournament, now):
        write_notices(tournament)


def publish_decided(folder: Path) -> None:
    """Publish the tables of which the last file was checked after the phase was closed."""
    publish_again(opened_tournament(folder))


def store_presentation(
    folder: Path, team: str, text: str, picture: UploadedContent | None, keep_picture: bool, now: datetime
) -> None:
    """Store a team's presentation; see `present`."""
    data = None if picture is None else picture.read()
    present(opened_tournament(folder), team, text, data, now, keep_picture=keep_picture)


def store_points(folder: Path, team: str, giver: str, points: int, jury: bool, now: datetime) -> None:
    """Store points for a presentation; see `give_points`."""
    give_points(opened_tournament(folder), team, giver, points, now, jury=jury)


@tournament_files()
def export_all(folder: Path, path: Path) -> None:
    """Write everything of a tournament into a ZIP archive, except for its secret seed."""
    export(Tournament(folder), path, everything=True)
