"""The board: defenses ranked by utility and worst attack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.results.result import FAILURES, Result, grouped_by
from leaderboard.statistics.pairs import Pair, PlacedSetting, Success, Utility, by_pair, goals, matrix, pooled_utility
from leaderboard.statistics.play_bounds import level_of_each

ENDED = ("ok", "skipped")


@dataclass(frozen=True, kw_only=True)
class Row(PlacedSetting):
    """One defense in one variant of a scenario's game.

    Parameters
    ----------
    rank : int or None
        Rank within scenario and variant, from 1 (best). Equal scores share a rank; without a score it is None.
    scenario, variant : str
        The scenario and the variant of its game.
    defense : str
        Class name.
    parameters : dict
        Its parameters.
    guarantee : str
        Privacy guarantee of the defense.
    utility, utility_low, utility_high : float or None
        Headline utility in [0, 1] with its interval across plays.
    components : dict of float
        Components of the utility, which is their mean.
    measured : dict of float
        Smallest k, l and Pk measured over the releases.
    worst_attack, worst_parameters, goal : str, dict, str or None
        The attack and the goal (such as ``reidentification`` or ``membership``) of the largest advantage. Attacks
        that are not significantly better than guessing count only if no attack is.
    success, success_low, success_high : float or None
        Its success rate, with an interval across plays. The intervals of all attacks together hold with 95 %
        (Bonferroni), since the worst attack is chosen after looking at all.
    chance : float or None
        Chance level: the success rate of guessing.
    advantage : float or None
        Advantage of the worst attack, estimated on other plays than those that choose it (`cross_fitted_advantage`). It
        equals (success - chance) / (1 - chance) if both halves of the plays name the same attack.
    advantage_unbiased : bool
        Whether `advantage` is such an estimate. With one play, or attacks in different plays, it is the largest
        advantage that was measured. The choice makes that too large on average.
    score : float or None
        utility x (1 - max(0, advantage)).
    pareto : bool
        Whether the row is on the Pareto front of utility and advantage: no other row is at least as good in both and
        better in one.
    plays : int
        Number of plays in which the release and every attack ended.
    attacks : int
        Number of attacks that ended at least once.
    failures : int
        Number of releases and trials that ended in an error or ran out of time or memory.
    reason : str
        Reason of the first release or trial that did not end ``ok``.
    complete : bool
        Whether every attack of this scenario and variant ended in every play of this defense.
    seconds : float
        Total time, in seconds.

    Examples
    --------
    >>> from leaderboard import Result, rank
    >>> from metrics import Score
    >>> common = {"scenario": "bank", "defense": "Mondrian", "play": 0}
    >>> scores = {"membership": Score("membership", rate=0.75, chance=0.5, trials=100)}
    >>> release = Result(key="1" * 64, values={"marginals": 0.5}, **common)
    >>> trial = Result(key="2" * 64, attack="NearestNeighbour", scores=scores, **common)
    >>> [row] = rank([release, trial])
    >>> row.utility, row.worst_attack, row.goal, row.advantage, row.score
    (0.5, 'NearestNeighbour', 'membership', 0.5, 0.25)
    """

    rank: int | None = None
    guarantee: str
    utility: float | None = None
    utility_low: float | None = None
    utility_high: float | None = None
    components: dict[str, float]
    measured: dict[str, float]
    worst_attack: str | None = None
    worst_parameters: dict[str, Any] | None = None
    goal: str | None = None
    success: float | None = None
    success_low: float | None = None
    success_high: float | None = None
    chance: float | None = None
    advantage: float | None = None
    advantage_unbiased: bool = True
    score: float | None = None
    pareto: bool = False
    plays: int
    attacks: int
    failures: int
    reason: str
    complete: bool
    seconds: float

    @property
    def exposure(self) -> float | None:
        """Advantage as the score counts it, at least 0: an attack worse than guessing earns the defense nothing."""
        return None if self.advantage is None else max(0.0, self.advantage)


def rank(results: Sequence[Result]) -> list[Row]:
    """Rank the defenses within each scenario and variant of its game, best score first, missing scores last.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial, in any order.

    Examples
    --------
    The score of a defense is its utility times one minus the advantage of the worst attack.

    >>> from leaderboard import Result, rank
    >>> from metrics import Score
    >>> def played(key, defense, utility, success):
    ...     common = {"scenario": "bank", "defense": defense, "play": 0}
    ...     scores = {"reidentification": Score("reidentification", success, 0.0, 100)}
    ...     return (
    ...         Result(key=2 * key, values={"marginals": utility}, **common),
    ...         Result(key=3 * key, attack="NearestNeighbour", scores=scores, **common),
    ...     )
    >>> for row in rank([*played("1", "Identity", 1.0, 1.0), *played("2", "Mondrian", 0.75, 0.25)]):
    ...     print(row.rank, row.defense, row.utility, row.advantage, row.score)
    1 Mondrian 0.75 0.25 0.5625
    2 Identity 1.0 1.0 0.0
    """
    # Measurements of experiments have reports of their own.
    releases = grouped_by(
        sorted(
            (result for result in results if result.attack is None and not result.is_measurement),
            key=lambda result: result.play,
        ),
        lambda result: (result.scenario, result.defense, result.parameters_text),
    )
    trials: dict[tuple[str, ...], dict[tuple[str, ...], list[Result]]] = defaultdict(dict)
    variants: dict[str, set[str]] = defaultdict(set)
    attacks: dict[tuple[str, str], set[tuple[str, ...]]] = defaultdict(set)
    for (scenario, variant, *method, attack, attack_parameters), group in sorted(by_pair(results).items()):
        trials[(scenario, variant, *method)][attack, attack_parameters] = group
        variants[scenario].add(variant)
        attacks[scenario, variant].add((attack, attack_parameters))
    pairs = grouped_by(matrix(results), lambda pair: pair.identity)
    # While no trial of a scenario has ended, its releases are shown without a variant.
    identities = set(trials) | {
        (scenario, variant, *method) for scenario, *method in releases for variant in variants[scenario] or {""}
    }
    rows = [
        _row(
            variant,
            releases[scenario, defense, parameters],
            trials[scenario, variant, defense, parameters],
            pairs[scenario, variant, defense, parameters],
            attacks[scenario, variant],
        )
        for scenario, variant, defense, parameters in sorted(identities)
    ]
    return [row for _, group in sorted(by_place(rows).items()) for row in ranked(group)]


def _row(
    variant: str,
    releases: Sequence[Result],
    trials: Mapping[tuple[str, ...], Sequence[Result]],
    pairs: Sequence[Pair],
    attacks: set[tuple[str, ...]],
) -> Row:
    all_trials = (trial for group in trials.values() for trial in group)
    results = [*releases, *sorted(all_trials, key=lambda trial: trial.play)]
    first = results[0]
    ended = {(trial.play, *attack) for attack, group in trials.items() for trial in group if trial.status in ENDED}
    released = [release for release in releases if release.status == "ok"]
    complete = [
        release.play for release in released if attacks and all((release.play, *attack) in ended for attack in attacks)
    ]
    failures = sum(result.status in FAILURES for result in results)
    row = Row(
        scenario=first.scenario,
        variant=variant,
        defense=first.defense,
        parameters=first.parameters,
        guarantee="; ".join(sorted({result.guarantee for result in results} - {""})),
        components={},
        measured=_smallest(released, ("k", "l", "pk")),
        plays=len(complete),
        attacks=sum(pair.plays > 0 for pair in pairs),
        failures=failures,
        reason=next((result.reason for result in results if result.status != "ok"), ""),
        complete=failures == 0 and len(complete) == len({result.play for result in results}),
        seconds=sum(result.seconds for result in results),
    )
    return _with_score(row, pooled_utility([release.values for release in released]), pairs)


def _with_score(row: Row, utility: Utility | None, pairs: Sequence[Pair]) -> Row:
    if utility is not None:
        headline = utility.headline
        row = replace(
            row,
            utility=headline.value,
            # A single play has no spread between plays.
            utility_low=headline.low if headline.n > 1 else None,
            utility_high=headline.high if headline.n > 1 else None,
            components=utility.components,
        )
    worst = _worst(pairs)
    if worst is not None:
        pair, success, advantage_of_worst, unbiased = worst
        row = replace(
            row,
            worst_attack=pair.attack,
            worst_parameters=pair.attack_parameters,
            goal=success.goal,
            success=success.rate.value,
            success_low=success.rate.low,
            success_high=success.rate.high,
            chance=success.chance,
            advantage=advantage_of_worst,
            advantage_unbiased=unbiased,
        )
    if row.utility is None or row.exposure is None:
        return row
    return replace(row, score=row.utility * (1 - row.exposure))


def _worst(pairs: Sequence[Pair]) -> tuple[Pair, Success, float, bool] | None:
    """The attack and goal of the largest advantage, that advantage, and whether it was estimated on other plays.

    Among equals the first by goal, then by name.
    """
    outcomes = [
        (pair, success) for goal in goals(pairs) for pair in pairs if (success := pair.success(goal)) is not None
    ]
    if not outcomes:
        return None
    successes = [success for _, success in outcomes]
    pair, success = max(
        (outcomes[position] for position in _eligible(successes)), key=lambda outcome: outcome[1].advantage
    )
    corrected = replace(success, confidence=level_of_each(len(outcomes)))
    return pair, corrected, *cross_fitted_advantage(successes)


def _eligible(successes: Sequence[Success]) -> list[int]:
    """Positions of the attacks on one defense that are above chance level; of all attacks if none is.

    An estimate is noisier at chance level 1/2 than at 1/200. All intervals are therefore taken at a level at which they
    hold together with 95 % (Bonferroni).
    """
    level = level_of_each(len(successes))
    above = [position for position, one in enumerate(successes) if replace(one, confidence=level).above_chance]
    return above or list(range(len(successes)))


def cross_fitted_advantage(successes: Sequence[Success]) -> tuple[float, bool]:
    """Largest of several advantages, chosen on one half of the plays and estimated on the other.

    The largest of many noisy estimates is biased upwards: without any leakage, its mean is above 0. Plays are therefore
    split into even and odd ones. Each half names an attack: that of the largest advantage, among those above chance
    level if there are any. Its advantage is taken from the other half; both are averaged over their plays. The mean is
    then at most the true largest advantage.

    - successes: Successes of the attacks on one defense; at least one.
    - returns advantage: The estimate.
    - returns unbiased: Whether the choice leaves it unbiased. A single play, or attacks that were measured in different
      plays, leave the largest advantage of those above chance level. A single attack is no choice.

    Source: Chernozhukov and others (2018), Double/debiased machine learning, for cross-fitting.
    """
    largest = max(successes[position].advantage for position in _eligible(successes))
    plays = {(success.plays, len(success.rates)) for success in successes}
    if len(successes) == 1 or len(plays) > 1 or len(successes[0].rates) < 2:
        return largest, len(successes) == 1
    halves = [[success.of_plays(slice(start, None, 2)) for success in successes] for start in (0, 1)]
    if any(success.chance >= 1 for half in halves for success in half):
        return largest, False
    best = [max(_eligible(half), key=lambda position: half[position].advantage) for half in halves]
    if best[0] == best[1]:
        return successes[best[0]].advantage, True
    judged = (halves[0][best[1]].advantage, halves[1][best[0]].advantage)
    return float(np.average(judged, weights=[len(half[0].rates) for half in halves])), True


def _smallest(releases: Sequence[Result], names: Sequence[str]) -> dict[str, float]:
    """Smallest of each measure over the releases that have it."""
    measured = {name: [value for one in releases if (value := one.values.get(name)) is not None] for name in names}
    return {name: min(values) for name, values in measured.items() if values}


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Rows of one scenario and variant in order of score, with rank and Pareto front; missing scores last."""
    scored = [row for row in rows if row.score is not None]
    scores = np.array([row.score for row in scored], dtype=float)
    utility = np.array([row.utility for row in scored], dtype=float)
    exposure = np.array([row.exposure for row in scored], dtype=float)
    ranks = 1 + (scores[:, None] < scores[None, :]).sum(axis=1)
    no_worse = (utility[:, None] >= utility[None, :]) & (exposure[:, None] <= exposure[None, :])
    dominated = np.any(no_worse & ~no_worse.T, axis=0).tolist()
    placed = [
        replace(row, rank=rank, pareto=not below)
        for row, rank, below in zip(scored, ranks.tolist(), dominated, strict=True)
    ]
    return sorted(placed, key=lambda row: row.rank or 0) + [row for row in rows if row.score is None]


def by_place(rows: Sequence[Row]) -> Mapping[tuple[str, str], list[Row]]:
    """Rows by scenario and variant, in the given order."""
    return grouped_by(rows, lambda row: (row.scenario, row.variant))
