"""Scoring answers to the question whose record each row of a released table is."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.claims import Claims, RankedAnswers


def row_scores(
    claims: Claims, origin: NDArray[np.intp], place: NDArray[np.intp], candidates: int, rng: Generator
) -> dict[str, float | None]:
    """Score answers row by row.

    Parameters
    ----------
    claims : RankedAnswers
        What is answered.
    origin : ndarray of int, shape (rows,)
        The original that each row stems from, -1 for none.
    place : ndarray of int, shape (originals,)
        Where each original stands among the candidates, -1 for one who does not.
    candidates : int
        How many there are.
    rng : Generator
        Breaks ties.

    Returns
    -------
    dict
        ``reidentification``: correct rows / rows that stem from one original who is among the candidates, None where
        there is no such row, with their number ``rows`` and its ``chance``, 1 / candidates; ``top3``: the same with
        three answers allowed; ``hits``: correct rows / originals; ``answered``: share of rows answered; ``precision``:
        correct / answered rows that stem from one original.

    Raises
    ------
    TypeError
        If the claims are no ranked answers.
    ValueError
        If they are about other numbers of rows or candidates.
    """
    if not isinstance(claims, RankedAnswers):
        raise TypeError(f"rows are scored by ranked answers, got {type(claims).__name__}")
    rows = len(origin)
    if (claims.targets, claims.answers) != (rows, candidates):
        raise ValueError(
            f"the answers are about {claims.targets} rows and {claims.answers} candidates, "
            f"there are {rows} and {candidates}"
        )
    known = origin >= 0
    truth = np.where(known, place[origin], -1)
    findable = int((truth >= 0).sum())
    right = claims.answer == truth[claims.target]
    rank = claims.ranking(rng)
    correct, close = int((right & (rank == 0)).sum()), int((right & (rank < 3)).sum())
    answered = np.zeros(rows, dtype=bool)
    answered[claims.target] = True
    return {
        "reidentification": _rate(correct, findable),
        "rows": findable,
        "chance": 1 / candidates,
        "top3": _rate(close, findable),
        "hits": correct / len(place),
        "answered": _rate(int(answered.sum()), rows),
        "precision": _rate(correct, int((answered & known).sum())),
    }


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
