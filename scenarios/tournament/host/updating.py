"""Boards and reports of a tournament from its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from leaderboard.results.result import FAILURES, Result
from leaderboard.results.store import Store
from scenarios.tournament.host.boards import is_partial, write_boards, write_host_report
from scenarios.tournament.host.team_report import write_reports
from scenarios.tournament.rules.advancing import publish_again
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.scoring import scoring_plan
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.standings import Standing, standings


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
    """

    ordered: list[Standing]
    titles: dict[str, str]
    closed: bool
    partial: bool
    failed: list[Result]
    warnings: list[str]


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
    entries = tournament.log.head().lasting
    phase = tournament.phase(entries)
    if phase in (Phase.ATTACK, Phase.CLOSED):
        return phase
    if any(entry.details.get("to") == Phase.ATTACK for entry in entries):
        raise ValueError(f"phase {phase} is open again; scores follow once the attack phase is open")
    raise ValueError(f"no table is published yet; the phase is {phase}")


def shares_in(phase: Phase, share: float) -> list[float]:
    """Shares of the rows at which a tournament is scored: in public, and for the host; all rows once it is closed."""
    return sorted({1.0 if phase is Phase.CLOSED else share, 1.0})


def write_all(
    tournament: Tournament, phase: Phase, full: Sequence[Result], public: Sequence[Result], share: float
) -> Boards:
    """Write boards, the teams' reports and the host's report.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    phase : Phase
        Phase in which the scoring began.
    full, public, share
        See `write_boards`.

    Raises
    ------
    PhaseChangedError
        If another phase is open now; nothing is written, since standings would be called what they are not.
    """
    entries = tournament.log.head().lasting
    if tournament.phase(entries) is not phase:
        raise PhaseChangedError("the phase has changed meanwhile; scores are computed again")
    write_boards(tournament, entries, full, public, share)
    warnings = write_reports(tournament, entries, public, share)
    ordered = standings(tournament.settings.teams, full, tournament.disqualified(entries))
    write_host_report(tournament, entries, ordered, full, datetime.now(UTC))
    failed = [one for one in full if one.status in FAILURES]
    return Boards(ordered, tournament.titles(entries), phase is Phase.CLOSED, is_partial(full), failed, warnings)


def update_boards(tournament: Tournament, share: float) -> list[Result]:
    """Write boards and reports from the stored results, as far as there are any; return those of failed scorings.

    Nothing is written before the tables are published.

    Raises
    ------
    PhaseChangedError
        See `write_all`.
    """
    phase = tournament.phase(tournament.log.head().lasting)
    if phase not in (Phase.ATTACK, Phase.CLOSED):
        return []
    publish_again(tournament)
    shares = shares_in(phase, share)
    with Store(tournament.host / "results.db") as store:
        results = scoring_plan(tournament, shares).results(store)
    return write_all(tournament, phase, results[1.0], results[shares[0]], shares[0]).failed
