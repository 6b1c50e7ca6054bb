"""What an attack reaches beyond what it reaches where there is nothing to leak."""

from __future__ import annotations

import math

from metrics.estimate import Estimate, wilson


def risk_after_control(
    successes: float, trials: int, control_successes: float, control_trials: int, confidence: float = 0.95
) -> Estimate:
    r"""Risk (a - c) / (1 - c) of an attack with success rate a, whose rate on people outside the table is c.

    Parameters
    ----------
    successes, control_successes : float
        Expected number of successes on the people of the table, and on those outside.
    trials, control_trials : int
        Number of people in each group, at least 1.
    confidence : float
        Level of the interval, in (0, 1).

    Returns
    -------
    Estimate
        Not clipped: an attack that does worse on the table's people has a negative risk. Where every attempt on the
        control group succeeds there is nothing to learn: 0, with an interval from 0 to 1. `n` is the number of trials.

    Raises
    ------
    ValueError
        If a number of trials is below 1, successes exceed it, or `confidence` lies outside (0, 1).

    Notes
    -----
    The risk is 1 - R with the ratio R = (1 - a) / (1 - c) of two failure rates. With f and g these rates, estimated
    from separate people, and their Wilson intervals [f₁, f₂] and [g₁, g₂], the interval of R by the method of variance
    estimates recovery solves (fg)² - … = 0 for R: with u = f₁ (2f - f₁), v = g₂ (2g - g₂) for the lower end and
    u = f₂ (2f - f₂), v = g₁ (2g - g₁) for the upper one, the ends are (fg ∓ √((fg)² - uv)) / v. The lower one is
    computed as u / (fg + √((fg)² - uv)), which stays exact as v goes to 0.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4; Donner and Zou (2012), Closed-form confidence intervals for functions of the normal mean and standard
    deviation, section 2.

    Examples
    --------
    >>> risk = risk_after_control(60, 100, 20, 100)
    >>> print(f"{risk.value:.2f} in [{risk.low:.2f}, {risk.high:.2f}]")
    0.50 in [0.36, 0.62]
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
