"""The board: each defense with its utility and its worst attack, ranked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.pairs import Pair, Success, by_pair, goals, pair_of
from leaderboard.result import FAILURES, Result, canonical
from leaderboard.utility import Utility, pooled_utility

ENDED = ("ok", "skipped")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One defense in one variant of a scenario's game.

    Parameters
    ----------
    rank : int or None
        Place within scenario and variant, 1 the best; equal scores share it, a missing score has none.
    scenario, variant : str
        The scenario and the variant of its game.
    defense : str
        Class name.
    parameters : dict
        Its parameters.
    guarantee : str
        What it promises.
    utility, utility_low, utility_high : float or None
        Headline utility in [0, 1] with its interval across plays.
    components : dict of float
        What the utility is the mean of.
    measured : dict of float
        Smallest k, l and Pk that a release had.
    worst_attack, worst_parameters, goal : str, dict, str or None
        The attack and the goal, ``reidentification`` (of rows) or ``membership``, of the largest advantage; attacks
        that cannot be told from guessing count only where none can.
    success, success_low, success_high : float or None
        Its success rate with its interval across plays, wide enough to cover together with those of all other attacks
        with 95 %, since the worst is chosen after looking.
    chance : float or None
        What guessing would reach.
    advantage : float or None
        (success - chance) / (1 - chance).
    score : float or None
        utility x (1 - max(0, advantage)).
    pareto : bool
        Whether no other row is at least as good in utility and in advantage and better in one of them.
    plays : int
        Plays in which release and every attack ended.
    attacks : int
        Attacks that ended at least once.
    failures : int
        Releases and trials that ended in an error, ran out of time or of memory.
    reason : str
        Why the first release or trial that did not end ``ok`` did not.
    complete : bool
        Whether every attack known in this scenario and variant ended in every play of this defense.
    seconds : float
        Time spent, in seconds.
    """

    rank: int | None = None
    scenario: str
    variant: str
    defense: str
    parameters: dict[str, Any]
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
        """Advantage as the score counts it: no attack can do better for a defense than to fail."""
        return None if self.advantage is None else max(0.0, self.advantage)


