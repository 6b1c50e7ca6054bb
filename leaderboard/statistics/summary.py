"""Summary of boards on several data sets or goals: utility left at risk, mean ranks, usefulness of attacks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.pages.number_text import counted, number
from leaderboard.pages.report import Section, Table
from leaderboard.pages.tables import place_title
from leaderboard.results.goals import goal_words, in_order
from leaderboard.results.result import Result, canonical, label
from leaderboard.statistics.attack_usefulness import usefulness
from leaderboard.statistics.exposure import Exposure, exposures
from leaderboard.statistics.mean_rank import MeanRank, mean_ranks
from leaderboard.statistics.met_words import IF_PLAYS_VARY
from leaderboard.statistics.pairs import matrix
from leaderboard.statistics.play_bounds import LEVEL, clean_plays, level_of_each
from leaderboard.statistics.utility_at_risk import BOUNDS, utility_left

FEW_GOALS = 2
"""Boards of one scenario and variant with at most this many goals are shown without a summary."""


def needs_summary(results: Sequence[Result]) -> bool:
    """Whether several scenarios were played, or more goals than one table shows well; variants of a game are few."""
    scenarios = {result.scenario for result in results if result.attack is not None}
    goals = {goal for result in results for goal in result.scores}
    return len(scenarios) > 1 or len(goals) > FEW_GOALS


def summarize(results: Sequence[Result], *, by_goal: bool = True) -> tuple[Section, ...]:
    """Summary of results as sections of a report.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials of any scenarios, at most one per release and trial.
    by_goal : bool
        Whether a variant with several goals has a table for each goal besides that over all of them.

    Returns
    -------
    tuple of Section
        A section for each scenario and variant: the utility that each family of defenses keeps within bounds of the
        worst advantage, over all goals and, if there are several, for each goal. The last section is the usefulness
        of attacks.

    Examples
    --------
    >>> from leaderboard import Result, summarize
    >>> from metrics import Score
    >>> common = {"scenario": "bank", "defense": "Mondrian", "parameters": {"k": 5}, "play": 0}
    >>> scores = {"membership": Score("membership", rate=0.5, chance=0.5, trials=10_000)}
    >>> release = Result(key="1" * 64, values={"marginals": 0.5}, **common)
    >>> trial = Result(key="2" * 64, attack="Homer", scores=scores, **common)
    >>> left, attacks = summarize([release, trial])
    >>> left.tables[0].rows[0]
    ('Mondrian', '.50', '.50', '.50', '.50', '1.0')
    """
    settings = exposures(results)
    summary = summary_tables(results, settings)
    sections = []
    for place, table in summary.left.items():
        own = _at(place, settings)
        goals = in_order({goal for exposure in own for goal in exposure.goals})
        by_goals = [_left(own, goal, None) for goal in goals] if by_goal and len(goals) > 1 else []
        sections.append(Section(f"Utility left at risk: {place_title(*place)}", tables=(table, *by_goals)))
    return (*sections, Section("Attacks", tables=(summary.attacks,)))


@dataclass(frozen=True)
class SummaryTables:
    """Tables that summarize boards.

    Attributes
    ----------
    left : mapping of (str, str) to Table
        Utility left at risk over all goals, by scenario and variant.
    attacks : Table
        Usefulness of each attack.
    """

    left: Mapping[tuple[str, str], Table]
    attacks: Table


def summary_tables(results: Sequence[Result], settings: Sequence[Exposure]) -> SummaryTables:
    """Tables of results over all goals.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials of any scenarios, at most one per release and trial.
    settings : sequence of Exposure
        Their exposures (`leaderboard.exposures`).
    """
    ranks = {rank.family: rank for rank in mean_ranks(results)}
    places = sorted({exposure.place for exposure in settings})
    return SummaryTables({place: _left(_at(place, settings), None, ranks) for place in places}, _attacks(results))


def sure_note(settings: Sequence[Exposure]) -> str:
    """How many plays it takes at least to be sure of the smallest bound, over all settings of one place."""
    needed = clean_plays(BOUNDS[0], level_of_each(max(1, len(settings))))
    return f"To be sure of {number(BOUNDS[0])} over {counted(len(settings), 'setting')} takes at least {needed} plays."


def _at(place: tuple[str, str], settings: Sequence[Exposure]) -> list[Exposure]:
    return [exposure for exposure in settings if exposure.place == place]


def _left(settings: Sequence[Exposure], goal: str | None, ranks: dict[str, MeanRank] | None) -> Table:
    """Best utility of each family within each bound, the families that keep most at small bounds first."""
    best = {bound: utility_left(settings, bound, goal) for bound in BOUNDS}
    families = list(best[BOUNDS[0]])
    measured = {exposure.defense for exposure in settings if exposure.worst(goal) is not None}

    varying = {family: _varying([one for one in settings if one.defense == family]) for family in families}

    def order(family: str) -> tuple[float, ...]:
        return tuple(-_utility(best[bound][family]) for bound in BOUNDS)

    rows = [
        (
            family,
            *(_cell(best[bound][family], varying[family]) if family in measured else "n/a" for bound in BOUNDS),
            *(() if ranks is None else (_rank(ranks.get(family)),)),
        )
        for family in sorted(families, key=lambda family: (order(family), family))
    ]
    columns = ("family", *(f"at most {number(bound)}" for bound in BOUNDS), *(() if ranks is None else ("mean rank",)))
    words = "all goals" if goal is None else goal_words(goal)
    note = (
        f"Best utility among settings whose worst advantage ({words}) is at most the bound in these plays: at the "
        f"upper end of its {LEVEL:.0%} interval, {IF_PLAYS_VARY}. {sure_note(settings)} –: no setting is shown to meet "
        "the bound. n/a: nothing to find. "
    )
    if ranks is not None:
        note += "Mean rank: over data sets and goals, by utility x (1 - worst advantage), with its interval over plays."
    return Table(
        f"worst advantage over {words}" if goal is None else f"worst advantage in {words}", columns, rows, 2, note
    )


def _cell(exposure: Exposure | None, varying: Collection[str]) -> str:
    """Utility of a setting, and the parameters in which it differs from its family's other settings."""
    if exposure is None or exposure.utility is None:
        return "–"
    setting = label("", {name: value for name, value in exposure.parameters.items() if name in varying}).strip()
    return f"{number(exposure.utility.value)} {setting}".strip()


def _varying(settings: Sequence[Exposure]) -> set[str]:
    """Names of the parameters in which settings differ."""
    names = {name for setting in settings for name in setting.parameters}
    return {name for name in names if len({canonical(setting.parameters.get(name)) for setting in settings}) > 1}


def _utility(exposure: Exposure | None) -> float:
    return -1.0 if exposure is None or exposure.utility is None else exposure.utility.value


def _rank(rank: MeanRank | None) -> str:
    if rank is None:
        return "–"
    return f"{rank.value:.1f}" if rank.low is None else f"{rank.value:.1f} [{rank.low:.1f}, {rank.high:.1f}]"


def _attacks(results: Sequence[Result]) -> Table:
    rows = [
        (
            attack.attack,
            ", ".join(goal_words(goal) for goal in attack.goals),
            attack.worst,
            attack.advantage,
            attack.missed,
            attack.seconds,
        )
        for attack in usefulness(matrix(results))
    ]
    columns = ("attack", "goals", "worst", "mean advantage", "missed without it", "seconds")
    note = (
        "worst: share of all settings on which no attack has a larger advantage. missed without it: fall of the mean "
        "largest advantage. seconds: of one play."
    )
    return Table("usefulness over all settings of all defenses", columns, rows, 3, note)
