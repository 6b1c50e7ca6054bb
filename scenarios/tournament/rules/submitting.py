"""Submission of files: valid files are archived under the hash of their content, and the log records their teams.

The log alone decides which files are accepted: a file counts once its log entry is complete. Its content is safe on the
disk before that. A crash in between leaves a file without an entry, which is no submission.
"""

from __future__ import annotations

import getpass
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from metrics.columns import Sentence, one_line, refuse, require
from scenarios.tournament.rules.folder import Submission, Tournament, store_file
from scenarios.tournament.rules.incidents import record_refusal
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.problems import InvalidFileError, refuse_file
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.sheets import notes_on, read_answers, read_sheet, read_submission
from scenarios.tournament.rules.submission_utility import SubmissionUtility

# Validation of submitted files: what they are, whom they attack, and all that is wrong with them.

Value = TypeVar("Value")
COPY = r"(?: - (?:Copy|コピー)| copy)?(?: ?\([0-9]+\))?"
"""How systems mark a second copy of a file in its name, as in ``kyoto_anonymized (1).csv``."""
_ATTACK_FILE = re.compile(rf"(?P<attacker>.+)_attack_(?P<target>.+?){COPY}\.csv")
_TABLE_FILE = re.compile(rf"(?P<team>.+)_anonymized{COPY}\.csv")


def named_owner(name: str) -> str:
    """Team whose table a file is by its name; empty if the name does not say."""
    match = _TABLE_FILE.fullmatch(name)
    return match["team"] if match else ""


@dataclass(frozen=True)
class Upload:
    """A valid file that is not archived yet.

    Attributes
    ----------
    team : str
        The team.
    name : str
        Name of the file.
    data : bytes
        Its content without blank lines.
    target : str or None
        Team that a correspondence table attacks.
    table : str or None
        SHA-256 of the attacked table.
    rows : int
        Number of rows.
    notes : tuple of str
        What the team should know: how many rows a table lacks, or what `notes_on` says of a correspondence table.
    """

    team: str
    name: str
    data: bytes
    target: str | None
    table: str | None
    rows: int
    notes: tuple[str, ...] = ()

    def utility(self, tournament: Tournament) -> SubmissionUtility | None:
        """Utility of a table; None for a correspondence table."""
        if self.target is not None:
            return None
        sheet = read_sheet(self.name, self.data, tournament.form(self.team))
        return tournament.originals(self.team).utility(sheet.frame, sheet.origin)


def validated(
    tournament: Tournament, entries: Sequence[LogEntry], team: str, name: str, data: bytes, target: str | None
) -> Upload:
    """Check the content of a file; `target` is the team that a correspondence table attacks."""
    plain = without_blank_lines(data)
    if target is None:
        owner = named_owner(name)
        theirs = owner != team and owner in tournament.settings.teams
        refuse_file(theirs, name, Sentence("is named as the table of {owner}, not of {team}", owner=owner, team=team))
        form = tournament.form(team)
        rows = len(_read(lambda content: read_sheet(name, content, form), plain, data).frame)
        originals = tournament.settings.originals
        few = (Sentence("{rows} of {originals} rows", rows=rows, originals=originals),) * (rows < originals)
        return Upload(team, name, plain, None, None, rows, few)
    state = tournament.state(entries)
    refuse(
        target in state.disqualified, Sentence("{target} is disqualified; there is nothing to attack", target=target)
    )
    table = state.tables.get(target)
    if table is None:
        raise ValueError(Sentence("{target} has submitted no table; there is nothing to attack", target=target))
    candidates = tournament.settings.candidates
    asked = tournament.asked(target)
    answers = _read(lambda content: read_answers(name, content, table.rows, candidates, asked), plain, data)
    return Upload(team, name, plain, target, table.content, answers.target.size, notes_on(answers))


def _read(read: Callable[[bytes], Value], plain: bytes, data: bytes) -> Value:
    """What a file holds; where it breaks a rule, problems name the lines of the file as it was sent."""
    try:
        return read(plain)
    except InvalidFileError:
        read(data)
        raise


