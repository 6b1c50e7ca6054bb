"""Upper bounds that confirm a setting on fresh plays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from leaderboard.exposure import design_effects, judged, sampling_variance, upper_advantage
from leaderboard.pairs import Success, matrix
from leaderboard.result import Result, canonical
from metrics.arrays import Floats

ERROR = 0.05
"""Probability at most that some setting is said to meet a bound and does not."""


def confirmed_bounds(results: Sequence[Result], settings: int) -> dict[tuple[str, str], float]:
    """The largest upper bound among the attacks on each setting, by its name and canonical parameters.

    Parameters
    ----------
    results : sequence of Result
        Fresh plays, on people who were drawn independently of the choice.
    settings : int
        Number of settings that are confirmed together, at least 1.

    Returns
    -------
    dict of (str, str) to float
        Bounds by setting. The bound is 1 if some attack was judged on one play only. Attacks with fewer than
        `leaderboard.exposure.FEWEST_TRIALS` trials are not judged, and no bound is about them.

    Notes
    -----
    A setting meets a bound b if the upper bounds of all its attacks do, each of level 1 - `ERROR` / settings. Suppose
    that some attack has an advantage above b. Its own upper bound is then at most b with probability at most `ERROR` /
    settings. This holds however many attacks there are. Over all settings the probabilities add up to `ERROR`.

    The design effect of an attack is the one shared by all pairs of its goal (`design_effects`), or its own
    (`own_design_effect`) if that is larger. The shared one alone is an average over settings. It is too small for a
    setting whose plays differ more than those of the others.

    References
    ----------
    Berger (1982), Multiparameter hypothesis testing and acceptance sampling, for this intersection-union test.
    """
    level = 1 - ERROR / settings
    pairs = matrix(results)
    effects = design_effects(pairs)
    bounds: dict[tuple[str, str], float] = defaultdict(lambda: 0.0)
    for pair in pairs:
        key = pair.defense, canonical(pair.parameters)
        for goal, success in pair.successes.items():
            if judged(success):
                shared = effects.get((pair.scenario, pair.variant, goal), 1.0)
                bounds[key] = max(bounds[key], _upper(success, shared, level))
    return dict(bounds)


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
    Let r and c be the means over plays of the rates rᵢ and of the chance levels cᵢ, and A = (r - c) / (1 - c). To first
    order the error of A is the mean of dᵢ = (rᵢ - cᵢ - A (1 - cᵢ)) / (1 - c). The effect is s² / v · (t / z)². Here s²
    is the sample variance of dᵢ, v is `sampling_variance`, and (t / z)² is `widening`. A normal bound with this effect
    has the half-width t s / √n of Student's.
    """
    expected = sampling_variance(success)
    if not expected:
        return 1.0  # every claim failed in every play, or none did
    rates, chances = np.asarray(success.rates), np.asarray(success.control_rates or success.chance)
    errors = (rates - chances - success.advantage * (1 - chances)) / (1 - success.chance)
    return float(errors.var(ddof=1) / expected * widening(rates.size, level))


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


def _upper(success: Success, shared: float, level: float) -> float:
    """Upper bound of an attack's advantage; 1 after a single play, which does not show how much plays differ."""
    if len(success.rates) < 2:
        return 1.0
    return upper_advantage(success, max(shared, own_design_effect(success, level)), level)
