"""Boards and reports of a tournament from its scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from leaderboard import Result, Section, Store
from leaderboard.results.goals import goal_words
from leaderboard.results.result import FAILURES
from metrics.columns import one_line, refuse
from metrics.columns.printable import printable
from metrics.table_utility import COMPONENTS
from scenarios.tournament.host.boards import (
    failures_section,
    is_partial,
    remark,
    standings_csv,
    standings_table,
    what_counts,
    write_boards,
    write_host_report,
)
from scenarios.tournament.rules.advancing import publish_again
from scenarios.tournament.rules.folder import Tournament, write_whole
from scenarios.tournament.rules.incidents import record_scoring
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.scoring import BASELINE, leaking_columns, score_shares, scoring_plan
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.standings import UNSCORABLE, AttackOutcome, Standing, outcome_of, standings

# Report to each team: scores, strongest attacks on its table, and the columns that leak.


def write_reports(
    tournament: Tournament, entries: Sequence[LogEntry], results: Sequence[Result], share: float
) -> list[str]:
    """Write each team's report into its folder.

    Parameters
    ----------
    tournament, entries
        See `scenarios.tournament.host.boards.write_boards`.
    results : sequence of Result
        Scores over the rows that count in public.
    share : float
        Share of the rows that count.

    Returns
    -------
    list of str
        For each report that could not be written, one line that says why. The other teams have theirs.
    """
    skipped = []
    state = tournament.state(entries)
    closed = state.phase is Phase.CLOSED
    counts = what_counts(share, closed=closed, partial=is_partial(results))
    titles, out = state.titles, state.disqualified
    by_team = {one.team: one for one in standings(tournament.settings.teams, results, out)}
    hidden = tournament.settings.hide_standings and not closed
    scored = [one for one in results if one.status == "ok"]
    for team in tournament.settings.teams:
        called = team if titles[team] == team else f"{one_line_of(titles[team])} ({team})"
        lines = [f"# Report for {called}", "", counts, ""]
        if team in out:
            lines += [f"Your team is disqualified: {out[team]}", ""]
        elif hidden:
            lines += _hidden_report(by_team[team])
        else:
            if remark(by_team[team]):
                lines += [f"Rank {by_team[team].rank}: {remark(by_team[team])}.", ""]
            if by_team[team].utility is not None:
                lines += _table_report(team, by_team[team], scored)
            elif team in state.tables:
                fails = UNSCORABLE in by_team[team].unscored
                lines += [f"Your table {f'{UNSCORABLE}; see below' if fails else 'is not scored yet'}.", ""]
            else:
                lines += ["You have submitted no table. Your defense has no score and ranks last.", ""]
            lines += _attack_report(team, by_team[team], scored)
        lines += _failure_report(team, [one for one in results if one.status in FAILURES])
        try:
            write_whole(tournament.team_folder(team) / "report.md", "\n".join(lines).encode(), mode=0o640)
        except (ValueError, OSError) as error:
            skipped.append(f"{team} has no report: {one_line(error)}")
    return skipped


def _hidden_report(standing: Standing) -> list[str]:
    """What a team sees while standings are hidden: its own utility."""
    return [
        "## Your table",
        f"Utility {written(standing.utility)}: of the table {written(standing.utility_table)}, of the records "
        f"{written(standing.utility_record)}; the smaller counts.",
        "",
        "Standings and attacks are hidden until the tournament closes.",
        "",
    ]


def _failure_report(team: str, failed: Sequence[Result]) -> list[str]:
    """Scorings that the team's own submissions made fail.

    Messages of exceptions may quote the host's files; the team sees the kind of failure alone.
    """
    own = [one for one in failed if team == (one.attack or one.defense)]
    own += [one for one in failed if one.defense == team and str(one.attack).startswith(BASELINE)]
    if not own:
        return []
    lines = [
        f"- {'your table' if one.attack != team else f'your attack on {one.defense}'}: "
        f"{one.status} ({one_line_of(one.reason.partition(chr(10))[0].partition(':')[0])})"
        for one in own
    ]
    return ["## Scoring failed", "The host sees this, too, and can score again.", "", *dict.fromkeys(lines), ""]


def one_line_of(text: str) -> str:
    """A text in one line of Markdown, without markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|!])", r"\\\1", printable(" ".join(text.split())))