def without_blank_lines(data: bytes) -> bytes:
    """A CSV file without its blank lines, which say nothing; line breaks inside quotes stay."""
    lines, quoted = [], False
    for line in data.splitlines(keepends=True):
        if quoted or line.strip(b"\r\n"):
            lines.append(line)
        quoted ^= line.count(b'"') % 2 == 1
    return b"".join(lines)


def named_target(name: str) -> str:
    """Team that a file of the attack phase attacks, as far as its name says; empty if it does not."""
    match = _ATTACK_FILE.fullmatch(name)
    return match["target"] if match else ""


def clear_target(team: str, name: str, against: str | None) -> str:
    """Team that a file attacks by its name or by `against`; empty if neither says so, or they contradict the team."""
    match = _ATTACK_FILE.fullmatch(name)
    if match is None:
        return against or ""
    agree = match["attacker"] == team and against in (None, match["target"])
    return match["target"] if agree else ""


def check_kind(tournament: Tournament, phase: Phase, team: str, name: str, against: str | None) -> None:
    """Refuse a file that its name or `against` shows to be of another phase; `phase` must be open."""
    until = tournament.state().end(phase)
    takes = Sentence("until {end}", end=until.isoformat()) if until else Sentence("now")
    attack = against is not None or _ATTACK_FILE.fullmatch(name) is not None
    refuse_file(
        phase is not Phase.ATTACK and attack,
        name,
        Sentence(
            "is handed in as an attack, but the phase is {phase}: only tables are accepted {takes}; "
            "attacks are accepted once the host has opened phase attack",
            phase=phase,
            takes=takes,
        ),
    )
    refuse_file(
        phase is Phase.ATTACK and not attack and bool(named_owner(name)),
        name,
        Sentence(
            "is named as a table, but the phase is {phase}: only attacks are accepted {takes}; an "
            "attack is named {team}_attack_TEAM.csv",
            phase=phase,
            takes=takes,
            team=team,
        ),
    )


def attacked(
    tournament: Tournament, team: str, name: str, against: str | None, *, required: bool = False
) -> str | None:
    """Team that a file attacks by its name or by `against`; None for a table."""
    match = _ATTACK_FILE.fullmatch(name)
    if match is None and against is None and not required:
        return None
    attacker, target = match.groups() if match else (team, against or "")
    refuse_file(
        attacker != team,
        name,
        Sentence("is named as an attack by {attacker!r}, not by {team}", attacker=attacker[:40], team=team),
    )
    refuse_file(
        not target,
        name,
        Sentence(
            "which team does it attack? The phase is attack; name the file {team}_attack_TEAM.csv, "
            "or use --against TEAM",
            team=team,
        ),
    )
    refuse_file(
        against not in (None, target),
        name,
        Sentence("is named as an attack on {target!r}, not on {against}", target=target[:40], against=against),
    )
    tournament.team_folder(target)
    refuse_file(target == team, name, Sentence("{team} cannot attack its own table", team=team))
    return target


@dataclass(frozen=True)
class Receipt:
    """Receipt of an accepted file.

    Attributes
    ----------
    submission : Submission
        The accepted file.
    entry : LogEntry
        Its entry in the log; the team may note its hash.
    utility : SubmissionUtility or None
        Utility of an anonymized table; None for a correspondence table, or if it was not measured.
    notes : tuple of str
        What the team should know, such as ``99 of 100 rows``, or of answers ``50 of 100 rows answered``.
    """

    submission: Submission
    entry: LogEntry
    utility: SubmissionUtility | None
    notes: tuple[str, ...] = ()


def submit(
    tournament: Tournament,
    team: str,
    path: Path,
    now: datetime,
    *,
    against: str | None = None,
    measure: bool = True,
) -> Receipt:
    """Validate and archive a file."""
    tournament.team_folder(team)
    phase = open_phase(tournament, tournament.log.head().lasting, team, now)
    about = clear_target(team, path.name, against) if phase is Phase.ATTACK else None
    try:
        data = read_submission(path)
    except ValueError:
        record_refusal(tournament, team, about, _written(path, now), now)
        raise
    return submit_content(
        tournament, team, path.name, data, now, against=against, measure=measure, written=_written(path, now)
    )


