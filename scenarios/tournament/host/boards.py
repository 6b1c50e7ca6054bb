"""Boards of a tournament from its scores: standings, chart, matrix of tables and attackers, and the teams' reports."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import leaderboard as lb
from leaderboard import Store
from leaderboard.pages.report import Section, Table
from leaderboard.results import FAILURES, Result, goal_words
from leaderboard.results.version import version
from leaderboard.statistics.board import ranked
from metrics.columns import PRIVATE, Sentence, one_line, refuse
from metrics.columns.printable import printable
from metrics.table_utility import COMPONENTS
from scenarios.running.methods.methods import one_liners
from scenarios.tournament.host.publications import record_publication
from scenarios.tournament.rules import (
    BASELINE,
    PUBLIC,
    WAITING,
    Phase,
    State,
    Tournament,
    built_in_names,
    leaking_columns,
    listed_word,
    publish_again,
    record_scoring,
    said_in,
    score_shares,
    scoring_plan,
    tournament_incidents,
    write_whole,
)
from scenarios.tournament.rules.standings import RANKING, UNSCORABLE, AttackOutcome, Standing, outcome_of, standings

# CSV files that spreadsheets may open: no cell becomes a formula.

SEPARATORS = ",;\t"
"""What separates cells in one country or another."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def neutralized(cell: Any, separator: str = ",") -> Any:
    """A cell that no spreadsheet takes for a formula: texts that begin like one get an apostrophe in front.

    Numbers stay as they are. So that a spreadsheet with other habits finds no formula either, the same holds behind a
    line break and behind the separators that the file does not use.



    Examples
    --------
    >>> neutralized("=1+1"), neutralized("-5"), neutralized(-5), neutralized("kyoto"), neutralized("x;=1+1")
    ("'=1+1", '-5', -5, 'kyoto', "x;'=1+1")
    """
    if not isinstance(cell, str):
        return cell
    parts = re.split(f"(?<=[{SEPARATORS.replace(separator, '')}\r\n])", cell)
    return "".join(f"'{part}" if _like_a_formula(part) else part for part in parts)


def _like_a_formula(text: str) -> bool:
    """Whether a text begins like a formula and is no number."""
    begins = text[:1] in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
    return begins and not _NUMBER.fullmatch(text.rstrip(f"{SEPARATORS}\r\n"))


def neutralized_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """A CSV file of neutralized cells; None is an empty field."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(
        ["" if cell is None else neutralized(cell, separator) for cell in row] for row in (header, *rows)
    )
    return text.getvalue()


# Who has submitted what: the state of a tournament and of one team as tables.


def tournament_status(tournament: Tournament) -> Section:
    """Phase, deadline, and what each team has submitted."""
    state = tournament.state(tournament.log.entries())
    titles, out, tables = state.titles, state.disqualified, state.tables
    rows = [
        (
            team,
            titles[team] if titles[team] != team else "",
            tables[team].number if team in tables else None,
            tables[team].rows if team in tables else None,
            sum(attacker == team for attacker, _ in state.attacks),
            len(state.submissions[team]),
            f"disqualified: {out[team]}" if team in out else "",
        )
        for team in tournament.settings.teams
    ]
    absent = sum(team not in tables and team not in out for team in tournament.settings.teams)
    until = f", until {state.until.isoformat()}" if state.until is not None else ""
    columns = ("team", "title", "table (entry)", "rows", "attacks", "files", "remark")
    note = f"{absent} of {len(rows)} teams have no table. Attacks are those in force, files all that were accepted."
    return Section(f"Phase {state.phase}{until}", tables=(Table("Teams", columns, rows, 0, note),))


def team_status(tournament: Tournament, team: str) -> Section:
    """All submissions of a team, with the one in force, and what is left of its quota."""
    tournament.team_folder(team)
    state = tournament.state(tournament.log.entries())
    in_force = {one.number for one in state.in_force.values() if one.team == team}
    rows = [
        (
            *(one.number, entry.arrived.replace("T", " "), str(one.phase)),
            one.kind,
            *(one.rows, one.content[:16], "yes" if one.number in in_force else ""),
        )
        for one, entry in state.submissions[team]
    ]
    columns = ("entry", "time", "phase", "file", "rows", "content", "in force")
    note = f"{state.left(team):,} bytes of the quota are left. `take` brings an older file into force."
    return Section(state.titles[team], tables=(Table("Submissions", columns, rows, 0, note),))


COLUMNS = ("rank", "team", "defense_rank", "defense", "attack_rank", "attack")
MOST_ATTACKERS = 30
"""Number of teams whose attacks the page shows; the matrix of 200 teams would take 23 MB."""
_UTILITIES = ("utility", "utility_table", "utility_record")
_DETAILS = ("worst_attack", "worst_goal", "worst_success", "attacked", "title", "remark", "status")
OF_ANSWERED = ("precision", "top3")
"""Measures that public boards hold only after the close."""
PAGES = ("standings.csv", "standings.html", "matrix.csv", "board.html", "remarks.json")
"""Names of the boards' files."""
FOR_THE_HOST = (
    "These standings count all rows and membership, which stay secret until the close: they are for the host only."
)
SCORING_GOES_ON = Sentence("Scoring goes on: results are missing, and ranks will change.")
FAILED = (
    "These submissions made their scoring fail. They count as not scored, and stop nothing else. "
    "`score --retry` scores them again."
)


