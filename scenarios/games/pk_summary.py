"""Summary of many plays of the Pk-anonymity game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metrics.estimate import Estimate, wilson


@dataclass(frozen=True)
class PkSummary:
    """Win rate, answer rate and posteriors over many plays of `PkAnonymity`.

    Attributes
    ----------
    win : Estimate
        Share of plays won.
    answered : Estimate
        Share of plays in which the adversary answered.
    win_answered : Estimate or None
        Share of correct answers; None if the adversary never answered.
    worst, typical : float
        Maximum and mean over the releases of the largest posterior that each of them gives.
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
    """Summarize the measures of many plays of `PkAnonymity`.

    Parameters
    ----------
    plays : sequence of mapping of str to float or None
        Measures of each play (`PkAnonymity.score`).

    Raises
    ------
    ValueError
        If there is no play, or a play has no posterior.
    """
    posteriors = [play["posterior"] for play in plays if play["posterior"] is not None]
    if not posteriors or len(posteriors) < len(plays):
        raise ValueError("plays: at least one is needed, and each must have a posterior")
    wins, answers = (sum(play[name] or 0.0 for play in plays) for name in ("win", "answered"))
    return PkSummary(
        win=wilson(wins, len(plays)),
        answered=wilson(answers, len(plays)),
        win_answered=wilson(wins, int(answers)) if answers else None,
        worst=max(posteriors),
        typical=sum(posteriors) / len(posteriors),
        bound=max(float(play["bound"] or 0.0) for play in plays),
    )
