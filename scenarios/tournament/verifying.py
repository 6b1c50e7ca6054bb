"""Whether a tournament's record is whole."""

from __future__ import annotations

from scenarios.tournament.folder import Tournament


def verify(tournament: Tournament) -> str:
    """Check the chain of the log and the content of every accepted file; what was found, in a line.

    Raises
    ------
    ValueError
        If an entry was changed, dropped or inserted, or an accepted file is missing or was changed.
    """
    entries = tournament.log.entries()
    if not entries or entries[0].kind != "opened" or entries[0].details.get("teams") != tournament.settings.teams:
        raise ValueError(f"{tournament.log.path}: does not begin with the opening of this tournament")
    accepted = tournament.accepted(entries)
    for submission in accepted:
        tournament.content(submission.content)
    return (
        f"{len(entries)} entries and {len(accepted)} accepted files are whole; phase {tournament.phase(entries)}; "
        f"last hash {entries[-1].hash}"
    )
