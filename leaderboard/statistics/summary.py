"""Summary of boards on several data sets or goals: utility left at risk, mean ranks, usefulness of attacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard import (
    BOUNDS,
    Exposure,
    Pair,
    Result,
    Section,
    Table,
    canonical,
    exposures,
    label,
    matrix,
    pooled_utility,
    utility_left,
)
from leaderboard.pages import counted, number, place_title
from leaderboard.results import goal_words, grouped_by, in_order
from leaderboard.statistics.exposure import useful
from leaderboard.statistics.pairs import variant_name
from leaderboard.statistics.play_bounds import LEVEL, clean_plays, level_of_each, plays_condition

# Usefulness of attacks: how often each is the worst, and what would be missed without it.


@dataclass(frozen=True)
class Usefulness:
    """Usefulness of one attack over all settings of all defenses.

    Parameters
    ----------
    attack : str
        Its label.
    goals : tuple of str
        Goals in which it was measured.
    worst : float
        Share of the settings on which no attack has a larger advantage.
    advantage : float
        Mean advantage in its best goal, at least 0 for each setting.
    missed : float
        How much the mean largest advantage over settings would fall without this attack.
    seconds : float
        Mean time of a play, in seconds.
    settings : int
        Number of settings on which it was measured.
    """

    attack: str
    goals: tuple[str, ...]
    worst: float
    advantage: float
    missed: float
    seconds: float
    settings: int


def usefulness(pairs: Sequence[Pair]) -> list[Usefulness]:
    """Usefulness of each attack, the one that would be missed most first.

    Parameters
    ----------
    pairs : sequence of Pair
        All pairs of defense and attack, of any scenarios.

    Examples
    --------
    One of two attacks is worse for the defense, so nothing is missed without the other:

    >>> from leaderboard import Result, matrix, usefulness
    >>> from metrics import Score
    >>> def trial(attack, rate):
    ...     scores = {"membership": Score("membership", rate, chance=0.5, trials=100)}
    ...     return Result(key=attack, scenario="bank", defense="Mondrian", play=0, attack=attack, scores=scores)
    >>> for attack in usefulness(matrix([trial("Homer", 0.6), trial("DistanceToClosestRecord", 0.75)])):
    ...     print(attack.attack, attack.worst, round(attack.missed, 2))
    DistanceToClosestRecord 1.0 0.3
    Homer 0.0 0.0
    """
    settings = grouped_by((pair for pair in pairs if pair.advantage is not None), lambda pair: pair.identity)
    own: dict[str, list[tuple[Pair, bool, float]]] = defaultdict(list)
    for group in settings.values():
        exposed = np.array([max(0.0, pair.advantage or 0.0) for pair in group])
        largest = exposed.max()
        for position, pair in enumerate(group):
            others = np.delete(exposed, position).max(initial=0.0)
            name = label(pair.attack, pair.attack_parameters)
            own[name].append((pair, bool(exposed[position] == largest), float(largest - min(largest, others))))
    attacks = [
        Usefulness(
            name,
            tuple(sorted({goal for pair, _, _ in entries for goal in pair.successes})),
            sum(worst for _, worst, _ in entries) / len(settings),
            sum(max(0.0, pair.advantage or 0.0) for pair, _, _ in entries) / len(entries),
            sum(missed for _, _, missed in entries) / len(settings),
            sum(pair.seconds for pair, _, _ in entries) / max(1, sum(pair.plays for pair, _, _ in entries)),
            len(entries),
        )
        for name, entries in own.items()
    ]
    return sorted(attacks, key=lambda one: (-one.missed, -one.worst, -one.advantage, one.attack))


# Mean rank of families of defenses over data sets and goals.

Setting = tuple[str, str, str]
"""Scenario, defense and parameters."""


@dataclass(frozen=True)
class MeanRank:
    """Mean rank of a family over scenarios, variants and goals, from 1 (best).

    Parameters
    ----------
    family : str
        Class name of the defense.
    value : float
        Mean over plays.
    low, high : float or None
        95 % interval over plays (Student's t); None for a single play.
    """

    family: str
    value: float
    low: float | None
    high: float | None


def mean_ranks(results: Sequence[Result]) -> list[MeanRank]:
    """Rank families in every scenario, variant, goal and play, and average the ranks; best first.

    A family is ranked by its best setting's score in this play: utility x (1 - the goal's largest advantage). Equal
    scores share the mean of their ranks. A family without a score is last.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial, in any order.

    Examples
    --------
    >>> from leaderboard import Result, mean_ranks
    >>> from metrics import Score
    >>> def played(defense, utility, rate):
    ...     common = {"scenario": "bank", "defense": defense, "play": 0}
    ...     scores = {"membership": Score("membership", rate, chance=0.5, trials=100)}
    ...     return [
    ...         Result(key=f"r{defense}", values={"marginals": utility}, **common),
    ...         Result(key=f"t{defense}", attack="Homer", scores=scores, **common),
    ...     ]
    >>> [(rank.family, rank.value) for rank in mean_ranks(played("Identity", 1.0, 1.0) + played("Mondrian", 0.6, 0.6))]
    [('Mondrian', 1.0), ('Identity', 2.0)]
    """
    from scipy.special import stdtrit
    from scipy.stats import rankdata

    scores = _scores(results)
    families = sorted({family for by_play in scores.values() for play in by_play.values() for family in play})
    plays = sorted({play for by_play in scores.values() for play in by_play})
    ranks = np.full((len(scores), len(plays), len(families)), np.nan)
    for setting, by_play in enumerate(scores.values()):
        for play, by_family in by_play.items():
            ranks[setting, plays.index(play)] = rankdata([-by_family.get(family, -1.0) for family in families])
    complete = ~np.isnan(ranks).any(axis=(0, 2))
    if not complete.any():
        return []
    by_play = ranks[:, complete].mean(axis=0)
    count = len(by_play)
    half = (
        stdtrit(count - 1, 0.975) * by_play.std(axis=0, ddof=1) / np.sqrt(count)
        if count > 1
        else [None] * len(families)
    )
    mean_rank = [
        MeanRank(family, value, None, None)
        if width is None
        else MeanRank(family, value, max(1.0, value - width), min(float(len(families)), value + width))
        for family, value, width in zip(families, by_play.mean(axis=0).tolist(), list(half), strict=True)
    ]
    return sorted(mean_rank, key=lambda one: (one.value, one.family))


def _scores(results: Sequence[Result]) -> dict[tuple[str, str, str], dict[int, dict[str, float]]]:
    """Best score of each family, by scenario, variant and goal, then by play."""
    utility: dict[tuple[Setting, int], float] = {}
    largest: dict[tuple[str, str, str], dict[tuple[Setting, int], float]] = defaultdict(dict)
    for result in results:
        setting = (result.scenario, result.defense, result.parameters_text)
        if result.status != "ok":
            continue
        if result.attack is None:
            measured = pooled_utility([result.values])
            if measured is not None:
                utility[setting, result.play] = measured.headline.value
            continue
        for goal, score in result.scores.items():
            if score.advantage is not None:
                advantages = largest[result.scenario, variant_name(result.game), goal]
                own = (setting, result.play)
                advantages[own] = max(advantages.get(own, 0.0), score.advantage)
    scores: dict[tuple[str, str, str], dict[int, dict[str, float]]] = {}
    goals = in_order({goal for _, _, goal in largest})
    for scenario, variant, goal in sorted(largest, key=lambda key: (key[:2], goals.index(key[2]))):
        by_play: dict[int, dict[str, float]] = defaultdict(dict)
        for (setting, play), exposed in largest[scenario, variant, goal].items():
            if (setting, play) in utility:
                family = setting[1]
                utility_left = utility[setting, play] * (1 - exposed)
                by_play[play][family] = max(by_play[play].get(family, 0.0), utility_left)
        scores[scenario, variant, goal] = by_play
    return scores


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
    for place, own in _by_place(settings).items():
        goals = in_order({goal for exposure in own for goal in exposure.goals})
        by_goals = [_left(own, goal, None) for goal in goals] if by_goal and len(goals) > 1 else []
        sections.append(
            Section(f"Utility left at risk: {place_title(*place)}", tables=(summary.left[place], *by_goals))
        )
    return (*sections, Section("Attacks", tables=(summary.attacks,)))


@dataclass(frozen=True)
class SummaryTables:
    """Tables that summarize boards.

    - left: Utility left at risk over all goals, by scenario and variant.
    - attacks: Usefulness of each attack.
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
    left = {place: _left(own, None, ranks) for place, own in _by_place(settings).items()}
    return SummaryTables(left, _attacks(results))