def _table_report(team: str, standing: Standing, results: Sequence[Result]) -> list[str]:
    values = next(result.values for result in results if result.defense == team and result.attack is None)
    outcomes = [outcome_of(result) for result in results if result.defense == team and result.attack is not None]
    strongest = sorted(outcomes, key=lambda one: (-one.advantage, one.attacker))
    return [
        "## Your table",
        f"Utility {written(standing.utility)}: of the table {written(standing.utility_table)} ("
        + ", ".join(f"{name} {written(values[f'table_{name}'])}" for name in COMPONENTS if f"table_{name}" in values)
        + f"), of the records {written(standing.utility_record)}; the smaller counts.",
        f"Defense {written(standing.defense)}, rank {standing.defense_rank}.",
        "",
        "## Strongest attacks on it",
        *_outcome_table("attacker", [(one.attacker, one) for one in strongest[:10]]),
        "",
        "## Which columns leak",
        "The share of your rows whose original is the nearest candidate (Gower), by all columns and without one.",
        "The larger the drop, the more that column leaks. A drop of 0 or less says that it leaks nothing: without it,",
        "as many rows are nearest to their originals, or more.",
        "",
        "| without | nearest | drop |",
        "|---|---|---|",
        *(f"| {name} | {written(rate)} | {written(drop)} |" for name, rate, drop in leaking_columns(values)),
        "",
    ]


def _outcome_table(what: str, outcomes: Sequence[tuple[str, AttackOutcome]]) -> list[str]:
    """Outcomes of attacks as a table of a report; `what` heads the column of their names."""
    return [
        f"| {what} | best at | success | advantage |",
        "|---|---|---|---|",
        *(
            f"| {name} | {goal_words(one.goal)} | {written(one.success)} | {written(one.advantage)} |"
            for name, one in outcomes
        ),
    ]


def _attack_report(team: str, standing: Standing, results: Sequence[Result]) -> list[str]:
    own = [(result.defense, outcome_of(result)) for result in results if result.attack == team]
    table = _outcome_table("table", own) if own else []
    return ["## Your attacks", f"Attack {written(standing.attack)}, rank {standing.attack_rank}.", "", *table, ""]


def written(value: float | None) -> str:
    """A number as text; a dash if it is missing."""
    return "–" if value is None else f"{value:.3f}"


@dataclass(frozen=True)
class Boards:
    """What was written.

    Attributes
    ----------
    ordered : list of Standing
        Standings over all rows, which are the host's.
    titles : dict of str to str
        Title by team.
    closed : bool
        Whether the tournament is closed, so that the standings are final if none is missing.
    partial : bool
        Whether results are missing; see `is_partial`.
    failed : list of Result
        Results of submissions whose scoring failed, each once.
    warnings : list of str
        For each team's report that could not be written, one line that says why.
    secret : bool
        Whether the standings are for the host alone.
    """

    ordered: list[Standing]
    titles: dict[str, str]
    closed: bool
    partial: bool
    failed: list[Result]
    warnings: list[str]
    secret: bool

    def standings_csv(self) -> str:
        """The standings as CSV."""
        return standings_csv(self.ordered, self.titles, closed=self.closed, partial=self.partial)

    def sections(self, title: str) -> list[Section]:
        """Standings of a tournament of this title, and what could not be scored."""
        about = f"{title}, for the host only" if self.secret else title
        table = standings_table(self.ordered, self.titles, what_counts(1.0, closed=self.closed, partial=self.partial))
        return [Section(about, tables=(table,)), *failures_section(self.failed)]


