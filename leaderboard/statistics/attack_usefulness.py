"""Usefulness of attacks: how often each is the worst, and what would be missed without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.results.result import canonical, label
from leaderboard.statistics.pairs import Pair


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
    settings: dict[tuple[str, ...], list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.advantage is not None:
            settings[pair.scenario, pair.variant, pair.defense, canonical(pair.parameters)].append(pair)
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