def submit_content(
    tournament: Tournament,
    team: str,
    name: str,
    data: bytes,
    now: datetime,
    *,
    against: str | None = None,
    measure: bool = True,
    written: datetime | None = None,
    phase: Phase | None = None,
    arrival: str = "",
) -> Receipt:
    """Validate and archive the content of a file.

    The file is validated before the tournament is locked, so that others may submit meanwhile.
    """
    tournament.team_folder(team)
    entries = tournament.log.head().lasting
    recorded, phase = phase, open_phase(tournament, entries, team, now, phase)
    try:
        check_kind(tournament, phase, team, name, against)
        target = attacked(tournament, team, name, against, required=True) if phase is Phase.ATTACK else None
        upload = validated(tournament, entries, team, name, data, target)
        utility = upload.utility(tournament) if measure else None
        with tournament.log.locked():
            tournament.sweep()
            entries = tournament.log.head().lasting
            refuse(
                open_phase(tournament, entries, team, now, recorded) is not phase,
                Sentence("phase {phase} was closed meanwhile", phase=phase),
            )
            entry = archive(tournament, entries, phase, upload, now, arrival=arrival)
    except ValueError:
        about = clear_target(team, name, against) if phase is Phase.ATTACK else None
        record_refusal(tournament, team, about, written or now, now)
        raise
    return Receipt(Submission.of(entry), entry, utility, upload.notes)


def submit_all(
    tournament: Tournament, team: str, paths: Sequence[Path], now: datetime, *, against: str | None = None
) -> Iterator[Receipt | ValueError]:
    """Validate and archive files one after another; a refused file does not affect the others."""
    tournament.team_folder(team)
    refuse(against is not None and len(paths) > 1, f"--against is for one file, but {len(paths)} are given")
    for path in paths:
        try:
            yield submit(tournament, team, path, now, against=against)
        except ValueError as error:
            yield error


def take_into_force(tournament: Tournament, team: str, number: int, now: datetime) -> Submission:
    """Take an older submission of a team into force again; quotas are unaffected."""
    tournament.team_folder(team)
    with tournament.log.locked():
        state = tournament.state(tournament.log.entries())
        phase = open_phase(tournament, state.entries, team, now)
        own = {one.number: one for one, _ in state.submissions[team]}
        numbers = ", ".join(map(str, list(own)[-20:])) or "none"
        require(
            number in own,
            Sentence(
                "team {team} has no submission {number}; its submissions are {numbers}",
                team=team,
                number=number,
                numbers=numbers,
            ),
        )
        one = own[number]
        refuse(
            (one.against is None) == (phase is Phase.ATTACK),
            Sentence(
                "submission {number} is a table; the phase is {phase}"
                if one.against is None
                else "submission {number} is an attack; the phase is {phase}",
                number=number,
                phase=phase,
            ),
        )
        target = state.tables.get(one.against) if one.against is not None else None
        refuse(
            one.against is not None and (target is None or one.table not in (None, target.content)),
            Sentence(
                "submission {number} attacks a table that {against} has withdrawn or replaced",
                number=number,
                against=one.against,
            ),
        )
        refuse(
            state.in_force.get((team, one.against)) == one,
            Sentence("submission {number} counts already", number=number),
        )
        details = {
            "team": team,
            "phase": str(phase),
            "against": one.against,
            "sha256": one.content,
            "rows": one.rows,
            "number": number,
            "by": _user(),
        }
        tournament.log.append("taken", details | ({"table": one.table} if one.table else {}), now)
    return one


