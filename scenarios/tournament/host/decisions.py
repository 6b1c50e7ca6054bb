"""The host's decisions about deadlines, titles, teams and late files, and what everybody reads of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from metrics.columns import Sentence, one_line, refuse
from scenarios.tournament.rules import (
    LONGEST_MESSAGE,
    GuidedError,
    LogEntry,
    Phase,
    Receipt,
    State,
    Submission,
    Tournament,
    archive,
    attacked,
    changed_file,
    checked_reason,
    checked_text,
    checked_title,
    moment,
    moment_text,
    publish_again,
    rules,
    said_in,
    validated,
    write_whole,
)

# Messages of the host to all, and the host's decisions in words.


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
    """Post a message to everybody."""
    text = checked_text(text, Sentence("message"), LONGEST_MESSAGE)
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
    """Write ``public/NOTICES.md``, and the deadlines into each team's ``RULES.md``."""
    entries = tournament.log.head().lasting
    said = notices(tournament, entries, lambda end: moment_text(datetime.fromisoformat(end)))
    page = "\n".join(
        ["# Notices of the host\n", *(f"## {one.time.replace('T', ' ')}\n{one.text}\n" for one in reversed(said))]
    )
    skipped: list[str] = []
    try:
        # Submissions remove unfinished files from the public folder while they hold the lock.
        with tournament.log.locked():
            write_whole(tournament.public / "NOTICES.md", page.encode())
    except (ValueError, OSError) as error:
        skipped.append(Sentence("NOTICES.md was not written: {why}", why=one_line(error)))
    if not any(entry.kind in ("extended", "reopened") for entry in entries):
        return skipped
    try:
        page = said_in(tournament.settings.language, current_rules(tournament, entries))
    except (ValueError, OSError) as error:
        # The decision is in the log in any case, whatever is wrong with the host's files.
        return [*skipped, Sentence("RULES.md has no new deadlines: {why}", why=one_line(error))]
    for team in tournament.settings.teams:
        try:
            write_whole(tournament.team_folder(team) / "RULES.md", page.encode(), mode=0o640)
        except (ValueError, OSError) as error:
            skipped.append(Sentence("{team} has no new RULES.md: {why}", team=team, why=one_line(error)))
    return skipped


def current_rules(tournament: Tournament, entries: Sequence[LogEntry]) -> str:
    """The rules page with the deadlines as the host moved them; any team's intact originals describe the columns."""
    settings, folder, recorded = tournament.settings, tournament.folder, tournament.recorded_files
    ends = {
        f"{str(phase).replace('-', '_')}_until": end.isoformat(timespec="seconds")
        for phase, end in tournament.state(entries).ends
    }
    intact = next(
        (team for team in settings.teams if not changed_file(folder, recorded, tournament.original_path(team), "")),
        settings.teams[0],
    )
    table, classifier = tournament.dataset(intact), tournament.people is not None
    return rules(settings.model_copy(update=ends), table.records, table.written, classifier=classifier)


def _text(entry: LogEntry, titles: dict[str, str], shown: Callable[[str], str]) -> str:
    """What an entry says to everybody; empty for one that says nothing."""
    details = entry.details
    reason = details.get("reason", "")
    team = titles.get(details.get("team", ""), "")
    if entry.kind == "messaged":
        return str(details["text"])
    if entry.kind == "submitted" and "late" in details:
        return Sentence(
            "The host admitted a late table of {team}: {reason}"
            if details["against"] is None
            else "The host admitted a late attack on {target} of {team}: {reason}",
            target=titles.get(details["against"]),
            team=team,
            reason=details["late"],
        )
    end = shown(details["until"]) if "until" in details else ""
    phase, to = (Phase(details[name]) if name in details else None for name in ("phase", "to"))
    words = {
        "advanced": Sentence(
            "Phase {phase} is closed. The tournament is closed."
            if to is Phase.CLOSED
            else "Phase {phase} is closed. Phase {following} is open.",
            phase=Phase(details["from"]) if "from" in details else None,
            following=to,
        ),
        "extended": Sentence("Phase {phase} ends at {end}: {reason}", phase=phase, end=end, reason=reason),
        "reopened": Sentence("Phase {phase} is open again until {end}: {reason}", phase=phase, end=end, reason=reason),
        "disqualified": Sentence("{team} is disqualified: {reason}", team=team, reason=reason),
        "readmitted": Sentence("{team} takes part again: {reason}", team=team, reason=reason),
        "adopted": Sentence(
            "The host logged hashes of the originals, candidate files, roles and settings as they are now."
        ),
    }
    return words.get(entry.kind, "")


# Deadlines: a phase ends later, or opens again; the log says why.


def extend(tournament: Tournament, phase: Phase, until: str, reason: str, now: datetime) -> datetime:
    """Move the end of the current or a later phase to a later moment."""
    return _moved(tournament, "extended", phase, until, reason, now)


def reopen(tournament: Tournament, phase: Phase, until: str, reason: str, now: datetime) -> datetime:
    """Open an earlier phase again; what was published stays until the phase is closed again.

    Correspondence tables about a table that changes meanwhile no longer count.
    """
    return _moved(tournament, "reopened", phase, until, reason, now)