def standings_csv(
    ordered: Sequence[Standing],
    titles: Mapping[str, str] | None = None,
    *,
    closed: bool = False,
    partial: bool = False,
) -> str:
    """Standings as CSV; a missing value is an empty field, and no cell begins like a formula.

    The column ``status`` is ``partial`` while results are missing. Afterwards it is ``final`` once the tournament is
    closed, and ``provisional`` before.
    """
    status = "partial" if partial else "final" if closed else "provisional"
    measures = _listed(ordered)
    rows = [
        (
            *(one.rank, one.team, one.defense_rank, _rounded(one.defense), one.attack_rank, _rounded(one.attack)),
            *map(_rounded, (one.utility, one.utility_table, one.utility_record, *map(one.measures.get, measures))),
            *_worst_cells(one.worst),
            *(one.attacked, (titles or {}).get(one.team, one.team), remark(one), status),
        )
        for one in ordered
    ]
    return neutralized_csv((*COLUMNS, *_UTILITIES, *measures, *_DETAILS), rows)


def _listed(ordered: Sequence[Standing]) -> list[str]:
    """Names of the utility measures that the contest lists; none if it lists none."""
    return list(dict.fromkeys(name for one in ordered for name in one.measures))


def _worst_cells(worst: AttackOutcome | None) -> tuple[object, ...]:
    """Attacker, goal and success of the worst attack; empty cells without one."""
    return ("", "", "") if worst is None else (worst.attacker, goal_words(worst.goal), _rounded(worst.success))


def remark(one: Standing) -> str:
    """What a team's rank does not say: a disqualification, files without a score, attacks that did not run, a tie."""
    if one.disqualified:
        return Sentence("disqualified: {reason}", reason=one.disqualified)
    if one.missing:
        return one.unscored or Sentence("handed in nothing")
    names = built_in_names()
    attacks = Sentence.joined(", ", [names.get(attack, attack) for attack in one.not_run])
    not_run = Sentence("{attacks} did not run", attacks=attacks) if attacks else ""
    return Sentence.joined("; ", list(filter(None, (one.unscored, not_run, one.tie))))


def built_in_legend(attacks: Container[str]) -> str:
    """Which method each built-in attack is, of those among some attacks."""
    names = {name: text for name, text in built_in_names().items() if name in attacks}
    return ", ".join(f"{text.split()[-1]} = {name.removeprefix(BASELINE)}" for name, text in names.items())


def what_counts(share: float, *, closed: bool, partial: bool = False) -> str:
    """What standings count now, in words."""
    if closed and not partial:
        return Sentence("All rows and membership count; these standings are final.")
    text = Sentence(
        "All rows and membership count." if closed else "All rows and membership count; more files may come."
    )
    if not closed and share < 1:
        text = Sentence(
            "Until the tournament closes, a secret {share:.0%} of each table's rows counts, and membership does not.",
            share=share,
        )
    return Sentence.joined(" ", [SCORING_GOES_ON, text]) if partial else text


