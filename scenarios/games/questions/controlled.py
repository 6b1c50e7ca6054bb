"""Scores of goals with a control group."""

from __future__ import annotations

from metrics.score import Score, Scores, risk_after_control


def controlled(
    goal: str,
    successes: float,
    trials: int,
    control_successes: float,
    control_trials: int,
    **measures: float | None,
) -> Scores:
    """Scores of one goal with a control group; rate and chance are None if either group is empty.

    Parameters
    ----------
    goal : str
        The attack's goal.
    successes, trials : float, int
        Successes and trials of the attack on people in the table.
    control_successes, control_trials : float, int
        Successes and trials of the same attack on the control group.
    **measures : float or None
        Further measures to report.

    Returns
    -------
    Scores
        The goal's rate; its chance is the rate on the control group. Measures: ``risk``, ``risk_low`` and
        ``risk_high``, the rate after control (`metrics.score.risk_after_control`), and the given ones.
    """
    if not trials or not control_trials:
        empty = Score(goal, None, None, trials, control_trials)
        return Scores.of(empty, risk=None, risk_low=None, risk_high=None, **measures)
    risk = risk_after_control(successes, trials, control_successes, control_trials)
    score = Score(goal, successes / trials, control_successes / control_trials, trials, control_trials)
    return Scores.of(score, risk=risk.value, risk_low=risk.low, risk_high=risk.high, **measures)
