"""Upper bounds of an attack's advantage: if plays vary as they did, and however they vary."""

from __future__ import annotations

from math import ceil, log, log1p

import numpy as np

from leaderboard.pages.number_text import counted
from leaderboard.statistics.pairs import Success, design_effect, play_errors
from metrics import Estimate, advantage, risk_after_control, wilson
from metrics.columns import Floats

# Words for a bound that is met: for sure, or in these plays, if plays vary as they did.

IF_PLAYS_VARY = "if plays vary as they did here"
"""Condition of the intervals over plays."""


def plays_condition(fewest: int) -> str:
    """Condition of intervals over plays, with what a single play does not show; `fewest` are the plays of an interval.

    Examples
    --------
    >>> plays_condition(14), plays_condition(1)
    ('if plays vary as they did here', 'if plays vary as they did here, which one play does not show')
    """
    return IF_PLAYS_VARY if fewest > 1 else f"{IF_PLAYS_VARY}, which one play does not show"


def how_met(plays: int, *, sure: bool) -> str:
    """How a bound is met.

    - sure: Whether the bound is met however plays vary.

    Examples
    --------
    >>> how_met(14, sure=False)
    'in these 14 plays, if plays vary as they did here'
    >>> how_met(1, sure=False)
    'in 1 play, which does not show how plays vary'
    >>> how_met(200, sure=True)
    'for sure'
    """
    if sure:
        return "for sure"
    return f"in these {plays} plays, {IF_PLAYS_VARY}" if plays > 1 else "in 1 play, which does not show how plays vary"


def to_be_sure(clean_plays: int | None) -> str:
    """How many plays it takes to be sure of a bound (`leaderboard.statistics.play_bounds.clean_plays`).

    Examples
    --------
    >>> to_be_sure(59), to_be_sure(None)
    ('to be sure takes at least 59 plays', 'no number of plays makes it sure')
    """
    if clean_plays is None:
        return "no number of plays makes it sure"
    return f"to be sure takes at least {counted(clean_plays, 'play')}"


LEVEL = 0.95
"""Probability with which the upper bounds of all attacks on a defense hold together."""


def level_of_each(number: int, level: float = LEVEL) -> float:
    """Confidence level of each of a number of bounds that hold together with a level (Bonferroni)."""
    return 1 - (1 - level) / number


def lower_advantage(success: Success, level: float) -> float:
    """Lower confidence bound of the advantage of an attack, if plays vary as they did here.

    - level: Confidence level, in (1/2, 1).

    It is the smallest of the bounds that correspond to those of `upper_advantage`. Near a rate of 1 it is much farther
    from the advantage than the upper bound is.
    """
    lower = _wilson(success, success.shared_effect, level).low
    if len(success.rates) < 2:
        return lower
    student = success.advantage - _student_half(success, level)
    return min(lower, _wilson(success, design_effect(success, level), level).low, student)


def upper_advantage(success: Success, level: float, attacks: int = 1) -> float:
    """Upper confidence bound of the advantage of an attack, if plays vary as they did here.

    - level: Confidence level of the largest bound among the attacks on a setting, in (1/2, 1).
    - attacks: Number of attacks and goals on the setting, at least 1.

    With a known chance level, Wilson's bound of the pooled rate counts all plays as their number of trials divided by a
    design effect. With a control group, it is that of the ratio of two failure rates
    (`metrics.score.risk_after_control`). The bound is the largest of three:

    - Wilson's with the shared effect, at level 1 - (1 - level) / attacks (Bonferroni);
    - Wilson's with the `leaderboard.statistics.pairs.design_effect` of this attack, which is too narrow near 1;
    - Student's, which is too narrow near 0.

    The last two are about this attack alone, and need no correction. The largest bound is below the largest advantage
    only if the bound of the worst attack is below its own advantage (Berger 1982). After one play there is only the
    first.

    In simulations, 2 to 14 plays had rates with means of .05 to .95 and standard deviations of 0 to .15. Bounds of 95 %
    were below the truth in 1 to 7 %. It was 7 % where a few plays were far above the others.

    Source: Berger (1982), Multiparameter hypothesis testing and acceptance sampling. Dean and Pagano (2015), Evaluating
    confidence interval methods for binomial proportions in clustered surveys.
    """
    shared = _wilson(success, success.shared_effect, level_of_each(attacks, level)).high
    if len(success.rates) < 2:
        return shared
    student = min(1.0, success.advantage + _student_half(success, level))
    return max(shared, _wilson(success, design_effect(success, level), level).high, student)