def standings_table(
    ordered: Sequence[Standing], titles: Mapping[str, str] | None = None, counts: str = "", ranking: str = "ranks"
) -> lb.Table:
    """Standings as a table of a report."""
    measures = _listed(ordered)
    rows = [
        (
            "–" if one.disqualified else one.rank,
            _called(one.team, titles or {}),
            *(one.defense, one.utility),
            *(map(one.measures.get, measures) if measures else (one.utility_table, one.utility_record)),
            "–" if one.worst is None else f"{one.worst.attacker} ({goal_words(one.worst.goal)})",
            *(None if one.worst is None else one.worst.success, one.attack, one.attacked),
            remark(one),
        )
        for one in ordered
    ]
    columns = (
        "#",
        "team",
        "defense",
        "utility",
        *(measures or ("of table", "of records")),
        "worst attack",
        "success",
        "attack",
        "tables",
        "remark",
    )
    note = (
        f"{counts}{' ' * bool(counts)}"
        "Defense = utility x (1 - advantage of the worst attack). "
        f"Utility is {'made of the measures beside it' if measures else 'the smaller one of table and records'}. "
        f"Attack is the mean advantage over the other teams' tables. {RANKING[ranking]} "
        "Teams without any score come last."
    )
    return lb.Table("Teams", columns, rows, 3, note)


def _called(team: str, titles: Mapping[str, str]) -> str:
    """Title and name of a team; the name alone if it has no title."""
    title = titles.get(team, team)
    return team if title == team else f"{title} ({team})"


@dataclass(frozen=True)
class Board:
    """Standings of a tournament by the results at one share of the rows; those of a closed one count all rows."""

    state: State
    results: Sequence[Result]
    share: float = 1.0

    @property
    def tournament(self) -> Tournament:
        """The tournament."""
        return self.state.tournament

    @property
    def closed(self) -> bool:
        """Whether the tournament is closed."""
        return self.state.phase is Phase.CLOSED

    @property
    def partial(self) -> bool:
        """Whether results that the log asks for are missing, so that scoring goes on."""
        return any(one.status == WAITING for one in self.results)

    @property
    def counts(self) -> str:
        """What these standings count, in words."""
        return what_counts(self.share, closed=self.closed, partial=self.partial)

    @property
    def failed(self) -> list[Result]:
        """Results of failed scorings."""
        return [one for one in self.results if one.status in FAILURES]

    @property
    def about(self) -> dict[str, str]:
        """What pages say of the tournament and the software."""
        return {"teams": str(len(self.tournament.settings.teams)), "version": f"tokumei {version()}"}

    @cached_property
    def ordered(self) -> list[Standing]:
        """Standings of all teams, best first."""
        return standings(
            self.tournament.settings.teams, self.results, self.state.disqualified, self.tournament.settings.ranking
        )

    @property
    def table(self) -> lb.Table:
        """The standings as a table of a report."""
        return standings_table(self.ordered, self.state.titles, self.counts, self.tournament.settings.ranking)

    def standings_csv(self) -> str:
        """The standings as CSV."""
        return standings_csv(self.ordered, self.state.titles, closed=self.closed, partial=self.partial)

    @cached_property
    def pages(self) -> dict[str, str]:
        """Content of each board by its file name."""
        title, out = self.tournament.settings.title, set(self.state.disqualified)
        results = [one for one in self.results if one.status == "ok" and not {one.defense, one.attack} & out]
        about = self.about
        if self.share < 1:
            # Measures of answered rows alone would tell of a file of one row whether it is right and counts.
            results = [
                replace(one, values={name: value for name, value in one.values.items() if name not in OF_ANSWERED})
                for one in results
            ]
            about["rows that count"] = f"{self.share:.0%} until the tournament closes"
        pages = {
            "standings.csv": self.standings_csv(),
            "standings.html": lb.render_report(title, about, (lb.Section("Standings", tables=(self.table,)),)),
            "matrix.csv": lb.matrix_records(lb.matrix(results)).csv(),
            # Pages say the remarks of the CSV file in other languages, too.
            "remarks.json": json.dumps(
                [said.plain() for one in self.ordered if isinstance(said := remark(one), Sentence)]
            ),
        }
        if results:
            pages["board.html"] = _page(title, self.state.titles, self.ordered, results, about)
        return pages


def write_boards(full: Board, public: Board, *, publish: bool = True) -> None:
    """Write the host's boards over all rows, and the public boards over the public share of the rows.

    Unless they are to `publish`, the public boards stay as they are.
    """
    tournament = full.tournament
    written = ((tournament.host, full, PRIVATE), *([(tournament.public, public, PUBLIC)] if publish else []))
    for folder, board, mode in written:
        if folder == tournament.public and public.state.hidden:
            for name in PAGES:
                (folder / name).unlink(missing_ok=True)
        else:
            for name, text in board.pages.items():
                write_whole(folder / name, text.encode(), mode=mode)


