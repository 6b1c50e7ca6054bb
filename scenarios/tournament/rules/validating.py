"""Validation of submitted files: what they are, whom they attack, and all that is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.pages.number_text import counted
from leaderboard.pages.tables import text_table
from leaderboard.results.goals import goal_words
from metrics.columns import refuse
from scenarios.tables.toml.json_text import json_text
from scenarios.tournament.rules.checking import CheckReport
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.problems import InvalidFileError, refuse_file
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.sheets import notes_on, read_answers, read_sheet
from scenarios.tournament.rules.submission_utility import SubmissionUtility

# Check report of a table as text and JSON.


def check_report_to_terminal(report: CheckReport) -> str:
    """Check report as plain text."""
    utility = report.utility
    parts = ", ".join(f"{name} {value:.3f}" for name, value in utility.components.items())
    rows = [
        [one.attacker, goal_words(one.goal), *(f"{value:.3f}" for value in (one.success, one.chance, one.advantage))]
        for one in report.outcomes
    ]
    lines = [
        f"valid: {counted(len(report.sheet.frame), 'row')}",
        f"utility {utility.counted:.3f}, the smaller one of two: of the table {utility.table:.3f} ({parts}), "
        f"of the records {utility.record:.3f}",
        *filter(None, (report.note, report.costs.words() if report.costs else "", report.fit.words())),
    ]
    if rows:
        table = text_table(("attack", "best at", "success", "chance", "advantage"), rows)
        end = f"defense {report.defense:.3f} against these attacks, with {report.decoys} decoys from others.csv; the "
        lines += ["", table, "", f"{end}tournament uses other decoys, and teams may attack better"]
    else:
        lines.append(
            "no attack was played and no classifier tested: there is no others.csv in the folder of the originals "
            "(--others names another file)"
        )
    return "\n".join(lines)


def check_report_to_json(report: CheckReport) -> str:
    """Check report as JSON."""
    utility = report.utility
    content = {
        "rows": len(report.sheet.frame),
        "utility": utility.counted,
        "utility_table": utility.table,
        "utility_record": utility.record,
        "components": utility.components,
        "record_costs": report.costs and {**report.costs.columns, "originals without a row": report.costs.left_out},
        "dearest": report.costs.words() if report.costs else "",
        "warning": report.fit.words(),
        "note": report.note,
        "decoys": report.decoys,
        "defense": report.defense,
        "attacks": [
            {
                "attack": one.attacker,
                "goal": one.goal,
                "success": one.success,
                "chance": one.chance,
                "advantage": one.advantage,
            }
            for one in report.outcomes
        ],
    }
    return json_text(content)


_ATTACK_FILE = re.compile(r"(?P<attacker>.+)_attack_(?P<target>.+)\.csv")


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
        What the team should know about a correspondence table; see `notes_on`.
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
    """Check the content of a file; `target` is the team that a correspondence table attacks.

    Raises
    ------
    InvalidFileError
        If it breaks a rule; messages name rows and lines of the file as it was submitted.
    ValueError
        If there is no table to attack, or the file bears the name of another team's table.
    """
    plain = without_blank_lines(data)
    if target is None:
        owner = name.removesuffix("_anonymized.csv")
        theirs = owner != team and owner in tournament.settings.teams
        refuse_file(theirs, name, f"is named as the table of {owner}, not of {team}")
        form = tournament.form(team)
        try:
            rows = len(read_sheet(name, plain, form).frame)
        except InvalidFileError:
            read_sheet(name, data, form)
            raise
        return Upload(team, name, plain, None, None, rows)
    state = tournament.state(entries)
    refuse(target in state.disqualified, f"{target} is disqualified; there is nothing to attack")
    table = state.tables.get(target)
    if table is None:
        raise ValueError(f"{target} has submitted no table; there is nothing to attack")
    candidates = tournament.settings.candidates
    try:
        answers = read_answers(name, plain, table.rows, candidates)
    except InvalidFileError:
        read_answers(name, data, table.rows, candidates)
        raise
    return Upload(team, name, plain, target, table.content, answers.target.size, notes_on(answers))


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
    """Refuse a file that its name or `against` shows to be of another phase; `phase` must be open.

    Raises
    ------
    ValueError
        If it is an attack while tables are submitted, or a table in the attack phase.
    """
    until = tournament.state().end(phase)
    takes = f"until {until.isoformat()}" if until else "now"
    attack = against is not None or _ATTACK_FILE.fullmatch(name) is not None
    refuse_file(
        phase is not Phase.ATTACK and attack,
        name,
        f"is handed in as an attack, but the phase is {phase}: only tables are accepted {takes}; attacks are accepted "
        "once the host has opened phase attack",
    )
    refuse_file(
        phase is Phase.ATTACK and not attack and name.endswith("_anonymized.csv"),
        name,
        f"is named as a table, but the phase is {phase}: only attacks are accepted {takes}; an attack is named "
        f"{team}_attack_TEAM.csv",
    )


def attacked(
    tournament: Tournament, team: str, name: str, against: str | None, *, required: bool = False
) -> str | None:
    """Team that a file attacks by its name or by `against`; None for a table.

    Parameters
    ----------
    required : bool
        Whether the file must be an attack.

    Raises
    ------
    ValueError
        If the name and `against` contradict each other or the team. If the target is unknown or the team itself. If an
        attack is required but none named.
    """
    match = _ATTACK_FILE.fullmatch(name)
    if match is None and against is None and not required:
        return None
    attacker, target = match.groups() if match else (team, against or "")
    refuse_file(attacker != team, name, f"is named as an attack by {attacker[:40]!r}, not by {team}")
    refuse_file(
        not target,
        name,
        f"which team does it attack? The phase is attack; name the file {team}_attack_TEAM.csv, or use --against TEAM",
    )
    refuse_file(against not in (None, target), name, f"is named as an attack on {target[:40]!r}, not on {against}")
    tournament.team_folder(target)
    refuse_file(target == team, name, f"{team} cannot attack its own table")
    return target
