"""Measured settings of defenses: utility and worst advantage, overall and by goal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.board import Row, cross_fitted_advantage
from leaderboard.pairs import Pair
from leaderboard.result import label

BOUNDS = (0.05, 0.1, 0.25, 0.5)
"""Bounds of the worst advantage for which the best setting is named."""
Bounds = Mapping[tuple[str, str, str, str], tuple[float, float]]
"""Worst advantage and its upper bound, by scenario, variant, the defense's label and goal (empty: all goals)."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One measured setting of a family of defenses.

    Parameters
    ----------
    family : str
        Class name of the defense.
    name : str
        Its label with parameters, as in ``Mondrian k=5``.
    utility : float
        Headline utility in [0, 1].
    advantage : float
        Advantage of the worst attack, at least 0.
    upper : float or None
        Upper bound of the advantage; None if there is none.
    attack : str
        Label of the worst attack.
    position : int
        Position among the board's rows, from 0.
    """

    family: str
    name: str
    utility: float
    advantage: float
    upper: float | None = None
    attack: str = ""
    position: int = 0

    @property
    def risk(self) -> float:
        """The advantage that a bound is compared with: its upper bound if there is one."""
        return self.advantage if self.upper is None else max(self.upper, self.advantage)


def best_within(settings: Sequence[Setting], bound: float) -> Setting | None:
    """The setting of the highest utility among those whose risk is at most a bound; None if there is none.

    Among equals it is the one of the smallest advantage, then the first by name. Nothing is interpolated.

    Examples
    --------
    >>> light = Setting(family="Mondrian", name="Mondrian k=2", utility=0.8, advantage=0.6)
    >>> strong = Setting(family="Mondrian", name="Mondrian k=50", utility=0.3, advantage=0.04)
    >>> best_within([light, strong], 0.1).name
    'Mondrian k=50'
    >>> best_within([light], 0.1) is None
    True
    """
    eligible = [setting for setting in settings if setting.risk <= bound]
    return min(eligible, key=lambda setting: (-setting.utility, setting.advantage, setting.name), default=None)


def overall_settings(rows: Sequence[Row], bounds: Bounds | None = None) -> list[Setting]:
    """Settings of one scenario and variant with the worst advantage over all goals; rows without a score are absent.

    Parameters
    ----------
    rows : sequence of Row
        Rows of one scenario and variant, in the order of the table.
    bounds : mapping, optional
        Worst advantages and their upper bounds (`Bounds`). Where one is missing, the row's advantage is taken.
    """
    found = []
    for position, row in enumerate(rows):
        if row.utility is None or row.exposure is None:
            continue
        attack = "" if row.worst_attack is None else label(row.worst_attack, row.worst_parameters or {})
        found.append(_setting(row, position, row.exposure, attack, "", bounds or {}))
    return found


def goal_settings(rows: Sequence[Row], pairs: Sequence[Pair], goal: str, bounds: Bounds | None = None) -> list[Setting]:
    """Settings of one scenario and variant with the worst advantage in one goal; unmeasured settings are absent.

    As on the board, attacks that are not significantly better than guessing count only if no attack is, and the
    advantage is cross-fitted (`cross_fitted_advantage`).

    Parameters
    ----------
    rows : sequence of Row
        Rows of one scenario and variant, in the order of the table.
    pairs : sequence of Pair
        Pairs of the same scenario and variant.
    goal : str
        The goal.
    bounds : mapping, optional
        Worst advantages and their upper bounds (`Bounds`). Where one is missing, the measured advantage is taken.
    """
    by_defense: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if goal in pair.successes:
            by_defense[label(pair.defense, pair.parameters)].append(pair)
    found = []
    for position, row in enumerate(rows):
        own = by_defense.get(label(row.defense, row.parameters), [])
        if row.utility is None or not own:
            continue
        eligible = [pair for pair in own if pair.successes[goal].above_chance] or own
        worst = max(eligible, key=lambda pair: pair.successes[goal].advantage)
        advantage = max(0.0, cross_fitted_advantage([pair.successes[goal] for pair in eligible]))
        attack = label(worst.attack, worst.attack_parameters)
        found.append(_setting(row, position, advantage, attack, goal, bounds or {}))
    return found


def _setting(row: Row, position: int, advantage: float, attack: str, goal: str, bounds: Bounds) -> Setting:
    name = label(row.defense, row.parameters)
    known = bounds.get((row.scenario, row.variant, name, goal))
    return Setting(
        family=row.defense,
        name=name,
        utility=row.utility or 0.0,
        advantage=advantage if known is None else max(0.0, known[0]),
        upper=None if known is None else known[1],
        attack=attack,
        position=position,
    )
