"""The host's decisions and lists, which run in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from leaderboard.statistics.downtime import downtime_table
from metrics.columns import refuse
from scenarios.tournament.host.late import disqualify, extend, give_title, readmit, reopen
from scenarios.tournament.host.messages import post, write_notices
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.folder import Tournament, opened_tournament
from scenarios.tournament.rules.incidents import tournament_incidents
from scenarios.tournament.rules.problems import GuidedError
from scenarios.tournament.rules.settings import Phase

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
    """Carry out a decision of the host; return a message in one line.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    action : str
        One of `ACTIONS`.
    fields : mapping of str to str
        Fields of the form.
    now : datetime
        Current time, with a time zone.

    Raises
    ------
    ValueError
        If the rules do not allow it; then nothing has changed.
    """
    tournament = opened_tournament(folder)
    message = ACTIONS[action](tournament, fields, now)
    return "; ".join([message, *write_notices(tournament)])


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
        "the phase has changed since this page was loaded; load it again",
    )
    phase = advance(tournament, now, early=bool(fields.get("early")))
    return "the tournament is closed" if phase is Phase.CLOSED else f"phase {phase} is open"


def _extend(tournament: Tournament, fields: Fields, now: datetime) -> str:
    phase = _phase(fields)
    end = extend(tournament, phase, _utc(fields), fields.get("reason", ""), now)
    return f"phase {phase} ends at {end.isoformat()}"


def _reopen(tournament: Tournament, fields: Fields, now: datetime) -> str:
    phase = _phase(fields)
    end = reopen(tournament, phase, _utc(fields), fields.get("reason", ""), now)
    return f"phase {phase} is open again until {end.isoformat()}"


def _disqualify(tournament: Tournament, fields: Fields, now: datetime) -> str:
    disqualify(tournament, fields.get("team", ""), fields.get("reason", ""), now)
    return f"{fields['team']} is disqualified"


def _readmit(tournament: Tournament, fields: Fields, now: datetime) -> str:
    readmit(tournament, fields.get("team", ""), fields.get("reason", ""), now)
    return f"{fields['team']} takes part again"


def _message(tournament: Tournament, fields: Fields, now: datetime) -> str:
    post(tournament, fields.get("text", ""), now)
    return "the message is posted"


def _title(tournament: Tournament, fields: Fields, now: datetime) -> str:
    title = give_title(tournament, fields.get("team", ""), fields.get("title", ""), now)
    return f"{fields['team']} is shown as {title}"


def _phase(fields: Fields) -> Phase:
    try:
        return Phase(fields.get("phase", ""))
    except ValueError:
        raise ValueError("choose a phase") from None


def _utc(fields: Fields) -> str:
    """The moment in a form, as the page's script tells it; without the script the field is in UTC."""
    text = (fields.get("moment") or fields.get("until", "")).strip()
    try:
        # A date alone would be the end of a day in a zone that the form does not tell.
        if len(text) > len("2030-01-31"):
            return text if datetime.fromisoformat(text).tzinfo else f"{text}+00:00"
    except ValueError:
        pass
    raise ValueError("name the new end with its time as 2030-01-31T12:00, in UTC")


ACTIONS: Mapping[str, Callable[[Tournament, Fields, datetime], str]] = {
    "advance": _advance,
    "extend": _extend,
    "reopen": _reopen,
    "disqualify": _disqualify,
    "readmit": _readmit,
    "message": _message,
    "title": _title,
}