def archive(
    tournament: Tournament,
    entries: Sequence[LogEntry],
    phase: Phase,
    upload: Upload,
    now: datetime,
    *,
    late: str | None = None,
    arrival: str = "",
) -> LogEntry:
    """Archive a valid file and log it; the log must be locked, and `entries` be its lasting ones."""
    if upload.target is not None:
        table = tournament.state(entries).tables.get(upload.target)
        refuse(
            table is None or table.content != upload.table,
            Sentence("the table of {target} has changed meanwhile; attack the new one", target=upload.target),
        )
    _check_quota(tournament, upload)
    content = store_file(tournament.submissions, upload.data, mode=0o400)
    details = {
        "team": upload.team,
        "phase": str(phase),
        "against": upload.target,
        "sha256": content,
        "bytes": len(upload.data),
        "rows": upload.rows,
        "by": _user(),
        **({"table": upload.table} if upload.table else {}),
        **({"late": late} if late is not None else {}),
        **({"arrival": arrival} if arrival else {}),
    }
    return tournament.log.append("submitted", details, now)


def _check_quota(tournament: Tournament, upload: Upload) -> None:
    """Refuse a file that does not fit into the bytes kept for its team."""
    quota, team, size = tournament.settings.quota, upload.team, len(upload.data)
    if tournament.log.head().sent.get(team, 0) + size <= quota:
        return
    archived = tournament.state(tournament.log.entries()).archived(team)
    used = sum(archived.values())
    refuse_file(
        hashlib.sha256(upload.data).hexdigest() not in archived and used + size > quota,
        upload.name,
        Sentence(
            "its {size} bytes exceed what is left to {team}; {used} of {quota} bytes are used",
            size=size,
            team=team,
            used=used,
            quota=quota,
        ),
    )


def open_phase(
    tournament: Tournament, entries: Sequence[LogEntry], team: str, now: datetime, recorded: Phase | None = None
) -> Phase:
    """The phase, if it takes files of the team: the current one, or the recorded one in which a file arrived."""
    state = tournament.state(entries)
    phase = recorded or state.phase
    refuse(phase is Phase.CLOSED, Sentence("the tournament is closed; no file is accepted any more"))
    refuse(
        team in state.disqualified,
        Sentence("team {team} is disqualified: {disqualified}", team=team, disqualified=state.disqualified.get(team)),
    )
    end = state.end(phase)
    if end is not None and now >= end:
        raise ValueError(
            Sentence(
                "phase {phase} ended at {end}; no file is accepted until the host opens the next",
                phase=phase,
                end=end.isoformat(),
            )
        )
    return phase


def _written(path: Path, now: datetime) -> datetime:
    """When a file was written; `now` if there is no such file."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return now


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


# Outcomes of submitted files as JSON, for pages and scripts.


def accepted_outcome(name: str, receipt: Receipt) -> dict[str, Any]:
    """Outcome of an accepted file as JSON."""
    submission = receipt.submission
    rows = Sentence("{count} row" if submission.rows == 1 else "{count} rows", count=submission.rows)
    return {
        "file": name,
        "accepted": True,
        "message": Sentence.joined(", ", [Sentence("accepted"), *(receipt.notes or [rows])]),
        "problems": [],
        "receipt": {
            "number": submission.number,
            "time": receipt.entry.arrived,
            "sha256": submission.content,
            "log": receipt.entry.hash,
            "rows": submission.rows,
            "against": submission.against,
        },
    }


def outcome(name: str, one: Receipt | ValueError | OSError) -> dict[str, Any]:
    """Outcome of a file as JSON, whether it was accepted or refused."""
    return accepted_outcome(name, one) if isinstance(one, Receipt) else refused_outcome(name, one)


def refused_outcome(name: str, error: ValueError | OSError) -> dict[str, Any]:
    """Outcome of a refused file as JSON."""
    if isinstance(error, InvalidFileError):
        refused = unsubmitted(Sentence("{problems}; nothing was submitted", problems=counted_problems(error)), name)
        return {**refused, **error.as_json(), "file": name}
    return unsubmitted(one_line(error), name)


def unsubmitted(message: str, name: str) -> dict[str, Any]:
    """Outcome, as JSON, of a file that was not submitted for one reason."""
    return {"file": name, "accepted": False, "message": message, "problems": []}


def counted_problems(error: InvalidFileError) -> str:
    """Number of a file's problems, such as ``1 problem``."""
    return Sentence("{count} problem" if error.total == 1 else "{count} problems", count=error.total)
