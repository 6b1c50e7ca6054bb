"""Question of membership: who is in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import pandas as pd
from numpy.random import Generator

from attacks.base import Claims, Decisions, Predicates
from attacks.criteria.atomic_predicates import records_met
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import Booleans, refuse
from metrics.ranking import area_under_curve, resolves_rate, true_positive_rate
from metrics.score import Score, Scores
from scenarios.games.people import Drawn
from scenarios.games.questions.question import CandidateQuestion, Question, controlled
from scenarios.tables.review.rows_of_people import person_numbers

# Question of singling out: whether a predicate holds for one person alone.


class SinglingOutQuestion(Question):
    """Singling out: the adversary claims predicates, and one succeeds if it holds for exactly one original.

    The control group is a table of as many other people. Without the release, a predicate isolates somebody in a table
    of n people with a probability of at most about 0.37. The best predicate holds for one person in n.

    References
    ----------
    Cohen and Nissim (2020), Towards formalizing the GDPR's notion of singling out; Giomi, Boenisch, Wehmeyer and
    Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data, section 4.1.

    Examples
    --------
    >>> SinglingOutQuestion()
    SinglingOutQuestion()
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"singling_out": Predicates}
    names_people: ClassVar[bool] = False

    def check(self, records: Microdata, originals: int, others: int) -> None:
        """Refuse tables of unequal sizes, in which isolation is not equally likely."""
        refuse(
            originals != others, f"others must be as many as originals to be singled out, got {others} and {originals}"
        )

    def isolated(self, predicates: Sequence[Callable[[pd.DataFrame], Booleans]], people: Microdata) -> int:
        """Number of predicates that hold for rows of exactly one person."""
        numbers = person_numbers(people)
        if numbers.max(initial=-1) + 1 == len(people):
            return records_met(predicates, people.frame).count(1)
        met = (numbers[predicate(people.frame)] for predicate in predicates)
        return sum(bool(rows.size) and bool((rows == rows[0]).all()) for rows in met)

    def score(self, people: Drawn, published: MicrodataRelease, claims: Predicates, rng: Generator) -> Scores:
        """Count the predicates that hold for exactly one original, and for exactly one of the others.

        Returns
        -------
        Scores
            ``singling_out``: share of the predicates that isolate an original; chance is the share that isolate one of
            the others. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after control. All are None if no
            predicate was claimed.
        """
        predicates = claims.predicates
        isolated, isolated_others = (self.isolated(predicates, side) for side in (people.records, people.others))
        return controlled("singling_out", isolated, len(predicates), isolated_others, len(predicates))


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
        """Score how well the decisions separate members from non-members (`membership_scores`), of people."""
        return membership_scores(*people.decided(claims), rng)


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
