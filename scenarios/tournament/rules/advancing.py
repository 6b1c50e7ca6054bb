"""Closing a phase: the accepted files are published without their origins, and the next phase opens.

All published files follow from the accepted files and the secret seed. After an interruption, the same command writes
the same files again and then changes the phase.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import pandas as pd

from metrics.columns import Sentence, refuse
from scenarios.tables.seeds import generator
from scenarios.tournament.rules.arrivals import undecided_tables
from scenarios.tournament.rules.folder import State, Submission, Tournament, csv_bytes, opened_tournament, write_whole
from scenarios.tournament.rules.problems import GuidedError
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.sheets import Sheet, read_sheet


def advance(tournament: Tournament, now: datetime, *, early: bool = False) -> Phase:
    """Close the phase and open the next."""
    with tournament.log.locked():
        tournament.sweep()
        state = tournament.state(tournament.log.entries())
        phase, end = state.phase, state.until
        refuse(phase is Phase.CLOSED, Sentence("the tournament is closed"))
        if end is not None and now < end and not early:
            runs = Sentence("phase {phase} runs until {end}", phase=phase, end=end.isoformat())
            raise GuidedError(runs, "; --early closes it now", Sentence("; tick the box to close it now"))
        following = tournament.settings.after(phase)
        if phase is Phase.ANONYMIZE:
            _publish_candidates(tournament)
        if following is Phase.ATTACK:
            _publish_tables(state)
        # Files that arrive in the same second are distinguished by the whole moment.
        tournament.log.append("advanced", {"from": str(phase), "to": str(following), "moment": now.isoformat()}, now)
    return following


def advance_due(tournament: Tournament, now: datetime) -> list[Phase]:
    """Close each phase whose end has passed; return the phases that opened, the current one last."""
    opened: list[Phase] = []
    while (end := tournament.state().until) is not None and now >= end:
        opened.append(advance(tournament, now))
    return opened


def publish_again(tournament: Tournament) -> None:
    """Restore published files that are missing or not what is in force; do nothing before the attack phase."""
    # Submissions wait for the lock, so it is taken only if there is something to write.
    if not wrongly_published(tournament):
        return
    with tournament.log.locked():
        state = tournament.state()
        if state.phase.published:
            _publish_candidates(tournament)
            _publish_tables(state)


def wrongly_published(tournament: Tournament) -> list[Path]:
    """Files that should be published and are missing or have another content; none before the attack phase."""
    state = tournament.state()
    if not state.phase.published:
        return []
    expected = {
        tournament.public / name: _sha256(data)
        for team in tournament.settings.teams
        for name, data in tournament.candidate_files(team).items()
    } | {
        _table_path(tournament, team): _table_sha256(tournament.folder, tournament.secret["seed"], team, one.content)
        for team, one in _decided_tables(state).items()
    }
    return [path for path, sha256 in expected.items() if not path.is_file() or _sha256(path.read_bytes()) != sha256]


def _publish_candidates(tournament: Tournament) -> None:
    """Publish all candidate files that are not published yet."""
    for team in tournament.settings.teams:
        tournament.unchanged(tournament.candidate_path(team))
        for name, data in tournament.candidate_files(team).items():
            _write_new(tournament.public / name, data)


def _publish_tables(state: State) -> None:
    """Publish the table of each team that counts, unless it is published already."""
    for team, submission in _decided_tables(state).items():
        _write_new(_table_path(state.tournament, team), _table_bytes(state.tournament, team, submission.content))


def _decided_tables(state: State) -> dict[str, Submission]:
    """Table of each team that counts, without those of which a later file arrived in time and is not checked yet."""
    waiting = undecided_tables(state.tournament)
    return {team: one for team, one in state.tables.items() if team not in waiting}


def _write_new(path: Path, data: bytes) -> None:
    """Write a file whole, unless it has this content already."""
    if not path.is_file() or path.read_bytes() != data:
        write_whole(path, data)


def _table_path(tournament: Tournament, team: str) -> Path:
    return tournament.public / f"{team}_anonymized.csv"


def _table_bytes(tournament: Tournament, team: str, content: str) -> bytes:
    return csv_bytes(tournament.form(team).written.write(published(tournament, team, content).frame))


@lru_cache(maxsize=1024)
def _table_sha256(folder: Path, seed: int, team: str, content: str) -> str:
    """Hash of a published table, computed once; the seed tells tournaments in one folder apart."""
    return _sha256(_table_bytes(opened_tournament(folder), team, content))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def published(tournament: Tournament, team: str, content: str) -> Sheet:
    """A team's table as it is published, rows in a secret order, together with its secret origins."""
    sheet = read_sheet(f"{team}_anonymized.csv", tournament.content(content), tournament.form(team))
    order = generator(tournament.secret["seed"], "tournament", "rows", team, content).permutation(len(sheet.frame))
    frame: pd.DataFrame = sheet.frame.iloc[order].reset_index(drop=True)
    return Sheet(frame, sheet.origin[order])
