"""Verification of a tournament's log and files."""

from __future__ import annotations

from scenarios.tournament.folder import Tournament


def verify(tournament: Tournament) -> str:
    """Verify the log's hash chain and the content of every accepted file; return a summary in one line.

    Raises
    ------
    ValueError
        If an entry was changed, dropped or inserted, or an accepted file is missing or was changed.
    """
    entries = tournament.log.entries()
    phase = tournament.phase(entries)
    if tournament.log.head().lasting != tuple(entry for entry in entries if entry.lasting):
        raise ValueError(f"{tournament.log.path}.checkpoint: contradicts the log; remove it")
    accepted = tournament.accepted(entries)
    for content in dict.fromkeys(submission.content for submission in accepted):
        tournament.content(content)
    return (
        f"{len(entries)} entries and {len(accepted)} accepted files are unchanged; phase {phase}; "
        f"last hash {entries[-1].hash}"
    )
