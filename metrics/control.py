"""Attack risk relative to the success rate on a control group."""

from __future__ import annotations

import math

from metrics.estimate import Estimate, wilson


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