def write_host_report(full: Board, now: datetime) -> None:
    """Write the host's report: standings over all rows, failed scorings, and downtime by failures."""
    sections = (
        lb.Section("Standings", () if full.closed else (FOR_THE_HOST,), tables=(full.table,)),
        *failures_section(full.failed, FAILED),
        lb.Section(
            "Failures",
            (
                "A refused file has been wrong since it was written. It is repaired by the team's next accepted file, "
                "which is a table, or an attack on the same team. Its team had no valid file, or an older one, in the "
                "meantime. A refusal that stays open counts until the attack phase ends.",
            ),
            (lb.downtime_table(tournament_incidents(full.tournament), now),),
        ),
    )
    page = lb.render_report(full.tournament.settings.title, full.about, sections)
    write_whole(full.tournament.host / "report.html", page.encode(), mode=PRIVATE)


def failures_section(failed: Sequence[Result], *paragraphs: str) -> tuple[lb.Section, ...]:
    """Section about scorings that failed; none without any."""
    rows = [(one.defense, one.attack or "(the table)", one.status, one.reason.partition("\n")[0]) for one in failed]
    table = lb.Table("Failed scorings", ("table", "attack", "status", "reason"), rows, 3, "")
    return (lb.Section("Failed scorings", paragraphs, (table,)),) if failed else ()


def _page(
    title: str,
    titles: Mapping[str, str],
    ordered: Sequence[Standing],
    results: Sequence[Result],
    about: Mapping[str, str],
) -> str:
    """HTML page of the board, with teams as defenses, and teams and baselines as attacks.

    It is headed by the tournament's title, and shows the titles of teams.
    """
    by_team = {one.team: one for one in ordered}
    about, pairs = dict(about), lb.matrix(results)
    best = sorted((one for one in ordered if one.attacked), key=lambda one: (one.attack_rank, one.team))
    if len(best) > MOST_ATTACKERS:
        listed = {one.team for one in best[:MOST_ATTACKERS]}
        pairs = [pair for pair in pairs if pair.attack in listed or str(pair.attack).startswith(BASELINE)]
        about["attackers shown"] = (
            f"the baselines and the best {MOST_ATTACKERS} of {len(best)} teams; matrix.csv has all"
        )
    rows = [_as_scored(row, by_team[row.defense]) for row in lb.rank(results)]
    attacks = {str(result.attack).removeprefix(BASELINE) for result in results if result.attack}
    descriptions = {BASELINE + name: text for name, text in one_liners(attacks).items()}
    shown_rows = [
        replace(
            row,
            scenario=title,
            defense=_called(row.defense, titles),
            worst_attack=None if row.worst_attack is None else _called(row.worst_attack, titles),
        )
        for row in ranked(rows)
    ]
    shown_pairs = [
        replace(pair, scenario=title, defense=_called(pair.defense, titles), attack=_called(pair.attack, titles))
        for pair in pairs
    ]
    return lb.render_page(shown_rows, shown_pairs, about, descriptions)


def _as_scored(row: lb.Row, standing: Standing) -> lb.Row:
    """A row of the board with the tournament's own choice of the worst attack.

    A tournament is one play, and a row is complete without the attacks that no team submitted.
    """
    row = replace(row, plays=1, complete=True)
    worst = standing.worst
    if worst is None:
        return row
    return replace(
        row,
        worst_attack=worst.attacker,
        goal=worst.goal,
        success=worst.success,
        success_low=None,
        success_high=None,
        chance=worst.chance,
        advantage=worst.advantage,
        advantage_unbiased=False,
        score=standing.defense,
    )


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 6) + 0.0


# Boards and reports of a tournament from its scores.

# Report to each team: scores, strongest attacks on its table, and the columns that leak.


def write_reports(board: Board) -> list[str]:
    """Write each team's report into its folder; return in one line each which team got none, and why."""
    skipped = []
    by_team = {one.team: one for one in board.ordered}
    for team in board.tournament.settings.teams:
        lines = [*_report(board, by_team[team]), *_failure_report(team, board.failed)]
        text = said_in(board.tournament.settings.language, Sentence.joined("\n", lines))
        try:
            write_whole(board.tournament.team_folder(team) / "report.md", text.encode(), mode=0o640)
        except (ValueError, OSError) as error:
            skipped.append(f"{team} has no report: {one_line(error)}")
    return skipped


