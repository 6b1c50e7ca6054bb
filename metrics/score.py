"""Scores of attacks: success rate, chance level and advantage, each with the number of trials behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from metrics.columns import finite_number, refuse, require
from metrics.estimate import Estimate, wilson

# Attack risk relative to the success rate on a control group.


def risk_after_control(
    successes: float, trials: int, control_successes: float, control_trials: int, confidence: float = 0.95
) -> Estimate:
    """Risk (a - c) / (1 - c) of an attack with success rate a, where c is its success rate on people outside the table.

    Parameters
    ----------
    successes, control_successes : float
        Expected number of successes on the people of the table, and on the control group outside.
    trials, control_trials : int
        Number of people in each group, at least 1.
    confidence : float
        Level of the interval, in (0, 1).

    Returns
    -------
    Estimate
        The risk, not clipped: it is negative if the attack does worse on the people of the table. Where every attempt
        on the control group succeeds, there is nothing to learn, and the risk is 0 with the interval from 0 to 1. `n`
        is the number of trials.

    Raises
    ------
    ValueError
        If a number of trials is below 1, successes exceed it, or `confidence` lies outside (0, 1).

    Notes
    -----
    The risk is 1 - R with the ratio R = (1 - a) / (1 - c) of two failure rates, f = 1 - a and g = 1 - c. They are
    estimated from separate people, with Wilson intervals [f₁, f₂] and [g₁, g₂]. The method of variance estimates
    recovery gives the interval of R. With u = f₁ (2f - f₁), v = g₂ (2g - g₂) for the lower end and u = f₂ (2f - f₂), v
    = g₁ (2g - g₁) for the upper one, the ends are (fg ∓ √((fg)² - uv)) / v. The lower end is computed as u / (fg +
    √((fg)² - uv)), which stays exact as v goes to 0.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4; Donner and Zou (2012), Closed-form confidence intervals for functions of the normal mean and standard
    deviation, section 2.
    """
    attack = wilson(trials - successes, trials, confidence)
    control = wilson(control_trials - control_successes, control_trials, confidence)
    f, g = attack.value, control.value
    if g == 0:
        return Estimate(0.0, 0.0, 1.0, trials)
    u, v = attack.low * (2 * f - attack.low), control.high * (2 * g - control.high)
    root = math.sqrt(max(0.0, (f * g) ** 2 - u * v))
    lowest = u / (f * g + root) if f > 0 else 0.0
    u, v = attack.high * (2 * f - attack.high), control.low * (2 * g - control.low)
    highest = (f * g + math.sqrt(max(0.0, (f * g) ** 2 - u * v))) / v
    return Estimate(1 - f / g, 1 - highest, 1 - lowest, trials)


_ROUNDING = 1e-9
"""How far a mean of ones may lie above 1."""


def advantage(rate: float, chance: float) -> float:
    """Advantage over guessing, (rate - chance) / (1 - chance): 0 at chance level, 1 for certain success.

    Parameters
    ----------
    rate : float
        Success rate, in [0, 1].
    chance : float
        Success rate of guessing, in [0, 1).

    Examples
    --------
    >>> advantage(0.75, 0.5)
    0.5
    """
    return (rate - chance) / (1 - chance)


@dataclass(frozen=True)
class Score:
    """An attack's success in one goal of one play.

    Parameters
    ----------
    goal : str
        What the attack tries to find out, such as ``reidentification`` or ``membership``.
    rate : float or None
        Success rate, in [0, 1]; None if there was nothing to find out (0 of 0).
    chance : float or None
        Success rate of guessing, in [0, 1], or of the same attack on the control group. None if the control group is
        empty.
    trials : int
        Number of rows or persons of which `rate` is a share.
    control_trials : int, optional
        Number of persons in the control group; None if `chance` is known exactly.

    Raises
    ------
    TypeError
        If a rate is not a number, or a number of trials is not an integer.
    ValueError
        If a rate lies outside [0, 1], or a number of trials is negative.

    Examples
    --------
    >>> Score("membership", rate=0.75, chance=0.5, trials=100).advantage
    0.5
    """

    goal: str
    rate: float | None
    chance: float | None
    trials: int
    control_trials: int | None = None

    def __post_init__(self) -> None:
        require(isinstance(self.goal, str) and self.goal, f"goal must be a name, got {self.goal!r}", TypeError)
        for name in ("rate", "chance"):
            object.__setattr__(self, name, _rate(f"{name} of {self.goal}", getattr(self, name)))
        for name in ("trials", "control_trials"):
            object.__setattr__(self, name, _count(f"{name} of {self.goal}", getattr(self, name)))

    @property
    def advantage(self) -> float | None:
        """Advantage over guessing; None if a rate is missing or guessing always succeeds."""
        if self.rate is None or self.chance is None or self.chance >= 1:
            return None
        return advantage(self.rate, self.chance)


@dataclass(frozen=True)
class Scores:
    """Scores of one attack in one play, by goal, and further measures of its claims.

    Parameters
    ----------
    goals : mapping of str to Score
        Score by goal.
    measures : mapping of str to float or None
        Other numbers by name, such as ``precision``; None for 0 of 0.

    Examples
    --------
    >>> from metrics import Score, Scores
    >>> scores = Scores.of(Score("membership", rate=0.75, chance=0.5, trials=100), precision=0.6)
    >>> scores["membership"].advantage
    0.5
    >>> scores.with_measures(recall=0.3).measures
    {'precision': 0.6, 'recall': 0.3}
    """

    goals: Mapping[str, Score]
    measures: Mapping[str, float | None]

    @classmethod
    def of(cls, *scores: Score, **measures: float | None) -> Scores:
        """Collect scores of different goals, and measures by name."""
        return cls({score.goal: score for score in scores}, measures)

    def __getitem__(self, goal: str) -> Score:
        """Score in one goal; KeyError if the game does not have this goal."""
        return self.goals[goal]

    def with_measures(self, **measures: float | None) -> Scores:
        """Return the same scores with further measures."""
        return Scores(self.goals, {**self.measures, **measures})


def _rate(name: str, value: object) -> float | None:
    if value is None:
        return None
    number = finite_number(name, value)
    require(-_ROUNDING <= number <= 1 + _ROUNDING, f"{name} must lie between 0 and 1, got {number:g}")
    return number


def _count(name: str, value: object) -> int | None:
    if value is None and name.startswith("control"):
        return None
    number = finite_number(name, value)
    refuse(number < 0, f"{name} must not be negative, got {number:g}")
    require(number == int(number), f"{name} must be an integer, got {number:g}", TypeError)
    return int(number)
