"""Success of an attack against a defense in one goal, over plays, and how much its plays vary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot

import numpy as np

from metrics import Estimate, across_plays, advantage, wilson
from metrics.columns.arrays import Floats

FEWEST_TRIALS = 30
"""Fewest trials over all plays of an attack that is judged, such as claimed predicates."""


@dataclass(frozen=True)
class Success:
    """Success of an attack in one goal, over plays.

    Parameters
    ----------
    goal : str
        Goal of the attack (see `leaderboard.results.goals`).
    rates : tuple of float
        Success rate of each play.
    trials : int
        Number of rows or persons of which a play's rate is a share.
    chance : float
        Chance level: the success rate of guessing, below 1.
    control_trials : int or None
        Number of persons per play in the control group, on whom `chance` is the same attack's success rate; None if
        `chance` is known exactly.
    confidence : float
        Confidence level of the interval.
    control_rates : tuple of float
        Success rate of the same attack on the control group in each play; empty if `chance` is known exactly.
    shared_effect : float
        Design effect that all pairs of the goal share (`leaderboard.statistics.pairs.design_effects`), at least 1.
    """

    goal: str
    rates: tuple[float, ...]
    trials: int
    chance: float
    control_trials: int | None = None
    confidence: float = 0.95
    control_rates: tuple[float, ...] = ()
    shared_effect: float = 1.0

    @cached_property
    def rate(self) -> Estimate:
        """Success rate with its interval across plays."""
        return across_plays(self.rates, self.confidence, trials=self.trials)

    @cached_property
    def mean_rate(self) -> float:
        """Value of `rate` without its interval, which takes much longer and depends on the confidence level."""
        return float(np.mean(self.rates))

    @property
    def advantage(self) -> float:
        """Advantage over guessing."""
        return advantage(self.mean_rate, self.chance)

    @property
    def above_chance(self) -> bool:
        """Whether success is significantly above chance level, over the pooled trials of all plays.

        If the chance level is known, Wilson's interval of the success rate must lie above it. If it is estimated,
        Newcombe's interval of the difference of two proportions must lie above 0. Trials count as their number divided
        by the attack's design effect (`design_effect`).
        """
        effect = design_effect(self, (1 + self.confidence) / 2)
        rate = self._pooled(self.mean_rate, self.trials / effect)
        if self.control_trials is None:
            return rate.low > self.chance
        control = self._pooled(self.chance, self.control_trials / effect)
        return rate.value - control.value > hypot(rate.value - rate.low, control.high - control.value)

    def _pooled(self, rate: float, trials: float) -> Estimate:
        total = max(1, round(trials * len(self.rates)))
        return wilson(min(rate * total, total), total, self.confidence)


def design_effect(success: Success, level: float) -> float:
    """Design effect of one attack's plays: the shared one, or its own if that is larger.

    One play does not show how plays differ. It has the effect that other pairs share, which is 1 where none has two
    plays.

    Parameters
    ----------
    success : Success
        Success of an attack on a setting.
    level : float
        Level of the one-sided bound in which the effect is used, in (1/2, 1).
    """
    if len(success.rates) < 2:
        return success.shared_effect
    return max(success.shared_effect, own_design_effect(success, level))


def own_design_effect(success: Success, level: float) -> float:
    """Design effect of one attack's plays, with Student's quantile in place of the normal one.

    Parameters
    ----------
    success : Success
        Success of an attack on a setting, over n ≥ 2 plays.
    level : float
        Confidence level of the bound in which the effect is used, in (1/2, 1).

    Notes
    -----
    The effect is s² / v · (t / z)². Here s² is the sample variance of `play_errors`, v is `sampling_variance`, and (t /
    z)² is `widening`. A normal bound with this effect has the half-width t s / √n of Student's.
    """
    expected = sampling_variance(success)
    if not expected:
        return 1.0  # every claim failed in every play, or none did
    errors = play_errors(success)
    return float(errors.var(ddof=1) / expected * widening(errors.size, level))


def play_errors(success: Success) -> Floats:
    """Error of each play's advantage to first order, shape (plays,); the mean is that of the advantage over all plays.

    Notes
    -----
    Let r and c be the means over plays of the rates rᵢ and of the chance levels cᵢ, and A = (r - c) / (1 - c). The
    errors are (rᵢ - cᵢ - A (1 - cᵢ)) / (1 - c).
    """
    rates, chances = np.asarray(success.rates), np.asarray(success.control_rates or success.chance)
    errors: Floats = (rates - chances - success.advantage * (1 - chances)) / (1 - success.chance)
    return errors


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


def widening(plays: Floats | int, level: float) -> Floats:
    """Factor (t / z)² by which a variance must grow because it is estimated, as an array of the shape of `plays`.

    Parameters
    ----------
    plays : ndarray or int
        Number n of plays that estimate the variance, at least 2.
    level : float
        Level of the one-sided bound, in (1/2, 1).

    Notes
    -----
    t and z are the quantiles at the level of Student's distribution with n - 1 degrees of freedom and of the normal
    one.
    """
    from scipy.special import ndtri, stdtrit

    factor: Floats = (stdtrit(np.asarray(plays) - 1, level) / ndtri(level)) ** 2
    return factor


def judged(success: Success) -> bool:
    """Whether there are enough trials over all plays to judge an attack."""
    return len(success.rates) * success.trials >= FEWEST_TRIALS
