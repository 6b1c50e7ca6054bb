"""What many plays of the Pk game come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metrics.estimate import Estimate, wilson


@dataclass(frozen=True)
class PkSummary:
    """What came of many plays of the Pk game.

    Attributes
    ----------
    win : Estimate
        Share of plays won.
    answered : Estimate
        Share of plays in which the adversary answered.
    win_answered : Estimate or None
        Share of answers that were right; None where it never answered.
    worst, typical : float
        Largest posterior that any of the releases gave, and the mean of the releases' largest.
    bound : float
        1/k.
    """

    win: Estimate
    answered: Estimate
    win_answered: Estimate | None
    worst: float
    typical: float
    bound: float


def summarize_pk(plays: Sequence[Mapping[str, float | None]]) -> PkSummary:
    """Summary of the measures that `PkAnonymity` gave, each with a posterior.

    Raises
    ------
    ValueError
        If there is no play, or one without a posterior.
    """
    posteriors = [play["posterior"] for play in plays]
    known = [value for value in posteriors if value is not None]
    if not known or len(known) < len(plays):
        raise ValueError("there must be plays, all of which with a posterior")
    wins, answers = (sum(play[name] or 0.0 for play in plays) for name in ("win", "answered"))
    return PkSummary(
        win=wilson(wins, len(plays)),
        answered=wilson(answers, len(plays)),
        win_answered=wilson(wins, int(answers)) if answers else None,
        worst=max(known),
        typical=sum(known) / len(known),
        bound=max(float(play["bound"] or 0.0) for play in plays),
    )