def _report(board: Board, standing: Standing) -> list[str]:
    """A team's report without its failed scorings."""
    state, team, title = board.state, standing.team, board.state.titles[standing.team]
    called = team if title == team else f"{one_line_of(title)} ({team})"
    lines = [Sentence("# Report for {team}", team=called), "", board.counts, ""]
    if team in state.disqualified:
        return [*lines, Sentence("Your team is disqualified: {reason}", reason=state.disqualified[team]), ""]
    if state.hidden:
        return [*lines, *_hidden_report(standing)]
    if remark(standing):
        lines += [Sentence("Rank {rank}: {remark}.", rank=standing.rank, remark=remark(standing)), ""]
    scored = [one for one in board.results if one.status == "ok"]
    if standing.utility is not None:
        lines += _table_report(team, standing, scored)
    elif team in state.tables:
        fails = UNSCORABLE in standing.unscored
        lines += [
            Sentence("Your table could not be scored; see below." if fails else "Your table is not scored yet."),
            "",
        ]
    else:
        lines += [Sentence("You have submitted no table. Your defense has no score and ranks last."), ""]
    return [*lines, *_attack_report(team, standing, scored)]


def _hidden_report(standing: Standing) -> list[str]:
    """What a team sees while standings are hidden: its own utility."""
    return [
        Sentence("## Your table"),
        _utility_words(standing, ""),
        "",
        Sentence("Standings and attacks are hidden until the tournament closes."),
        "",
    ]


def _utility_words(standing: Standing, parts: str) -> str:
    """A team's utility and what it is made of; `parts` are those of the table's utility."""
    if standing.measures:
        measures = ", ".join(f"{one_line_of(name)} {written(value)}" for name, value in standing.measures.items())
        return Sentence("Utility {utility}, made of {measures}.", utility=written(standing.utility), measures=measures)
    return Sentence(
        "Utility {utility}: of the table {table}{parts}, of the records {records}; the smaller counts.",
        utility=written(standing.utility),
        table=written(standing.utility_table),
        parts=parts,
        records=written(standing.utility_record),
    )


def _failure_report(team: str, failed: Sequence[Result]) -> list[str]:
    """Scorings that the team's own submissions made fail.

    Messages of exceptions may quote the host's files; the team sees the kind of failure alone.
    """
    own = [(what, one) for one in failed if (what := failed_of(team, one.defense, one.attack or "", {}))]
    if not own:
        return []
    reasons = [one_line_of(one.reason.partition(chr(10))[0].partition(":")[0]) for _, one in own]
    lines = [
        Sentence("- {what}: {status} ({reason})", what=what, status=one.status, reason=reason)
        for (what, one), reason in zip(own, reasons, strict=True)
    ]
    said = [Sentence("## Scoring failed"), Sentence("The host sees this, too, and can score again.")]
    return [*said, "", *dict.fromkeys(lines), ""]


def failed_of(team: str, table: str, attack: str, titles: Mapping[str, str]) -> str:
    """What failed, as its team reads it; empty if it is the business of another team."""
    if attack == team:
        return Sentence("your attack on {team}", team=titles.get(table, table))
    if table != team or (attack and not attack.startswith(BASELINE)):
        return ""
    return (
        Sentence("{attack} on your table", attack=built_in_names().get(attack, attack))
        if attack
        else Sentence("your table")
    )