def rank(results: Sequence[Result]) -> list[Row]:
    """Rank the defenses within each scenario and variant of its game, best score first, missing scores last.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial, in any order.

    Examples
    --------
    A defense is worth its utility times one minus the advantage of the worst attack.

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
    releases: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    for result in sorted(results, key=lambda result: result.play):
        if result.attack is None:
            releases[result.scenario, result.defense, canonical(result.parameters)].append(result)
    trials: dict[tuple[str, ...], dict[tuple[str, ...], list[Result]]] = defaultdict(dict)
    variants: dict[str, set[str]] = defaultdict(set)
    known: dict[tuple[str, str], set[tuple[str, ...]]] = defaultdict(set)
    for (scenario, variant, *method, attack, attack_parameters), group in sorted(by_pair(results).items()):
        trials[(scenario, variant, *method)][attack, attack_parameters] = group
        variants[scenario].add(variant)
        known[scenario, variant].add((attack, attack_parameters))
    # A scenario of which no trial has ended yet has releases to show, and no variant.
    identities = set(trials) | {
        (scenario, variant, *method) for scenario, *method in releases for variant in variants[scenario] or {""}
    }
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for scenario, variant, defense, parameters in sorted(identities):
        identity = (scenario, variant, defense, parameters)
        own = releases[scenario, defense, parameters]
        row = _row(variant, own, trials[identity], known[scenario, variant])
        groups[scenario, variant].append(row)
    return [row for place in sorted(groups) for row in ranked(groups[place])]


def _row(
    variant: str,
    releases: Sequence[Result],
    trials: Mapping[tuple[str, ...], Sequence[Result]],
    known: set[tuple[str, ...]],
) -> Row:
    pairs = [pair_of(group) for group in trials.values()]
    together = (trial for group in trials.values() for trial in group)
    everything = [*releases, *sorted(together, key=lambda trial: trial.play)]
    first = everything[0]
    ended = {(trial.play, *attack) for attack, group in trials.items() for trial in group if trial.status in ENDED}
    released = [release for release in releases if release.status == "ok"]
    plays = {result.play for result in everything}
    complete = [
        release.play for release in released if known and all((release.play, *attack) in ended for attack in known)
    ]
    failures = sum(result.status in FAILURES for result in everything)
    row = Row(
        scenario=first.scenario,
        variant=variant,
        defense=first.defense,
        parameters=first.parameters,
        guarantee="; ".join(sorted({result.guarantee for result in everything} - {""})),
        components={},
        measured=_smallest(released, ("k", "l", "pk")),
        plays=len(complete),
        attacks=sum(pair.plays > 0 for pair in pairs),
        failures=failures,
        reason=next((result.reason for result in everything if result.status != "ok"), ""),
        complete=failures == 0 and len(complete) == len(plays),
        seconds=sum(result.seconds for result in everything),
    )
    return _with_score(row, pooled_utility([release.values for release in released]), pairs)


def _with_score(row: Row, utility: Utility | None, pairs: Sequence[Pair]) -> Row:
    if utility is not None:
        headline = utility.headline
        row = replace(
            row,
            utility=headline.value,
            # One play says nothing of the spread between plays.
            utility_low=headline.low if headline.n > 1 else None,
            utility_high=headline.high if headline.n > 1 else None,
            components=utility.components,
        )
    worst = _worst(pairs)
    if worst is not None:
        pair, success = worst
        row = replace(
            row,
            worst_attack=pair.attack,
            worst_parameters=pair.attack_parameters,
            goal=success.goal,
            success=success.rate.value,
            success_low=success.rate.low,
            success_high=success.rate.high,
            chance=success.chance,
            advantage=success.advantage,
        )
    if row.utility is None or row.exposure is None:
        return row
    return replace(row, score=row.utility * (1 - row.exposure))


def _worst(pairs: Sequence[Pair]) -> tuple[Pair, Success] | None:
    """The attack and goal of the largest advantage; of equal ones the first by goal, then by name.

    The largest of many noisy estimates is too large, and one with a chance of 1/2 is noisier than one with a chance of
    1/200. Intervals are therefore taken at a level at which all of them hold together with 95 % (Bonferroni), and
    attacks that are not above chance at that level count only where none is.
    """
    offers = [(pair, success) for goal in goals(pairs) for pair in pairs if (success := pair.success(goal)) is not None]
    together = [(pair, replace(success, confidence=1 - 0.05 / len(offers))) for pair, success in offers]
    telling = [offer for offer in together if offer[1].above_chance]
    return max(telling or together, key=lambda offer: offer[1].advantage, default=None)


def _smallest(releases: Sequence[Result], names: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for release in releases:
        for name in names:
            value = release.values.get(name)
            if value is not None:
                found[name] = min(value, found.get(name, value))
    return found


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Rows of one scenario and variant in order of score, with ranks and Pareto front."""
    scored = [row for row in rows if row.score is not None]
    scores = np.array([row.score for row in scored], dtype=float)
    utility = np.array([row.utility for row in scored], dtype=float)
    exposure = np.array([row.exposure for row in scored], dtype=float)
    places = 1 + (scores[:, None] < scores[None, :]).sum(axis=1)
    no_worse = (utility[:, None] >= utility[None, :]) & (exposure[:, None] <= exposure[None, :])
    dominated = np.any(no_worse & ~no_worse.T, axis=0).tolist()
    placed = [
        replace(row, rank=place, pareto=not below)
        for row, place, below in zip(scored, places.tolist(), dominated, strict=True)
    ]
    return sorted(placed, key=lambda row: row.rank or 0) + [row for row in rows if row.score is None]


def by_place(rows: Sequence[Row]) -> Mapping[tuple[str, str], list[Row]]:
    """Rows by scenario and variant, both in their order."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.scenario, row.variant].append(row)
    return groups
