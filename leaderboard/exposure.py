"""Exposure of a defense's releases: for each goal the worst attack, and an upper bound of its advantage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.goals import in_order
from leaderboard.pairs import Pair, Success, matrix, variant_name
from leaderboard.result import FAILURES, Result, canonical
from leaderboard.utility import pooled_utility
from metrics import Estimate, advantage, wilson
from metrics.control import risk_after_control

LEVEL = 0.95
"""Probability with which the upper bounds of all attacks on a defense hold together."""
FEWEST_TRIALS = 30
"""Fewest trials over all plays of an attack that is judged, such as claimed predicates."""
Place = tuple[str, str]
"""A scenario, and a variant of its game."""


@dataclass(frozen=True)
class WorstAttack:
    """The attack of the largest advantage on a defense, in one goal or in all.

    Attacks that are not significantly better than guessing count only if no attack is. Attacks with fewer than
    `FEWEST_TRIALS` trials are not judged.

    Parameters
    ----------
    goal, attack : str
        Goal of the attack, and its class name.
    attack_parameters : dict
        Its parameters.
    advantage : float
        Its advantage.
    upper : float
        Upper bound of the advantage of every attack that was played. It holds for all attacks together with probability
        `LEVEL` (Bonferroni).
    attacks : int
        Number of attacks that were played.
    """

    goal: str
    attack: str
    attack_parameters: dict[str, Any]
    advantage: float
    upper: float
    attacks: int


@dataclass(frozen=True)
class Exposure:
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
        What the defense promises.
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

    scenario: str
    variant: str
    defense: str
    parameters: dict[str, Any]
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
    pairs = matrix(results)
    effects = design_effects(pairs)
    by_setting: dict[tuple[str, str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_setting[pair.scenario, pair.variant, pair.defense, canonical(pair.parameters)].append(pair)
    releases: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    guarantees: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    failures: dict[tuple[str, ...], int] = defaultdict(int)
    for result in sorted(results, key=lambda result: result.play):
        setting = (result.scenario, result.defense, result.parameters_text)
        guarantees[setting].add(result.guarantee)
        if result.attack is None:
            releases[setting].append(result)
            failures[setting] += result.status in FAILURES
        else:
            failures[result.scenario, variant_name(result.game), *setting[1:]] += result.status in FAILURES
    rows = []
    for identity, own in sorted(by_setting.items()):
        scenario, variant, defense, parameters = identity
        setting = (scenario, defense, parameters)
        released = [release for release in releases[setting] if release.status == "ok"]
        utility = pooled_utility([release.values for release in released])
        plays = max(1, max(pair.plays for pair in own))
        goals = _goals(own)
        worst = {goal: one for goal in goals if (one := _worst(own, (goal,), effects)) is not None}
        rows.append(
            Exposure(
                scenario,
                variant,
                own[0].defense,
                own[0].parameters,
                "; ".join(sorted(guarantees[setting] - {""})),
                None if utility is None else utility.headline,
                worst,
                worst.get(goals[0]) if len(goals) == 1 else _worst(own, goals, effects),
                failures[setting] + failures[identity],
                sum(release.seconds for release in released) / max(1, len(released)),
                sum(pair.seconds for pair in own) / plays,
            )
        )
    return rows


def design_effects(pairs: Sequence[Pair]) -> Mapping[tuple[str, str, str], float]:
    """Design effects by scenario, variant and goal: variance of a play's advantage over that of independent trials.

    Returns
    -------
    dict of (str, str, str) to float
        By scenario, variant and goal: the variances of a play's advantage, summed over all pairs of defense and attack,
        divided by the sum of `sampling_variance`. It is at least 1, and 1 where no pair has two plays.

    Notes
    -----
    A few plays of one pair do not suffice to estimate this variance, but all pairs of a goal together do. They share
    the effect: the claims of a play are about one draw of people and one release (Kish 1965, section 8.2).
    """
    observed: dict[tuple[str, str, str], float] = defaultdict(float)
    expected: dict[tuple[str, str, str], float] = defaultdict(float)
    for pair in pairs:
        for goal, success in pair.successes.items():
            if len(success.rates) > 1 and judged(success):
                place = (pair.scenario, pair.variant, goal)
                chances = np.asarray(success.control_rates or success.chance)
                advantages = (np.asarray(success.rates) - chances) / np.maximum(1 - chances, 1 / success.trials)
                observed[place] += float(advantages.var(ddof=1))
                expected[place] += sampling_variance(success)
    return {place: max(1.0, observed[place] / total) if total else 1.0 for place, total in expected.items()}


def sampling_variance(success: Success) -> float:
    """Variance of one play's advantage if its trials were independent.

    Notes
    -----
    Let r and c be the rates on T people in the table and on T' in the control group. The delta method gives the
    variance of (r - c) / (1 - c) as (r (1 - r) / T + ((1 - r) / (1 - c))² c (1 - c) / T') / (1 - c)². A known chance
    level leaves the first term.
    """
    rate, chance = success.mean_rate, success.chance
    variance = rate * (1 - rate) / success.trials
    if success.control_trials is not None:
        variance += ((1 - rate) / (1 - chance)) ** 2 * chance * (1 - chance) / success.control_trials
    return variance / (1 - chance) ** 2


def judged(success: Success) -> bool:
    """Whether there are enough trials over all plays to judge an attack."""
    return len(success.rates) * success.trials >= FEWEST_TRIALS


def upper_advantage(success: Success, effect: float, level: float) -> float:
    """One-sided upper confidence bound of the advantage of an attack.

    Parameters
    ----------
    success : Success
        Its success over plays.
    effect : float
        Design effect: all plays count as their number of trials divided by this.
    level : float
        Confidence level, in (1/2, 1).

    Notes
    -----
    With a known chance level, the bound is Wilson's of the pooled rate. With a control group, it is that of the ratio
    of two failure rates (`metrics.control.risk_after_control`).
    """
    rate, plays, both_sides = success.mean_rate, len(success.rates), 2 * level - 1
    trials = max(1, round(plays * success.trials / effect))
    if success.control_trials is None:
        return advantage(wilson(min(rate * trials, trials), trials, both_sides).high, success.chance)
    control = max(1, round(plays * success.control_trials / effect))
    return risk_after_control(rate * trials, trials, success.chance * control, control, both_sides).high


def _goals(pairs: Sequence[Pair]) -> tuple[str, ...]:
    return in_order({goal for pair in pairs for goal in pair.successes})


def _worst(
    pairs: Sequence[Pair], goals: Sequence[str], effects: Mapping[tuple[str, str, str], float]
) -> WorstAttack | None:
    """The worst attack on a defense among some goals; None if none was measured."""
    outcomes = [
        (pair, success)
        for goal in goals
        for pair in pairs
        if (success := pair.success(goal)) is not None and judged(success)
    ]
    if not outcomes:
        return None
    level = 1 - (1 - LEVEL) / len(outcomes)
    uppers = [
        upper_advantage(success, effects.get((pair.scenario, pair.variant, success.goal), 1.0), level)
        for pair, success in outcomes
    ]
    corrected = [(pair, replace(success, confidence=level)) for pair, success in outcomes]
    eligible = [outcome for outcome in corrected if outcome[1].above_chance] or corrected
    pair, success = max(eligible, key=lambda outcome: outcome[1].advantage)
    names = {(pair.attack, canonical(pair.attack_parameters)) for pair, _ in outcomes}
    return WorstAttack(success.goal, pair.attack, pair.attack_parameters, success.advantage, max(uppers), len(names))
