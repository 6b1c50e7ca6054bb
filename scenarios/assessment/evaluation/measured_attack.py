"""Outcome of one attack on a finished release, and its advantage with an interval over persons."""

from __future__ import annotations

from dataclasses import dataclass

from metrics import Estimate, Score, advantage, risk_after_control, wilson

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class MeasuredAttack:
    """Outcome of one attack on a finished release.

    Attributes
    ----------
    attack : str
        Class name of the attack.
    goal : str
        Its goal (see `leaderboard.results.goals`).
    knows : str
        What the attacker knows of its targets: ``everything``, ``quasi-identifiers``, ``nothing`` or ``two halves``.
    column : str
        The column whose values are inferred; empty for other goals.
    score : Score or None
        Success and chance level; None if the attack was skipped.
    reason : str
        Why the attack was skipped; empty if it was not.
    nothing_told : bool
        Whether the release tells nobody apart, so that no attack is better than guessing, and none can be.
    """

    attack: str
    goal: str
    knows: str
    column: str = ""
    score: Score | None = None
    reason: str = ""
    nothing_told: bool = False

    @property
    def title(self) -> str:
        """The attack with the column whose values it infers."""
        return f"{self.attack} ({self.column})" if self.column else self.attack

    def advantage(self, confidence: float = CONFIDENCE) -> Estimate | None:
        """Advantage over guessing with its interval over persons; None if it was not measured.

        The people are those of one table, and the release is taken as given: the interval is about other people of the
        same table. If the chance level is that of a control group, its error is in the interval.
        """
        score = self.score
        if score is None or score.advantage is None or score.rate is None or score.chance is None:
            return None
        if self.nothing_told:
            return Estimate(0.0, 0.0, 0.0, score.trials)
        if score.control_trials is not None:
            trials, controls = score.trials, score.control_trials
            return risk_after_control(
                min(trials, score.rate * trials), trials, min(controls, score.chance * controls), controls, confidence
            )
        rate = wilson(min(score.trials, score.rate * score.trials), score.trials, confidence)
        low, high = (advantage(end, score.chance) for end in (rate.low, rate.high))
        return Estimate(score.advantage, low, high, score.trials)


def joint_confidence(count: int) -> float:
    """Confidence level of each of several intervals that hold together with 95 % (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / max(1, count)


def upper_confidence(number: int = 1) -> float:
    """Confidence level of an interval whose upper end decides about the release of a number, from 1.

    The upper end of release n is too low with probability 0.05 / (n (n + 1)). Over any number of releases, judged one
    after the other, these sum to 0.05 at most. The first interval is an ordinary one of 95 %.
    """
    return 1 - 2 * (1 - CONFIDENCE) / (number * (number + 1))
