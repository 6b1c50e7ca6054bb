"""Messages of the host to all, and the host's decisions in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from metrics.columns import one_line
from scenarios.tournament.rules.folder import Tournament, write_whole
from scenarios.tournament.rules.guide import rules
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.settings import LONGEST_MESSAGE, Phase, checked_text, moment_text


@dataclass(frozen=True)
class Notice:
    """Something that the host says to everybody.

    Attributes
    ----------
    number : int
        Number of its entry in the log.
    time : str
        Time, ISO 8601.
    text : str
        The text; it may have several lines.
    """

    number: int
    time: str
    text: str


def post(tournament: Tournament, text: str, now: datetime) -> Notice:
    """Post a message to everybody.

    Raises
    ------
    ValueError
        If the text is empty, too long, or holds control characters.
    """
    text = checked_text(text, "message", LONGEST_MESSAGE)
    with tournament.log.locked():
        _ = tournament.state().phase
        entry = tournament.log.append("messaged", {"text": text}, now)
    return Notice(entry.number, entry.time, text)


def notices(tournament: Tournament, entries: Sequence[LogEntry], shown: Callable[[str], str] = str) -> list[Notice]:
    """Messages and decisions of the host, oldest first; `shown` words a deadline, which is given in ISO 8601."""
    titles = tournament.state(entries).titles
    texts = ((entry, _text(entry, titles, shown)) for entry in entries)
    return [Notice(entry.number, entry.time, text) for entry, text in texts if text]


def write_notices(tournament: Tournament) -> list[str]:
    """Write ``public/NOTICES.md``, and the deadlines into each team's ``RULES.md``.

    Returns
    -------
    list of str
        For each file that could not be written, one line that says why.
    """
    entries = tournament.log.head().lasting
    said = notices(tournament, entries, lambda end: moment_text(datetime.fromisoformat(end)))
    page = "\n".join(
        ["# Notices of the host\n", *(f"## {one.time.replace('T', ' ')}\n{one.text}\n" for one in reversed(said))]
    )
    skipped = []
    try:
        # Submissions remove unfinished files from the public folder while they hold the lock.
        with tournament.log.locked():
            write_whole(tournament.public / "NOTICES.md", page.encode())
    except (ValueError, OSError) as error:
        skipped.append(f"NOTICES.md was not written: {one_line(error)}")
    if any(entry.kind in ("extended", "reopened") for entry in entries):
        page = _rules(tournament, entries)
        for team in tournament.settings.teams:
            try:
                write_whole(tournament.team_folder(team) / "RULES.md", page.encode(), mode=0o640)
            except (ValueError, OSError) as error:
                skipped.append(f"{team} has no new RULES.md: {one_line(error)}")
    return skipped


def _rules(tournament: Tournament, entries: Sequence[LogEntry]) -> str:
    """The rules page with the deadlines as the host moved them."""
    settings = tournament.settings
    ends = {
        f"{str(phase).replace('-', '_')}_until": end.isoformat(timespec="seconds")
        for phase, end in tournament.state(entries).ends
    }
    table, classifier = tournament.dataset(settings.teams[0]), tournament.people is not None
    return rules(settings.model_copy(update=ends), table.records, table.written, classifier=classifier)


def _text(entry: LogEntry, titles: dict[str, str], shown: Callable[[str], str]) -> str:
    """What an entry says to everybody; empty for one that says nothing."""
    details = entry.details
    reason = details.get("reason", "")
    team = titles.get(details.get("team", ""), "")
    if entry.kind == "messaged":
        return str(details["text"])
    if entry.kind == "submitted" and "late" in details:
        kind = "table" if details["against"] is None else f"attack on {titles[details['against']]}"
        return f"The host admitted a late {kind} of {team}: {details['late']}"
    end = shown(details["until"]) if "until" in details else ""
    to = details.get("to")
    opened = "The tournament is closed." if to == Phase.CLOSED else f"Phase {to} is open."
    words = {
        "advanced": f"Phase {details.get('from')} is closed. {opened}",
        "extended": f"Phase {details.get('phase')} ends at {end}: {reason}",
        "reopened": f"Phase {details.get('phase')} is open again until {end}: {reason}",
        "disqualified": f"{team} is disqualified: {reason}",
        "readmitted": f"{team} takes part again: {reason}",
    }
    return words.get(entry.kind, "")
