"""Scoring answers to the question whose record each row of a released table is."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.claims import RankedAnswers
from metrics.score import Score, Scores


def row_scores(
    claims: RankedAnswers, origin: NDArray[np.intp], place: NDArray[np.intp], candidates: int, rng: Generator
) -> Scores:
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
    Scores
        ``reidentification``: share of correct rows among those that stem from one original who is a candidate; chance
        is 1 / candidates. Measures: ``top3``: the same with three answers allowed; ``hits``: correct rows / originals;
        ``answered``: share of rows answered; ``precision``: correct / answered rows that stem from one original.

    Raises
    ------
    ValueError
        If they are about other numbers of rows or candidates.
    """
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
    return Scores.of(
        Score("reidentification", _rate(correct, findable), 1 / candidates, findable),
        top3=_rate(close, findable),
        hits=correct / len(place),
        answered=_rate(int(answered.sum()), rows),
        precision=_rate(correct, int((answered & known).sum())),
    )


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