def one_line_of(text: str) -> str:
    """A text in one line of Markdown, without markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|!])", r"\\\1", printable(" ".join(text.split())))


def _table_report(team: str, standing: Standing, results: Sequence[Result]) -> list[str]:
    values = next(result.values for result in results if result.defense == team and result.attack is None)
    outcomes = [outcome_of(result) for result in results if result.defense == team and result.attack is not None]
    strongest, names = sorted(outcomes, key=lambda one: (-one.advantage, one.attacker)), built_in_names()
    parts = ", ".join(f"{name} {written(values[f'table_{name}'])}" for name in COMPONENTS if f"table_{name}" in values)
    return [
        Sentence("## Your table"),
        _utility_words(standing, f" ({parts})"),
        Sentence("Defense {score}, rank {rank}.", score=written(standing.defense), rank=standing.defense_rank),
        "",
        Sentence("## Strongest attacks on it"),
        *_outcome_table(Sentence("attacker"), [(names.get(one.attacker, one.attacker), one) for one in strongest[:10]]),
        "",
        Sentence("Built-in attacks: {attacks}.", attacks=built_in_legend([one.attacker for one in outcomes])),
        "",
        Sentence("## Which columns leak"),
        Sentence(
            "The share of your rows whose original is the nearest candidate (Gower), by all columns and without one.\n"
            "The larger the drop, the more that column leaks. A drop of 0 or less says that it leaks nothing: without "
            "it,\nas many rows are nearest to their originals, or more."
        ),
        "",
        Sentence("| without | nearest | drop |"),
        "|---|---|---|",
        *(f"| {name} | {written(rate)} | {written(drop)} |" for name, rate, drop in leaking_columns(values)),
        "",
    ]


def _outcome_table(what: str, outcomes: Sequence[tuple[str, AttackOutcome]]) -> list[str]:
    """Outcomes of attacks as a table of a report; `what` heads the column of their names."""
    return [
        Sentence("| {what} | best at | success | advantage |", what=what),
        "|---|---|---|---|",
        *(
            Sentence(
                "| {name} | {goal} | {success} | {advantage} |",
                name=name,
                goal=listed_word(goal_words(one.goal)),
                success=written(one.success),
                advantage=written(one.advantage),
            )
            for name, one in outcomes
        ),
    ]


def _attack_report(team: str, standing: Standing, results: Sequence[Result]) -> list[str]:
    own = [(result.defense, outcome_of(result)) for result in results if result.attack == team]
    table = _outcome_table(Sentence("table"), own) if own else []
    rank = Sentence("Attack {score}, rank {rank}.", score=written(standing.attack), rank=standing.attack_rank)
    return [Sentence("## Your attacks"), rank, "", *table, ""]


def written(value: float | None) -> str:
    """A number as text; a dash if it is missing."""
    return "–" if value is None else f"{value:.3f}"


@dataclass(frozen=True)
class Boards:
    """What was written: boards of all rows and, if it is time, public ones; which teams got no report and why."""

    full: Board
    public: Board
    warnings: list[str]
    published: bool = True

    @property
    def secret(self) -> bool:
        """Whether the board of all rows is for the host only."""
        return not self.full.closed and (self.public.share < 1 or self.full.state.hidden)

    @property
    def sections(self) -> list[Section]:
        """Standings, and what could not be scored."""
        about = f"{self.full.tournament.settings.title}{', for the host only' * self.secret}"
        return [Section(about, tables=(self.full.table,)), *failures_section(self.full.failed)]


class PhaseChangedError(Exception):
    """The phase changed while scores were computed, so that other rows count now."""


def scored_phase(tournament: Tournament) -> Phase:
    """Current phase, in which the tables are scored."""
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
    """Write boards, the teams' reports and the host's report from the results at each share of the rows."""
    state = tournament.state()
    refuse(state.phase is not phase, "the phase has changed meanwhile; scores are computed again", PhaseChangedError)
    by_share = {share: Board(state, scored, share) for share, scored in results.items()}
    full, public = by_share[1.0], by_share[min(by_share)]
    now = datetime.now(UTC)
    publish = state.hidden or state.publishes(tournament.published_standings, now, partial=public.partial)
    if publish:
        # First, so that a crash between the two is mended by the next boards, which are due as long as these are not.
        keys = [one.key for one in (*full.results, *public.results) if one.status == "ok"]
        record_publication(tournament, {} if state.hidden else public.pages, keys, now)
    write_boards(full, public, publish=publish)
    # Reports tell of attacks, too.
    warnings = write_reports(public) if publish else []
    write_host_report(full, now)
    return Boards(full, public, warnings, publish)


def score_all(
    tournament: Tournament,
    share: float,
    jobs: int,
    progress: Callable[[int, int], None],
    say: Callable[[str], None],
    *,
    retry: bool = False,
) -> Boards:
    """Score all tables, and write boards and reports; once more if the phase changes meanwhile."""
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
    """
    phase = tournament.state().phase
    if not phase.published:
        return []
    publish_again(tournament)
    with Store(tournament.host / "results.db") as store:
        results = scoring_plan(tournament, shares_in(phase, share)).results(store)
    return write_all(tournament, phase, results).full.failed
