"""Words for a bound that is met: for sure, or in these plays, if plays vary as they did."""

from __future__ import annotations

from leaderboard.pages.number_text import counted

IF_PLAYS_VARY = "if plays vary as they did here"
"""Condition of the intervals over plays."""


def how_met(plays: int, *, sure: bool) -> str:
    """How a bound is met.

    Parameters
    ----------
    plays : int
        Number of plays.
    sure : bool
        Whether the bound is met however plays vary.

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
