"""A tournament's log of failures: refused files, and scorings that failed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from leaderboard.statistics.downtime import Incident
from metrics.columns import PRIVATE
from scenarios.tournament.rules.folder import State, Tournament
from scenarios.tournament.rules.settings import Phase

_FILE = "incidents.jsonl"
REFUSED, UNSCORED = "refused submission", "failed scoring"


def record_refusal(tournament: Tournament, team: str, against: str | None, written: datetime, now: datetime) -> None:
    """Record that a team's file was refused; it has been wrong since it was written.

    Neither the file nor the message is kept. A failure to write the record is ignored.
    """
    _append(tournament, {"kind": REFUSED, "team": team, "against": against, "began": min(written, now), "found": now})


def record_scoring(tournament: Tournament, began: datetime, now: datetime, *, failed: bool) -> None:
    """Record that a scoring failed, or that one succeeded after a failure."""
    if failed:
        _append(tournament, {"kind": UNSCORED, "began": began, "found": now})
    elif any(line.get("kind") == UNSCORED for line in _lines(tournament)):
        _append(tournament, {"kind": "scored", "found": now})


def tournament_incidents(tournament: Tournament) -> list[Incident]:
    """All failures of a tournament, oldest first.

    A refused table is repaired by the team's next accepted table, and a refused attack by its next accepted attack on
    the same team. Where it is unclear whom the attack was on, any accepted attack of the team repairs it. After the
    attack phase no file can repair a refusal, and it counts until then. A failed scoring is repaired by the next one
    that succeeds.
    """
    state = tournament.state(tournament.log.entries())
    over, lines = _end(state), _lines(tournament)
    scored = [datetime.fromisoformat(line["found"]) for line in lines if line["kind"] == "scored"]
    incidents = []
    for line in (one for one in lines if one["kind"] != "scored"):
        began, found = (datetime.fromisoformat(line[name]) for name in ("began", "found"))
        refused = line["kind"] == REFUSED
        repairs = _repairs(line, found, state) if refused else [time for time in scored if time >= found]
        incidents.append(Incident(line["kind"], began, found, min(repairs, default=None), over if refused else None))
    return incidents


def _repairs(refusal: Mapping[str, Any], found: datetime, state: State) -> list[datetime]:
    """When files of the team were accepted that repair a refusal."""
    team, against = refusal["team"], refusal["against"]
    # A refused file of the attack phase may name nobody, its own team, or a team without a table.
    clear = against is None or (against != team and against in state.tables)
    # The log of submissions has whole seconds.
    second = found.replace(microsecond=0)
    times = [
        datetime.fromisoformat(entry.arrived)
        for one, entry in state.submissions[team]
        if (one.against == against if clear else one.against is not None)
    ]
    return [max(time, found) for time in times if time >= second]


def _end(state: State) -> datetime | None:
    """When the attack phase ends or ended, as announced or as the host closed it before; None if that is open."""
    announced = state.end(Phase.ATTACK)
    ends = [] if announced is None else [announced]
    if state.phase is Phase.CLOSED:
        ends.append(max(datetime.fromisoformat(entry.arrived) for entry in state.entries if entry.kind == "advanced"))
    return min(ends, default=None)


def counted_incidents(incidents: Sequence[Incident]) -> str:
    """Number of failures of each kind, such as ``2 x refused submission``; empty without any."""
    return ", ".join(f"{times} x {kind}" for kind, times in sorted(Counter(one.kind for one in incidents).items()))


def _append(tournament: Tournament, line: dict[str, Any]) -> None:
    plain = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in line.items()}
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    with suppress(OSError), os.fdopen(os.open(tournament.host / _FILE, flags, PRIVATE), "ab") as file:
        file.write((json.dumps(plain, sort_keys=True) + "\n").encode())


def _lines(tournament: Tournament) -> list[dict[str, Any]]:
    """Complete and readable lines of the log; a line that a crash left unfinished is none."""
    try:
        text = (tournament.host / _FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    lines = []
    for line in text.splitlines():
        with suppress(ValueError):
            content = json.loads(line)
            if isinstance(content, dict) and {"kind", "found"} <= set(content):
                lines.append(content)
    return lines