def _student_half(success: Success, level: float) -> float:
    """Distance of Student's one-sided bound from the advantage, over two plays or more."""
    from scipy.special import stdtrit

    errors = play_errors(success)
    return float(stdtrit(errors.size - 1, level) * errors.std(ddof=1) / np.sqrt(errors.size))


def _wilson(success: Success, effect: float, level: float) -> Estimate:
    """Advantage with one-sided bounds of a level, where trials count as their number divided by the effect."""
    rate, plays, both_sides = success.mean_rate, len(success.rates), 2 * level - 1
    trials = max(1, round(plays * success.trials / effect))
    if success.control_trials is None:
        wide = wilson(min(rate * trials, trials), trials, both_sides)
        value, low, high = (advantage(one, success.chance) for one in (wide.value, wide.low, wide.high))
        return Estimate(value, low, high, trials)
    control = max(1, round(plays * success.control_trials / effect))
    return risk_after_control(rate * trials, trials, success.chance * control, control, both_sides)


def sure_upper(success: Success, level: float) -> float:
    """Upper confidence bound of the advantage of an attack, however its plays vary.

    - success: Its success over plays, which are independent of each other.
    - level: Confidence level, in (0, 1).

    Each play is one observation, however many rows it has: a release may give everybody away once in a hundred times.
    Let rᵢ and cᵢ be the rates of play i, with means R and C, and A = (R - C) / (1 - C) the advantage. If A is at least
    b, then Yᵢ = (1 - rᵢ) / (1 - b) + cᵢ is at least 0 with a mean of at most 1. By Markov's inequality, the product of
    the Yᵢ of n plays reaches 1 / (1 - level) with a probability of at most 1 - level. The bound is the smallest b for
    which it does. With one known chance level c, Yᵢ is (1 - rᵢ) / ((1 - b) (1 - c)). The bound is then 1 - α^(1/n) G /
    (1 - c), with α = 1 - level and the geometric mean G of the 1 - rᵢ. The product is the wealth of who bets on small
    advantages.

    Source: Waudby-Smith and Ramdas (2023), Estimating means of bounded random variables by betting.

    Examples
    --------
    No advantage in 59 plays excludes one of .05:

    >>> from leaderboard.statistics.pairs import Success
    >>> clean = [Success("membership", (0.5,) * plays, 200, chance=0.5) for plays in (4, 58, 59)]
    >>> [round(sure_upper(one, 0.95), 4) for one in clean]
    [0.5271, 0.0503, 0.0495]
    """
    failures = 1 - np.asarray(success.rates)
    needed = -log(1 - level)
    if success.control_trials is not None or success.control_rates:
        return _betting_bound(failures, np.asarray(success.control_rates or success.chance), needed)
    if not failures.all():
        return 1.0
    return 1 - float(np.exp((np.log(failures).sum() - needed) / failures.size)) / (1 - success.chance)


def _betting_bound(failures: Floats, chances: Floats, needed: float) -> float:
    """The smallest bound b for which the logarithms of failures / (1 - b) + chances sum to what is needed."""
    from scipy.optimize import brentq

    def excess(scale: float) -> float:
        """How much the wealth exceeds what is needed, on the scale -log(1 - b)."""
        with np.errstate(divide="ignore"):
            return max(-1e9, float(np.log(failures * np.exp(scale) + chances).sum())) - needed

    largest = 40.0
    return 1.0 if excess(largest) < 0 else float(-np.expm1(-brentq(excess, -largest, largest)))


def clean_plays(bound: float, level: float) -> int | None:
    """Fewest plays after which `sure_upper` can be at most a bound: none of them shows an advantage.

    - bound: Bound of the advantage, in [0, 1].
    - level: Confidence level, in (0, 1).
    - returns: None for a bound of 0, which no number of plays makes sure. A chance level that a control group estimates
      takes more plays.

    Examples
    --------
    >>> [clean_plays(bound, 0.95) for bound in (0.05, 0.1, 0.25, 0.5)]
    [59, 29, 11, 5]
    """
    if bound >= 1:
        return 1
    return None if bound <= 0 else ceil(log(1 - level) / log1p(-bound) - 1e-9)
