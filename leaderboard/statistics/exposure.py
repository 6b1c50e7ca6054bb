"""Exposure of a defense's releases: for each goal the worst attack, and upper bounds of its advantage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.results import FAILURES, Result, canonical, grouped_by, in_order
from leaderboard.statistics.pairs import Pair, PlacedSetting, judged, matrix, pooled_utility, variant_name
from leaderboard.statistics.play_bounds import (
    LEVEL,
    clean_plays,
    level_of_each,
    lower_advantage,
    sure_upper,
    upper_advantage,
)
from metrics import Estimate

Place = tuple[str, str]
"""A scenario, and a variant of its game."""


@dataclass(frozen=True)
class BoundedAttack:
    """An attack on a setting in one goal, with an upper bound of its advantage.

    - attack: Class name.
    - upper: Upper bound of the advantage.
    """

    goal: str
    attack: str
    attack_parameters: dict[str, Any]
    advantage: float
    upper: float


@dataclass(frozen=True)
class WorstAttack(BoundedAttack):
    """The attack of the largest advantage on a defense, in one goal or in all.

    Attacks that are not significantly better than guessing count only if no attack is. Attacks with fewer than
    `leaderboard.statistics.pairs.FEWEST_TRIALS` trials are not judged.

    Parameters
    ----------
    goal, attack : str
        Goal of the attack, and its class name.
    attack_parameters : dict
        Its parameters.
    advantage : float
        Its advantage: the largest that was measured, which is no unbiased estimate.
    upper : float
        Upper bound of the advantage of every attack that was played, if plays vary as they did here. It holds for all
        attacks together with probability `leaderboard.statistics.play_bounds.LEVEL`
        (`leaderboard.statistics.play_bounds.upper_advantage`). After one play, it only allows for what other settings
        show of how plays vary.
    attacks : int
        Number of attacks that were played.
    sure_upper : float
        Upper bound of the same, however plays vary (`leaderboard.statistics.play_bounds.sure_upper`). The bounds of all
        settings of the scenario and variant hold together with the same probability. It is 1 if anything failed, since
        what failed was not seen.
    sure_level : float
        Confidence level of `sure_upper` for this setting alone.
    plays : int
        Fewest plays of an attack.
    lower : float
        Lower bound of the largest advantage, with the same probability, if plays vary as they did here
        (`leaderboard.statistics.play_bounds.lower_advantage`).
    """

    attacks: int
    sure_upper: float = 1.0
    sure_level: float = LEVEL
    plays: int = 1
    lower: float = 0.0

    def is_sure(self, bound: float) -> bool:
        """Whether every advantage is at most a bound, however plays vary."""
        return max(self.upper, self.sure_upper) <= bound

    def plays_to_be_sure(self, bound: float) -> int | None:
        """Fewest plays after which a bound can be sure (`leaderboard.statistics.play_bounds.clean_plays`)."""
        return clean_plays(bound, self.sure_level)


@dataclass(frozen=True)
class Exposure(PlacedSetting):
    """Utility and exposure of one setting of a defense in one scenario and variant.

    Parameters
    ----------
    scenario, variant : str
        The scenario and the variant of its game.
    defense : str
        Class name: the family of which this is one setting.
    parameters : dict
        Parameters of the setting.
    guarantee : str
        What the defense guarantees.
    utility : Estimate or None
        Headline utility.
    goals : dict of str to WorstAttack
        The worst attack by goal.
    overall : WorstAttack or None
        The worst attack of all goals; its bound allows for all of them.
    failures : int
        Number of releases and attacks that failed, ran out of time or memory.
    release_seconds, attack_seconds : float
        Mean time of a release, and of all attacks on it, in seconds.
    """

    guarantee: str
    utility: Estimate | None
    goals: dict[str, WorstAttack]
    overall: WorstAttack | None
    failures: int
    release_seconds: float
    attack_seconds: float

    @property
    def place(self) -> Place:
        """Scenario and variant."""
        return self.scenario, self.variant

    def worst(self, goal: str | None) -> WorstAttack | None:
        """The worst attack in one goal, or of all goals for None."""
        return self.overall if goal is None else self.goals.get(goal)


def exposures(results: Sequence[Result]) -> list[Exposure]:
    """Exposure of each setting of each defense, in alphabetical order.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial, in any order.

    Examples
    --------
    Twenty plays of a defense that gives half of the members away:

    >>> from leaderboard import Result, exposures
    >>> from metrics import Score
    >>> common = {"scenario": "bank", "defense": "Mondrian"}
    >>> scores = {"membership": Score("membership", rate=0.75, chance=0.5, trials=100)}
    >>> trials = [Result(key=f"{p:064}", attack="Homer", play=p, scores=scores, **common) for p in range(20)]
    >>> [exposure] = exposures(trials)
    >>> exposure.overall.attack, exposure.overall.advantage, round(exposure.overall.upper, 2)
    ('Homer', 0.5, 0.53)
    """
    by_setting = grouped_by(matrix(results), lambda pair: pair.identity)
    played = grouped_by(
        sorted(results, key=lambda result: result.play),
        lambda result: (result.scenario, result.defense, result.parameters_text),
    )
    settings = Counter((scenario, variant) for scenario, variant, *_ in by_setting)
    rows = []
    for (scenario, variant, defense, parameters), own in sorted(by_setting.items()):
        of_setting = played[scenario, defense, parameters]
        released = [result for result in of_setting if result.attack is None and result.status == "ok"]
        utility = pooled_utility([release.values for release in released])
        plays = max(1, max(pair.plays for pair in own))
        goals = in_order({goal for pair in own for goal in pair.successes})
        failures = sum(
            result.status in FAILURES and (result.attack is None or variant_name(result.game) == variant)
            for result in of_setting
        )
        sure_level = level_of_each(settings[scenario, variant])
        worst = {goal: one for goal in goals if (one := _worst(own, (goal,), sure_level, failures)) is not None}
        rows.append(
            Exposure(
                scenario,
                variant,
                own[0].defense,
                own[0].parameters,
                "; ".join(sorted({result.guarantee for result in of_setting} - {""})),
                None if utility is None else utility.headline,
                worst,
                worst.get(goals[0]) if len(goals) == 1 else _worst(own, goals, sure_level, failures),
                failures,
                sum(release.seconds for release in released) / max(1, len(released)),
                sum(pair.seconds for pair in own) / plays,
            )
        )
    return rows


def _worst(pairs: Sequence[Pair], goals: Sequence[str], sure_level: float, failures: int) -> WorstAttack | None:
    """The worst attack on a defense among some goals; None if none was measured."""
    outcomes = [
        (pair, success)
        for goal in goals
        for pair in pairs
        if (success := pair.success(goal)) is not None and judged(success)
    ]
    if not outcomes:
        return None
    corrected = [(pair, replace(success, confidence=level_of_each(len(outcomes)))) for pair, success in outcomes]
    eligible = [outcome for outcome in corrected if outcome[1].above_chance] or corrected
    pair, success = max(eligible, key=lambda outcome: outcome[1].advantage)
    return WorstAttack(
        success.goal,
        pair.attack,
        pair.attack_parameters,
        success.advantage,
        upper=max(upper_advantage(success, LEVEL, len(outcomes)) for _, success in outcomes),
        attacks=len({(pair.attack, canonical(pair.attack_parameters)) for pair, _ in outcomes}),
        # A play that ran out of time may be the one in which the attack succeeds.
        sure_upper=1.0 if failures else max(sure_upper(success, sure_level) for _, success in outcomes),
        sure_level=sure_level,
        plays=min(len(success.rates) for _, success in outcomes),
        lower=max(lower_advantage(success, success.confidence) for _, success in corrected),
    )


# Utility left at risk: the best that each family of defenses keeps within a bound of the worst advantage.

BOUNDS = (0.05, 0.1, 0.25, 0.5)
"""Bounds of the worst advantage, fixed before any result was seen."""


def utility_left(exposures: Sequence[Exposure], bound: float, goal: str | None = None) -> dict[str, Exposure | None]:
    """The most useful setting of each family whose worst advantage is at most a bound, by family.

    A setting meets the bound if the upper end of the interval of its worst advantage does, and nothing that was played
    against it failed. Only measured settings count; nothing is interpolated between them.

    Parameters
    ----------
    exposures : sequence of Exposure
        Settings in one scenario and variant.
    bound : float
        Bound of the advantage, in (0, 1).
    goal : str, optional
        Goal in which the bound must hold; all of them by default.

    Returns
    -------
    dict of str to Exposure or None
        None for a family without such a setting.

    Examples
    --------
    >>> from leaderboard import Result, exposures, utility_left
    >>> from metrics import Score
    >>> def played(k, utility, rate):
    ...     common = {"scenario": "bank", "defense": "Mondrian", "parameters": {"k": k}, "play": 0}
    ...     scores = {"membership": Score("membership", rate, chance=0.5, trials=10_000)}
    ...     return [
    ...         Result(key=f"r{k}", values={"marginals": utility}, **common),
    ...         Result(key=f"t{k}", attack="Homer", scores=scores, **common),
    ...     ]
    >>> settings = exposures(played(2, 0.9, 0.9) + played(5, 0.6, 0.6) + played(9, 0.3, 0.5))
    >>> {bound: utility_left(settings, bound)["Mondrian"].parameters["k"] for bound in (0.1, 0.25)}
    {0.1: 9, 0.25: 5}
    """
    best: dict[str, Exposure | None] = {}
    for exposure in exposures:
        current = best.setdefault(exposure.defense, None)
        if meets(exposure, bound, goal) and useful(exposure) > useful(current):
            best[exposure.defense] = exposure
    return best


def meets(exposure: Exposure, bound: float, goal: str | None = None) -> bool:
    """Whether a setting's worst advantage is at most a bound, at the upper end of its interval."""
    worst = exposure.worst(goal)
    return exposure.utility is not None and worst is not None and not exposure.failures and worst.upper <= bound


def useful(exposure: Exposure | None) -> float:
    """Utility of a setting, by which settings are ordered; below all others without a setting or without utility."""
    return -1.0 if exposure is None or exposure.utility is None else exposure.utility.value