class PhaseChangedError(Exception):
    """The phase changed while scores were computed, so that other rows count now."""


def shares_of(tournament: Tournament, share: float) -> list[float]:
    """Shares of the rows at which a tournament is scored now; see `scored_phase` and `shares_in`."""
    return shares_in(scored_phase(tournament), share)


def scored_phase(tournament: Tournament) -> Phase:
    """Current phase, in which the tables are scored.

    Raises
    ------
    ValueError
        If no table is published yet, or an earlier phase is open again, in which tables may still change.
    """
    state = tournament.state()
    phase = state.phase
    if phase.published:
        return phase
    refuse(
        any(entry.opens == Phase.ATTACK for entry in state.entries),
        f"phase {phase} is open again; scores follow once the attack phase is open",
    )
    raise ValueError(f"no table is published yet; the phase is {phase}")


def shares_in(phase: Phase, share: float) -> list[float]:
    """Shares of the rows at which a tournament is scored: in public, and for the host; all rows once it is closed."""
    return sorted({1.0 if phase is Phase.CLOSED else share, 1.0})


def write_all(tournament: Tournament, phase: Phase, results: Mapping[float, Sequence[Result]]) -> Boards:
    """Write boards, the teams' reports and the host's report.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    phase : Phase
        Phase in which the scoring began.
    results : mapping of float to sequence of Result
        Results at each share of `shares_in`.

    Raises
    ------
    PhaseChangedError
        If another phase is open now; nothing is written, since standings would be called what they are not.
    """
    state = tournament.state()
    entries = state.entries
    if state.phase is not phase:
        raise PhaseChangedError("the phase has changed meanwhile; scores are computed again")
    share, full = min(results), results[1.0]
    public = results[share]
    write_boards(tournament, entries, full, public, share)
    warnings = write_reports(tournament, entries, public, share)
    ordered = standings(tournament.settings.teams, full, state.disqualified)
    write_host_report(tournament, entries, ordered, full, datetime.now(UTC))
    failed = [one for one in full if one.status in FAILURES]
    closed = phase is Phase.CLOSED
    secret = not closed and (share < 1 or tournament.settings.hide_standings)
    return Boards(ordered, state.titles, closed, is_partial(full), failed, warnings, secret)


def score_all(
    tournament: Tournament,
    share: float,
    jobs: int,
    progress: Callable[[int, int], None],
    say: Callable[[str], None],
    *,
    retry: bool = False,
) -> Boards:
    """Score all tables, and write boards and reports; once more if the phase changes meanwhile.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    share : float
        Share of each table's rows that counts in public until the close.
    jobs : int
        Number of worker processes.
    progress, retry
        See `score_shares`.
    say : callable
        Called with a line that says why all is scored once more.

    Raises
    ------
    ValueError
        If no table is published.
    """
    phase = scored_phase(tournament)
    publish_again(tournament)
    began = datetime.now(UTC)
    try:
        scored = score_shares(tournament, shares_in(phase, share), jobs, progress, retry=retry)
    except Exception:
        record_scoring(tournament, began, datetime.now(UTC), failed=True)
        raise
    record_scoring(tournament, began, datetime.now(UTC), failed=False)
    try:
        return write_all(tournament, phase, scored)
    except PhaseChangedError as error:
        say(str(error))
        return score_all(tournament, share, jobs, progress, say, retry=retry)


def update_boards(tournament: Tournament, share: float) -> list[Result]:
    """Write boards and reports from the stored results, as far as there are any; return those of failed scorings.

    Nothing is written before the tables are published.

    Raises
    ------
    PhaseChangedError
        See `write_all`.
    """
    phase = tournament.state().phase
    if not phase.published:
        return []
    publish_again(tournament)
    with Store(tournament.host / "results.db") as store:
        results = scoring_plan(tournament, shares_in(phase, share)).results(store)
    return write_all(tournament, phase, results).failed
