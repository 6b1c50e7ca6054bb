"""Questions about people: whose row a released row is, and who is in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Claims, Decisions, Knowledge, Predicates, RankedAnswers
from attacks.criteria.nearest_row_linkability import LinkedRows, NearestRows, TwoFiles
from attacks.criteria.singling_out import records_met
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import Booleans, Floats, Integers, check_real, refuse, require
from metrics.ranking import area_under_curve, resolves_rate, true_positive_rate
from metrics.score import Score, Scores
from scenarios.games.people import Drawn, by_person
from scenarios.games.questions.question import CandidateQuestion, Question, controlled
from scenarios.tables.review.rows_of_people import person_numbers

# Question of linkability: which two parts of records belong together.

SIDES = ("first", "second")


class LinkQuestion(Question):
    """Linkability: the adversary links two files that hold different columns of all candidates, in different orders.

    A person is linked if both parts of its record lead to a common released row. People outside the table are the
    control group: their parts lead to a common row by chance, or because the row is typical.

    Parameters
    ----------
    parts : mapping of str to sequence of str, optional
        Columns of the ``first`` and the ``second`` file. By default the first and the second half of the released
        columns.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.2.

    Examples
    --------
    >>> LinkQuestion(parts={"first": ["age"], "second": ["job"]}).parts["second"]
    ['job']
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"linkability": LinkedRows}

    def __init__(self, *, parts: Mapping[str, Sequence[str]] | None = None) -> None:
        self.parts = parts
        if parts is None:
            return
        refuse(
            not isinstance(parts, Mapping) or set(parts) != set(SIDES),
            "parts must name the columns of first and second",
        )
        refuse(
            not parts["first"] or not parts["second"] or set(parts["first"]) & set(parts["second"]),
            "parts must be two non-empty sets of columns without a common column",
        )

    def check(self, records: Microdata, originals: int, others: int) -> None:
        """Refuse parts that are not released, and a table of one column."""
        first, second = self.columns(records)
        for name in (*first, *second):
            records.check_released("parts", name)
        require(second, "parts must be two non-empty sets of columns; the table releases one column")

    def columns(self, records: Microdata) -> tuple[list[str], list[str]]:
        """Columns of both files."""
        if self.parts is not None:
            return list(self.parts["first"]), list(self.parts["second"])
        return two_halves(records.released_columns)

    def knowledge(self, people: Drawn, simulate: Any) -> Knowledge:
        """Give both files."""
        first, second = self.columns(people.records)
        other = people.candidates[second].iloc[second_order(people)].reset_index(drop=True)
        return TwoFiles(people.candidates[first], people.auxiliary, simulate, other)

    def score(self, people: Drawn, published: MicrodataRelease, claims: LinkedRows, rng: Generator) -> Scores:
        """Count expected links.

        Returns
        -------
        Scores
            ``linkability``: expected share of the originals whose two parts lead to a common row; chance is the same
            share in the control group. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after control.

        Raises
        ------
        ValueError
            If the claims have another number of rows or people.
        """
        shape = (len(published.frame), len(people.order))
        refuse(
            claims.first.sure.shape != shape or claims.second.sure.shape != shape,
            f"the claims must be about {shape[0]} rows and {shape[1]} people in each file",
        )
        inverse = np.argsort(second_order(people))
        second = NearestRows(
            claims.second.sure[:, inverse], claims.second.tied[:, inverse], claims.second.drawn[inverse]
        )
        linked, member = common_row_probability(claims.first, second), people.member
        counted = np.ones_like(member) if people.counted is None else people.counted
        own, others = (by_person(linked, side & counted, people.whose) for side in (member, ~member))
        return controlled("linkability", *own, *others)


