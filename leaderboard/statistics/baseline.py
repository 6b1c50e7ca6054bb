"""Comparison of attacks with a baseline: paired differences of success over plays and defenses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.results import Result, Setting, canonical, grouped_by, in_order, setting_named
from leaderboard.statistics.pairs import by_pair
from leaderboard.statistics.significance import JudgedDifference, corrected, plays_for, student_test

LEVEL = 0.05
"""One minus the confidence level of the intervals, and the family-wise error rate of all tests."""
Trials = dict[tuple[str, str, int], Result]
"""Finished trials of an attack, by defense, its parameters and play."""


@dataclass(frozen=True, kw_only=True)
class BaselineDifference(JudgedDifference):
    """Success of an attack compared with a baseline, in one goal of one variant of a scenario's game.

    Parameters
    ----------
    scenario, variant : str
        The scenario and the variant of its game.
    attack, baseline : str
        Class names.
    attack_parameters, baseline_parameters : dict
        Their parameters.
    goal : str
        Goal in which both were measured.
    success, baseline_success : float
        Mean success rates over the trials that both ended.
    difference, low, high : float
        Success minus the baseline's success, with its 95 % interval across plays.
    p : float
        Two-sided p-value of a difference of 0.
    smallest_p : float
        Smallest p-value that so many plays can give: 2 · 4⁻ⁿ for n plays.
    defenses, plays, trials : int
        Number of settings of defenses, of plays and of trials that both attacks ended.
    significant : bool
        Whether the difference is significant after Holm's correction for all rows.
    judged : bool
        Whether the plays suffice for any difference to be significant.
    defense, parameters : str, dict
        The defense on which they were compared; empty if over all defenses.
    """

    attack: str
    baseline: str
    baseline_parameters: dict[str, Any]
    goal: str
    success: float
    baseline_success: float
    difference: float
    defenses: int
    trials: int


def compare_with_baseline(
    results: Sequence[Result], baseline: str, *, by_defense: bool = False
) -> list[BaselineDifference]:
    """Compare every attack with a baseline, in every goal that both pursue.

    Two attacks of one trial see the same release and the same people, so that their results are paired. The differences
    of a play are averaged over its defenses, since they share the people of the play. Student's t-test across plays
    gives the interval and the p-value. Holm's correction bounds the probability of any false finding among all rows by
    5 %. Rows with too few plays for any finding are left out of it (Tarone).

    No p-value is below 2 · 4⁻ⁿ for n plays, such as .031 for 3 plays. With so few plays, the t-test alone may give a
    smaller one, since their differences can be alike by accident (`leaderboard.statistics.significance.student_floor`).

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial.
    baseline : str
        Name of the baseline as boards show it, such as ``NearestNeighbour``; of several settings, the name alone means
        the one whose parameters all have their defaults.
    by_defense : bool
        Compare on each defense alone; there are more rows then, and the correction is for all of them.

    Returns
    -------
    list of BaselineDifference
        In order of scenario, variant, goal, attack and defense. Empty if no other attack shares a goal with the
        baseline, or all share fewer than two plays.

    Raises
    ------
    ValueError
        If no attack has the baseline's name, or several settings have.

    Examples
    --------
    >>> from leaderboard import Result
    >>> from metrics import Score
    >>> def trial(attack, play, rate):
    ...     scores = {"membership": Score("membership", rate, chance=0.5, trials=100)}
    ...     key = f"{attack} {play}"
    ...     return Result(key=key, scenario="bank", defense="Mondrian", attack=attack, play=play, scores=scores)
    >>> results = [trial("Homer", play, 0.5 + play / 100) for play in range(5)]
    >>> results += [trial("Better", play, 0.6 + play / 100) for play in range(5)]
    >>> [row] = compare_with_baseline(results, "Homer")
    >>> row.attack, round(row.difference, 2), row.plays, row.significant
    ('Better', 0.1, 5, True)

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure. Tarone (1990), A modified Bonferroni method
    for discrete data.
    """
    attacks = [(result.attack, result.attack_parameters) for result in results if result.attack is not None]
    chosen = setting_named(baseline, attacks, "attack")
    played: dict[tuple[str, str], dict[Setting, Trials]] = defaultdict(lambda: defaultdict(dict))
    for (scenario, variant, defense, given, attack, parameters), trials in by_pair(results).items():
        ended = {(defense, given, trial.play): trial for trial in trials if trial.status == "ok"}
        played[scenario, variant][attack, parameters] |= ended
    rows = [
        row
        for place, by_attack in sorted(played.items())
        if chosen in by_attack
        for row in _rows(place, by_attack, chosen, by_defense=by_defense)
    ]
    verdicts = corrected([row.p for row in rows], [row.smallest_p for row in rows], LEVEL)
    return [
        replace(row, significant=bool(verdict), judged=verdict is not None)
        for row, verdict in zip(rows, verdicts, strict=True)
    ]


def plays_to_judge(rows: Sequence[BaselineDifference]) -> int | None:
    """Smallest number of plays with which every row could be significant; None if every row can be."""
    return None if all(row.judged for row in rows) else plays_for([row.goal for row in rows], LEVEL)


def _rows(
    place: tuple[str, str], by_attack: Mapping[Setting, Trials], chosen: Setting, *, by_defense: bool
) -> list[BaselineDifference]:
    """Rows of one scenario and variant, by goal, attack and, where asked for, defense."""
    base = by_attack[chosen]
    found: list[tuple[str, BaselineDifference]] = []
    for setting, trials in sorted(by_attack.items()):
        if setting == chosen:
            continue
        shared = sorted(set(base) & set(trials))
        groups = grouped_by(shared, lambda trial: trial[:2] if by_defense else ("", "{}"))
        for keys in groups.values():
            pairs = [(base[key], trials[key]) for key in keys]
            for goal in set().union(*(set(one.scores) & set(other.scores) for one, other in pairs)):
                row = _row(place, goal, pairs, by_defense=by_defense)
                if row is not None:
                    found.append((goal, row))
    return [row for goal in in_order({goal for goal, _ in found}) for own, row in found if own == goal]


def _row(
    place: tuple[str, str], goal: str, pairs: Sequence[tuple[Result, Result]], *, by_defense: bool
) -> BaselineDifference | None:
    """One row; None if the two attacks share fewer than two plays in this goal."""
    by_play: dict[int, list[tuple[float, float]]] = defaultdict(list)
    defenses = set()
    for base, head in pairs:
        rates = [one.scores[goal].rate if goal in one.scores else None for one in (base, head)]
        if rates[0] is not None and rates[1] is not None:
            by_play[base.play].append((rates[0], rates[1]))
            defenses.add((base.defense, canonical(base.parameters)))
    if len(by_play) < 2:
        return None
    means = np.array([np.mean(rates, axis=0) for rates in by_play.values()])
    differences = means[:, 1] - means[:, 0]
    deviation = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    tested = student_test(float(differences.mean()), deviation, len(differences), 0.0, LEVEL)
    base, head = pairs[0]
    return BaselineDifference(
        scenario=place[0],
        variant=place[1],
        defense=base.defense if by_defense else "",
        parameters=base.parameters if by_defense else {},
        attack=str(head.attack),
        attack_parameters=head.attack_parameters,
        baseline=str(base.attack),
        baseline_parameters=base.attack_parameters,
        goal=goal,
        success=float(means[:, 1].mean()),
        baseline_success=float(means[:, 0].mean()),
        difference=tested.estimate,
        low=tested.low,
        high=tested.high,
        p=tested.p,
        smallest_p=tested.smallest_p,
        defenses=len(defenses),
        plays=len(by_play),
        trials=sum(map(len, by_play.values())),
    )