def sure_note(settings: Sequence[Exposure]) -> str:
    """How many plays it takes at least to be sure of the smallest bound, over all settings of one place."""
    needed = clean_plays(BOUNDS[0], level_of_each(max(1, len(settings))))
    return f"To be sure of {number(BOUNDS[0])} over {counted(len(settings), 'setting')} takes at least {needed} plays."


def _by_place(settings: Sequence[Exposure]) -> dict[tuple[str, str], list[Exposure]]:
    return dict(sorted(grouped_by(settings, lambda exposure: exposure.place).items()))


def _left(settings: Sequence[Exposure], goal: str | None, ranks: dict[str, MeanRank] | None) -> Table:
    """Best utility of each family within each bound, the families that keep most at small bounds first."""
    best = {bound: utility_left(settings, bound, goal) for bound in BOUNDS}
    families = list(best[BOUNDS[0]])
    measured = {exposure.defense for exposure in settings if exposure.worst(goal) is not None}

    varying = {family: _varying([one for one in settings if one.defense == family]) for family in families}

    rows = [
        (
            family,
            *(_cell(best[bound][family], varying[family]) if family in measured else "n/a" for bound in BOUNDS),
            *(() if ranks is None else (_rank(ranks.get(family)),)),
        )
        for family in sorted(families, key=lambda family: (*(-useful(best[bound][family]) for bound in BOUNDS), family))
    ]
    columns = ("family", *(f"at most {number(bound)}" for bound in BOUNDS), *(() if ranks is None else ("mean rank",)))
    words = "all goals" if goal is None else goal_words(goal)
    fewest = min((worst.plays for one in settings if (worst := one.worst(goal)) is not None), default=1)
    note = (
        f"Best utility among settings whose worst advantage ({words}) is at most the bound in these plays: at the "
        f"upper end of its {LEVEL:.0%} interval, {plays_condition(fewest)}. {sure_note(settings)} –: no setting is "
        "shown to meet the bound. n/a: nothing to find. "
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