def two_halves(columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Columns of the two files that an adversary joins, if none are named."""
    half = (len(columns) + 1) // 2
    return list(columns[:half]), list(columns[half:])


def common_row_probability(first: NearestRows, second: NearestRows) -> Floats:
    """Probability that two sets of rows have a row in common, for each person, shape (people,).

    If a row is sure in both sets, it is 1. Otherwise m of the t tied rows are drawn for the first set, and n of the u
    tied rows for the second. Let b be the number of tied rows of the first set that are sure in the second, a the
    reverse, and c the number of rows tied in both. The first set draws none of the b rows and j of the c rows with
    probability C(c, j) C(t - b - c, m - j) / C(t, m). The second set then draws none of the other a + j rows with
    probability C(u - a - j, n) / C(u, n). The sum of the products over j is the probability of no common row.
    """
    m, n = first.drawn, second.drawn
    t, u = first.tied.sum(axis=0), second.tied.sum(axis=0)
    a = (first.sure & second.tied).sum(axis=0)
    b = (first.tied & second.sure).sum(axis=0)
    c = (first.tied & second.tied).sum(axis=0)
    none = np.zeros(m.size)
    for j in range(int(m.max(initial=0)) + 1):
        drawn = _log_ways(c, j) + _log_ways(t - b - c, m - j) - _log_ways(t, m)
        none += np.exp(drawn + _log_ways(u - a - j, n) - _log_ways(u, n))
    return np.where((first.sure & second.sure).any(axis=0), 1.0, np.clip(1.0 - none, 0.0, 1.0))


def _log_ways(total: Integers, drawn: Integers | int) -> Floats:
    """Logarithm of a binomial coefficient, which itself may overflow; -inf where the coefficient is 0."""
    from scipy.special import gammaln

    count = np.broadcast_to(drawn, total.shape)
    ways = np.full(total.shape, -np.inf)
    valid = (count >= 0) & (count <= total)
    ways[valid] = gammaln(total[valid] + 1) - gammaln(count[valid] + 1) - gammaln(total[valid] - count[valid] + 1)
    return ways


def second_order(people: Drawn) -> Integers:
    """Order of the second file, as positions in the first."""
    return deepcopy(people.rng).permutation(people.order.size)


# Scores of links between released rows and candidates.


def row_scores(claims: RankedAnswers, origin: Integers, positions: Integers, candidates: int, rng: Generator) -> Scores:
    """Score the links of released rows.

    - claims: Ranked candidates for each row.
    - origin, shape (rows,): The original that each row stems from, -1 for none.
    - positions, shape (originals,): Position of each original among the candidates, -1 for an original who is no
      candidate.
    - returns: ``reidentification``: share of correctly linked rows among those that stem from one original who is a
      candidate; chance is 1 / candidates. Measures: ``top3``: the same share if one of the best three answers is
      correct; ``hits``: correct rows / originals; ``answered``: share of rows with an answer; ``precision``: correct
      rows / answered rows that stem from one original.

    Raises ValueError if the claims have another number of rows or candidates.
    """
    rows = len(origin)
    _check_answers(claims, rows, candidates)
    has_origin = origin >= 0
    truth = np.where(has_origin, positions[origin], -1)
    linkable = int((truth >= 0).sum())
    matches = claims.answer == truth[claims.target]
    rank = claims.ranking(rng)
    correct, among_three = int((matches & (rank == 0)).sum()), int((matches & (rank < 3)).sum())
    answered = np.isin(np.arange(rows), claims.target)
    return Scores.of(
        Score("reidentification", _rate(correct, linkable), 1 / candidates, linkable),
        top3=_rate(among_three, linkable),
        hits=correct / len(positions),
        answered=_rate(int(answered.sum()), rows),
        precision=_rate(correct, int((answered & has_origin).sum())),
    )


def _rate(successes: float, trials: int) -> float | None:
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
        """Score links of rows and membership of candidates (`row_scores`, `candidate_scores`).

        Where a person is several candidates, people are scored (`person_score`), without the measures of rows.
        """
        if people.repeats:
            # The ties of membership are broken first; another order would draw other numbers.
            members = candidate_scores(claims, people, rng)
            rows = Scores.of(person_score(claims, published.origin, people, rng))
        else:
            rows = row_scores(claims, published.origin, people.answers, len(people.order), rng)
            members = candidate_scores(claims, people, rng)
        return Scores({**rows.goals, **members.goals}, {**rows.measures, **members.measures})


def candidate_scores(claims: RankedAnswers, people: Drawn, rng: Generator) -> Scores:
    """Membership of the candidates that ranked answers tell, with the measure ``membership_auc``."""
    decisions, member = people.decided(claims.members())
    return Scores.of(
        membership_score(decisions, member, rng), membership_auc=area_under_curve(decisions.scores, member)
    )


def person_score(claims: RankedAnswers, origin: Integers, people: Drawn, rng: Generator) -> Score:
    """Score of links of released rows with candidates, of whom several are one person; any of the person is right.

    - claims: Ranked candidates for each row.
    - origin, shape (rows,): The original that each row stems from, -1 for none.
    - people: The people of the play.
    - returns: A person's success is the mean over the rows that stem from the person. Chance names any candidate, so
      that a person of many records is named more often.

    Raises ValueError if the claims have another number of rows or candidates.
    """
    _check_answers(claims, len(origin), people.order.size)
    stems = origin >= 0
    best, own = claims.best(rng)[stems], people.whose[people.answers[origin[stems]]]
    right = (best >= 0) & (people.whose[best] == own)
    everybody = np.ones(own.size, dtype=bool)
    hits, trials = by_person(right.astype(float), everybody, own)
    chance, _ = by_person(np.bincount(people.whose)[own] / people.order.size, everybody, own)
    return Score("reidentification", _rate(hits, trials), chance / max(1, trials), trials)


def _check_answers(claims: RankedAnswers, rows: int, candidates: int) -> None:
    refuse(
        (claims.targets, claims.answers) != (rows, candidates),
        f"the answers are about {claims.targets} rows and {claims.answers} candidates, "
        f"there are {rows} and {candidates}",
    )


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
    false_positive_rate : float, optional
        Rate at which true positives count, in (0, 1). By default the candidates of the highest scores count, as many as
        there are members.

    Examples
    --------
    >>> MemberQuestion()
    MemberQuestion()
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"membership": Decisions}

    def __init__(
        self,
        *,
        known: Sequence[str] | None = None,
        asked: Sequence[int] | None = None,
        false_positive_rate: float | None = None,
    ) -> None:
        super().__init__(known=known, asked=asked)
        self.false_positive_rate = check_real(
            "false_positive_rate", false_positive_rate, low=0, high=1, open_low=True, open_high=True, optional=True
        )

    def score(self, people: Drawn, published: MicrodataRelease, claims: Decisions, rng: Generator) -> Scores:
        """Score how well the decisions separate members from non-members (`membership_scores`), of people."""
        decided, at = people.decided(claims), self.false_positive_rate
        if at is None:
            return membership_scores(*decided, rng)
        rate = _rate_at(at, *decided)
        return Scores.of(Score("membership", rate, None if rate is None else at, int(decided[1].sum())))


def membership_scores(claims: Decisions, member: Booleans, rng: Generator) -> Scores:
    """Score decisions on membership.

    - claims: One score for each candidate; members should have higher scores.
    - member, shape (candidates,): Whether each candidate is a member; both classes must occur.
    - returns: ``membership``: share of members among the candidates with the highest scores, as many as there are
      members. Measures: ``non_members``; ``membership_auc``; ``tpr_at_1_percent_fpr`` and ``tpr_at_tenth_percent_fpr``
      (`metrics.ranking`). These two rates are None if less than one false positive is expected, with fewer than 99 and
      999 non-members. They are reliable if all plays together have at least 1,000 and 10,000 non-members.

    Raises ValueError if the number of decisions is not the number of candidates.
    """
    refuse(
        claims.scores.shape != member.shape,
        f"the decisions are about {claims.scores.size} candidates, there are {member.size}",
    )
    return Scores.of(
        membership_score(claims, member, rng),
        non_members=int((~member).sum()),
        membership_auc=area_under_curve(claims.scores, member),
        tpr_at_1_percent_fpr=_rate_at(0.01, claims, member),
        tpr_at_tenth_percent_fpr=_rate_at(0.001, claims, member),
    )


def membership_score(decisions: Decisions, member: Booleans, rng: Generator) -> Score:
    """Share of members among the candidates of the highest scores, as many as there are members."""
    members = int(member.sum())
    return Score("membership", float(member[decisions.first(members, rng)].mean()), members / member.size, members)


def _rate_at(false_positive_rate: float, claims: Decisions, member: Booleans) -> float | None:
    """True positive rate at a false positive rate; None if there are too few non-members for it."""
    if not resolves_rate(int((~member).sum()), false_positive_rate):
        return None
    return true_positive_rate(claims.scores, member, false_positive_rate)
