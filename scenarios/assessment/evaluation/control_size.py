"""How many control people a report needs, so that its intervals are narrow enough for a threshold."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

from leaderboard.pages.number_text import exact, number
from metrics.columns import require
from metrics.score import Score
from scenarios.assessment.evaluation.evaluation_setting import MeasuredAttack, most_asked, upper_confidence
from scenarios.assessment.evaluation.posed_questions import most_targets

STATED = (0.2, 0.09)
"""Thresholds about which `control_words` speaks: a contract with known users, and publication."""
CHANCE = 0.5
"""Chance level for which sizes are planned: half of all guesses are right. A more common value needs more people."""
MOST = 10**7
"""Largest number of people that is considered."""


def upper_bound(asked: int, risk: float = 0.0) -> float:
    """Upper bound of the risk that a report finds if it measures `risk`.

    Parameters
    ----------
    asked : int
        Number of control people about whom attacks are asked, at least 1; as many people of the table are asked about.
    risk : float
        Measured advantage, in [0, 1].
    """
    return _upper(_planned(asked, risk), 1)


def people_needed(threshold: float, risk: float = 0.0) -> int:
    """Smallest number of control people with which a report shows that a risk is within a threshold.

    The number holds for a chance level of `CHANCE`, and if the report's number of targets is half of it.

    Parameters
    ----------
    threshold : float
        Largest acceptable risk, in (0, 1).
    risk : float
        Advantage that the report will measure, at least 0 and below the threshold.

    Raises
    ------
    ValueError
        If the threshold lies outside (0, 1), or the risk outside [0, threshold).

    Examples
    --------
    >>> people_needed(0.2), people_needed(0.2, 0.1)
    (307, 1233)
    """
    require(0 < threshold < 1, f"threshold must lie between 0 and 1, got {threshold}")
    require(0 <= risk < threshold, f"risk must be at least 0 and below the threshold {threshold}, got {risk}")
    # The other half are the attacker's own people.
    return 2 * _smallest(lambda asked: upper_bound(asked, risk) <= threshold) - 1


def largest_risk(asked: int, threshold: float) -> float | None:
    """Largest measured risk that a report with so many people still shows to be within a threshold.

    Parameters
    ----------
    asked : int
        Number of control people about whom attacks are asked.
    threshold : float
        Largest acceptable risk, in (0, 1).

    Returns
    -------
    float or None
        A multiple of 0.01; None if even a risk of 0 is not shown.
    """
    shown = [percent for percent in range(100) if asked and upper_bound(asked, percent / 100) <= threshold]
    return shown[-1] / 100 if shown else None


def trials_needed(outcome: MeasuredAttack, threshold: float, number: int = 1) -> int | None:
    """Number of trials that would show an attack to be within a threshold, if its rates stay as measured.

    Parameters
    ----------
    outcome : MeasuredAttack
        A measured attack.
    threshold : float
        Largest acceptable risk, in (0, 1).
    number : int
        Number of the release among those that are judged on the same people.

    Returns
    -------
    int or None
        The number; None if the measured advantage is not below the threshold, or more than `MOST` trials are needed.
    """
    score, estimate = outcome.score, outcome.advantage()
    if score is None or estimate is None or estimate.value >= threshold:
        return None

    def shown(trials: int) -> bool:
        controls = None if score.control_trials is None else trials
        repeated = replace(score, trials=trials, control_trials=controls)
        return _upper(replace(outcome, score=repeated), number) <= threshold

    return _smallest(shown) if shown(MOST) else None


def control_words(control: int, rows: int) -> str:
    """Say for each of the thresholds `STATED` up to which measured risk a control group is large enough.

    Parameters
    ----------
    control : int
        Number of control people.
    rows : int
        Number of rows of the table without them.
    """
    return "; ".join(f"threshold {exact(one)}: {_enough_words(one, control, rows)}" for one in STATED)


def _enough_words(threshold: float, control: int, rows: int) -> str:
    """Whether so many control people are enough for a threshold."""
    needed, asked = people_needed(threshold), most_targets(most_asked(control), rows, rows)
    risk = largest_risk(asked, threshold)
    if risk is not None:
        return f"enough if the measured risk is at most {number(risk)}"
    if control < needed:
        return f"too few, {needed:,} are needed even for a risk of 0"
    return f"not within reach, since attacks are about {asked:,} people at most"


def _planned(asked: int, risk: float) -> MeasuredAttack:
    """An attack whose success is compared with that on as many control people."""
    score = Score("attributes", CHANCE + risk * (1 - CHANCE), CHANCE, asked, asked)
    return MeasuredAttack(attack="", goal="attributes", knows="everything", score=score)


def _upper(outcome: MeasuredAttack, number: int) -> float:
    estimate = outcome.advantage(upper_confidence(number))
    return 1.0 if estimate is None else estimate.high


def _smallest(enough: Callable[[int], bool]) -> int:
    """Smallest number that is enough, if all larger ones are."""
    return 1 + bisect_left(range(1, 1 << 60), x=True, key=enough)
