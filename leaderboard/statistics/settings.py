"""Measured settings of defenses as points of a picture: utility and worst advantage, overall or in one goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard import Exposure, Row, label


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One measured setting of a family of defenses.

    - family: Class name of the defense.
    - name: Its label with parameters, as in ``Mondrian k=5``.
    - utility: Headline utility in [0, 1].
    - advantage: Advantage of the worst attack, at least 0.
    - upper: Upper bound of the advantage of every attack, if plays vary as they did here.
    - sure_upper: The same, however plays vary.
    - attack: Label of the worst attack.
    - failures: Number of releases and attacks that failed.
    - position: Position among the board's rows, from 0.
    """

    family: str
    name: str
    utility: float
    advantage: float
    upper: float
    sure_upper: float = 1.0
    attack: str = ""
    failures: int = 0
    position: int = 0

    def is_sure(self, bound: float) -> bool:
        """Whether every advantage is at most a bound, however plays vary."""
        return max(self.upper, self.sure_upper) <= bound


def best_within(settings: Sequence[Setting], bound: float) -> Setting | None:
    """The setting of the highest utility whose upper bound of the advantage is at most a bound; None without one.

    As in `leaderboard.utility_left`, a setting counts only if nothing that was played against it failed. Among equals
    it is the one of the smallest upper bound, then the first by name. Nothing is interpolated.

    Examples
    --------
    >>> light = Setting(family="Mondrian", name="Mondrian k=2", utility=0.8, advantage=0.6, upper=0.7)
    >>> strong = Setting(family="Mondrian", name="Mondrian k=50", utility=0.3, advantage=0.04, upper=0.08)
    >>> best_within([light, strong], 0.1).name
    'Mondrian k=50'
    >>> best_within([light, strong], 0.05) is None
    True
    """
    eligible = [setting for setting in settings if setting.upper <= bound and not setting.failures]
    return min(eligible, key=lambda setting: (-setting.utility, setting.upper, setting.name), default=None)


def most_useful_left_of(settings: Sequence[Setting], bound: float) -> Setting | None:
    """The setting of the highest utility whose measured advantage is at most a bound; None without one.

    Unlike `best_within` it ignores the uncertainty of the advantage, so that it may exceed the bound.

    Examples
    --------
    >>> wide = Setting(family="Mondrian", name="Mondrian k=9", utility=0.5, advantage=0.04, upper=0.3)
    >>> most_useful_left_of([wide], 0.1).name, best_within([wide], 0.1)
    ('Mondrian k=9', None)
    """
    eligible = [setting for setting in settings if setting.advantage <= bound and not setting.failures]
    return min(eligible, key=lambda setting: (-setting.utility, setting.upper, setting.name), default=None)


def settings_of(rows: Sequence[Row], exposures: Sequence[Exposure], goal: str | None = None) -> list[Setting]:
    """Settings of one scenario and variant; those without utility or without a judged attack are absent.

    - rows: Rows of one scenario and variant, in the order of the table.
    - exposures: Exposures of any scenarios and variants.
    - goal: Goal of the attacks; all goals by default.
    """
    positions = {row.identity: position for position, row in enumerate(rows)}
    measured = [(exposure, exposure.worst(goal)) for exposure in exposures if exposure.identity in positions]
    return [
        Setting(
            family=exposure.defense,
            name=label(exposure.defense, exposure.parameters),
            utility=exposure.utility.value,
            advantage=max(0.0, worst.advantage),
            upper=max(0.0, worst.upper),
            sure_upper=worst.sure_upper,
            attack=label(worst.attack, worst.attack_parameters),
            failures=exposure.failures,
            position=positions[exposure.identity],
        )
        for exposure, worst in measured
        if worst is not None and exposure.utility is not None
    ]
