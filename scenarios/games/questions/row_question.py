"""Question of re-identification: whose row a released row is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base import Claims, RankedAnswers
from defenses.base import MicrodataRelease
from metrics.columns import refuse
from metrics.ranking import area_under_curve
from metrics.score import Score, Scores
from scenarios.games.people import Drawn
from scenarios.games.questions.question import CandidateQuestion

# Scores of links between released rows and candidates.


def row_scores(
    claims: RankedAnswers, origin: NDArray[np.intp], positions: NDArray[np.intp], candidates: int, rng: Generator
) -> Scores:
    """Score the links of released rows.

    Parameters
    ----------
    claims : RankedAnswers
        Ranked candidates for each row.
    origin : ndarray of int, shape (rows,)
        The original that each row stems from, -1 for none.
    positions : ndarray of int, shape (originals,)
        Position of each original among the candidates, -1 for an original who is no candidate.
    candidates : int
        Number of candidates.
    rng : Generator
        Breaks ties at random.

    Returns
    -------
    Scores
        ``reidentification``: share of correctly linked rows among those that stem from one original who is a candidate;
        chance is 1 / candidates. Measures: ``top3``: the same share if one of the best three answers is correct;
        ``hits``: correct rows / originals; ``answered``: share of rows with an answer; ``precision``: correct rows /
        answered rows that stem from one original.

    Raises
    ------
    ValueError
        If the claims have another number of rows or candidates.
    """
    rows = len(origin)
    refuse(
        (claims.targets, claims.answers) != (rows, candidates),
        f"the answers are about {claims.targets} rows and {claims.answers} candidates, "
        f"there are {rows} and {candidates}",
    )
    has_origin = origin >= 0
    truth = np.where(has_origin, positions[origin], -1)
    linkable = int((truth >= 0).sum())
    matches = claims.answer == truth[claims.target]
    rank = claims.ranking(rng)
    correct, among_three = int((matches & (rank == 0)).sum()), int((matches & (rank < 3)).sum())
    answered = np.zeros(rows, dtype=bool)
    answered[claims.target] = True
    return Scores.of(
        Score("reidentification", _rate(correct, linkable), 1 / candidates, linkable),
        top3=_rate(among_three, linkable),
        hits=correct / len(positions),
        answered=_rate(int(answered.sum()), rows),
        precision=_rate(correct, int((answered & has_origin).sum())),
    )


def _rate(successes: int, trials: int) -> float | None:
    return successes / trials if trials else None


class RowQuestion(CandidateQuestion):
    """Re-identification: the adversary links each released row to a candidate, whom it knows in clear.

    The candidates are the originals and decoys. Links also say who is in the table, which is scored as membership.

    Parameters
    ----------
    known, asked
        See `scenarios.games.questions.question.CandidateQuestion`.

    Examples
    --------
    >>> RowQuestion()
    RowQuestion()
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"reidentification": RankedAnswers}

    def score(self, people: Drawn, published: MicrodataRelease, claims: RankedAnswers, rng: Generator) -> Scores:
        """Score links of rows and membership of candidates; see `score_answers`."""
        return score_answers(claims, published.origin, people.answers, len(people.order), rng)


def score_answers(
    claims: RankedAnswers, origin: NDArray[np.intp], answers: NDArray[np.intp], candidates: int, rng: Generator
) -> Scores:
    """Score links of the rows of one table, and the membership of candidates that they imply.

    Parameters
    ----------
    claims : RankedAnswers
        Ranked candidates for each row.
    origin : ndarray of int, shape (rows,)
        The original that each row stems from, -1 for none.
    answers : ndarray of int, shape (originals,)
        Position of each original among the candidates.
    candidates : int
        Number of candidates.
    rng : Generator
        Breaks ties at random.

    Returns
    -------
    Scores
        The scores of `scenarios.games.questions.row_question.row_scores`; ``membership``: share of originals among the
        `originals` candidates of highest membership score; the measure ``membership_auc``.

    Raises
    ------
    ValueError
        If the claims have another number of rows or candidates.
    """
    rows = row_scores(claims, origin, answers, candidates, rng)
    originals = len(answers)
    member = np.zeros(candidates, dtype=bool)
    member[answers] = True
    decisions = claims.members()
    membership = Score(
        "membership", float(member[decisions.first(originals, rng)].mean()), originals / candidates, originals
    )
    measures = {**rows.measures, "membership_auc": area_under_curve(decisions.scores, member)}
    return Scores({**rows.goals, "membership": membership}, measures)
