"""How many control people a report needs, so that its interval for membership is narrow enough for a threshold."""

from __future__ import annotations

from leaderboard.number_text import exact
from metrics.score import Score
from scenarios.finished.attack_sets import ATTRIBUTES, COSTLY_ROWS, LINKS, MEMBERS, QUASI_ROWS, ROWS, SINGLING_OUT
from scenarios.finished.evaluation_setting import TARGETS, most_asked
from scenarios.finished.measured_attack import MeasuredAttack, joint_confidence
from scenarios.finished.posed_questions import most_targets

STATED = (0.2, 0.09)
"""Thresholds about which `control_words` speaks: a contract with known users, and publication."""


def chance_bound(asked: int, sensitive: int = 1) -> float:
    """Upper end of the interval of a membership attack that does no better than chance.

    Parameters
    ----------
    asked : int
        Number of control people about whom it is asked, at least 1; as many people of the table are asked about.
    sensitive : int
        Number of sensitive columns: more attacks make each interval wider. All attacks are counted, although some may
        not apply to a release.
    """
    attacks = len((*ROWS, *COSTLY_ROWS, *QUASI_ROWS, *MEMBERS, *SINGLING_OUT, *LINKS)) + sensitive * len(ATTRIBUTES)
    outcome = MeasuredAttack(
        attack="", goal="membership", knows="everything", score=Score("membership", 0.5, 0.5, asked)
    )
    estimate = outcome.advantage(joint_confidence(attacks))
    return 1.0 if estimate is None else estimate.high


def people_needed(threshold: float, sensitive: int = 1) -> int:
    """Smallest number of control people with which a report can show that membership is within a threshold.

    The number holds for attacks that do no better than chance, and if the report's number of targets is half of it.

    Parameters
    ----------
    threshold : float
        Largest acceptable risk, in (0, 1).
    sensitive : int
        Number of sensitive columns.

    Raises
    ------
    ValueError
        If the threshold lies outside (0, 1).

    Examples
    --------
    >>> people_needed(0.2), people_needed(0.09)
    (429, 2191)
    """
    if not 0 < threshold < 1:
        raise ValueError(f"threshold must lie between 0 and 1, got {threshold}")
    below, enough = 0, 1
    while chance_bound(enough, sensitive) > threshold:
        below, enough = enough, 2 * enough
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if chance_bound(middle, sensitive) <= threshold else (middle, enough)
    # The other half are the attacker's own people.
    return 2 * enough - 1


def control_words(control: int, rows: int, sensitive: int = 1) -> str:
    """Say for which of the thresholds `STATED` a control group is large enough.

    Parameters
    ----------
    control : int
        Number of control people.
    rows : int
        Number of rows of the table without them.
    sensitive : int
        Number of sensitive columns.
    """
    parts = []
    for threshold in STATED:
        needed = people_needed(threshold, sensitive)
        asked = most_asked(needed)
        words = f"threshold {exact(threshold)}: "
        if most_targets(asked, rows, rows) < asked:
            words += f"not within reach, since too few of {rows:,} rows can be attacked"
        elif control < needed:
            words += f"too few, {needed:,} are needed"
        else:
            words += "enough" if asked <= TARGETS else f"enough with `report --targets {asked}`"
        parts.append(words)
    return "; ".join(parts)
