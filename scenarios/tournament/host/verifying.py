"""Verification of a tournament's log and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from metrics.columns import refuse
from scenarios.tournament.host.presenting import presented_file, wrong_presentation
from scenarios.tournament.rules.advancing import wrongly_published
from scenarios.tournament.rules.arrivals import arrivals
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.opening_record import changed_copies
from scenarios.tournament.rules.settings import Phase

_UNRECORDED = "originals, candidates, others and roles were not recorded at init, so changes of them are not seen"


def verify(tournament: Tournament) -> str:
    """Verify the log, the settings, accepted files and what is published; return a summary in one line.

    The host's files must be as the opening logged them: originals, candidate files, other people, roles, and the
    secret. So must be their copies in the teams' folders, as far as they are there. Earlier versions logged no hashes.

    Every file must have been submitted by a team while its phase was open, or been admitted late by the host. Phases
    must follow each other, or have been opened again by the host. From the attack phase on, the published tables must
    be those in force.

    Raises
    ------
    ValueError
        If an entry was changed, dropped or inserted, or contradicts an earlier one; if a setting was changed by hand.
        If an accepted or published file, or one of the host's, is missing or was changed.
    """
    entries = tournament.log.entries()
    phase = tournament.state(entries).phase
    refuse(
        tournament.log.head().lasting != tuple(entry for entry in entries if entry.lasting),
        f"{tournament.log.path}.checkpoint: contradicts the log; remove it",
    )
    tournament.check_opening()
    _check_order(tournament, entries)
    accepted = [entry.details["sha256"] for entry in entries if entry.kind == "submitted"]
    for content in dict.fromkeys(accepted):
        tournament.content(content)
    for entry in entries:
        if entry.kind == "presented":
            for name in ("text", "picture"):
                if name in entry.details:
                    presented_file(tournament, entry.details[name])
    wrong = [
        *(f"{path}: is not the file that counts; `score` publishes that one" for path in wrongly_published(tournament)),
        *changed_copies(tournament.folder, tournament.recorded_files),
    ]
    refuse(wrong, "".join(wrong[:1]))
    moved = sum(entry.kind in ("extended", "reopened") for entry in entries)
    changes = f"; deadlines were moved {moved} time{'' if moved == 1 else 's'}" if moved else ""
    waiting = len(arrivals(tournament))
    waits = f"; {waiting} upload{'' if waiting == 1 else 's'} not checked yet" if waiting else ""
    hashed = len(tournament.recorded_files)
    host = f"{hashed} files of the host are as at the opening" if hashed else _UNRECORDED
    return (
        f"{len(entries)} entries and {len(accepted)} accepted files are unchanged; {host}; phase {phase}{changes}"
        f"{waits}; last hash {entries[-1].hash}"
    )


def _check_order(tournament: Tournament, entries: Sequence[LogEntry]) -> None:
    """Compare every entry with the phase and the deadline of its time."""
    order = tournament.settings.phases
    # Hosts of earlier versions moved deadlines by hand; their logs have no settings.
    stated = "settings" in entries[0].details
    deadlines = {one: tournament.settings.until(one) if stated else None for one in order}
    phase = Phase.ANONYMIZE
    left: dict[Phase, datetime] = {}
    out: set[str] = set()
    numbers: dict[int, LogEntry] = {}
    for entry in entries[1:]:
        details = entry.details
        wrong = ""
        if entry.kind in ("submitted", "taken"):
            numbers[entry.number] = entry
            wrong = _wrong_submission(entry, _phase_of(entry, phase, left), deadlines, out)
            if entry.kind == "taken" and not _same(entry, numbers.get(details["number"])):
                wrong = "takes a submission into force that is none"
        elif entry.kind == "presented":
            wrong = wrong_presentation(entry, phase, deadlines[phase], out)
        elif entry.kind == "advanced":
            if (details["from"], details["to"]) != (phase, tournament.settings.after(phase)) or phase is Phase.CLOSED:
                wrong = f"closes phase {details['from']} while the phase is {phase}"
            left[phase], phase = datetime.fromisoformat(entry.arrived), Phase(details["to"])
        elif entry.kind in ("extended", "reopened"):
            moved = Phase(details["phase"])
            if (order.index(moved) < order.index(phase)) != (entry.kind == "reopened"):
                wrong = f"moves the end of phase {moved} while the phase is {phase}"
            deadlines[moved] = datetime.fromisoformat(details["until"])
            if entry.kind == "reopened":
                left[phase], phase = datetime.fromisoformat(entry.arrived), moved
        elif entry.kind == "disqualified":
            out.add(details["team"])
        elif entry.kind == "readmitted":
            out.discard(details["team"])
        refuse(wrong, f"{tournament.log.path}, line {entry.number}: {wrong}")


def _phase_of(entry: LogEntry, phase: Phase, left: Mapping[Phase, datetime]) -> Phase:
    """Phase in which a file was accepted: the current one, or the one in which it arrived at the site before the close.

    `left` says when each phase was left last.
    """
    own = Phase(entry.details["phase"])
    arrived = datetime.fromisoformat(entry.arrived)
    return own if "arrival" in entry.details and own in left and arrived <= left[own] else phase


def _wrong_submission(entry: LogEntry, phase: Phase, deadlines: Mapping[Phase, datetime | None], out: set[str]) -> str:
    """What contradicts a submission; empty if nothing does."""
    details, end = entry.details, deadlines[phase]
    if details["team"] in out:
        return f"is of team {details['team']}, which is disqualified"
    if "late" in details:
        return ""
    if details["phase"] != phase or phase is Phase.CLOSED:
        return f"is of phase {details['phase']}, but the phase is {phase}"
    if (details["against"] is None) == (phase is Phase.ATTACK):
        return f"is no submission of phase {phase}"
    if end is not None and datetime.fromisoformat(entry.arrived) >= end:
        return f"is of {entry.arrived}, after the end of phase {phase} at {end.isoformat()}"
    return ""


def _same(taken: LogEntry, first: LogEntry | None) -> bool:
    """Whether an entry takes this submission into force."""
    names = ("team", "against", "sha256", "rows")
    return (
        first is not None
        and first.kind == "submitted"
        and all(taken.details[name] == first.details[name] for name in names)
    )