def _moved(tournament: Tournament, kind: str, phase: Phase, until: str, reason: str, now: datetime) -> datetime:
    """Record the new end of a phase that is over and is ``reopened``, or that is not over and is ``extended``."""
    reason, again = checked_reason(reason), kind == "reopened"
    with tournament.log.locked():
        state, order = tournament.state(), tournament.settings.phases
        current, present = state.phase, state.end(phase)
        over = order.index(phase) < order.index(current)
        if over and not again:
            reason = Sentence("phase {phase} is over, the phase is {current}", phase=phase, current=current)
            raise GuidedError(reason, "; `reopen` opens it again", Sentence("; reopen it instead"))
        if again and not over:
            reason = Sentence("phase {phase} is not over, the phase is {current}", phase=phase, current=current)
            raise GuidedError(reason, "; `extend` moves its end", Sentence("; extend it instead"))
        refuse(present is None and not again, Sentence("phase {phase} has no end", phase=phase))
        end = _checked_end(state, phase, until, now)
        if present is not None and end <= present and not again:
            reason = Sentence("phase {phase} runs until {end} already", phase=phase, end=present.isoformat())
            raise GuidedError(reason, "; --until must be later", Sentence("; name a later end"))
        details = {"phase": str(phase), "until": end.isoformat(timespec="seconds"), "reason": reason}
        tournament.log.append(kind, details | ({"moment": now.isoformat()} if again else {}), now)
    return end


def _checked_end(state: State, phase: Phase, until: str, now: datetime) -> datetime:
    end = datetime.fromisoformat(moment(until))
    refuse(end <= now, Sentence("{end} has passed; name a later moment", end=end.isoformat()))
    order = state.tournament.settings.phases
    current = order.index(state.phase)
    # The last phase first, since no later one keeps it from being moved.
    for number in reversed(range(order.index(phase) + 1, len(order))):
        theirs = state.end(order[number])
        if theirs is not None and theirs <= end:
            raise ValueError(
                Sentence(
                    "phase {phase} ends at {end}, too early; reopen it first"
                    if number < current
                    else "phase {phase} ends at {end}, too early; extend it first",
                    phase=order[number],
                    end=theirs.isoformat(),
                )
            )
    return end


# Titles of teams in any script, beside the names that their files bear.


def give_title(tournament: Tournament, team: str, title: str, now: datetime) -> str:
    """Give a team a title, which everybody sees."""
    tournament.team_folder(team)
    with tournament.log.locked():
        title = checked_title(title, team, tournament.state().titles)
        tournament.log.append("titled", {"team": team, "title": title}, now)
    return title


# Disqualification of teams: their files do not count, and everybody sees why.


def disqualify(tournament: Tournament, team: str, reason: str, now: datetime) -> None:
    """Disqualify a team: its table and attacks do not count, nobody attacks it, and it submits nothing more.

    Its files stay in the archive, and what was published of it stays.
    """
    _decide(tournament, team, reason, now, "disqualified")


def readmit(tournament: Tournament, team: str, reason: str, now: datetime) -> None:
    """Readmit a disqualified team: its files count again, and its table is published; see `disqualify`."""
    # What cannot be published is refused before the decision is logged.
    publish_again(tournament)
    _decide(tournament, team, reason, now, "readmitted")
    publish_again(tournament)


def _decide(tournament: Tournament, team: str, reason: str, now: datetime, kind: str) -> None:
    tournament.team_folder(team)
    reason = checked_reason(reason)
    with tournament.log.locked():
        out = team in tournament.state().disqualified
        refuse(
            out == (kind == "disqualified"),
            Sentence("team {team} is disqualified already" if out else "team {team} is not disqualified", team=team),
        )
        tournament.log.append(kind, {"team": team, "reason": reason}, now)


def admit(
    tournament: Tournament,
    team: str,
    name: str,
    data: bytes,
    reason: str,
    now: datetime,
    *,
    against: str | None = None,
) -> Receipt:
    """Admit a file after the end of its phase; it obeys all other rules.

    Once the tables are published, a late table is admitted of a team that has none, and published at once. After the
    end of the attack phase no table is admitted, since nobody could attack it; late attacks are.
    """
    tournament.team_folder(team)
    reason = checked_reason(reason)
    target = attacked(tournament, team, name, against)
    upload = validated(tournament, tournament.log.head().lasting, team, name, data, target)
    publish_again(tournament)
    with tournament.log.locked():
        tournament.sweep()
        state, order = tournament.state(), tournament.settings.phases
        phase = state.phase
        theirs = Phase.ATTACK if target is not None else (order[-3] if phase in (Phase.ATTACK, Phase.CLOSED) else phase)
        refuse(team in state.disqualified, Sentence("team {team} is disqualified; readmit it first", team=team))
        end = state.end(theirs)
        if phase is theirs and end is not None and now < end:
            raise ValueError(
                Sentence("phase {phase} runs until {end}; `submit` takes the file", phase=phase, end=end.isoformat())
            )
        refuse(
            order.index(phase) < order.index(theirs),
            Sentence("phase {theirs} has not begun, the phase is {phase}", theirs=theirs, phase=phase),
        )
        if target is None and phase is not theirs and team in state.tables:
            why = Sentence("the table of {team} is published and others attack it", team=team)
            raise GuidedError(why, "; `reopen` the phase to replace it", Sentence("; reopen the phase to replace it"))
        # A table that nobody can attack would lower the mean advantage of all other teams.
        closing = state.end(Phase.ATTACK)
        ended = phase is Phase.ATTACK and closing is not None and now >= closing
        refuse(
            target is None and (ended or phase is Phase.CLOSED),
            Sentence(
                "phase attack is over, nobody can attack a table of {team}; `extend` phase attack first"
                if ended
                else "phase attack is over, nobody can attack a table of {team}; `reopen` phase attack first",
                team=team,
            ),
        )
        entry = archive(tournament, state.entries, theirs, upload, now, late=reason)
    publish_again(tournament)
    return Receipt(Submission.of(entry), entry, None, upload.notes)
