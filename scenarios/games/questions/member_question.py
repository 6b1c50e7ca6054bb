"""Question of membership: who is in the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from numpy.random import Generator

from attacks.base import Claims, Decisions
from defenses.base import MicrodataRelease
from metrics.columns import Booleans, refuse
from metrics.ranking import area_under_curve, resolves_rate, true_positive_rate
from metrics.score import Score, Scores
from scenarios.games.people import Drawn
from scenarios.games.questions.question import CandidateQuestion


class MemberQuestion(CandidateQuestion):
    """Membership: the adversary, who knows all candidates in clear, scores how likely each is an original.

    Parameters
    ----------
    known, asked
        See `scenarios.games.questions.question.CandidateQuestion`.

    Examples
    --------
    >>> MemberQuestion()
    MemberQuestion()
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"membership": Decisions}

    def score(self, people: Drawn, published: MicrodataRelease, claims: Decisions, rng: Generator) -> Scores:
        """Score how well the decisions separate members from non-members (`membership_scores`)."""
        return membership_scores(claims, people.member, rng)


def membership_scores(claims: Decisions, member: Booleans, rng: Generator) -> Scores:
    """Score decisions on membership.

    Parameters
    ----------
    claims : Decisions
        One score for each candidate; members should have higher scores.
    member : ndarray of bool, shape (candidates,)
        Whether each candidate is a member; both classes must occur.
    rng : Generator
        Breaks ties at random.

    Returns
    -------
    Scores
        ``membership``: share of members among the candidates with the highest scores, as many as there are members.
        Measures: ``non_members``; ``membership_auc``; ``tpr_at_1_percent_fpr`` and ``tpr_at_tenth_percent_fpr``
        (`metrics.ranking`). These two rates are None if less than one false positive is expected, with fewer than 99
        and 999 non-members. They are reliable if all plays together have at least 1,000 and 10,000 non-members.

    Raises
    ------
    ValueError
        If the number of decisions is not the number of candidates.
    """
    refuse(
        claims.scores.shape != member.shape,
        f"the decisions are about {claims.scores.size} candidates, there are {member.size}",
    )
    members = int(member.sum())
    rate = float(member[claims.first(members, rng)].mean())
    return Scores.of(
        Score("membership", rate, members / member.size, members),
        non_members=member.size - members,
        membership_auc=area_under_curve(claims.scores, member),
        tpr_at_1_percent_fpr=_rate_at(0.01, claims, member),
        tpr_at_tenth_percent_fpr=_rate_at(0.001, claims, member),
    )


def _rate_at(false_positive_rate: float, claims: Decisions, member: Booleans) -> float | None:
    """True positive rate at a false positive rate; None if there are too few non-members for it."""
    if not resolves_rate(int((~member).sum()), false_positive_rate):
        return None
    return true_positive_rate(claims.scores, member, false_positive_rate)
