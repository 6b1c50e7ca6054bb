"""Mean rank of families of defenses over data sets and goals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.results.goals import in_order
from leaderboard.results.result import Result
from leaderboard.statistics.pairs import variant_name
from leaderboard.statistics.utility import pooled_utility

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
    for number, by_play in enumerate(scores.values()):
        for play, by_family in by_play.items():
            values = [by_family.get(family, -1.0) for family in families]
            ranks[number, plays.index(play)] = rankdata(-np.array(values))
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
